"""The list of frames, of any length. Redraws only visible rows that changed."""

from __future__ import annotations

from itertools import zip_longest
from typing import ClassVar, Final

from textual import events
from textual.binding import BindingType
from textual.message import Message
from textual.strip import Strip
from textual.timer import Timer

from acp_tui.ui.commands.keys import keys_in_force
from acp_tui.ui.commands.table import bindings_of
from acp_tui.ui.kit.frames import FRAME_S, Frames
from acp_tui.ui.kit.line_window import LineWindow
from acp_tui.ui.rendering.palette import Palette
from acp_tui.workbench.inspect import Inspection
from acp_tui.workbench.inspect.index import LineSummary, MessageKind, Row
from acp_tui.workbench.inspector.rows import row_strip

FLOOD_FRAME_S: Final = 1 / 8
"""The length of a frame while more arrives than anyone can read, because each frame draws all rows."""
KEY_PAUSE_S: Final = 0.025
"""The pause after a key, so that its echo reaches the screen."""
_NOTHING: Final = LineSummary()
WAITED_S: Final = 1.0
"""How often to update the waiting times of requests."""
_Shown = tuple[Row, LineSummary | None, float | None]
"""A row with the waiting time of its request, in whole seconds."""


class FrameList(LineWindow):
    """Follows the end while the cursor is on the last frame."""

    BINDINGS: ClassVar[list[BindingType]] = bindings_of(place="frames")

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
        """The visible rows, from the top."""
        self._thumb = range(0)
        self._anchor = 0
        """The position of the first visible frame, because frames above it may be removed."""
        self._frames = Frames(self, self._draw_frame, lambda _: FLOOD_FRAME_S if self._is_flooded else FRAME_S)
        self._waiting: Timer | None = None
        self._is_flooded = False
        """Whether nothing seen before is still in view."""

    # Frames

    def on_mount(self) -> None:
        """Start drawing."""
        super().on_mount()
        self._frames.start()
        self._inspection.listener = self.mark
        self._inspection.pause_s = self._pause_s

    def on_unmount(self) -> None:
        """Stop drawing."""
        self._inspection.listener = lambda: None
        self._frames.stop()

    def on_resize(self, event: events.Resize) -> None:
        """Show rows for the new size."""
        self._flush()

    def mark(self) -> None:
        """Schedule an update for the next frame. Cheap."""
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

    def _flush(self) -> None:
        """Show the current frames. The first row stays, unless the list follows the end."""
        if not self.size.height:
            return
        if self.follows:
            self.top = self.max_top
            self._put_cursor(self._last)
        else:
            self.top = min(self._inspection.ordinal_of(self._anchor), self.max_top)
            if self.cursor < 0:
                self._put_cursor(self._at(0))
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
        before, self._rows = self._rows, self._read_rows()
        self._anchor = self._rows[0][0].position if self._rows else 0
        self._is_flooded = bool(before and self.follows) and before[-1][0].position < self._anchor
        missing = [row.position for row, glimpse, _ in self._rows if glimpse is None]
        self._inspection.want_glimpses(missing)
        pairs = zip_longest(before, self._rows)
        changed = {y for y, (then, now) in enumerate(pairs) if then != now}
        thumb_before, self._thumb = self._thumb, self.thumb
        if not self._rows:
            changed.add(1)  # the reason why it's empty
        self.refresh_rows(changed.union(set(thumb_before) ^ set(self._thumb)))

    def _read_rows(self) -> list[_Shown]:
        rows = self._inspection.rows(self.top, self.top + self.size.height)
        return [(row, self._inspection.glimpse(row.position), self._waited_s(row)) for row in rows]

    def _waited_s(self, row: Row) -> float | None:
        if row.form is not MessageKind.REQUEST or row.partner is not None:
            return None
        waited_s = self._inspection.waited_s(row)
        return None if waited_s is None else float(int(waited_s))

    # Drawing

    @property
    def total(self) -> int:
        """The number of frames shown."""
        return self._inspection.count

    @property
    def empty_text(self) -> str:
        """Why there are none, and what to do about it."""
        standing = self._inspection.standing
        if standing.is_reading or standing.searched < self._inspection.index.end:
            return "Looking …"
        if self._inspection.query:
            return keys_in_force(self).hint("No frame matches; {inspect_all} shows everything")
        return "No frames yet."

    def _draw(self, line: int, width: int, palette: Palette) -> Strip:
        at = line - self.top
        if at >= len(self._rows):
            return Strip.blank(width)
        row, glimpse, waited_s = self._rows[at]
        return row_strip(row, glimpse or _NOTHING, width, palette, waited_s)

    def _has_cursor(self, line: int) -> bool:
        at = line - self.top
        return at < len(self._rows) and self._rows[at][0].position == self.cursor

    def scroll_to_line(self, line: int) -> None:
        """Scroll so that `line` is the first row. Stops following unless that is the end."""
        self.top = max(0, min(line, self.max_top))
        self.follows = self.follows and self.top >= self.max_top
        self._show_rows()
        self.refresh()

    # The cursor

    @property
    def _last(self) -> int:
        return self._at(self.total - 1)

    def _at(self, ordinal: int) -> int:
        """The position of the frame shown there, or of the nearest; -1 if there are none."""
        return self._inspection.position_of(max(0, min(ordinal, self.total - 1))) if self.total else -1

    def _put_cursor(self, position: int) -> None:
        if position != self.cursor:
            rows = [y for y, (row, *_) in enumerate(self._rows) if row.position in (position, self.cursor)]
            self.cursor = position
            self.refresh_rows(rows)
            self.post_message(self.Moved())

    def go_to(self, position: int) -> None:
        """Select this frame, or the next one shown, and scroll it into view."""
        ordinal = min(self._inspection.ordinal_of(position), max(self.total - 1, 0))
        self.follows = False
        self._put_cursor(self._at(ordinal))
        if not self.top <= ordinal < self.top + self.size.height:
            self.scroll_to_line(ordinal - self.size.height // 2)

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
        self._reveal(ordinal)

    def action_move(self, step: int) -> None:
        """Select the frame above or below."""
        self._move_to(self._inspection.ordinal_of(self.cursor) + step)

    def action_page(self, direction: int) -> None:
        """Move the selection by a page."""
        self.action_move(direction * max(self.size.height - 1, 1))

    def action_to_top(self) -> None:
        """Select the first frame."""
        self._move_to(0)

    def action_to_end(self) -> None:
        """Select the last frame, and follow new ones."""
        self.follows = True
        self._flush()

    def action_open(self) -> None:
        """Look into the frame."""
        self.post_message(self.Opened())

    def _click(self, line: int) -> None:
        self._move_to(line)
