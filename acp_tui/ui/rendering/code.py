"""Draws a block of code as a panel, its lines folded at the width; does not find the block's ends."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final, TypeAlias

from rich.segment import Segment
from textual.strip import Strip

from acp_tui.ui.rendering.highlight import Highlighter
from acp_tui.ui.rendering.lines import CUT, Gutter, Row
from acp_tui.ui.rendering.palette import Palette
from acp_tui.ui.rendering.wrapping import LineRange, Span, fold, slice_spans, width_cells

PADDING: Final = " "
CONTINUATION: Final = "↪ "
"""Begins a row that goes on with the line above."""
TAB_CELLS: Final = 4

Indent: TypeAlias = Sequence[Segment]
TakeIndent: TypeAlias = Callable[[], Indent]
"""What stands left of the next row: bars of quotes, a list marker the first time."""


class CodePanel:
    """One block of code. Rows are cut at once, but highlighted only when they are looked at."""

    def __init__(self, info: str, width: int, palette: Palette, take_indent: TakeIndent = tuple) -> None:
        """`width` is the panel's own, without the indent; `info` is what follows the opening fence."""
        self._highlighter = Highlighter(info)
        self._info = info.expandtabs(TAB_CELLS)
        self._width = width
        self._palette = palette
        self._take_indent = take_indent
        self._inner = max(width - 2 * len(PADDING), 1)

    def header(self) -> list[Row]:
        """A row that names the language; none where the block does not."""
        if not self._info:
            return []
        label_style = self._palette.code_block + self._palette.code_label
        label = fold(self._info, self._inner)[0]
        return [self._row([(self._info, label_style)], label, False, self._take_indent())]

    def append(self, line: str) -> list[Row]:
        """The rows of one more line of the code."""
        text = line.expandtabs(TAB_CELLS)
        self._highlighter.append(text)
        number = len(self._highlighter) - 1
        return [
            partial(self._lazy_row, number, part, index > 0, self._take_indent())
            for index, part in enumerate(self._parts(text))
        ]

    def preview(self, line: str) -> list[Row]:
        """The rows of a line that is still being written; the next `append` or `preview` replaces it."""
        text = line.expandtabs(TAB_CELLS)
        spans = self._highlighter.preview(text, self._palette, self._palette.code_block)
        return [
            self._row(spans, part, index > 0, self._take_indent())
            for index, part in enumerate(self._parts(text))
        ]

    def _parts(self, text: str) -> list[LineRange]:
        """The line cut to the width; later parts leave room for the continuation mark."""
        parts = fold(text, self._inner)
        if len(parts) == 1:
            return parts
        first = parts[0]
        room = max(self._inner - len(CONTINUATION), 1)
        rest = fold(text[first.stop :], room)
        return [
            first,
            *(LineRange(start + first.stop, stop + first.stop, cells) for start, stop, cells in rest),
        ]

    def _lazy_row(self, number: int, part: LineRange, continues: bool, indent: Indent) -> Strip:
        spans = self._highlighter.spans(number, self._palette, self._palette.code_block)
        return self._row(spans, part, continues, indent)

    def _row(self, spans: Sequence[Span], part: LineRange, continues: bool, indent: Indent) -> Strip:
        style = self._palette.code_block
        segments = [*indent, Gutter(PADDING, style)]
        cells = len(PADDING) + part.cells
        if continues:
            segments += [CUT, Gutter(CONTINUATION, style + self._palette.code_label)]
            cells += len(CONTINUATION)
        segments += slice_spans(spans, part.start, part.stop)
        if cells < self._width:
            segments.append(Segment(" " * (self._width - cells), style))
        return Strip(segments, max(cells, self._width) + sum([width_cells(text) for text, _, _ in indent]))
