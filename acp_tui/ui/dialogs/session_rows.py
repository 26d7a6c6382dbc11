"""Draws an earlier session as a row. Its facts come from an agent or a file, so it trusts none of them."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable
from datetime import datetime
from enum import Enum
from pathlib import Path
from typing import Final, TypeAlias

from acp_tui.client.sessions.session_history import PastSession
from acp_tui.conversation.visible import make_visible_line
from acp_tui.ui.kit.row_list import GAP, PickerRow, aligned, short_folder, short_time
from acp_tui.ui.rendering.wrapping import cut, width_cells

TITLE_CELLS: Final = 32
"""Cells reserved for the title."""
MAX_WHEN_CELLS: Final = 16
MAX_AGENT_CELLS: Final = 14


PINNED: Final = "★ "
ARCHIVED: Final = {False: "with archived", True: "without archived"}
"""What the key does that shows and hides archived sessions, by whether they are shown."""


class OpenMode(Enum):
    """How a session can be opened. The value is the word in its row."""

    HERE = ""
    """It is on the screen."""
    TAB = "open"
    """It is in another tab."""
    AGENT = " "
    """Its agent may be able to open it."""
    RECORDING = "read-only"
    """It can be read, but not continued."""
    NONE = "not here"


Judge: TypeAlias = Callable[[PastSession], tuple[OpenMode, str]]
"""How a session can be opened, and why its agent can't open it, "" if it may."""


def session_rows(
    sessions: Iterable[PastSession], *, judge: Judge, here: Path | None, now: datetime, cells: int
) -> list[PickerRow[str]]:
    """A row for each session, with its facts in columns. The folder is shown only if it isn't `here`.

    A row has `cells` cells. The title gets enough of them: columns without room are left out.
    """
    past = list(sessions)
    judged = [judge(session) for session in past]
    times = list(map(_local_time, past))
    columns = _fitting(
        {
            "way": aligned(
                [
                    "archived" if session.is_archived else way.value.strip() or session.doing
                    for session, (way, _) in zip(past, judged, strict=True)
                ]
            ),
            "agent": aligned([_short(session.agent) for session in past]),
            "prompts": aligned([_prompts(session) for session in past]),
            "when": aligned([_when(session, time, now) for session, time in zip(past, times, strict=True)]),
            "folder": aligned([short_folder(session.cwd, here) for session in past]),
        },
        cells - TITLE_CELLS - len(GAP),
    )
    asides = zip(*columns, strict=True) if columns else ((),) * len(past)
    return [
        PickerRow(
            session.key,
            f"{PINNED * session.is_pinned}{session.title or session.session_id}",
            _whole(session, why, time),
            aside=GAP.join(aside),
            is_current=way is OpenMode.HERE,
        )
        for session, (way, why), time, aside in zip(past, judged, times, asides, strict=True)
    ]


def _fitting(columns: dict[str, list[str]], cells: int) -> list[list[str]]:
    """The columns that aren't empty and fit into `cells`. The least important ones are dropped first."""
    columns = {name: texts for name, texts in columns.items() if any(texts)}
    for name in ("prompts", "way", "agent", "folder"):
        if sum(width_cells(texts[0]) + len(GAP) for texts in columns.values()) - len(GAP) <= cells:
            break
        columns.pop(name, None)
    return list(columns.values())


def _short(agent: str) -> str:
    return cut(make_visible_line(agent), MAX_AGENT_CELLS)


def _prompts(session: PastSession) -> str:
    count = session.recorded.prompts if session.recorded is not None else 0
    return f"{count} prompt{'s' * (count != 1)}" if count else ""


def _when(session: PastSession, when: datetime | None, now: datetime) -> str:
    return short_time(when, now) if when else cut(make_visible_line(session.told_time), MAX_WHEN_CELLS)


def _whole(session: PastSession, why: str, when: datetime | None) -> str:
    """All that is known about a session, in one line, starting with why it can't be opened."""
    return " · ".join(
        filter(
            None,
            (
                why and f"can't be opened: {why}",
                when.replace(tzinfo=None).isoformat(" ", "minutes") if when else session.told_time,
                "archived" * session.is_archived,
                session.doing and f"{session.doing}, says its agent",
                _prompts(session),
                str(session.cwd),
                session.session_id,
                shlex.join(session.command) or session.agent,
            ),
        )
    )


def _local_time(session: PastSession) -> datetime | None:
    try:
        return None if session.last_at is None else datetime.fromtimestamp(session.last_at).astimezone()
    except (ValueError, OverflowError, OSError):  # years that the system's clock doesn't support
        return None
