"""Owns what stands left of the text: the bars of quotes, the markers of list items; not what is quoted or listed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from rich.segment import Segment
from rich.style import Style

from acp_tui.ui.rendering.marks import Gutter
from acp_tui.ui.rendering.wrapping import width_cells

MIN_TEXT_CELLS: Final = 8
"""Where less would be left for the text, deeper levels are not indented any more."""
BAR: Final = "│ "


@dataclass(slots=True)
class _Level:
    """A quote or a list item that is open."""

    indent: tuple[Segment, ...]
    marker: tuple[Segment, ...] | None
    """Stands in place of `indent` in the next row; None once it is drawn, and in a quote."""
    cells: int
    is_quote: bool
    empty: bool = True


class Margin:
    """The open quotes and list items, outermost first."""

    def __init__(self, width: int) -> None:
        self._width = width
        self._levels: list[_Level] = []
        self._indent: tuple[Segment, ...] = ()
        self.cells = 0
        self._marker_due = False

    @property
    def room(self) -> int:
        """How many cells are left for the text."""
        return max(self._width - self.cells, 1)

    @property
    def in_quote(self) -> bool:
        return any(level.is_quote for level in self._levels)

    @property
    def wants_task_marker(self) -> bool:
        """Whether the next text is the first of a list item."""
        return bool(self._levels) and self._levels[-1].marker is not None

    def begin_block(self) -> bool:
        """Note that a block begins; True where it follows another in the same quote or list item."""
        follows = bool(self._levels) and not self._levels[-1].empty
        for level in reversed(self._levels):
            if not level.empty:
                break
            level.empty = False
        return follows

    def open_quote(self, style: Style) -> None:
        self._open(_Level((Gutter(BAR, style),), None, len(BAR), is_quote=True))

    def open_item(self, marker: str, style: Style) -> None:
        cells = width_cells(marker)
        self._open(_Level((Gutter(" " * cells),), (Segment(marker, style),), cells, is_quote=False))

    def replace_marker(self, marker: str, style: Style) -> None:
        """Give the innermost item another marker of the same width."""
        self._levels[-1].marker = (Segment(marker, style),)

    @property
    def is_unseen(self) -> bool:
        """Whether the innermost level is a quote or item that nothing was drawn for."""
        return self._levels[-1].empty and (self._levels[-1].is_quote or self._levels[-1].marker is not None)

    def close(self) -> None:
        """Close the innermost level."""
        self._levels.pop()
        self._settle()

    def take(self) -> tuple[Segment, ...]:
        """What stands left of the next row; a list marker is given out once."""
        if not self._marker_due:
            return self._indent
        taken = tuple(segment for level in self._levels for segment in level.marker or level.indent)
        for level in self._levels:
            level.marker = None
        self._marker_due = False
        return taken

    def _open(self, level: _Level) -> None:
        if self.room - level.cells < min(MIN_TEXT_CELLS, self._width // 2):
            level.indent, level.marker, level.cells = (), None, 0
        self._levels.append(level)
        self._settle()

    def _settle(self) -> None:
        self._indent = tuple(segment for level in self._levels for segment in level.indent)
        self.cells = sum(level.cells for level in self._levels)
        self._marker_due = any(level.marker for level in self._levels)
