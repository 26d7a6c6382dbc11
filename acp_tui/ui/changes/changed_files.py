"""A changed file as one row of a list, and its details. Who changed it isn't known."""

from __future__ import annotations

import stat
from collections.abc import Sequence
from typing import Final

from rich.segment import Segment
from rich.style import Style

from acp_tui.client.changes import ChangedPath, FileState
from acp_tui.client.workspace.runs_later import BUILD_FILE, is_build_file
from acp_tui.conversation.visible import make_visible_line
from acp_tui.conversation.visible.confusables import make_visible_path
from acp_tui.ui.rendering.palette import Palette
from acp_tui.ui.rendering.wrapping import cut, width_cells

LETTERS: Final = {"added": "A", "modified": "M", "deleted": "D", "mode": "M", "type": "T"}
WORDS: Final = {
    "added": "new",
    "modified": "modified",
    "deleted": "deleted",
    "mode": "permissions changed, same content",
    "type": "no longer the same kind of file",
}
COUNT_CELLS: Final = 14
MIN_PATH_CELLS: Final = 12
GAP: Final = "  "
UNKNOWN: Final = "before unknown"


def change_segments(change: ChangedPath, width: int, palette: Palette, remark: str = "") -> list[Segment]:
    """One row: the letter, the end of the path with a remark, and the counts, or why there are none."""
    style = {"added": palette.success, "deleted": palette.error}.get(change.kind, palette.accent)
    head = Segment(f"{LETTERS[change.kind]}{GAP}", style + Style(bold=True))
    room = width - head.cell_length - len(GAP)
    added, removed = count_words(change)
    removed = f" {removed}" * bool(removed)
    aside = [Segment(added.rjust(COUNT_CELLS - len(removed)), palette.success), Segment(removed, palette.error)]
    if room - _cells(aside) < MIN_PATH_CELLS:
        aside = []
    remark = remark or BUILD_FILE * is_build_file(change.path)
    mark = f"{GAP}{remark}" if remark else ""
    path = cut_left(make_visible_path(change.path), room - _cells(aside))
    mark = mark if width_cells(path + mark) <= room - _cells(aside) else ""
    if note := note_in_place_of_counts(change):
        style = palette.warning if change.before_unknown is not None else palette.muted
        aside = [Segment(cut(note, max(room - width_cells(path + mark), _cells(aside))), style)] if aside else []
    fill = room + len(GAP) - width_cells(path + mark) - _cells(aside)
    return [head, Segment(path, palette.text), Segment(mark, palette.warning), Segment(" " * max(fill, 1)), *aside]


def _cells(segments: Sequence[Segment]) -> int:
    return sum(segment.cell_length for segment in segments)


def count_words(change: ChangedPath) -> tuple[str, str]:
    """The counts of added and removed lines; "" for none, with "~" if they may be too high."""
    about = "~" if change.is_approximate else ""
    return (
        f"+{about}{change.added:,}" if change.added else "",
        f"-{about}{change.removed:,}" if change.removed else "",
    )


def note_in_place_of_counts(change: ChangedPath) -> str:
    """The note shown if lines aren't counted; "" if they are."""
    if change.before_unknown is not None:
        return f"{UNKNOWN}: {make_visible_line(change.before_unknown)}"
    if change.is_binary:
        return "binary"
    if change.kind in ("mode", "type"):
        return "permissions" if change.kind == "mode" else "kind of file"
    return "not compared" if change.added is None else ""


def state_words(state: FileState | None) -> str:
    if state is None:
        return "nothing"
    if state.data is None:
        return f"{state.size:,} bytes, and nothing more is known: {make_visible_line(state.unknown)}"
    if state.is_link:
        return f"a link to {make_visible_path(state.data.decode(errors='surrogateescape'))}"
    return f"a file of {state.size:,} bytes with the permissions {stat.S_IMODE(state.mode):o}"


def cut_left(text: str, cells: int) -> str:
    """The end of a text at this width, with an ellipsis if it was cut."""
    if width_cells(text) <= cells:
        return text
    tail = text[-4 * cells :]  # measuring takes time in proportion to the length
    while tail and width_cells(f"…{tail}") > cells:
        tail = tail[1:]
    return f"…{tail}"
