"""Draws text without markup as it is: a whole text, or one that grows."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from typing import Final

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from acp_tui.conversation.visible import VisibleStream, make_visible
from acp_tui.ui.rendering.wrapping import CUT, JOINT, Lines, Rows, break_words, has_one_cell_each, wrap

TAB_CELLS: Final = 4


def plain_lines(text: str, width: int, style: Style) -> list[Strip]:
    """Wrap `text` to `width` cells. A final newline adds no empty line, and an empty text gives no lines."""
    return PlainLines(text, width, style)[:]


class PlainLines(Lines):
    """The same lines, drawn when they are viewed: of a long output, few are. A line takes 16 bytes besides the text."""

    def __init__(self, text: str, width: int, style: Style) -> None:
        self._text = make_visible(text).removesuffix("\n")
        self._width = width
        self._style = style
        self._starts = array("Q")
        """Where each line of the text begins."""
        self._rows = array("Q", [0])
        """The row at which it begins. One more at the end."""
        self._made: dict[int, Strip] = {}
        lines = self._text.split("\n") if text else []
        is_narrow = has_one_cell_each(self._text.replace("\n", ""))
        at = row = 0
        for line in lines:
            self._starts.append(at)
            at += len(line) + 1
            row += 1 if is_narrow and len(line) <= width else len(break_words(line.expandtabs(TAB_CELLS), width))
            self._rows.append(row)

    def __len__(self) -> int:
        return self._rows[-1]

    def _line(self, at: int) -> Strip:
        if at not in self._made:
            line = bisect_right(self._rows, at) - 1
            start = self._starts[line]
            end = self._starts[line + 1] - 1 if line + 1 < len(self._starts) else len(self._text)
            strips = wrap([(self._text[start:end].expandtabs(TAB_CELLS), self._style)], self._width)
            self._made.update(enumerate(strips, self._rows[line]))
        return self._made[at]


class PlainStream:
    """Draws a growing text, stripped of whitespace at both ends. Only new text and the row it continues are drawn."""

    def __init__(self, width: int, style: Style) -> None:
        self._width = width
        self._style = style
        self._visible = VisibleStream()
        self._has_begun = False
        self._white_space = ""
        """Trailing whitespace, shown once something follows."""
        self._line: list[str] = []
        self._open = _OpenLine(width, style)
        self._finished_rows = 0
        self.rows = Rows()

    def append(self, text: str) -> None:
        text = self._white_space + text if self._has_begun else text.lstrip()
        shown = text.rstrip()
        self._white_space = text[len(shown) :]
        if shown:
            self._has_begun = True
            self._add(self._visible.append(shown))

    def finish(self) -> None:
        """Draw the last line as a whole, because no more is expected. Text that comes anyway continues it."""
        if self._has_begun:
            self._add(self._visible.finish())
            self._draw_line()

    def _add(self, text: str) -> None:
        *finished, last = text.split("\n")
        for line in finished:
            self._end_line(line)
        self._go_on(last)

    def _end_line(self, rest: str) -> None:
        """Complete a line, and draw it as a whole."""
        self._go_on(rest)
        self._draw_line()
        self._finished_rows = len(self.rows)
        self._line, self._open = [], _OpenLine(self._width, self._style)

    def _go_on(self, text: str) -> None:
        self._line.append(text)
        self.rows.truncate(self._finished_rows + self._open.finished_rows)
        self.rows.extend(self._open.append(text))

    def _draw_line(self) -> None:
        """Draw the line again as a whole: wide characters that came late can change where it breaks."""
        line = "".join(self._line)
        if not has_one_cell_each(line):
            self._line, self._open = [], _OpenLine(self._width, self._style)
            self.rows.truncate(self._finished_rows)
            self._go_on(line)


class _OpenLine:
    """A line being written: only its last row can still change."""

    def __init__(self, width: int, style: Style) -> None:
        self._width = width
        self._style = style
        self._column = 0
        self._row = ""
        """The text of the last row."""
        self._mark: Segment | None = None
        """How the last row continues the one above."""
        self.finished_rows = 0

    def append(self, text: str) -> list[Strip]:
        """Add text and return the rows from the previously last one on."""
        shift = self._column % TAB_CELLS
        text = (" " * shift + text).expandtabs(TAB_CELLS)[shift:]
        self._column += len(text)
        self._row += text
        first, *others = wrap([(self._row, self._style)], self._width)
        rows = [first if self._mark is None else Strip([self._mark, *first], first.cell_length), *others]
        if others:
            before, last = break_words(self._row, self._width)[-2:]
            self._mark = JOINT if last.start > before.stop else CUT
            self._row = self._row[last.start :]
            self.finished_rows += len(others)
        return rows
