"""The list that opens over the screen above the prompt, so that nothing moves."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, NamedTuple

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.geometry import Offset
from textual.strip import Strip

from acp_tui.conversation.visible import make_visible_line
from acp_tui.ui.kit.row_list import GAP, NOWHERE, PickerRow, RowList
from acp_tui.ui.kit.toasts import ASKING
from acp_tui.ui.rendering.palette import Palette
from acp_tui.ui.rendering.wrapping import cut, width_cells
from acp_tui.values import dataclass


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A row of the list. Its texts may come from an agent or the disk."""

    label: str
    written: str
    """The text that replaces what is being written."""
    further: str = ""
    """The text that Tab inserts instead, to continue from there: an open folder."""
    is_run: bool = False
    """Whether choosing it runs it instead of inserting it."""
    places: tuple[int, ...] = ()
    """The letters of the label that were typed."""
    name_at: int = 0
    """Where in the label the name begins, after its path."""
    description: str = ""
    group: str = ""
    """The heading above it."""


@dataclass(frozen=True, slots=True)
class Remark:
    """A row with information that can't be chosen."""

    text: str
    aside: str = ""
    """Shown at the end of the row."""


MOST_ROWS: Final = 8
FRAME_ROWS: Final = 2
LOW: Final = 5
"""With fewer rows above the prompt, the list has no frame."""
MIN_DESCRIPTION_CELLS: Final = 16
MOST_MEASURED: Final = 100


class _Looks(NamedTuple):
    """The styles of one row."""

    name: Style
    muted: Style
    """For the path before the name, and the description after it."""
    typed: Style
    """Applied over the letters that were typed."""


def _looks(palette: Palette, *, is_at_cursor: bool) -> _Looks:
    """In the terminal's own colors, muted or colored text is unreadable on the cursor's background."""
    if is_at_cursor:
        return _Looks(palette.text + Style(bold=True), palette.text, palette.match)
    return _Looks(palette.text, palette.muted, palette.accent + palette.match)


class SuggestionList(RowList):
    """Rows above the prompt, with the typed letters marked."""

    DEFAULT_CSS = """
    SuggestionList { overlay: screen; constrain: inside inside; display: none; width: 100%; }
    """

    heading_indent = 1
    """The same as for rows."""

    def __init__(self, choose: Callable[[], None]) -> None:
        """`choose` is called after a click has moved the cursor to a row."""
        super().__init__(most_rows=MOST_ROWS)
        self._choose = choose
        self._label_cells = 0
        """The width of the labels, so that descriptions start in one column."""

    @property
    def suggestion(self) -> Suggestion | None:
        """The suggestion under the cursor."""
        row = self.row
        return row.value if row is not None and isinstance(row.value, Suggestion) else None

    def open(self, rows: Sequence[Suggestion | Remark], room: int) -> None:
        """Show the rows in the `room` rows above. The cursor is on the first row that can be chosen."""
        self._label_cells = max((width_cells(_text(row)) for row in rows[:MOST_MEASURED] if _has_more(row)), default=0)
        has_frame = room >= LOW
        self.set_class(not has_frame, "-bare")
        self.show([_picker_row(row) for row in rows], 0 if isinstance(rows[0], Suggestion) else NOWHERE)
        lines = min(len(self._lines), MOST_ROWS, max(room - FRAME_ROWS * has_frame, 1))
        height = lines + FRAME_ROWS * has_frame
        self.styles.height = height
        # Never cover a question from the agent: that moves up instead.
        is_asked = any(widget.display for widget in self.screen.query(f".{ASKING}"))
        self.styles.overlay = "none" if is_asked else "screen"
        self.styles.offset = Offset(0, 0 if is_asked else -height)
        self.go_to_line(0)
        self.display = True

    def on_click(self, event: events.Click) -> None:
        """Choose the clicked row. Clicks on the frame and on headings do nothing."""
        event.prevent_default()
        index = self.row_at(event)
        if index is not None:
            self.move_to(index)
            self._choose()

    def on_resize(self) -> None:
        """Now that the rows have a size, show the one under the cursor."""
        self._reveal()

    def _reveal(self) -> None:
        if self.scrollable_content_region.height:
            super()._reveal()

    # Drawing

    def _row_segments(self, index: int, width: int, palette: Palette) -> list[Segment]:
        value: Suggestion | Remark = self.rows[index].value
        room = width - 1
        if isinstance(value, Remark):
            return [Segment(" "), *_remark(value, room, palette)]
        label_room, about = self._columns(value, room)
        looks = _looks(palette, is_at_cursor=index == self.cursor)
        label = _fitted(list(_label(value, looks)), label_room, keeps_end=bool(value.name_at))
        return [Segment(" "), *label, Segment(about, looks.muted)]

    def _columns(self, value: Suggestion, room: int) -> tuple[int, str]:
        """The width of the label, and the text after it. A narrow screen shows only the label."""
        label_cells = min(self._label_cells, room // 2)
        about_cells = room - label_cells - len(GAP)
        if not value.description or about_cells < MIN_DESCRIPTION_CELLS:
            return room, ""
        gap = " " * max(label_cells - width_cells(_text(value)), 0) + GAP
        return label_cells, gap + cut(make_visible_line(value.description), about_cells)


def _picker_row(value: Suggestion | Remark) -> PickerRow[Any]:
    group = value.group if isinstance(value, Suggestion) else ""
    return PickerRow(value, _text(value), group=group)


def _text(value: Suggestion | Remark) -> str:
    return make_visible_line(value.label if isinstance(value, Suggestion) else value.text)


def _has_more(value: Suggestion | Remark) -> bool:
    return isinstance(value, Suggestion) and bool(value.description)


def _remark(value: Remark, room: int, palette: Palette) -> list[Segment]:
    aside = make_visible_line(value.aside)
    text = cut(_text(value), max(room - width_cells(aside), 2))
    gap = " " * max(room - width_cells(text) - width_cells(aside), 0)
    return [Segment(text, palette.muted), Segment(gap + aside, palette.muted)]


def _label(value: Suggestion, looks: _Looks) -> Iterator[Segment]:
    """The label in segments of one style each: path, name, and in both the typed letters."""
    places = frozenset(value.places)
    kinds = [(at >= value.name_at, at in places) for at in range(len(value.label))]
    start = 0
    for at in range(1, len(kinds) + 1):
        if at == len(kinds) or kinds[at] != kinds[start]:
            is_name, is_typed = kinds[start]
            style = looks.name if is_name else looks.muted
            yield Segment(make_visible_line(value.label[start:at]), style + looks.typed if is_typed else style)
            start = at


def _fitted(segments: list[Segment], room: int, *, keeps_end: bool) -> list[Segment]:
    """Cut to `room` cells. A path keeps its end, which has the name."""
    strip = Strip(segments)
    cells = strip.cell_length
    if cells <= room:
        return segments
    mark = Segment("…")
    if keeps_end:
        return [mark, *strip.crop(cells - room + 1, cells)]
    return [*strip.crop(0, room - 1), mark]
