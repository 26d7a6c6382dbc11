"""How a session of an agent's list looks as a row: what it is called, when it was used last, and where it works.

What is known of a session is an agent's word: a time may be no time, a folder may be anywhere.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final, Protocol

from acp_tui.conversation.visible import make_visible_line
from acp_tui.ui.rendering.wrapping import width_cells
from acp_tui.ui.widgets.fields.row_list import GAP, PickerRow, cut

MOST_WHEN_CELLS: Final = 16
MOST_FOLDER_CELLS: Final = 24


class Listed(Protocol):
    """A session as an agent lists it."""

    @property
    def session_id(self) -> str: ...
    @property
    def cwd(self) -> Path: ...
    @property
    def title(self) -> str | None: ...
    @property
    def updated_at(self) -> str | None: ...


def session_rows(
    sessions: Iterable[Listed], *, current: str, here: Path | None, now: datetime
) -> list[PickerRow[str]]:
    """A row for each, with the times and the folders in columns; the folder only where it is not `here`."""
    listed = list(sessions)
    columns = (
        _aligned([short_time(session.updated_at, now) for session in listed]),
        _aligned([short_folder(session.cwd, here) for session in listed]),
    )
    return [
        PickerRow(
            session.session_id,
            session.title or session.session_id,
            _whole(session),
            aside=GAP.join(filter(None, aside)),
            is_current=session.session_id == current,
        )
        for session, aside in zip(listed, zip(*columns, strict=True), strict=True)
    ]


def _aligned(texts: list[str]) -> list[str]:
    """The texts as a column; "" for each where none says anything."""
    cells = [width_cells(text) for text in texts]
    return [text + " " * (max(cells) - width) for text, width in zip(texts, cells, strict=True)]


def _whole(session: Listed) -> str:
    when = _local_time(session.updated_at)
    shown = when.strftime("%Y-%m-%d %H:%M") if when is not None else session.updated_at
    return " · ".join(filter(None, (shown, str(session.cwd), session.session_id)))


def short_time(text: str | None, now: datetime) -> str:
    """How long ago it was within a week, else the day; what is no time is shown as it is, shortened."""
    when = _local_time(text)
    if when is None:
        return cut(make_visible_line(text or ""), MOST_WHEN_CELLS)
    age = now - when
    if not timedelta(0) <= age < timedelta(days=7):
        return when.strftime("%Y-%m-%d")
    if age < timedelta(minutes=1):
        return "just now"
    if age < timedelta(hours=1):
        return f"{age.seconds // 60} min ago"
    if age < timedelta(days=1):
        return f"{age.seconds // 3600} h ago"
    return "1 day ago" if age.days == 1 else f"{age.days} days ago"


def _local_time(text: str | None) -> datetime | None:
    try:
        return datetime.fromisoformat(text or "").astimezone()
    except (ValueError, OverflowError, OSError):  # the latter for years that the system's clock does not know
        return None


def short_folder(folder: Path, here: Path | None) -> str:
    """The end of its path, as many parts as there is room for; "" for the folder that one is in."""
    if folder == here:
        return ""
    tail = make_visible_line(str(folder))[-8 * MOST_FOLDER_CELLS :]  # measuring costs by the length
    if width_cells(tail) <= MOST_FOLDER_CELLS:
        return tail
    while width_cells(tail) >= MOST_FOLDER_CELLS and "/" in tail[1:]:
        tail = tail[tail.index("/", 1) :]
    return cut(f"…{tail}", MOST_FOLDER_CELLS)
