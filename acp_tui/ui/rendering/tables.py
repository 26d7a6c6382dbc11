"""Lays out a table for a given width: light lines and wrapped cells. If it doesn't fit, each row becomes a record."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal, TypeAlias

from rich.segment import Segment
from textual.strip import Strip

from acp_tui.ui.rendering.inline import Lines
from acp_tui.ui.rendering.palette import Palette
from acp_tui.ui.rendering.wrapping import width_cells, wrap
from acp_tui.values import dataclass

Alignment: TypeAlias = Literal["left", "center", "right"]
MIN_COLUMN: Final = 4
SAMPLE_CELLS: Final = 150
"""A table with more cells is laid out by its first rows, so that later rows move nothing."""
_SEPARATOR: Final = " │ "


@dataclass(frozen=True, slots=True)
class Table:
    """The cells of a table, header row first. Every row has as many cells as there are alignments."""

    alignments: tuple[Alignment, ...]
    rows: tuple[tuple[Lines, ...], ...]


def sample_rows(columns: int) -> int:
    """How many rows below the header decide the layout of a table with `columns` columns."""
    return max(SAMPLE_CELLS // max(columns, 1), 1)


class TableLayout:
    """Places the cells of a table. Rows may be added at the end."""

    def __init__(self, table: Table, width: int, palette: Palette) -> None:
        """Only the first rows of `table` decide the layout."""
        self._header = table.rows[0]
        self._width = width
        self._palette = palette
        sample = table.rows[: sample_rows(len(table.alignments)) + 1]
        columns = _column_widths(sample, width)
        self._grid = None if columns is None else _Grid(table.alignments, columns, palette, sample)

    def strips(self, rows: Sequence[Sequence[Lines]], *, follows: bool = False) -> list[Strip]:
        """The header and `rows`; only `rows` if they follow others. Records leave out empty cells."""
        if self._grid is None:
            return _records(self._header, rows, self._width, self._palette, follows=follows)
        header = [] if follows else self._grid.header(self._header)
        return header + self._grid.body(rows, follows)


def _column_widths(rows: Sequence[Sequence[Lines]], width: int) -> list[int] | None:
    """The column widths, with wide columns shrunk to a fair share; None if the table doesn't fit."""
    least = 1 if len(rows) <= sample_rows(len(rows[0])) else MIN_COLUMN  # rows outside the sample need room
    natural = [max(least, *map(_cell_width, column)) for column in zip(*rows, strict=True)]
    room = width - len(_SEPARATOR) * (len(natural) - 1) - 2
    if room >= sum(natural):
        return natural
    if room < sum(min(column, MIN_COLUMN) for column in natural):
        return None
    return _share(natural, room)


def _share(natural: Sequence[int], room: int) -> list[int]:
    """Distribute `room` cells: a column below the average gets all it needs, and the others share the rest."""
    shares = [0] * len(natural)
    for done, at in enumerate(sorted(range(len(natural)), key=natural.__getitem__)):
        shares[at] = min(natural[at], max(room // (len(natural) - done), 1))
        room -= shares[at]
    return shares


def _cell_width(cell: Lines) -> int:
    return max(width_cells("".join([text for text, _ in line])) for line in cell) or 1


def _is_empty(cell: Lines) -> bool:
    return not any(text for line in cell for text, _ in line)


class _Grid:
    """Rows of cells side by side."""

    def __init__(
        self,
        alignments: Sequence[Alignment],
        columns: Sequence[int],
        palette: Palette,
        sample: Sequence[Sequence[Lines]],
    ) -> None:
        """Draws light rules between rows if a cell in the `sample`, below its header, takes more than one line."""
        self._alignments = alignments
        self._columns = columns
        self._border = palette.table_border
        self._cells = sum(columns) + len(_SEPARATOR) * (len(columns) - 1) + 2
        self._is_airy = any(len(self._row(row)) > 1 for row in sample[1:])

    def header(self, row: Sequence[Lines]) -> list[Strip]:
        return [*self._row(row), self._rule("─", "┼")]

    def body(self, rows: Sequence[Sequence[Lines]], follows: bool) -> list[Strip]:
        """The rows below the header. `follows` is True if there are others above them."""
        strips: list[Strip] = []
        for row in rows:
            if self._is_airy and (strips or follows):
                strips.append(self._rule("╌", "┼"))
            strips += self._row(row)
        return strips

    def _rule(self, line: str, crossing: str) -> Strip:
        text = f"{line}{crossing}{line}".join(line * column for column in self._columns)
        return Strip([Segment(f"{line}{text}{line}", self._border)], self._cells)

    def _row(self, row: Sequence[Lines]) -> list[Strip]:
        cells = [[] if _is_empty(cell) else _wrap_lines(cell, at) for cell, at in zip(row, self._columns, strict=True)]
        height = max(1, *map(len, cells))
        return [self._line([cell[at] if at < len(cell) else None for cell in cells]) for at in range(height)]

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


def _records(
    header: Sequence[Lines], rows: Sequence[Sequence[Lines]], width: int, palette: Palette, *, follows: bool
) -> list[Strip]:
    """One line "header: value" for each cell and a rule between rows. A table with only a header shows its titles."""
    if not rows and not follows:
        return [strip for cell in header for strip in _wrap_lines(cell, width)]
    strips: list[Strip] = []
    for row in rows:
        if strips or follows:
            strips.append(Strip([Segment("╌" * width, palette.table_border)], width))
        for title, cell in zip(header, row, strict=True):
            if _is_empty(cell):
                continue  # a short row may be completed with a thousand of these
            label = [*(span for line in title for span in line), (": ", palette.table_border)]
            strips += _wrap_lines([[*label, *cell[0]], *cell[1:]], width)
    return strips


def _wrap_lines(lines: Lines, width: int) -> list[Strip]:
    return [strip for line in lines for strip in wrap(line, width)]
