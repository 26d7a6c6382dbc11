"""Draws the lines of a `Diff` in two columns, the old text beside the new one; a text alone has no use for it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import zip_longest
from typing import Final, TypeAlias

from rich.segment import Segment
from textual.strip import Strip

from acp_tui.ui.rendering.diff_model import Diff, DiffLine
from acp_tui.ui.rendering.diff_text import NO_NEWLINE, SIGNS, ShownLine, line_styles, number_cells, shown_line
from acp_tui.ui.rendering.palette import Palette
from acp_tui.ui.rendering.rows import Row
from acp_tui.ui.rendering.wrapping import LineRange

MIN_COLUMNS_CELLS: Final = 60
"""In less than this two columns would be more folds than lines."""
RULE: Final = " │ "

Half: TypeAlias = Callable[[], list[Segment]]
"""The way to draw one side of a row."""
Pair: TypeAlias = tuple[DiffLine | None, DiffLine | None]
"""An old line and the new one beside it."""


class TwoColumns:
    """The rows of one diff at one width; a line is drawn when it is looked at."""

    def __init__(self, diff: Diff, width: int, palette: Palette) -> None:
        """`width` is at least `MIN_COLUMNS_CELLS`."""
        self._crlf = diff.crlf
        self._width = width
        self._palette = palette
        self._digits = number_cells(diff)
        self._left_cells = (width - len(RULE)) // 2
        self._right_cells = width - len(RULE) - self._left_cells

    def rows(self, lines: Iterable[DiffLine]) -> Iterator[Row]:
        """The lines of one hunk."""
        for old, new in _pairs(lines):
            left = self._halves(old, old.old_number if old else None, self._left_cells)
            right = self._halves(new, new.new_number if new else None, self._right_cells)
            for left_half, right_half in zip_longest(left, right):
                yield partial(self._strip, left_half, right_half)

    def _halves(self, line: DiffLine | None, number: int | None, cells: int) -> list[Half]:
        """One side of a pair, row by row."""
        if line is None:
            return []
        gutter_cells = self._digits + len("  - ")
        room = cells - gutter_cells
        shown = shown_line(line, crlf=self._crlf)
        halves: list[Half] = [
            partial(self._half, shown, number if index == 0 else None, part, room)
            for index, part in enumerate(shown.parts(room))
        ]
        if not line.end:
            note = NO_NEWLINE[:room].ljust(room)
            halves.append(lambda: [Segment(" " * gutter_cells), Segment(note, self._palette.diff_hunk)])
        return halves

    def _half(self, shown: ShownLine, number: int | None, part: LineRange, room: int) -> list[Segment]:
        style, _ = line_styles(shown.kind, self._palette)
        digits, sign = ("", " ") if number is None else (str(number), SIGNS[shown.kind])
        return [
            Segment(f"{digits:>{self._digits}}  ", style + self._palette.diff_number),
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


def _pairs(lines: Iterable[DiffLine]) -> Iterator[Pair]:
    """What stands side by side: lines of both texts, and the n-th line of a change beside its n-th new one."""
    removed: list[DiffLine] = []
    added: list[DiffLine] = []
    for line in lines:
        if line.kind == "context" or (line.kind == "removed" and added):
            yield from _drain(removed, added)
        match line.kind:
            case "context":
                yield line, line
            case "removed":
                removed.append(line)
            case "added":
                added.append(line)
    yield from _drain(removed, added)


def _drain(removed: list[DiffLine], added: list[DiffLine]) -> Sequence[Pair]:
    pairs = list(zip_longest(removed, added))
    removed.clear()
    added.clear()
    return pairs
