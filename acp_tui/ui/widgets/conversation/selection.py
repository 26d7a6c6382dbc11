"""What is selected in a conversation: from one place to another, whether it is in view or not. It draws nothing."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple


class Place(NamedTuple):
    """A cell of the conversation; places are ordered as one reads."""

    entry: int
    row: int
    """Of the entry's lines as they are drawn now."""
    cell: int


@dataclass(frozen=True, slots=True)
class Selection:
    """From `anchor`, where it began, to `end`, where the mouse or the cursor is; the last cell is not part of it."""

    anchor: Place
    end: Place

    @property
    def first(self) -> Place:
        """Whichever stands above."""
        return min(self.anchor, self.end)

    @property
    def last(self) -> Place:
        """Whichever stands below."""
        return max(self.anchor, self.end)

    @property
    def is_empty(self) -> bool:
        """Whether nothing is selected (yet)."""
        return self.anchor == self.end

    def to(self, place: Place) -> Selection:
        """The same beginning, another end."""
        return replace(self, end=place)

    def cells(self, entry: int, row: int, length: int) -> range:
        """Which cells of this row, of `length` cells, are selected."""
        first, last = self.first, self.last
        if not (first.entry, first.row) <= (entry, row) <= (last.entry, last.row):
            return range(0)
        start = first.cell if (entry, row) == (first.entry, first.row) else 0
        stop = last.cell if (entry, row) == (last.entry, last.row) else length
        return range(min(start, length), min(stop, length))


def word_at(text: str, cell_starts: list[int], cell: int) -> range:
    """The cells of the word (or of the run of other characters) at `cell`; `cell_starts` has where each begins.

    `cell_starts` has one more item than `text`: where the text ends.
    """
    if not text or cell >= cell_starts[-1]:
        return range(cell, cell)
    at = max(index for index, start in enumerate(cell_starts[:-1]) if start <= cell)
    kind = _kind(text[at])
    start = stop = at
    while start > 0 and _kind(text[start - 1]) == kind:
        start -= 1
    while stop < len(text) and _kind(text[stop]) == kind:
        stop += 1
    return range(cell_starts[start], cell_starts[stop])


def _kind(character: str) -> str:
    # Paths, options and identifiers are one word, as in most terminals.
    if character.isalnum() or character in "_-./~@:+%=\u0301":
        return "word"
    return "space" if character.isspace() else "mark"
