"""The list that lies over the screen above the prompt, so that nothing moves when it opens."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, NamedTuple

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.geometry import Offset
from textual.strip import Strip

from acp_tui.conversation.visible import make_visible_line
from acp_tui.ui.kit.row_list import GAP, NOWHERE, PickerRow, RowList, cut
from acp_tui.ui.kit.toasts import ASKING
from acp_tui.ui.rendering.palette import Palette
from acp_tui.ui.rendering.wrapping import width_cells
from acp_tui.values import dataclass


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A row of the list; its texts may be an agent's, or names from the disk."""

    label: str
    written: str
    """What takes the place of what is being written."""
    further: str = ""
    """What Tab writes instead, to go on from there: a folder that is open."""
    is_run: bool = False
    """It is not written but done at once."""
    places: tuple[int, ...] = ()
    """Which letters of the label were typed."""
    name_at: int = 0
    """Where in the label the name begins; before it stands the way there."""
    description: str = ""
    group: str = ""
    """The heading it stands under."""


@dataclass(frozen=True, slots=True)
class Remark:
    """A row that says something and cannot be chosen."""

    text: str
    aside: str = ""
    """Stands at the end of the row."""


MOST_ROWS: Final = 8
FRAME_ROWS: Final = 2
LOW: Final = 5
"""With fewer rows above the prompt the list goes without its frame."""
MIN_DESCRIPTION_CELLS: Final = 16
MOST_MEASURED: Final = 100


class _Looks(NamedTuple):
    """The styles of one row."""

    name: Style
    muted: Style
    """The way to the name, and what stands behind it."""
    typed: Style
    """Laid over the letters that were typed."""


def _looks(palette: Palette, *, is_at_cursor: bool) -> _Looks:
    """In a terminal's own colours, neither muted nor coloured text can be read on the cursor's ground."""
    if is_at_cursor:
        return _Looks(palette.text + Style(bold=True), palette.text, palette.match)
    return _Looks(palette.text, palette.muted, palette.accent + palette.match)


class SuggestionList(RowList):
    """Rows over the prompt, with the letters marked that were typed."""

    DEFAULT_CSS = """
    SuggestionList { overlay: screen; constrain: inside inside; display: none; width: 100%; }
    """

    heading_indent = 1
    """As its rows."""

    def __init__(self, choose: Callable[[], None]) -> None:
        """`choose` is called when the user has clicked on a row; the cursor is there then."""
        super().__init__(most_rows=MOST_ROWS)
        self._choose = choose
        self._label_cells = 0
        """So wide are the labels, so that what stands behind them begins in one column."""

    @property
    def suggestion(self) -> Suggestion | None:
        """The one under the cursor."""
        row = self.row
        return row.value if row is not None and isinstance(row.value, Suggestion) else None

    def open(self, rows: Sequence[Suggestion | Remark], room: int) -> None:
        """Show these in the `room` rows above; the cursor is on the first that can be chosen."""
        self._label_cells = max(
            (width_cells(_text(row)) for row in rows[:MOST_MEASURED] if _has_more(row)), default=0
        )
        has_frame = room >= LOW
        self.set_class(not has_frame, "-bare")
        self.show([_picker_row(row) for row in rows], 0 if isinstance(rows[0], Suggestion) else NOWHERE)
        lines = min(len(self._lines), MOST_ROWS, max(room - FRAME_ROWS * has_frame, 1))
        height = lines + FRAME_ROWS * has_frame
        self.styles.height = height
        # Over what an agent asks it does not lie: that moves up for it.
        is_asked = any(widget.display for widget in self.screen.query(f".{ASKING}"))
        self.styles.overlay = "none" if is_asked else "screen"
        self.styles.offset = Offset(0, 0 if is_asked else -height)
        self.scroll_to(y=0, animate=False, force=True)
        self.display = True

    def on_click(self, event: events.Click) -> None:
        """A click chooses; on the frame and on headings it does nothing."""
        event.prevent_default()
        place = event.get_content_offset(self)
        line = self.scroll_offset.y + place.y if place is not None else len(self._lines)
        what = self._lines[line] if line < len(self._lines) else ""
        if isinstance(what, int):
            self.move_to(what)
            self._choose()

    def on_resize(self) -> None:
        """Now that the rows have room, show the one under the cursor."""
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
        """How wide the label may be, and what stands behind it: on a narrow screen the label alone."""
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
    """The label in runs of one style each: the way to the name, the name, and in both the letters typed."""
    places = frozenset(value.places)
    kinds = [(at >= value.name_at, at in places) for at in range(len(value.label))]
    start = 0
    for at in range(1, len(kinds) + 1):
        if at == len(kinds) or kinds[at] != kinds[start]:
            is_name, is_typed = kinds[start]
            style = looks.name if is_name else looks.muted
            yield Segment(
                make_visible_line(value.label[start:at]), style + looks.typed if is_typed else style
            )
            start = at


def _fitted(segments: list[Segment], room: int, *, keeps_end: bool) -> list[Segment]:
    """As many cells; of a path the end is kept, where its name stands."""
    strip = Strip(segments)
    cells = strip.cell_length
    if cells <= room:
        return segments
    mark = Segment("…")
    if keeps_end:
        return [mark, *strip.crop(cells - room + 1, cells)]
    return [*strip.crop(0, room - 1), mark]
