"""Sequences of lines that are made when they are looked at, of which there may be many; how one is made, each knows."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import overload

from textual.strip import Strip


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
