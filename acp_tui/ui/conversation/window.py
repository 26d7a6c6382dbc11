"""Which lines of a column are in view, and the strips that are drawn for them.

A reused strip has its escape sequences ready; making them is most of a frame's cost. The most recent ones are kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final, TypeAlias

from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.filter import LineFilter
from textual.strip import Strip

from acp_tui.ui.conversation.column import Column
from acp_tui.ui.kit.line_view import handle_rows


class Scrolling:
    """A window on a column. It follows the end until the user scrolls up."""

    def __init__(self, column: Column, height: Callable[[], int], on_following: Callable[[], None]) -> None:
        """`height` returns the rows of the window. `on_following` is called when `is_following` changes."""
        self._column = column
        self._height = height
        self._on_following = on_following
        self.top_line = 0
        """The line of the column on the first row."""
        self.is_following = True
        self._seen_entries = 0

    def begin(self) -> None:
        """Follow the end of another conversation."""
        self.is_following = True

    @property
    def max_top_line(self) -> int:
        return max(0, self._column.heights.total - self._height())

    @property
    def thumb(self) -> range:
        return handle_rows(self._column.heights.total, self._height(), self.top_line)

    @property
    def new_entries(self) -> int:
        """How many entries were added below since the window stopped following the end."""
        return 0 if self.is_following else len(self._column.drawings) - self._seen_entries

    def note_length(self) -> None:
        """Update the number of new entries: some may have been added."""
        if self.is_following:
            self._seen_entries = len(self._column.drawings)
        elif self.new_entries:
            self._on_following()

    @contextmanager
    def standing_still(self) -> Iterator[None]:
        """Keep the first row in place, even if something above it grows.

        Until the next frame, the mouse finds what the screen still shows.
        """
        heights = self._column.heights
        self._column.anchor = heights.at(self.top_line)
        yield
        if self._column.anchor is not None:
            index, row = self._column.anchor
            self.top_line = heights.top(index) + min(row, heights.height(index))
        self._column.anchor = None

    def measure_near(self) -> None:
        """Replace guessed heights in the window, and one window above and below it, where the next key may lead."""
        while True:
            self.top_line = self.max_top_line if self.is_following else min(self.top_line, self.max_top_line)
            with self.standing_still():
                has_grown = self._measure_around(self.top_line)
            if not has_grown:
                return

    def _measure_around(self, line: int) -> bool:
        """Measure the window at this line, one above, and one below. Returns False if no height was a guess."""
        height = self._height()
        if self._column.measure_guesses(range(line - height, line + 2 * height)):
            return True
        return self._column.measure_lines(range(line, line + height))

    def to_line(self, line: int) -> None:
        """Put this line on the first row, if there are enough lines below it. Follow only if that shows the end."""
        self.is_following, was_following = False, self.is_following
        self.top_line = max(0, line)
        self.measure_near()
        self.is_following = was_following
        self.follow(self.top_line >= self.max_top_line)

    def to_row(self, index: int, row: int, above: int = 0) -> None:
        """Put this row of an entry below `above` others, if there are enough lines around it."""
        while True:
            line = self._column.heights.top(index) + row - above
            if not self._measure_around(line):
                break
        self.to_line(line)

    def follow(self, is_following: bool = True) -> None:
        if self.is_following != is_following:
            self.is_following = is_following
            self._seen_entries = len(self._column.drawings)
            self._on_following()


MAX_KEPT: Final = 400
"""At least half a dozen screens. A finished strip takes about 2 KB."""

_Key: TypeAlias = tuple[int, int, Style | None, Style | None, Style | None]


class LineFinisher:
    """Pads lines, puts them on the background, filters their colors, and adds the scroll bar's cell."""

    def __init__(self) -> None:
        self._background = Style.null()
        self._filters: Sequence[LineFilter] = ()
        self._color = Color(0, 0, 0)
        # The source line is kept with its strip: while it exists, no other line can have its ID.
        self._finished: dict[_Key, tuple[Strip | None, Strip]] = {}

    def use(self, background: Style, filters: Sequence[LineFilter], color: Color) -> None:
        """Use these from now on. `color` is the background color, which some filters need."""
        if (background, filters, color) != (self._background, self._filters, self._color):
            self._background, self._filters, self._color = background, filters, color
            self._finished.clear()

    def finish(
        self, line: Strip, width: int, thumb: Style | None, marker: Style | None, ground: Style | None = None
    ) -> Strip:
        """`line` in `width` cells, plus one for the scroll bar. A `marker` is drawn over the first cell.

        `ground` is the entry's own background, if it has one.
        """
        key = (id(line), width, thumb, marker, ground)
        found = self._finished.get(key)
        if found is None:
            content = line.adjust_cell_length(width)
            if marker is not None:
                content = Strip([Segment("▎", marker), *content.crop(1, width)], width)
            found = self._keep(key, line, self._finish(content, width, thumb, ground))
        return found[1]

    def blank(self, width: int, thumb: Style | None) -> Strip:
        key = (0, width, thumb, None, None)
        found = self._finished.get(key)
        if found is None:
            found = self._keep(key, None, self._finish(Strip([Segment(" " * width)], width), width, thumb))
        return found[1]

    def _finish(self, content: Strip, width: int, thumb: Style | None, ground: Style | None = None) -> Strip:
        if ground is not None:
            content = content.apply_style(ground)
        bar = Segment(" ") if thumb is None else Segment("▐", thumb)
        strip = Strip([*content, bar], width + 1).apply_style(self._background)
        for line_filter in self._filters:
            strip = strip.apply_filter(line_filter, self._color)
        return strip

    def _keep(self, key: _Key, line: Strip | None, strip: Strip) -> tuple[Strip | None, Strip]:
        if len(self._finished) >= MAX_KEPT:
            # Drop the oldest half: what is in view is finished again within a frame.
            for old in list(self._finished)[: MAX_KEPT // 2]:
                del self._finished[old]
        kept = self._finished[key] = (line, strip)
        return kept
