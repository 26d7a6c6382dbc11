"""Draws a session as a row, wherever it is. Its facts come from an agent or a file, so it trusts none of them."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from datetime import datetime
from enum import Enum
from pathlib import Path
from typing import Final

from acp_tui.client.sessions.session_history import PastSession
from acp_tui.client.worktrees import BRANCH_PREFIX
from acp_tui.conversation.visible import make_visible_line
from acp_tui.conversation.wording import from_home
from acp_tui.ui.kit.row_list import GAP, MAX_FOLDER_CELLS, MIN_LABEL_CELLS, PickerRow, aligned, short_folder, short_time
from acp_tui.ui.rendering.wrapping import cut, width_cells
from acp_tui.ui.session.status_line import FORKED
from acp_tui.values import dataclass

TITLE_CELLS: Final = 28
"""Cells reserved for a title that isn't shorter."""
MAX_WHEN_CELLS: Final = 16
MAX_AGENT_CELLS: Final = 14
BRIEF_CELLS: Final = 6
"""Of an agent's name and of the time with little room."""


NEEDS_YOU: Final = "Needs you"
WORKING: Final = "Working"
OPEN: Final = "Open"
HOSTED: Final = "Hosted"
EARLIER: Final = "Earlier"
GROUPS: Final = (NEEDS_YOU, WORKING, OPEN, HOSTED, EARLIER)
"""In the order of the list."""
PINNED: Final = "★ "


LAST: Final = ("prompts", "agent", "when")
"""The columns that all rows have."""
FEWER: Final = (("changes", "folder", "state", *LAST), ("folder", "state", *LAST), ("state", *LAST), LAST)
"""The columns of a row, and what is left of them with less room."""


class OpenMode(Enum):
    """How a session without a tab can be opened. The value is the word in its row."""

    AGENT = ""
    """Its agent may be able to open it."""
    RECORDING = "read-only"
    """It can be read, but not continued."""
    ELSEWHERE = "open elsewhere"
    """Its agent may be able to open it, a second time."""
    NONE = "can't be opened"


@dataclass(frozen=True, slots=True)
class SessionRow:
    """What is known of a session: one in a tab, in a host, in an agent, or on disk."""

    key: str
    """Distinguishes it from all others, as long as it stays where it is."""
    title: str
    """"" for a tab whose session has none."""
    group: str
    past: PastSession | None
    """The session apart from its place; None in a tab that has none yet."""
    agent: str
    folder: Path
    when: float | None
    """When something happened last, in seconds since the epoch."""
    branch: str = ""
    """The folder's, if it tells more than the folder."""
    changes: str = ""
    """How many lines were added and removed in the folder."""
    mark: str = ""
    """Before the title: the tab's number, and its state."""
    state: str = ""
    last: str = ""
    """What was asked, done, or said last."""
    why: str = ""
    """Why it can't be continued, or where it is open."""
    prompts: int = 0
    """How many it has, if it's in a tab."""
    is_tab: bool = False
    is_current: bool = False

    @property
    def is_pinned(self) -> bool:
        return self.past is not None and self.past.is_pinned

    @property
    def is_archived(self) -> bool:
        return self.past is not None and self.past.is_archived

    @property
    def can_be_hidden(self) -> bool:
        """Whether it's left out with the archived sessions: never what is open here or has to be looked at."""
        return self.is_archived and not (self.is_tab or self.group == NEEDS_YOU)


def row_of(past: PastSession, way: OpenMode = OpenMode.AGENT, why: str = "") -> SessionRow:
    """A session without a tab, how it can be opened, and why its agent can't do that."""
    return SessionRow(
        past.key,
        past.title or past.session_id,
        {"needs you": NEEDS_YOU, "working": WORKING}.get(past.doing, EARLIER),
        past,
        f"{FORKED} {past.shown_agent}" if past.is_fork else past.shown_agent,
        past.cwd,
        past.last_at,
        past.branch,
        state=way.value or past.doing,
        why=why,
    )


def in_order(rows: Iterable[SessionRow]) -> list[SessionRow]:
    """The rows group by group, pinned ones first."""
    return sorted(rows, key=lambda row: (GROUPS.index(row.group), not row.is_pinned))


def session_rows(
    rows: Iterable[SessionRow],
    *,
    here: Path | None,
    now: datetime,
    cells: int,
    is_low: bool = False,
    kept: Container[str] = (),
) -> list[PickerRow[str]]:
    """A row for each session, with its facts in columns. The folder is shown only if it isn't `here`.

    A row has `cells` cells. What only some rows have comes first: titles have the room that is left there, and at least
    a part of the row. What there is no room for stands before the row's last line, below it. On a low screen, a row has
    one line. Those `kept` aren't left out, even if they're archived.
    """
    rows = list(rows)
    times = [_local_time(row.when) for row in rows]
    titles = [f"{PINNED * row.is_pinned}{make_visible_line(row.title or row.agent)}" for row in rows]
    labels = [" ".join(filter(None, (row.mark, title))) for row, title in zip(rows, titles, strict=True)]
    rooms = [cells - len(GAP) - min(width_cells(label[:TITLE_CELLS]), TITLE_CELLS) for label in labels]
    columns = {
        "changes": [row.changes for row in rows],
        "folder": [_place(row, here) for row in rows],
        "state": ["archived" if row.is_archived else row.state or _draft(row) for row in rows],
        "prompts": [_prompts(row) for row in rows],
        "agent": [cut(make_visible_line(row.agent), MAX_AGENT_CELLS) for row in rows],
        "when": [_when(row, time, now) for row, time in zip(rows, times, strict=True)],
    }
    columns = {name: aligned(texts) for name, texts in columns.items() if any(texts)}
    if any(width_cells(_aside(columns, at, FEWER[1])) > room for at, room in enumerate(rooms)):
        columns.pop("prompts", None)
    if any(width_cells(_aside(columns, at, LAST)) > room for at, room in enumerate(rooms)):
        if len({row.agent for row in rows} - {""}) < 2:
            columns.pop("agent", None)
        else:
            for name, more in (("agent", r"(?<=\w) .*"), ("when", rf"just | ago|{now.year}-")):
                texts = [cut(re.sub(more, "", text).rstrip(), BRIEF_CELLS) for text in columns.get(name, ())]
                columns |= {name: aligned(texts)} if texts else {}
    shown = [
        next((names for names in FEWER if width_cells(_aside(columns, at, names)) <= room), LAST)
        for at, room in enumerate(rooms)
    ]
    asides = [_aside(columns, at, names) for at, names in enumerate(shown)]
    rooms = [cells - len(GAP) - width_cells(f"{row.mark} {aside}") for row, aside in zip(rows, asides, strict=True)]
    places = ["" if "folder" in names else _place(row, here) for row, names in zip(rows, shown, strict=True)]
    told = _told_apart(titles, rooms, places) if cells else titles
    belows = [
        " · ".join(filter(None, (place, row.changes * ("changes" not in names), row.last)))
        * bool(row.last and not is_low)
        for row, place, names in zip(rows, places, shown, strict=True)
    ]
    return [
        PickerRow(
            row.key,
            " ".join(filter(None, (row.mark, title))),
            _rest(row, time, {*columns.keys() & names, *(("last", "changes") if below else ())}),
            row.group,
            row.is_current,
            aside=aside,
            is_rare=row.can_be_hidden and row.key not in kept,
            below=below,
            other_words=f"{row.title} {row.agent} {row.last}",
        )
        for row, title, time, names, aside, below in zip(rows, told, times, shown, asides, belows, strict=True)
    ]


def _told_apart(titles: Sequence[str], rooms: Sequence[int], places: Sequence[str]) -> list[str]:
    """The titles; where some would look the same in their rooms, with what differs: the place, or else the end."""
    told, twins = list(titles), dict[str, list[int]]()
    for at, title in enumerate(titles):
        twins.setdefault(title if cut(title, rooms[at]) == title else title[:TITLE_CELLS], []).append(at)
    for same in twins.values():
        if len({places[at] for at in same}) > 1:
            for at in same:
                place = places[at] and f" · {places[at]}"
                room = rooms[at] - width_cells(place)
                if room >= min(width_cells(titles[at][:MIN_LABEL_CELLS]), MIN_LABEL_CELLS):
                    told[at] = cut(titles[at], room) + place
        else:
            shared = os.path.commonprefix([titles[at] for at in same]).rfind(" ") + 1  # noqa: RUF071 - no paths
            for at in same if shared and len({titles[at] for at in same}) > 1 else ():
                told[at] = f"…{titles[at][shared:]}"
    return told


def _aside(columns: Mapping[str, Sequence[str]], at: int, names: Collection[str]) -> str:
    """The row's facts in these columns, the last ones; the title has the room of what is empty before them."""
    return GAP.join(texts[at] for name, texts in columns.items() if name in names).lstrip() or " " * bool(columns)


def _prompts(row: SessionRow) -> str:
    recorded = row.past.recorded if row.past is not None else None
    count = max(row.prompts, recorded.prompts if recorded is not None else 0)
    return f"{count} prompt{'s' * (count != 1)}" if count else ""


def _draft(row: SessionRow) -> str:
    return "draft" if row.past is not None and row.past.has_draft else ""


def _place(row: SessionRow, here: Path | None) -> str:
    if row.branch and row.folder != here:
        return cut(make_visible_line(row.branch.removeprefix(BRANCH_PREFIX)), MAX_FOLDER_CELLS)
    return short_folder(row.folder, here)


def _when(row: SessionRow, when: datetime | None, now: datetime) -> str:
    if when is not None:
        return short_time(when, now)
    return cut(make_visible_line(row.past.told_time), MAX_WHEN_CELLS) if row.past is not None else ""


def _rest(row: SessionRow, when: datetime | None, shown: Collection[str]) -> str:
    """What is known of a session and not shown in its row, in one line, starting with what matters most."""
    past, is_elsewhere = row.past, row.state == OpenMode.ELSEWHERE.value
    ways = (OpenMode.RECORDING.value, OpenMode.NONE.value)
    return " · ".join(
        filter(
            None,
            (
                f"{row.state}: {row.why}" if row.why and row.state in ways else row.why,
                row.last * ("last" not in shown),
                when.replace(tzinfo=None).isoformat(" ", "minutes") if when else past.told_time if past else "",
                "archived" * row.is_archived,
                _draft(row),
                f"{past.doing}, says its agent"
                if past is not None and past.doing
                else row.state * (not is_elsewhere and row.state not in ways),
                _prompts(row) * ("prompts" not in shown),
                row.changes * ("changes" not in shown),
                row.branch,
                from_home(row.folder),
                past.session_id if past is not None else "",
                (shlex.join(past.command) if past is not None else "") or row.agent,
            ),
        )
    )


def _local_time(seconds: float | None) -> datetime | None:
    try:
        return None if seconds is None else datetime.fromtimestamp(seconds).astimezone()
    except (ValueError, OverflowError, OSError):  # years that the system's clock doesn't support
        return None
