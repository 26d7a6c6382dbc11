"""Draws text that has no markup, as it is: a whole one, or one that grows."""

from __future__ import annotations

from typing import Final

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from acp_tui.conversation.visible import make_visible
from acp_tui.conversation.visible.text import VisibleStream
from acp_tui.ui.rendering.wrapping import CUT, JOINT, Rows, break_words, has_one_cell_each, wrap

TAB_CELLS: Final = 4


def plain_lines(text: str, width: int, style: Style) -> list[Strip]:
    """`text` wrapped to `width` cells; a final newline adds no empty line, and no text gives no lines."""
    if not text:
        return []
    strips: list[Strip] = []
    for line in make_visible(text).removesuffix("\n").split("\n"):
        strips.extend(wrap([(line.expandtabs(TAB_CELLS), style)], width))
    return strips


class PlainStream:
    """A text that grows at its end, without white space at both ends; what comes is drawn, and the row it goes on."""

    def __init__(self, width: int, style: Style) -> None:
        self._width = width
        self._style = style
        self._visible = VisibleStream()
        self._has_begun = False
        self._white_space = ""
        """At the end; shown when something follows."""
        self._line: list[str] = []
        """The pieces of the line that is being written."""
        self._open = _OpenLine(width, style)
        self._finished_rows = 0
        self.rows = Rows()

    def append(self, text: str) -> None:
        """Draw what has come."""
        text = self._white_space + text if self._has_begun else text.lstrip()
        shown = text.rstrip()
        self._white_space = text[len(shown) :]
        if shown:
            self._has_begun = True
            self._add(self._visible.append(shown))

    def finish(self) -> None:
        """Draw the last line as a whole, since nothing more comes; if it does, that goes on with it."""
        if self._has_begun:
            self._add(self._visible.finish())
            self._draw_line()

    def _add(self, text: str) -> None:
        *finished, last = text.split("\n")
        for line in finished:
            self._end_line(line)
        self._go_on(last)

    def _end_line(self, rest: str) -> None:
        """A line is complete, and drawn as a whole."""
        self._go_on(rest)
        self._draw_line()
        self._finished_rows = len(self.rows)
        self._line, self._open = [], _OpenLine(self._width, self._style)

    def _go_on(self, text: str) -> None:
        self._line.append(text)
        self.rows.truncate(self._finished_rows + self._open.finished_rows)
        self.rows.extend(self._open.append(text))

    def _draw_line(self) -> None:
        """Draw the line as a whole, where it may break elsewhere then: beside wide characters that came late."""
        line = "".join(self._line)
        if not has_one_cell_each(line):
            self._line, self._open = [], _OpenLine(self._width, self._style)
            self.rows.truncate(self._finished_rows)
            self._go_on(line)


class _OpenLine:
    """A line that is being written: only its last row may still change."""

    def __init__(self, width: int, style: Style) -> None:
        self._width = width
        self._style = style
        self._column = 0
        self._row = ""
        """What stands on the last row."""
        self._mark: Segment | None = None
        """How that goes on with the row above."""
        self.finished_rows = 0

    def append(self, text: str) -> list[Strip]:
        """The rows from the one that was the last on."""
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
