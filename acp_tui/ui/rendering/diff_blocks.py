"""Cuts a diff into blocks. Rows are counted immediately and drawn when first viewed.

Drawing 20,000 lines takes 0.2 s, and a page next to nothing; but the view needs the total.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from array import array
from bisect import bisect_right
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from itertools import accumulate
from typing import Final, NamedTuple, TypeAlias, TypeVar

from rich.segment import Segment
from textual.strip import Strip

from acp_tui.ui.rendering.diff_model import Diff, DiffHunk, DiffLine, LineRun
from acp_tui.ui.rendering.diff_text import MAX_CHARACTERS, TAB, Spelling, even_step, note_style, number_cells, show
from acp_tui.ui.rendering.palette import Palette
from acp_tui.ui.rendering.wrapping import MIN_WIDTH, Gutter, Lines, Row, Rows, has_one_cell_each, narrow_fold_count

BLOCK_LINES: Final = 48
"""About a page: rows that are viewed next are mostly in the same block."""
MAX_BLOCKS: Final = 10_000
"""The blocks of a longer hunk are larger, since each takes some 200 bytes."""
MEASURED_LINES: Final = 1_000
"""The number of lines to measure in one step."""

MAX_ODD_CHARACTERS: Final = 20_000
"""If lines with characters wider or narrower than one cell have more in total, they are folded without measuring."""

_NOTE: Final = 1 << 30
"""Added to the size of a line that has a note below it."""
_ODD: Final = re.compile(r"[^\t\n -~]")
_ODD_BUT_CR: Final = re.compile(r"[^\t\r\n -~]|\r(?!\n)")

T = TypeVar("T")
Columned: TypeAlias = tuple[list[T | None], ...]
"""A list for each column."""

SIZE: Final = "i"
LineSizes: TypeAlias = "array[int]"
"""The cells of each line. If a character isn't one cell wide: the number of characters, negated.

An array, because the garbage collector looks at each item of a list.
"""


class Sizes(NamedTuple):
    """The line lengths of both texts."""

    old: LineSizes
    new: LineSizes
    folds_odd_evenly: bool
    """Whether to fold lines without measuring if a character isn't one cell wide."""
    long_old: Sequence[int]
    """The indexes of the lines with more than `MAX_CHARACTERS`, in order."""
    long_new: Sequence[int]

    def folds_evenly(self, line: DiffLine) -> bool:
        """Whether this line is folded without measuring."""
        if line.new_number is not None:
            return self._folds_evenly(self.new[line.new_number - 1])
        assert line.old_number is not None, "a line of a diff is in one of the texts"
        return self._folds_evenly(self.old[line.old_number - 1])

    def _folds_evenly(self, size: int) -> bool:
        return size < 0 and (self.folds_odd_evenly or -size % _NOTE > MAX_CHARACTERS)

    def rows(self, size: int, line: str | None, room: int, *, crlf: bool) -> int | None:
        """The number of rows a line of this size takes; None if only drawing can tell."""
        notes, length = divmod(abs(size), _NOTE)
        if length > MAX_CHARACTERS:
            return None
        if size >= 0:
            if length <= room or line is None:
                return notes + 1
            return notes + narrow_fold_count(show(_text(line, crlf)), room)
        if 2 * length <= room:
            return notes + 1
        return notes - (-length // even_step(room)) if self.folds_odd_evenly else None


class DiffPiece(NamedTuple):
    """Lines of a run, or rows of it if shown side by side."""

    run: LineRun
    start: int
    stop: int


DiffBlock: TypeAlias = tuple[DiffPiece, ...]
"""Pieces that are drawn together."""


class Columns(ABC):
    """Draws the lines of a diff at one width."""

    rooms: tuple[int, ...]
    """The cells for a line in each column."""
    gutter_cells: int
    """The cells before each line, for its numbers and sign."""

    def __init__(self, diff: Diff, sizes: Sizes, spelling: Spelling, width: int, palette: Palette, path: str) -> None:
        self.diff = diff
        self.sizes = sizes
        self.spelling = spelling
        self.width = width
        self.palette = palette
        self.path = path
        self.digits = number_cells(diff)
        self.lay_out()

    @abstractmethod
    def lay_out(self) -> None:
        """Divide the width."""

    @abstractmethod
    def split(self, pieces: Iterable[DiffPiece], old: Sequence[T], new: Sequence[T]) -> Columned[T]:
        """What `old` and `new` have for each of these lines, or pairs, in each column. None where there is no line."""

    def rows(self, pieces: Iterable[DiffPiece]) -> Iterator[Row]:
        """The rows of these lines, drawn when first viewed."""
        for run, start, stop in pieces:
            for index in range(start, stop):
                yield from self.rows_at(run, index)

    @abstractmethod
    def rows_at(self, run: LineRun, index: int) -> Iterator[Row]:
        """The rows of one line, or of a pair."""

    def note(self, note: str, room: int) -> list[Segment]:
        """What is said below a line."""
        said = Segment(note[:room].ljust(room), note_style(note, self.palette))
        return [Gutter(" " * self.gutter_cells), said]


class Measured(NamedTuple):
    """The lines of one text."""

    sizes: LineSizes
    long: Sequence[int]
    """The indexes of those with more than `MAX_CHARACTERS`, in order."""
    odd: int
    """The characters in those with characters wider or narrower than one cell."""


def measure(lines: Sequence[str], *, crlf: bool) -> Generator[None, None, Measured]:
    """Measure these lines, with their endings, step by step."""
    sizes = array(SIZE)
    long: list[int] = []
    odd = 0
    for start in range(0, len(lines), MEASURED_LINES):
        batch = lines[start : start + MEASURED_LINES]
        text = "".join(batch)
        if text.endswith("\n") and not (_ODD_BUT_CR if crlf else _ODD).search(text):
            found = _plain_sizes(batch, has_tabs="\t" in text, end=2 if crlf else 1)
        else:
            found = [_size(line, crlf=crlf) for line in batch]
            odd += sum([-size % _NOTE for size in found if size < 0])
        sizes.extend(found)
        if len(text) > MAX_CHARACTERS:
            long += [start + at for at, line in enumerate(batch) if len(line) > MAX_CHARACTERS]
        if len(lines) > MEASURED_LINES:
            yield
    return Measured(sizes, long, odd)


def _plain_sizes(lines: Iterable[str], *, has_tabs: bool, end: int) -> list[int]:
    if not has_tabs:
        return [len(line) - end for line in lines]
    return [len(line) - end + line.count("\t") * (len(TAB) - 1) for line in lines]


def _text(line: str, crlf: bool) -> str:
    return line[: -2 if crlf else -1] if line.endswith("\n") else line


def _size(line: str, *, crlf: bool) -> int:
    text = _text(line, crlf)
    note = 0 if line.endswith("\n") else _NOTE
    if len(text) > MAX_CHARACTERS:
        # No more is drawn, so no more is made visible.
        has_one_each = text.isascii() and has_one_cell_each(show(text[:MAX_CHARACTERS]))
        return len(text) + note if has_one_each else -len(text) - note
    shown = show(text)
    return len(shown) + note if has_one_cell_each(shown) else -len(shown) - note


def blocks_of(hunk: DiffHunk, count: Callable[[LineRun], int]) -> Iterator[DiffBlock]:
    """Cut a hunk into blocks. `count` returns how many rows of lines a run has."""
    pieces: list[DiffPiece] = []
    most = max(BLOCK_LINES, sum(map(count, hunk.runs)) // MAX_BLOCKS)
    room = most
    for run in hunk.runs:
        start, total = 0, count(run)
        while start < total:
            stop = min(start + room, total)
            pieces.append(DiffPiece(run, start, stop))
            room -= stop - start
            start = stop
            if not room:
                yield tuple(pieces)
                pieces, room = [], most
    if pieces:
        yield tuple(pieces)


def in_one(pieces: Iterable[DiffPiece], old: Sequence[T], new: Sequence[T]) -> list[T | None]:
    found: list[T | None] = []
    for run, start, stop in pieces:
        found += old[run.old_from + start : run.old_from + min(stop, run.old_count)]
        if run.is_changed and stop > run.old_count:
            begin = run.new_from - run.old_count
            found += new[begin + max(start, run.old_count) : begin + stop]
    return found


def on_side(pieces: Iterable[DiffPiece], side: Sequence[T], *, is_old: bool) -> list[T | None]:
    found: list[T | None] = []
    for run, start, stop in pieces:
        begin, count = (run.old_from, run.old_count) if is_old else (run.new_from, run.new_count)
        found += side[begin + start : begin + min(stop, count)]
        found += [None] * (stop - max(start, min(stop, count)))
    return found


def _row_count(block: DiffBlock, columns: Columns) -> int | None:
    """The number of rows of a block; None if only drawing can tell."""
    rooms = [max(room, MIN_WIDTH) for room in columns.rooms]
    sizes = [[size or 0 for size in column] for column in columns.split(block, columns.sizes.old, columns.sizes.new)]
    if all(-room // 2 <= min(column) and max(column) <= room for column, room in zip(sizes, rooms, strict=True)):
        return len(sizes[0])
    lines, crlf = columns.split(block, columns.diff.old, columns.diff.new), columns.diff.crlf
    counts = [
        [columns.sizes.rows(size, line, room, crlf=crlf) for size, line in zip(*column, strict=True)]
        for *column, room in zip(sizes, lines, rooms, strict=True)
    ]
    total = 0
    for row in zip(*counts, strict=True):
        known = [count for count in row if count is not None]
        if len(known) < len(row):
            return None
        total += max(known)
    return total


class BlockRows(Lines):
    def __init__(self, block: DiffBlock, columns: Columns) -> None:
        self._block = block
        self._columns = columns
        self._rows: Rows | None = None
        count = _row_count(block, columns)
        self._count = len(self.drawn()) if count is None else count

    def __len__(self) -> int:
        return self._count

    def _line(self, at: int) -> Strip:
        return self.drawn()[at]

    def drawn(self) -> Rows:
        if self._rows is None:
            self._rows = Rows(self._columns.rows(self._block))
        return self._rows


class DiffRows(Lines):
    """Sequences of rows, one below the other. There may be many."""

    def __init__(self, runs: Sequence[Sequence[Strip]] = ()) -> None:
        self.runs = runs
        self._starts = [0, *accumulate(map(len, runs))]

    def __len__(self) -> int:
        return self._starts[-1]

    def _line(self, at: int) -> Strip:
        run = bisect_right(self._starts, at) - 1
        return self.runs[run][at - self._starts[run]]
