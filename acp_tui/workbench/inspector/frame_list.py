"""The list of frames, of any length. Redraws only visible rows that changed."""

from __future__ import annotations

from typing import ClassVar, Final

from rich.segment import Segment
from textual import events
from textual.geometry import Size
from textual.message import Message
from textual.reactive import Reactive
from textual.strip import Strip
from textual.timer import Timer

from acp_tui.ui.commands.command import Place
from acp_tui.ui.commands.keys import keys_in_force
from acp_tui.ui.commands.table import MOVING, bindings_of
from acp_tui.ui.kit.frame_loop import FRAME_S, Frames
from acp_tui.ui.kit.line_view import LineView
from acp_tui.ui.kit.themes import palette_for
from acp_tui.ui.rendering.wrapping import cut
from acp_tui.workbench.inspect.index import IndexRow, LineSummary, MessageKind
from acp_tui.workbench.inspect.inspection import Inspection
from acp_tui.workbench.inspector.rows import margin, row_strip

FLOOD_FRAME_S: Final = 1 / 8
"""The length of a frame while more arrives than anyone can read, because each frame draws all rows."""
KEY_PAUSE_S: Final = 0.025
"""The pause after a key, so that its echo reaches the screen."""
_NOTHING: Final = LineSummary()
WAITED_S: Final = 1.0
"""How often to update the waiting times of requests."""
_Shown = tuple[IndexRow, LineSummary | None, float | None]
"""A row with the waiting time of its request, in whole seconds."""


class FrameList(LineView, can_focus=True):
    """Follows the end while the cursor is on the last frame."""

    ALLOW_SELECT = False
    PLACE: Final = "frames"
    ALSO: ClassVar[tuple[Place, ...]] = ("reading",)
    BINDINGS = bindings_of("read_on", *MOVING, place=PLACE)
    virtual_size = Reactive(Size(0, 0))
    """Textual's would lay out the screen for each frame that arrives."""

    class Moved(Message):
        """Another frame is selected."""

    class Drawn(Message):
        """The latest results of the inspection are drawn."""

    class Opened(Message):
        """The user wants to look into the frame."""

    def __init__(self, inspection: Inspection, *, follows: bool) -> None:
        super().__init__(id="frames")
        self.follows = follows
        self.cursor = -1
        """The position of the selected frame; -1: none."""
        self._inspection = inspection
        self._rows: list[_Shown] = []
        self._strips: dict[_Shown, Strip] = {}
        """The drawn ones of these rows."""
        self._anchor = 0
        """The position of the first visible frame, because frames above it may be removed."""
        self._frames = Frames(self, self._draw_frame, lambda _: FLOOD_FRAME_S if self._is_flooded else FRAME_S)
        self._waiting: Timer | None = None
        self._is_flooded = False
        """Whether nothing seen before is still in view."""

    # Frames

    def on_mount(self) -> None:
        super().on_mount()
        self._frames.start()
        self._inspection.listener = self.mark
        self._inspection.pause_s = self._pause_s

    def on_unmount(self) -> None:
        self._inspection.listener = lambda: None
        self._frames.stop()

    def on_resize(self, event: events.Resize) -> None:
        self._strips = {}
        self._flush()

    def redraw(self) -> None:
        self._strips = {}
        self.refresh()

    def mark(self) -> None:
        self._frames.schedule()

    def _pause_s(self) -> float:
        """How long the echo of the last key may still take."""
        return max(0.0, getattr(self.app, "last_key_at", -KEY_PAUSE_S) + KEY_PAUSE_S - self._frames.now)

    def _draw_frame(self) -> None:
        if (pause_s := self._pause_s()) > 0:
            self._frames.schedule(pause_s)
            return
        self._frames.shown_at = self._frames.now
        self._flush()

    def count_lines(self, count: int) -> None:
        """Set the number of lines, also for the scroll bar."""
        super().count_lines(count)
        self.vertical_scrollbar.window_virtual_size = count

    def _flush(self) -> None:
        """Show the current frames. The first row stays, unless the list follows the end."""
        if not self.size.height:
            return
        before = self.scroll_offset.y
        self.count_lines(self.total)
        if self.follows:
            self.go_to_line(self.total)
            self._put_cursor(self._at(self.total - 1))
        else:
            self.go_to_line(self._inspection.ordinal_of(self._anchor))
            if self.cursor < 0:
                self._put_cursor(self._at(0))
        if self.scroll_offset.y == before:  # otherwise, scrolling has shown them
            self._show_rows()
        self._come_back_while_waiting()
        self.post_message(self.Drawn())

    def _come_back_while_waiting(self) -> None:
        inspection = self._inspection
        is_waiting = inspection.source.now_s is not None and inspection.index.waiting
        if self._waiting is None and is_waiting:
            self._waiting = self.set_timer(WAITED_S, self._wait_on)

    def _wait_on(self) -> None:
        self._waiting = None
        self.mark()

    def _show_rows(self) -> None:
        before, inspection, top = self._rows, self._inspection, self.scroll_offset.y
        rows = inspection.rows(top, top + self.size.height)
        self._rows = [(row, inspection.glimpse(row.position), self._waited_s(row)) for row in rows]
        self._anchor = self._rows[0][0].position if self._rows else 0
        self._is_flooded = bool(before and self.follows) and before[-1][0].position < self._anchor
        inspection.want_glimpses([row.position for row, glimpse, _ in self._rows if glimpse is None])
        self._strips = {row: strip for row in self._rows if (strip := self._strips.get(row)) is not None}
        self.refresh()

    def _waited_s(self, row: IndexRow) -> float | None:
        if row.form is not MessageKind.REQUEST or row.partner is not None:
            return None
        waited_s = self._inspection.waited_s(row)
        return None if waited_s is None else float(int(waited_s))

    # Drawing

    @property
    def total(self) -> int:
        return self._inspection.count

    @property
    def empty_text(self) -> str:
        """Why there are none, and what to do about it."""
        if self._inspection.has_more or self._inspection.searched < self._inspection.index.end:
            return "Looking …"
        if self._inspection.query:
            return keys_in_force(self).hint("No frame matches; {inspect_all} shows everything")
        return "No frames yet."

    def render_line(self, y: int) -> Strip:
        """A row, or in the second one why there are none."""
        if y != 1 or self.total:
            return super().render_line(y)
        palette, width = palette_for(self.app.current_theme), self.scrollable_content_region.width
        said = Strip([Segment(cut(f" {self.empty_text}", width), palette.muted)])
        return said.adjust_cell_length(width).apply_style(self.visual_style.rich_style)

    def draw_line(self, line: int, width: int) -> Strip:
        at = line - self.scroll_offset.y
        if at >= len(self._rows):
            return Strip.blank(width)
        shown = row, glimpse, waited_s = self._rows[at]
        palette, is_at_cursor = palette_for(self.app.current_theme), row.position == self.cursor
        strip = self._strips.get(shown) or row_strip(row, glimpse or _NOTHING, width - 1, palette, waited_s)
        self._strips[shown] = strip
        return Strip([margin(palette, is_at_cursor=is_at_cursor), *strip])

    def is_at_cursor(self, line: int) -> bool:
        at = line - self.scroll_offset.y
        return self.has_focus and at < len(self._rows) and self._rows[at][0].position == self.cursor

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Read the rows that came into view. Stop following, unless that is the end."""
        super().watch_scroll_y(old_value, new_value)
        if round(old_value) != round(new_value):
            self.follows = self.follows and self.scroll_offset.y >= self.max_scroll_y
            self._show_rows()

    # The cursor

    def _at(self, ordinal: int) -> int:
        """The position of the frame shown there, or of the nearest; -1 if there are none."""
        return self._inspection.position_of(max(0, min(ordinal, self.total - 1))) if self.total else -1

    def _put_cursor(self, position: int) -> None:
        if position != self.cursor:
            self.cursor = position
            self.refresh()
            self.post_message(self.Moved())

    def go_to(self, position: int) -> None:
        """Select this frame, or the next one shown, and scroll it into view."""
        ordinal = min(self._inspection.ordinal_of(position), max(self.total - 1, 0))
        self.follows = False
        self._put_cursor(self._at(ordinal))
        if not 0 <= ordinal - self.scroll_offset.y < self.size.height:
            self.go_to_line(ordinal - self.size.height // 2)

    def show_again(self) -> None:
        """Update after the filter or the display of frames changed."""
        self._flush()
        if not self.follows and self.cursor >= 0:
            self.go_to(self.cursor)
        self.refresh()

    def _move_to(self, ordinal: int) -> None:
        ordinal = max(0, min(ordinal, self.total - 1))
        self.follows = ordinal == self.total - 1 and self.follows
        self._put_cursor(self._at(ordinal))
        self.reveal(range(ordinal, ordinal + 1))

    def action_move(self, step: int) -> None:
        self._move_to(self._inspection.ordinal_of(self.cursor) + step)

    def action_page(self, direction: int) -> None:
        self.action_move(direction * self.page_lines)

    def action_go_to_end(self, direction: int) -> None:
        """Go to the beginning for -1; for 1, go to the end and follow it."""
        if direction < 0:
            self._move_to(0)
            return
        self.follows = True
        self._flush()

    def action_open(self) -> None:
        self.post_message(self.Opened())

    def on_click(self, event: events.Click) -> None:
        line = self.clicked_line(event)
        if line is not None:
            self._move_to(line)
