"""Draws lines of a `Diff`: below each other in one column, or the old text beside the new one in two."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import zip_longest
from typing import Final, TypeAlias

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from acp_tui.ui.rendering.diff_blocks import Piece, Sizes
from acp_tui.ui.rendering.diff_model import Diff, DiffLine
from acp_tui.ui.rendering.diff_text import SIGNS, ShownLine, Spelling, line_styles, note_style, number_cells
from acp_tui.ui.rendering.lines import CUT, Gutter, Row
from acp_tui.ui.rendering.palette import Palette
from acp_tui.ui.rendering.wrapping import LineRange

MIN_CODE_CELLS: Final = 12
"""Where less would be left for the lines, the numbers go."""
MIN_COLUMNS_CELLS: Final = 60
"""In less than this two columns would be more folds than lines."""
RULE: Final = " │ "

Half: TypeAlias = Callable[[], list[Segment]]
"""The way to draw one side of a row."""


class OneColumn:
    """The rows of one diff at one width: old and new line numbers, a sign, the line, drawn when it is looked at."""

    def __init__(self, diff: Diff, sizes: Sizes, spelling: Spelling, width: int, palette: Palette) -> None:
        self._diff = diff
        self.sizes = sizes
        self._spelling = spelling
        self._width = width
        self._palette = palette
        self._digits = number_cells(diff)
        gutter = 2 * self._digits + 3
        self._numbered = width - gutter - 2 >= MIN_CODE_CELLS
        self._gutter_cells = (gutter if self._numbered else 0) + 2
        self._room = max(width - self._gutter_cells, 1)
        self.rooms: tuple[int, ...] = (self._room,)

    def rows(self, pieces: Iterable[Piece]) -> Iterator[Row]:
        """The lines of these."""
        for run, start, stop in pieces:
            for index in range(start, stop):
                yield from self._line(self._diff.line(run, index))

    def _line(self, line: DiffLine) -> Iterator[Row]:
        shown = self._spelling.shown(line, folds_evenly=self.sizes.folds_evenly(line))
        for index, part in enumerate(shown.parts(self._room)):
            yield partial(self._strip, shown, part, index > 0)
        for note in shown.notes:
            said = Segment(note[: self._room].ljust(self._room), note_style(note, self._palette))
            yield Strip([Gutter(" " * self._gutter_cells), said], self._width)

    def _strip(self, shown: ShownLine, part: LineRange, continues: bool) -> Strip:
        style, _ = line_styles(shown.line.kind, self._palette)
        segments = [
            *self._gutter(shown.line, style, continues),
            *shown.segments(part, self._room, self._palette),
        ]
        return Strip(segments, self._gutter_cells + max(self._room, part.cells))

    def _gutter(self, line: DiffLine, style: Style, continues: bool) -> list[Segment]:
        sign = Gutter("  ", style) if continues else Segment(f"{SIGNS[line.kind]} ", style)
        if not self._numbered:
            return [sign]
        told = ((line.old_number, True), (line.new_number, False))
        numbers = [
            "" if continues or at is None else str(self._diff.number_in_file(at, is_old=is_old))
            for at, is_old in told
        ]
        text = " ".join([number.rjust(self._digits) for number in numbers])
        joint = [CUT] if continues else []
        return [*joint, Gutter(f"{text}  ", style + self._palette.diff_number), sign]


class TwoColumns:
    """The rows of one diff at one width, old lines beside new ones; a line is drawn when it is looked at."""

    def __init__(self, diff: Diff, sizes: Sizes, spelling: Spelling, width: int, palette: Palette) -> None:
        """`width` is at least `MIN_COLUMNS_CELLS`."""
        self._diff = diff
        self.sizes = sizes
        self._spelling = spelling
        self._width = width
        self._palette = palette
        self._digits = number_cells(diff)
        self._gutter_cells = self._digits + len("  - ")
        self._left_cells = (width - len(RULE)) // 2
        self._right_cells = width - len(RULE) - self._left_cells
        self.rooms: tuple[int, ...] = (
            self._left_cells - self._gutter_cells,
            self._right_cells - self._gutter_cells,
        )

    def rows(self, pieces: Iterable[Piece]) -> Iterator[Row]:
        """The pairs of these."""
        for run, start, stop in pieces:
            for index in range(start, stop):
                yield from self._pair(*self._diff.pair(run, index))

    def _pair(self, old: DiffLine | None, new: DiffLine | None) -> Iterator[Row]:
        left = self._halves(old, self._number(old, is_old=True), self.rooms[0])
        right = self._halves(new, self._number(new, is_old=False), self.rooms[1])
        for left_half, right_half in zip_longest(left, right):
            yield partial(self._strip, left_half, right_half)

    def _number(self, line: DiffLine | None, *, is_old: bool) -> int | None:
        number = None if line is None else line.old_number if is_old else line.new_number
        return None if number is None else self._diff.number_in_file(number, is_old=is_old)

    def _halves(self, line: DiffLine | None, number: int | None, room: int) -> list[Half]:
        """One side of a pair, row by row."""
        if line is None:
            return []
        shown = self._spelling.shown(line, folds_evenly=self.sizes.folds_evenly(line))
        halves: list[Half] = [
            partial(self._half, shown, number if index == 0 else None, part, room)
            for index, part in enumerate(shown.parts(room))
        ]
        return halves + [partial(self._note, note, room) for note in shown.notes]

    def _note(self, note: str, room: int) -> list[Segment]:
        said = Segment(note[:room].ljust(room), note_style(note, self._palette))
        return [Gutter(" " * self._gutter_cells), said]

    def _half(self, shown: ShownLine, number: int | None, part: LineRange, room: int) -> list[Segment]:
        style, _ = line_styles(shown.line.kind, self._palette)
        digits, sign = ("", " ") if number is None else (str(number), SIGNS[shown.line.kind])
        return [
            Gutter(f"{digits:>{self._digits}}  ", style + self._palette.diff_number),
            Segment(f"{sign} ", style),
            *shown.segments(part, room, self._palette),
        ]

    def _strip(self, left: Half | None, right: Half | None) -> Strip:
        rule = Segment(RULE, self._palette.table_border)
        return Strip(
            [
                *(left() if left else [Segment(" " * self._left_cells)]),
                rule,
                *(right() if right else [Segment(" " * self._right_cells)]),
            ],
            self._width,
        )
