"""Which lines of a column are in view: scrolling and following the end. Draws nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from acp_tui.ui.conversation.column import Column
from acp_tui.ui.kit.scroll_bar import handle_rows


class Scrolling:
    """A window on a column; it follows the end until the user scrolls up."""

    def __init__(self, column: Column, height: Callable[[], int], on_following: Callable[[], None]) -> None:
        """`height` returns the rows of the window; `on_following` is called when `is_following` changes."""
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
        """The first line in view when the end is."""
        return max(0, self._column.heights.total - self._height())

    @property
    def thumb(self) -> range:
        """The rows of the scroll bar's handle."""
        return handle_rows(self._column.heights.total, self._height(), self.top_line)

    @property
    def new_entries(self) -> int:
        """Entries below, added since the window followed the end."""
        return 0 if self.is_following else len(self._column.drawings) - self._seen_entries

    def note_length(self) -> None:
        """Entries may have been added."""
        if self.is_following:
            self._seen_entries = len(self._column.drawings)
        elif self.new_entries:
            self._on_following()

    @contextmanager
    def standing_still(self) -> Iterator[None]:
        """Keep what is on the first row there, even if something above it grows.

        Until the next frame, the mouse finds what the screen still shows.
        """
        heights = self._column.heights
        place = heights.at(self.top_line)
        yield
        if place is not None:
            index, row = place
            self.top_line = heights.top(index) + min(row, heights.height(index))

    def measure_near(self) -> None:
        """Replace guessed heights in view, and in a window above and below, where the next key may lead."""
        while True:
            self.top_line = self.max_top_line if self.is_following else min(self.top_line, self.max_top_line)
            with self.standing_still():
                has_grown = self._measure_around(self.top_line)
            if not has_grown:
                return

    def _measure_around(self, line: int) -> bool:
        """Returns False if no height was a guess in a window at this line, in one above, and in one below."""
        height = self._height()
        return self._column.measure_guesses(range(line - height, line + 2 * height))

    def to_line(self, line: int) -> None:
        """Put this line on the first row, if enough is below it. At the end, follow; above it, do not."""
        self.is_following, was_following = False, self.is_following
        self.top_line = max(0, line)
        self.measure_near()
        self.is_following = was_following
        self.follow(self.top_line >= self.max_top_line)

    def to_row(self, index: int, row: int, above: int = 0) -> None:
        """Put this row of an entry below `above` others, if enough is around it."""
        while True:
            line = self._column.heights.top(index) + row - above
            if not self._measure_around(line):
                break
        self.to_line(line)

    def follow(self, is_following: bool = True) -> None:
        """Follow the end from now on, or stop following it."""
        if self.is_following != is_following:
            self.is_following = is_following
            self._seen_entries = len(self._column.drawings)
            self._on_following()
