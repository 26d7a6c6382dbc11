"""Draws the change of one file, in one column or in two; what differs is the model's."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property, partial
from typing import Final, Literal, TypeAlias

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from acp_tui.conversation.visible import make_visible_path
from acp_tui.ui.rendering.diff_columns import MIN_COLUMNS_CELLS, TwoColumns
from acp_tui.ui.rendering.diff_model import Diff, DiffLine, compare
from acp_tui.ui.rendering.diff_text import (
    NO_NEWLINE,
    SIGNS,
    ShownLine,
    hunk_header,
    line_styles,
    number_cells,
    shown_line,
    skipped_lines,
)
from acp_tui.ui.rendering.palette import PLAIN, Palette
from acp_tui.ui.rendering.plain import plain_lines
from acp_tui.ui.rendering.rows import Row, Rows
from acp_tui.ui.rendering.wrapping import LineRange

DiffLayout: TypeAlias = Literal["unified", "columns"]
"""Old and new lines below each other, or side by side."""

MIN_CODE_CELLS: Final = 12
"""Where less would be left for the lines, the numbers go."""

_TOO_LONG: Final = "Too much differs to compare line by line: shown as replaced."
_TOO_NARROW: Final = "Too narrow for two columns: shown in one."


class DiffRenderer:
    """The change of one file. The first use of `diff` compares, which may be done in a thread."""

    def __init__(self, path: str, old_text: str | None, new_text: str | None, context: int = 3) -> None:
        """`old_text` is None for a new file, `new_text` for a deleted one."""
        self._path = make_visible_path(path)
        self._old_text = old_text
        self._new_text = new_text
        self._context = context
        self._width = 0
        self._palette = PLAIN
        self._layout: DiffLayout = "unified"
        self._rows: Rows | None = None
        self._hunk_rows: list[int] = []

    @cached_property
    def diff(self) -> Diff:
        """What differs."""
        return compare(self._old_text or "", self._new_text or "", self._context)

    @property
    def added(self) -> int:
        """How many lines are new."""
        return self.diff.added

    @property
    def removed(self) -> int:
        """How many lines are gone."""
        return self.diff.removed

    def lines(self, width: int, palette: Palette, layout: DiffLayout = "unified") -> Rows:
        """The diff in lines of at most `width` cells; the lines of either text fill the width.

        In two columns only where there is an old and a new text and the room for both; where room is wanting, it
        says so.
        """
        if (
            self._rows is None
            or (width, layout) != (self._width, self._layout)
            or (palette is not self._palette and palette != self._palette)
        ):
            self._width, self._palette, self._layout = width, palette, layout
            self._rows = self._draw(width, palette, layout)
        return self._rows

    @property
    def hunk_rows(self) -> tuple[int, ...]:
        """Where in the lines that were drawn last each hunk begins."""
        return tuple(self._hunk_rows)

    def line_count(self, width: int) -> int:
        """How many lines there are at `width`."""
        return len(self.lines(width, self._palette, self._layout))

    def release(self) -> None:
        """Give back the memory of everything drawn."""
        self._rows = None

    def _draw(self, width: int, palette: Palette, layout: DiffLayout) -> Rows:
        diff = self.diff
        wants_columns = layout == "columns" and diff.has_both and bool(diff.hunks)
        has_room = width >= MIN_COLUMNS_CELLS
        rows: list[Row] = [*self._title(width, palette)]
        if wants_columns and not has_room:
            rows += plain_lines(_TOO_NARROW, width, palette.warning)
        drawing = (TwoColumns if wants_columns and has_room else _OneColumn)(diff, width, palette)
        self._hunk_rows = []
        for hunk in diff.hunks:
            self._hunk_rows.append(len(rows))
            if diff.has_both:
                rows += plain_lines(hunk_header(hunk), width, palette.diff_hunk)
            rows += drawing.rows(hunk.lines)
        if diff.hunks and diff.skipped_after:
            rows += plain_lines(skipped_lines(diff.skipped_after), width, palette.diff_hunk)
        return Rows(rows)

    def _title(self, width: int, palette: Palette) -> list[Strip]:
        counts = [f"+{self.added}"] * bool(self.added) + [f"-{self.removed}"] * bool(self.removed)
        notes = [note for note in (self._what_happened(), *counts) if note]
        if self.diff.crlf:
            notes.append("CRLF line ends")
        strips = plain_lines("  ".join([self._path, *notes]), width, palette.diff_title)
        if self.diff.approximate:
            strips += plain_lines(_TOO_LONG, width, palette.warning)
        return strips

    def _what_happened(self) -> str:
        if self._old_text is None:
            return "new file"
        if self._new_text is None:
            return "deleted"
        return "" if self.diff.hunks else "no change"


class _OneColumn:
    """The rows of one diff at one width: old and new line numbers, a sign, the line, drawn when it is looked at."""

    def __init__(self, diff: Diff, width: int, palette: Palette) -> None:
        self._crlf = diff.crlf
        self._width = width
        self._palette = palette
        self._digits = number_cells(diff)
        gutter = 2 * self._digits + 3
        self._numbered = width - gutter - 2 >= MIN_CODE_CELLS
        self._gutter_cells = (gutter if self._numbered else 0) + 2
        self._room = max(width - self._gutter_cells, 1)

    def rows(self, lines: Iterable[DiffLine]) -> Iterator[Row]:
        """The lines of one hunk."""
        for line in lines:
            shown = shown_line(line, crlf=self._crlf)
            for index, part in enumerate(shown.parts(self._room)):
                yield partial(self._strip, line, shown, part, index > 0)
            if not line.end:
                note = Segment(NO_NEWLINE[: self._room].ljust(self._room), self._palette.diff_hunk)
                yield Strip([Segment(" " * self._gutter_cells), note], self._width)

    def _strip(self, line: DiffLine, shown: ShownLine, part: LineRange, continues: bool) -> Strip:
        style, _ = line_styles(line.kind, self._palette)
        segments = [
            *self._gutter(line, style, continues),
            *shown.segments(part, self._room, self._palette),
        ]
        return Strip(segments, self._gutter_cells + max(self._room, part.cells))

    def _gutter(self, line: DiffLine, style: Style, continues: bool) -> list[Segment]:
        sign = Segment(f"{' ' if continues else SIGNS[line.kind]} ", style)
        if not self._numbered:
            return [sign]
        numbers = ["" if continues or at is None else str(at) for at in (line.old_number, line.new_number)]
        text = " ".join([number.rjust(self._digits) for number in numbers])
        return [Segment(f"{text}  ", style + self._palette.diff_number), sign]
