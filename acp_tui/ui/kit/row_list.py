"""A list of rows of one or two lines under headings, drawn line by line. Thousands cost no more than a screenful."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, ClassVar, Final, Generic, TypeVar

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.geometry import Size
from textual.message import Message
from textual.strip import Strip

from acp_tui.conversation.visible import make_visible_line
from acp_tui.conversation.wording import from_home
from acp_tui.ui.kit.line_view import LineView
from acp_tui.ui.kit.themes import palette_for
from acp_tui.ui.rendering.palette import Palette
from acp_tui.ui.rendering.wrapping import BLANK, cut, cut_at_word, width_cells
from acp_tui.values import dataclass

V = TypeVar("V")
NO_ROW: Final = -1
GAP: Final = "   "
MIN_LABEL_CELLS: Final = 16
MIN_CELLS: Final = 4
MAX_FOLDER_CELLS: Final = 24
MAX_NUMBERED: Final = 9
MOST_ROWS: Final = 20
BELOW_INDENT: Final = 5
"""Of a row's second line."""


@dataclass(frozen=True, slots=True)
class PickerRow(Generic[V]):
    """A row to choose. Its texts may come from an agent."""

    value: V
    label: str
    description: str = ""
    """Shown after the label, as far as it fits, if there is no `aside`."""
    group: str = ""
    """The heading above it. Rows of one group are adjacent."""
    is_current: bool = False
    is_disabled_reason: str = ""
    """Why it can't be chosen; "" if it can."""
    aside: str = ""
    """Shown in full at the end of the row. The label gets the rest."""
    is_rare: bool = False
    """Whether it's shown only while the user searches."""
    below: str = ""
    """A second line."""
    needs_care: bool = False
    """Whether its label warns."""
    other_words: str = ""
    """What finds it, too, and isn't shown."""
    names: str = ""
    """What it is called elsewhere, such as its keys, separated by spaces. They find it as its label does."""


class RowList(LineView):
    """Rows, one of them under the cursor."""

    class Clicked(Message):
        """The user clicked on a row, and the cursor moved there."""

        def __init__(self, sender: RowList, index: int) -> None:
            super().__init__()
            self.sender = sender
            self.index = index

        @property
        def control(self) -> RowList:
            return self.sender

    mark_cells: ClassVar[int] = 2
    """The width of the mark before each row."""
    heading_indent: ClassVar[int] = 0
    """The indent of a heading, in cells."""

    def __init__(
        self, *, rows_around: int = 17, rows_around_low: int | None = None, most_rows: int = MOST_ROWS
    ) -> None:
        """At most `most_rows` high, and low enough to leave `rows_around` rows of the screen.

        On a low screen, which has no margins, it leaves `rows_around_low`.
        """
        super().__init__()
        self._rows_around = rows_around
        self._rows_around_low = rows_around if rows_around_low is None else rows_around_low
        self._most_rows = most_rows
        self.least_lines = 0
        """It keeps the height of so many, with fewer rows, too."""
        self.rows: Sequence[PickerRow[Any]] = ()
        self.cursor = NO_ROW
        self._lines: list[int | str] = []
        """The content of each line: the index of a row, or a heading."""
        self._line_of: list[int] = []

    def show(self, rows: Sequence[PickerRow[Any]], cursor: int = 0, note: str = "") -> None:
        """Show these rows with the cursor on one of them, NO_ROW for no cursor, and a note above them."""
        self.rows = rows
        self._lines, self._line_of = [note] if note else [], []
        group = ""
        for index, row in enumerate(rows):
            if row.group and row.group != group:
                self._lines.append(row.group)
            group = row.group
            self._line_of.append(len(self._lines))
            self._lines += [index] * (2 if row.below else 1)
        self.count_lines(len(self._lines))
        self.refresh(layout=True)
        self.move_to(cursor)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return min(max(len(self._lines), self.least_lines), self.room, self._most_rows)

    @property
    def room(self) -> int:
        """How many lines of the screen it may have."""
        around = self._rows_around_low if self.screen.has_class("-low") else self._rows_around
        return max(self.app.size.height - around, 3)

    @property
    def lines(self) -> int:
        """How many lines its rows and their headings have."""
        return len(self._lines)

    @property
    def row(self) -> PickerRow[Any] | None:
        return self.rows[self.cursor] if 0 <= self.cursor < len(self.rows) else None

    # The cursor

    def move_to(self, index: int) -> None:
        """Move the cursor to this row, or the nearest one, and scroll it into view."""
        last = len(self.rows) - 1
        self.cursor = NO_ROW if index < 0 else min(index, last)
        if self.cursor != NO_ROW:
            self.call_after_refresh(self._reveal)
        self.refresh()

    def move(self, step: int) -> bool:
        """Move the cursor by `step` rows; return False if it was at the end."""
        before = self.cursor
        last = len(self.rows) - 1
        start = before if before != NO_ROW else (-1 if step > 0 else last + 1)
        self.move_to(max(0, min(last, start + step)))
        return self.cursor != before

    def move_page(self, direction: int) -> bool:
        """Move the cursor by a page: up for -1, down for 1."""
        line = self._line_of[self.cursor] + direction * self.page_lines if self.row is not None else 0
        before = bisect_right(self._line_of, line) - 1
        return self.move(before - self.cursor if before != self.cursor else direction)

    def on_resize(self) -> None:
        self._reveal()

    def _reveal(self) -> None:
        if self.row is not None:
            line = self._line_of[self.cursor]
            # Include the heading above.
            top = line - 1 if line and isinstance(self._lines[line - 1], str) else line
            self.reveal(range(top, line + 1 + bool(self.row.below)))

    def row_at(self, event: events.Click) -> int | None:
        """The index of the clicked row; None for headings, the frame, and the space below."""
        line = self.clicked_line(event)
        what = None if line is None else self._lines[line]
        return what if isinstance(what, int) else None

    def on_click(self, event: events.Click) -> None:
        index = self.row_at(event)
        if index is not None:
            self.move_to(index)
            self.post_message(self.Clicked(self, index))

    # Drawing

    def mark_of(self, index: int) -> str:
        """The mark before a row, `mark_cells` wide."""
        return "◉ " if self.rows[index].is_current else "  "

    def draw_line(self, line: int, width: int) -> Strip:
        width -= self._gap_cells
        if width < MIN_CELLS:
            return BLANK
        palette = palette_for(self.app.current_theme)
        what = self._lines[line]
        if isinstance(what, int) and line > self._line_of[what]:
            below = " " * (self.mark_cells + BELOW_INDENT) + make_visible_line(self.rows[what].below)
            return Strip([Segment(cut(below, width), palette.muted)])
        if isinstance(what, int):
            return Strip(self._row_segments(what, width, palette))
        indent = " " * self.heading_indent
        return Strip([Segment(cut(indent + make_visible_line(what), width), palette.strong)])

    @property
    def _gap_cells(self) -> int:
        return 1 if self.show_vertical_scrollbar else 0

    def shows_whole(self, row: PickerRow[Any]) -> bool:
        """Whether there is room in the row's line for all that is said about it."""
        width = self.scrollable_content_region.width - self.mark_cells - self._gap_cells
        about = make_visible_line(row.is_disabled_reason or row.description)
        needed = width_cells(make_visible_line(row.label)) + len(GAP) + width_cells(about)
        return not _aside(row, width) and needed <= width

    def is_at_cursor(self, line: int) -> bool:
        return self._lines[line] == self.cursor

    def _row_segments(self, index: int, width: int, palette: Palette) -> list[Segment]:
        row = self.rows[index]
        width -= self.mark_cells
        aside = _aside(row, width)
        label = cut(make_visible_line(row.label), width - width_cells(aside))
        room = width - width_cells(label)
        end = " " * (room - width_cells(aside)) + aside if aside else _about(row, room)
        style = palette.muted if row.is_disabled_reason else palette.warning if row.needs_care else palette.text
        style += Style(bold=index == self.cursor)
        return [Segment(self.mark_of(index), palette.accent), Segment(label, style), Segment(end, palette.muted)]


class NumberedRows(RowList):
    """A list whose first rows show the number key that chooses them."""

    are_numbered = True

    def mark_of(self, index: int) -> str:
        has_key = self.are_numbered and index < MAX_NUMBERED and not self.rows[index].is_disabled_reason
        return f"{index + 1} " if has_key else "  "


def _aside(row: PickerRow[Any], room: int) -> str:
    """The text at the end of the row, with the gap before it; "" if the label would get too little room."""
    aside = GAP + make_visible_line(row.aside) if row.aside else ""
    least = min(width_cells(make_visible_line(row.label)), MIN_LABEL_CELLS)
    return aside if room - width_cells(aside) >= least else ""


def _about(row: PickerRow[Any], room: int) -> str:
    """The text after the label, with the gap before it: of an `aside` that doesn't fit, the beginning."""
    about = row.is_disabled_reason or " ".join(row.aside.split()) or row.description
    room -= len(GAP)
    return GAP + cut_at_word(make_visible_line(about), room) if about and room > 8 else ""


def aligned(texts: Sequence[str], most_cells: int | None = None) -> list[str]:
    """Pad the texts to a common width. Texts wider than `most_cells` don't count."""
    widths = [width_cells(text) for text in texts]
    column = max((width for width in widths if most_cells is None or width <= most_cells), default=0)
    return [text + " " * max(column - width, 0) for text, width in zip(texts, widths, strict=True)]


def short_folder(folder: Path, here: Path | None) -> str:
    """The end of a folder's path, with as many parts as fit; "" for `here`."""
    if folder == here:
        return ""
    # Measuring takes time in proportion to the length.
    tail = make_visible_line(from_home(folder))[-8 * MAX_FOLDER_CELLS :]
    if width_cells(tail) <= MAX_FOLDER_CELLS:
        return tail
    while width_cells(tail) >= MAX_FOLDER_CELLS and "/" in tail[1:]:
        tail = tail[tail.index("/", 1) :]
    return cut(f"…{tail}", MAX_FOLDER_CELLS)


def short_time(when: datetime, now: datetime) -> str:
    """How long ago it was, or the date if more than a week."""
    age = now - when
    if not timedelta(0) <= age < timedelta(days=7):
        return when.date().isoformat()
    if age < timedelta(minutes=1):
        return "just now"
    if age < timedelta(hours=1):
        return f"{age.seconds // 60} min ago"
    if age < timedelta(days=1):
        return f"{age.seconds // 3600} h ago"
    return "1 day ago" if age.days == 1 else f"{age.days} days ago"
