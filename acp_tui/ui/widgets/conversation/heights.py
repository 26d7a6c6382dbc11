"""Where each entry of a long column begins; knows heights only."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from itertools import accumulate


class Heights:
    """The heights of entries, one below the other, with an empty line after each."""

    def __init__(self) -> None:
        self._heights = array("q")
        # An entry without lines (a message that is not for the user) takes no empty line either.
        self._steps = array("q")
        self._tops = array("q")
        # Tops are right up to here; changes are mostly at the end, so little is summed again.
        self._valid = 0

    def __len__(self) -> int:
        return len(self._heights)

    def append(self, height: int) -> None:
        """Add an entry at the end."""
        self._heights.append(height)
        self._steps.append(_step(height))
        self._tops.append(0)

    def set(self, index: int, height: int) -> bool:
        """Give an entry another height; False where it had that."""
        if self._heights[index] == height:
            return False
        self._heights[index] = height
        self._steps[index] = _step(height)
        self._valid = min(self._valid, index + 1)
        return True

    def height(self, index: int) -> int:
        """Lines of an entry, without the empty one after it."""
        return self._heights[index]

    @property
    def total(self) -> int:
        """Lines of everything."""
        return self.top(len(self) - 1) + self._heights[-1] if self._heights else 0

    def top(self, index: int) -> int:
        """The line on which an entry begins, from 0."""
        self._sum_up(index)
        return self._tops[index]

    def at(self, line: int) -> tuple[int, int] | None:
        """The entry on a line and the row in it; the row is the entry's height on the empty line after it."""
        if not 0 <= line < self.total:
            return None
        index = bisect_right(self._tops, line) - 1
        return index, line - self._tops[index]

    def between(self, lines: range) -> range:
        """The entries on these lines, some of which may be above the first line or below the last."""
        if not self._heights:
            return range(0)
        self._sum_up(len(self) - 1)
        return range(max(bisect_right(self._tops, lines.start) - 1, 0), bisect_left(self._tops, lines.stop))

    def _sum_up(self, index: int) -> None:
        if self._valid > index:
            return
        # All of the rest at once: what comes after is asked for next, and this loop runs in C.
        first = max(self._valid - 1, 0)
        self._tops[first:] = array("q", accumulate(self._steps[first:-1], initial=self._tops[first]))
        self._valid = len(self)


def _step(height: int) -> int:
    return height + 1 if height else 0
