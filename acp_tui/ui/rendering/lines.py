"""What drawn lines are made of: lines made when they are looked at, and segments that are no part of the text."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from typing import Final, TypeAlias, overload

from rich.segment import Segment
from textual.strip import Strip


class Gutter(Segment):
    """Stands beside the text and is not part of it: an indentation, the bar of a quote, a line number."""

    __slots__ = ()


class Joint(Segment):
    """Begins a line that goes on with the text of the line above, which was broken at a space; of no width."""

    __slots__ = ()


class Cut(Joint):
    """The same, where a word was cut."""

    __slots__ = ()


JOINT: Final = Joint("")
CUT: Final = Cut("")


class Lines(Sequence[Strip]):
    """Lines by their index, or by a slice as a list."""

    __slots__ = ()

    @overload
    def __getitem__(self, index: int) -> Strip: ...

    @overload
    def __getitem__(self, index: slice) -> list[Strip]: ...

    def __getitem__(self, index: int | slice) -> Strip | list[Strip]:
        if isinstance(index, slice):
            return self._some(range(*index.indices(len(self))))
        return self._line(range(len(self))[index])

    @abstractmethod
    def _line(self, at: int) -> Strip:
        """The line at this index, which is one of those that there are."""

    def _some(self, indexes: range) -> list[Strip]:
        """These lines; for whom it is cheaper to make them together."""
        return [self._line(at) for at in indexes]


Row: TypeAlias = Strip | Callable[[], Strip]
"""A line that is drawn, or the way to draw it."""

BLANK: Final = Strip((), 0)


class Rows(Lines):
    """Strips of natural length, never wider than asked for; a lazy one is drawn once and then stays the same object."""

    __slots__ = ("_rows",)

    def __init__(self, rows: Iterable[Row] = ()) -> None:
        self._rows: list[Row] = list(rows)

    def __len__(self) -> int:
        return len(self._rows)

    def extend(self, rows: Iterable[Row]) -> None:
        """Put lines behind those that are there."""
        self._rows.extend(rows)

    def truncate(self, length: int) -> None:
        """Keep the first `length` lines."""
        del self._rows[length:]

    def _line(self, at: int) -> Strip:
        row = self._rows[at]
        if not isinstance(row, Strip):
            row = self._rows[at] = row()
        return row
