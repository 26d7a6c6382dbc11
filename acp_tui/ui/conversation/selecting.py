"""Selects cells, words, and entries, in view or not, and copies the selected text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Final, NamedTuple

from textual.strip import Strip

from acp_tui.ui.conversation.column import Column
from acp_tui.ui.rendering.wrapping import Cut, Gutter, Joint, width_cells
from acp_tui.values import dataclass


class CopiedPiece(NamedTuple):
    """A line, and the cells of it to copy."""

    line: Strip
    cells: range


def text_of(pieces: Iterable[CopiedPiece]) -> str:
    """The text of these consecutive lines, without spaces at the ends of lines."""
    lines: list[str] = []
    for line, cells in pieces:
        joint, text = _read(line, cells)
        if joint is None or not lines:
            lines.append(text)
        elif isinstance(joint, Cut):
            lines[-1] += text
        else:
            lines[-1] = f"{lines[-1].rstrip()} {text}"
    return "\n".join(line.rstrip() for line in lines)


def _read(line: Strip, cells: range) -> tuple[Joint | None, str]:
    """How the line continues the one above, and its text in these cells."""
    joint: Joint | None = None
    parts: list[str] = []
    at = 0
    for segment in line:
        width = width_cells(segment.text)
        if isinstance(segment, Joint):
            joint = segment
        elif not isinstance(segment, Gutter):
            parts.append(_cut(segment.text, at, width, cells))
        at += width
    return joint, "".join(parts)


def _cut(text: str, at: int, width: int, cells: range) -> str:
    """The part of `text` in `cells`; `text` starts at cell `at`."""
    if cells.start <= at and at + width <= cells.stop:
        return text
    if at >= cells.stop or at + width <= cells.start:
        return ""
    kept: list[str] = []
    for character in text:
        size = width_cells(character)
        if at >= cells.stop:
            break
        # A wide character is copied if its first cell is in range. A combining character has no cells of its own.
        if at >= cells.start if size else kept:
            kept.append(character)
        at += size
    return "".join(kept)


class CellPosition(NamedTuple):
    """A cell of the conversation. Places are in reading order."""

    entry: int
    row: int
    """Among the entry's lines as they are drawn now."""
    cell: int


@dataclass(frozen=True, slots=True)
class Selection:
    """From `anchor`, where it began, to `end`, where the mouse or the cursor is. The last cell is excluded."""

    anchor: CellPosition
    end: CellPosition

    @property
    def first(self) -> CellPosition:
        return min(self.anchor, self.end)

    @property
    def last(self) -> CellPosition:
        return max(self.anchor, self.end)

    @property
    def is_empty(self) -> bool:
        return self.anchor == self.end

    def to(self, place: CellPosition) -> Selection:
        return replace(self, end=place)

    def cells(self, entry: int, row: int, length: int) -> range:
        """The selected cells of this row, which has `length` cells."""
        first, last = self.first, self.last
        if not (first.entry, first.row) <= (entry, row) <= (last.entry, last.row):
            return range(0)
        start = first.cell if (entry, row) == (first.entry, first.row) else 0
        stop = last.cell if (entry, row) == (last.entry, last.row) else length
        return range(min(start, length), min(stop, length))


def word_at(text: str, cell_starts: list[int], cell: int) -> range:
    """The cells of the word (or run of other characters) at `cell`.

    `cell_starts` has the cell where each character of `text` starts, and one more item: where the text ends.
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
    # Paths, options, and identifiers are one word, as in most terminals.
    if character.isalnum() or character in "_-./~@:+%=\u0301":
        return "word"
    return "space" if character.isspace() else "mark"


BETWEEN_ENTRIES: Final = "\n\n"


class Selecting:
    """Holds the selection of one column. Lines count from the top of the column."""

    def __init__(self, column: Column) -> None:
        self._column = column
        self._selection: Selection | None = None
        self.is_held = False
        """Whether the mouse button is down, so that moving the mouse selects."""

    @property
    def is_empty(self) -> bool:
        return self._selection is None or self._selection.is_empty

    def begin(self, line: int, cell: int) -> None:
        """Handle a press of the button here. Nothing is selected until the mouse moves."""
        place = self._place(line, cell)
        self._selection = None if place is None else Selection(place, place)
        self.is_held = place is not None

    def move(self, line: int, cell: int) -> bool:
        """Extend the selection to the mouse. Returns False if nothing changes."""
        place = self._place(line, cell)
        if not self.is_held or self._selection is None or place is None or place == self._selection.end:
            return False
        self._selection = self._selection.to(place)
        return True

    def release(self) -> None:
        """Handle the release of the button. The selection stays."""
        self.is_held = False

    def clear(self) -> None:
        self._selection, self.is_held = None, False

    def select_word(self, line: int, cell: int) -> None:
        place = self._place(line, cell)
        if place is None:
            return
        lines = self._column.lines(place.entry)
        strip = lines[place.row] if place.row < len(lines) else Strip([])
        text = "".join(segment.text for segment in strip)
        starts = [0]
        for character in text:
            starts.append(starts[-1] + width_cells(character))
        cells = word_at(text, starts, cell)
        self._selection = Selection(place._replace(cell=cells.start), place._replace(cell=cells.stop))

    def select_line(self, line: int) -> None:
        """Select the whole original line, including its wrapped rows."""
        place = self._place(line, 0)
        if place is None:
            return
        lines = self._column.lines(place.entry)
        first = last = place.row
        while first > 0 and _goes_on(lines[first]):
            first -= 1
        while last + 1 < len(lines) and _goes_on(lines[last + 1]):
            last += 1
        end = lines[last].cell_length if last < len(lines) else 0
        self._selection = Selection(CellPosition(place.entry, first, 0), CellPosition(place.entry, last, end))

    def select_all(self) -> None:
        last = len(self._column.drawings) - 1
        if last >= 0:
            self._column.read(last)
            self._selection = Selection(CellPosition(0, 0, 0), CellPosition(last, self._column.heights.height(last), 0))

    def cells(self, entry: int, row: int, length: int) -> range:
        return range(0) if self._selection is None else self._selection.cells(entry, row, length)

    def text(self) -> str:
        """The selected text as it was written: without margins and line breaks from wrapping."""
        if self._selection is None or self._selection.is_empty:
            return ""
        first, last = self._selection.first.entry, self._selection.last.entry
        parts = (text_of(self._pieces(entry)) for entry in range(first, last + 1))
        return BETWEEN_ENTRIES.join(part for part in parts if part.strip("\n"))

    def _pieces(self, entry: int) -> Iterator[CopiedPiece]:
        assert self._selection is not None
        self._column.read(entry)
        lines = self._column.lines(entry)
        first, last = self._selection.first, self._selection.last
        start = first.row if entry == first.entry else 0
        stop = last.row + 1 if entry == last.entry else len(lines)
        if start == 0 and stop >= len(lines) and self._column.is_prompt(entry):
            whole = self._column.whole(entry)
            if whole is not lines:  # copy the user's whole prompt, even if it is folded
                yield from (CopiedPiece(line, range(line.cell_length)) for line in whole)
                return
        for row in range(start, min(stop, len(lines))):
            yield CopiedPiece(lines[row], self._selection.cells(entry, row, lines[row].cell_length))

    def _place(self, line: int, cell: int) -> CellPosition | None:
        total = self._column.heights.total
        found = self._column.heights.at(max(0, min(line, total - 1)))
        return None if found is None else CellPosition(*found, max(0, cell))


def _goes_on(line: Strip) -> bool:
    for segment in line:
        if isinstance(segment, Joint):
            return True
        if segment.text and not isinstance(segment, Gutter):
            return False
    return False
