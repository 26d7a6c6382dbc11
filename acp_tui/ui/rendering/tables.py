"""Lays a table out in a given width: light lines, wrapped cells; where it does not fit, one record a row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from rich.segment import Segment
from textual.strip import Strip

from acp_tui.ui.rendering.inline import Lines
from acp_tui.ui.rendering.palette import Palette
from acp_tui.ui.rendering.wrapping import width_cells, wrap

Alignment: TypeAlias = Literal["left", "center", "right"]
MIN_COLUMN: Final = 4
_SEPARATOR: Final = " │ "


@dataclass(frozen=True, slots=True)
class Table:
    """The cells of a table, the header's row first; every row has as many cells as there are alignments."""

    alignments: tuple[Alignment, ...]
    rows: tuple[tuple[Lines, ...], ...]


def table_strips(table: Table, width: int, palette: Palette) -> list[Strip]:
    """The lines of `table` in at most `width` cells."""
    columns = _column_widths(table, width)
    if columns is None:
        return _records(table, width, palette)
    return _Grid(table.alignments, columns, palette).strips(table.rows)


def _column_widths(table: Table, width: int) -> list[int] | None:
    """The columns' widths, those that are wider than their fair share shrunk; None where the table does not fit."""
    natural = [max(_cell_width(row[at]) for row in table.rows) for at in range(len(table.alignments))]
    room = width - len(_SEPARATOR) * (len(natural) - 1) - 2
    if room >= sum(natural):
        return natural
    if room < sum(min(column, MIN_COLUMN) for column in natural):
        return None
    return _share(natural, room)


def _share(natural: Sequence[int], room: int) -> list[int]:
    """`room` cells shared out: who asks for less than the average gets it whole, the others divide the rest."""
    shares = [0] * len(natural)
    by_width = sorted(range(len(natural)), key=natural.__getitem__)
    for done, at in enumerate(by_width):
        shares[at] = min(natural[at], max(room // (len(natural) - done), 1))
        room -= shares[at]
    return shares


def _cell_width(cell: Lines) -> int:
    return max(width_cells("".join([text for text, _ in line])) for line in cell) or 1


class _Grid:
    """Rows of cells side by side."""

    def __init__(self, alignments: Sequence[Alignment], columns: Sequence[int], palette: Palette) -> None:
        self._alignments = alignments
        self._columns = columns
        self._border = palette.table_border
        self._cells = sum(columns) + len(_SEPARATOR) * (len(columns) - 1) + 2

    def strips(self, rows: Sequence[Sequence[Lines]]) -> list[Strip]:
        """A rule below the header; lighter ones between the rows where a cell takes more than a line."""
        drawn = [self._row(row) for row in rows]
        strips = [*drawn[0], self._rule("─", "┼")]
        airy = any(len(row) > 1 for row in drawn[1:])
        for index, row in enumerate(drawn[1:]):
            if airy and index:
                strips.append(self._rule("╌", "┼"))
            strips.extend(row)
        return strips

    def _rule(self, line: str, crossing: str) -> Strip:
        text = f"{line}{crossing}{line}".join(line * column for column in self._columns)
        return Strip([Segment(f"{line}{text}{line}", self._border)], self._cells)

    def _row(self, row: Sequence[Lines]) -> list[Strip]:
        cells = [_wrap_lines(cell, column) for cell, column in zip(row, self._columns, strict=True)]
        return [
            self._line([cell[at] if at < len(cell) else None for cell in cells])
            for at in range(max(map(len, cells)))
        ]

    def _line(self, cells: Sequence[Strip | None]) -> Strip:
        segments = [Segment(" ")]
        for at, cell in enumerate(cells):
            if at:
                segments.append(Segment(_SEPARATOR, self._border))
            segments += self._aligned(cell, self._columns[at], self._alignments[at])
        segments.append(Segment(" "))
        return Strip(segments, self._cells)

    def _aligned(self, cell: Strip | None, width: int, alignment: Alignment) -> list[Segment]:
        if cell is None:
            return [Segment(" " * width)]
        free = width - cell.cell_length
        before = {"left": 0, "center": free // 2, "right": free}[alignment]
        return [Segment(" " * before), *cell, Segment(" " * (free - before))]


def _records(table: Table, width: int, palette: Palette) -> list[Strip]:
    """One line "header: value" for each cell, a rule between the rows."""
    header, *rows = table.rows
    strips: list[Strip] = []
    for row in rows or [header]:
        if strips:
            strips.append(Strip([Segment("╌" * width, palette.table_border)], width))
        for title, cell in zip(header, row, strict=True):
            label = [*(span for line in title for span in line), (": ", palette.table_border)]
            strips.extend(_wrap_lines([[*(label if rows else ()), *cell[0]], *cell[1:]], width))
    return strips


def _wrap_lines(lines: Lines, width: int) -> list[Strip]:
    return [strip for line in lines for strip in wrap(line, width)]
