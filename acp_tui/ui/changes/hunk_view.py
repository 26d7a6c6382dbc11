"""The lines of a diff, with a bar before the hunk that keys act on.

What the keys do to it is the business of whoever shows it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Final

from rich.segment import Segment
from rich.style import Style
from textual.message import Message
from textual.strip import Strip

from acp_tui.ui.kit.strip_view import StripView
from acp_tui.ui.rendering.lines import Lines

BAR: Final = "▌ "


class HunkView(StripView):
    """Scrolls by lines, pages and hunks. The hunk with the bar has a line in view, however it was scrolled."""

    class Moved(Message):
        """Another hunk has the bar."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's own name for it
        super().__init__(id=id)
        self.hunk = 0
        self._lines: Sequence[Strip] = ()
        self._starts: Sequence[int] = ()
        self._style = Style.null()
        self._height = 1

    def show_hunks(self, lines: Sequence[Strip], starts: Sequence[int], height: int, style: Style) -> None:
        """Show these lines in so many rows, with a bar in this style.

        `starts` is where each hunk begins, and last where they end; empty where there are none.
        """
        self._lines, self._starts, self._height, self._style = lines, starts, height, style
        self._mark(self.hunk)

    def go_to(self, hunk: int) -> None:
        """Bring the nearest hunk there is to the top; the first one with what stands above it."""
        self._mark(hunk)
        self.scroll_to_row(self._starts[self.hunk] if self.hunk else 0)

    def scroll_to_row(self, row: int) -> None:
        """Bring this line to the top, as far as there are lines enough."""
        self.scroll_to(y=row, animate=False, force=True)

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Give the bar to a hunk that can be seen."""
        super().watch_scroll_y(old_value, new_value)
        top, rows = int(new_value), self._rows()
        if rows and not (rows.start < top + self._height and rows.stop > top):
            self._mark(bisect_right(self._starts, top) - 1)

    def _mark(self, hunk: int) -> None:
        """Give the bar to the nearest hunk there is."""
        before, self.hunk = self.hunk, max(0, min(hunk, len(self._starts) - 2))
        self.show(_Barred(self._lines, self._rows(), self._style), self._height)
        if self.hunk != before:
            self.post_message(self.Moved())

    def _rows(self) -> range:
        return range(*self._starts[self.hunk : self.hunk + 2]) if self._starts else range(0)


class _Barred(Lines):
    """Lines with a bar before some of them, and as much room before the others."""

    def __init__(self, lines: Sequence[Strip], barred: range, style: Style) -> None:
        self._lines = lines
        self._barred = barred
        self._bar = Segment(BAR, style)
        self._blank = Segment(" " * len(BAR))

    def __len__(self) -> int:
        return len(self._lines)

    def _line(self, at: int) -> Strip:
        line = self._lines[at]
        return Strip([self._bar if at in self._barred else self._blank, *line], line.cell_length + len(BAR))
