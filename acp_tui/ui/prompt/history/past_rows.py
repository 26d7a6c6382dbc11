"""Past prompts as rows: a line of each, how many more it has, when it was sent and in which project."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Final

from rich.segment import Segment
from rich.style import Style

from acp_tui.client.prompts import PastPrompt, Query
from acp_tui.conversation.visible import make_visible_line
from acp_tui.ui.kit.row_list import GAP, MIN_LABEL_CELLS, PickerRow, RowList, cut, short_folder, short_time
from acp_tui.ui.rendering.palette import Palette
from acp_tui.ui.rendering.wrapping import width_cells

MOST_ROWS: Final = 8
ROWS_AROUND: Final = 14
"""So many of the screen stay for the conversation, the prompt and the rest."""
BEFORE_MATCH: Final = 8
"""So much of a line is shown before a match that would else be out of sight."""


class PastRows(RowList):
    """The latest at the lower end, next to the prompt."""

    def __init__(self) -> None:
        super().__init__(rows_around=ROWS_AROUND, most_rows=MOST_ROWS)
        self._query = Query("")
        self._here: Path | None = None
        self._now = datetime.now().astimezone()

    def show_prompts(self, found: Sequence[PastPrompt], query: Query, here: Path | None) -> None:
        """Show these, the latest first in `found`; a project is named where it is not `here`, None for nowhere."""
        self._query, self._here = query, here
        self._now = datetime.now().astimezone()
        rows = [PickerRow(prompt, prompt.text) for prompt in reversed(found)]
        self.show(rows, len(rows) - 1)

    def _row_segments(self, index: int, width: int, palette: Palette) -> list[Segment]:
        prompt: PastPrompt = self.rows[index].value
        lines = prompt.text.strip().count("\n")
        more = f" + {lines} line{'s' if lines > 1 else ''}" if lines else ""
        room = width - 2 - width_cells(more)
        aside = self._aside(prompt, room)
        room -= width_cells(aside)
        label = shown_line(prompt.text.strip(), self._query.pattern, room)
        is_at = index == self.cursor
        # In a terminal's own colours, muted text cannot be read on the cursor's ground.
        text, muted = (
            (palette.text + Style(bold=True), palette.text) if is_at else (palette.text, palette.muted)
        )
        return [
            Segment("❯ " if is_at else "  ", palette.accent),
            *_marked(label, self._query.pattern, text, palette.match),
            Segment(more, muted),
            Segment(" " * (room - width_cells(label)) + aside, muted),
        ]

    def _aside(self, prompt: PastPrompt, room: int) -> str:
        """When and where, as far as there is room: where first."""
        folder = short_folder(Path(prompt.folder), self._here)
        when = _when(prompt.at, self._now)
        for parts in ((folder, when), (folder,), (when,)):
            aside = "".join(GAP + part for part in parts if part)
            if room - width_cells(aside) >= MIN_LABEL_CELLS:
                return aside
        return ""


def _when(at: str, now: datetime) -> str:
    """How long ago; "" where the file says something that is no time."""
    try:
        return short_time(datetime.fromisoformat(at).astimezone(), now)
    except (ValueError, OverflowError, OSError):
        return ""


def shown_line(text: str, pattern: re.Pattern[str] | None, width: int) -> str:
    """The first line of `text` in so many cells; where no match is in it, the one that has a match behind its start."""
    first = make_visible_line(text.partition("\n")[0])
    label = cut(first, max(width, 4))
    match = pattern.search(text) if pattern is not None else None
    if match is None or pattern is None or pattern.search(label):
        return label
    before = min(BEFORE_MATCH, width // 6)
    begin = max(text.rfind("\n", 0, match.start()) + 1, match.start() - before)
    found = make_visible_line(text[begin:].partition("\n")[0].strip())
    start = cut(first, max(width // 3, 4))
    return cut(f"{start.removesuffix('…')}… {found}", max(width, 4))


def _marked(label: str, pattern: re.Pattern[str] | None, style: Style, match_style: Style) -> list[Segment]:
    """The label with what was looked for marked in it."""
    segments, at = [], 0
    for match in pattern.finditer(label) if pattern is not None else ():
        segments += [Segment(label[at : match.start()], style), Segment(match[0], style + match_style)]
        at = match.end()
    return [*segments, Segment(label[at:], style)]
