"""Owns the lines of one drawn text, some of them drawn only when they are first looked at; lays nothing out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final, TypeAlias, overload

from textual.strip import Strip

Row: TypeAlias = Strip | Callable[[], Strip]
"""A line that is drawn, or the way to draw it."""

BLANK: Final = Strip((), 0)


class Rows(Sequence[Strip]):
    """Strips of natural length, never wider than asked for; a lazy one is drawn once and then stays the same object."""

    __slots__ = ("_rows",)

    def __init__(self, rows: Iterable[Row] = ()) -> None:
        self._rows: list[Row] = list(rows)

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, index: int) -> Strip: ...

    @overload
    def __getitem__(self, index: slice) -> list[Strip]: ...

    def __getitem__(self, index: int | slice) -> Strip | list[Strip]:
        if isinstance(index, slice):
            return [self._strip(at) for at in range(*index.indices(len(self._rows)))]
        return self._strip(index)

    def extend(self, rows: Iterable[Row]) -> None:
        """Put lines behind those that are there."""
        self._rows.extend(rows)

    def truncate(self, length: int) -> None:
        """Keep the first `length` lines."""
        del self._rows[length:]

    def _strip(self, index: int) -> Strip:
        row = self._rows[index]
        if not isinstance(row, Strip):
            row = self._rows[index] = row()
        return row
