"""A window on a conversation: all of it is state, only the lines in view are on the screen, thirty times a second.

What changed is read in slices of a few milliseconds, so that a flood never keeps a key waiting; it scrolls by itself,
because every change of a Textual scroll view's length lays out the whole screen. What users do to entries is in `view`.
"""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import ClassVar, Final

from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Region
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from acp_tui.conversation.conversation import Change, Conversation
from acp_tui.conversation.tool_calls import TerminalId
from acp_tui.ui.drawings.drawing import Drawing, Scene
from acp_tui.ui.drawings.folds import AS_BY_DEFAULT, Folds
from acp_tui.ui.drawings.images import Pictures, Wanted, pictures_for
from acp_tui.ui.drawings.terminals import TerminalScreens
from acp_tui.ui.pacing import RETRY_S, PacedApp
from acp_tui.ui.rendering.ascii import Ascii
from acp_tui.ui.themes import palette_for
from acp_tui.ui.widgets.conversation.baking import Bakery
from acp_tui.ui.widgets.conversation.column import Column
from acp_tui.ui.widgets.conversation.scroll_bar import handle_rows, line_at

FRAME_S: Final = 1 / 30
FLOOD_FRAME_S: Final = 1 / 12
"""While a terminal prints more than anyone can read: each frame is sent whole, and keeps a core from the command."""
SLICE_S: Final = 0.004
"""How long entries are read before keys get their turn."""
PAUSE_S: Final = 0.002
"""Between two slices."""
KEY_PAUSE_S: Final = 0.025
"""After a key, until its echo is on the screen."""
WHEEL_LINES: Final = 3


class ConversationWindow(Widget, can_focus=True):
    """A conversation from top to bottom; follows its end until the user scrolls up."""

    ALLOW_SELECT = False

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("pageup", "page(-1)", "Page up", show=False),
        Binding("pagedown", "page(1)", "Page down", show=False),
        Binding("end", "follow", "Go to the end", show=False),
        Binding("home", "top", "Go to the beginning", show=False),
    ]

    class FollowingChanged(Message):
        """The view follows the end, or the user has scrolled away from it."""

        def __init__(self, is_following: bool, new_entries: int) -> None:
            super().__init__()
            self.is_following = is_following
            self.new_entries = new_entries

    class Replied(Message):
        """A terminal has to answer what the program in it has asked, before `position` in its output."""

        def __init__(self, terminal_id: TerminalId, position: int, replies: bytes) -> None:
            super().__init__()
            self.terminal_id = terminal_id
            self.position = position
            self.replies = replies

    def __init__(
        self,
        *,
        images: Wanted = "auto",
        folds: Folds = AS_BY_DEFAULT,
        id: str | None = None,  # noqa: A002 - Textual's own name
    ) -> None:
        super().__init__(id=id)
        self.top_line = 0
        """The line of the conversation on the first row."""
        self._conversation = Conversation()
        self._cwd = ""
        self._column = Column(self._current_scene, self._note_measured)
        self._screens = TerminalScreens(self._mark_terminals, self._mark_terminal, self._reply)
        self._images = images
        self._folds = folds
        self._pictures: Pictures | None = None
        self._scene: Scene | None = None
        self._bakery = Bakery()
        self._painted: list[Strip | None] = []
        """The rows as they are on the screen; None for one that is not known."""
        self._loop: asyncio.AbstractEventLoop | None = None
        self._frame_context = contextvars.copy_context()
        self._flush_handle: asyncio.TimerHandle | None = None
        self._last_frame = 0.0
        self._is_following = True
        self._seen_entries = 0

    # What it shows

    def show(self, conversation: Conversation, cwd: str = "") -> None:
        """Show this conversation from now on; call `mark` for each of its changes."""
        self._conversation = conversation
        self._cwd = cwd
        self._column.show(conversation)
        self._is_following = True
        self._scene = None
        self._schedule(0)

    def mark(self, change: Change) -> None:
        """Remember what to draw again with the next frame. Cheap, and callable from any task of the loop."""
        self._column.mark(change.entries)
        if change.terminal is not None:
            self._screens.keep_up(change.terminal)
        if self._column.dirty or change.facts:
            self._schedule(0)

    def on_mount(self) -> None:
        """Remember where frames are to run: updates come from tasks that know no app."""
        self._frame_context = contextvars.copy_context()
        self._loop = asyncio.get_running_loop()
        self.watch(self.app, "theme", self._redraw, init=False)
        self._images = self._fitted(self._images)
        self._pictures = pictures_for(self, self._images, self._mark_drawing)
        self._schedule(0)

    def on_unmount(self) -> None:
        """Draw no frame into nothing."""
        if self._flush_handle is not None:
            self._flush_handle.cancel()
        self._screens.close()
        if self._pictures is not None:
            self._pictures.close()
        self._loop = None

    @property
    def is_settled(self) -> bool:
        """True when everything that was marked is on the screen."""
        is_decoding = self._pictures is not None and self._pictures.is_decoding
        return self._flush_handle is None and not (
            self._column.dirty or self._screens.is_feeding or is_decoding
        )

    # Frames

    def _schedule(self, pause_s: float) -> None:
        if self._loop is None or self._flush_handle is not None:
            return
        # Work that is left goes on at once; its result is shown with the next frame.
        now = self._loop.time()
        frame_s = FLOOD_FRAME_S if self._screens.has_flood(now) else FRAME_S
        wait_s = pause_s or max(0.0, self._last_frame + frame_s - now)
        self._flush_handle = self._loop.call_later(wait_s, self._flush, context=self._frame_context)

    def _flush(self) -> None:
        self._flush_handle = None
        if self._loop is None or not self.size.width:
            return  # the first resize draws
        held_s = getattr(self.app, "last_key_at", 0.0) + KEY_PAUSE_S - self._loop.time()
        if held_s > 0 or not self._has_room:
            self._schedule(max(held_s, RETRY_S))
            return
        is_time_up = self._time_for_a_slice()
        self._column.mark_scene()
        is_done = self._work_ahead(is_time_up)
        if is_done:
            with self._standing_still():
                is_done = self._column.read_dirty(is_time_up)
        is_done = is_done and self._work_on(is_time_up)
        if is_done or self._now >= self._last_frame + FRAME_S:
            self._last_frame = self._now
            self._show_length()
        if not is_done:
            self._schedule(PAUSE_S)

    @property
    def _has_room(self) -> bool:
        """Whether a slow terminal can take a frame: held back here, it does not go along with the echo of a key."""
        return not isinstance(self.app, PacedApp) or self.app.has_room(is_small=False)

    @property
    def _now(self) -> float:
        return self._loop.time() if self._loop is not None else 0.0

    def _time_for_a_slice(self) -> Callable[[], bool]:
        """Says when keys are to get their turn."""
        deadline = self._now + SLICE_S
        return lambda: self._now >= deadline

    def _note_measured(self, entry: int) -> None:
        """It was drawn anew; for whoever keeps something on its lines."""

    def _work_ahead(self, is_time_up: Callable[[], bool]) -> bool:
        """Do what the user waits for, before anything is drawn; False where the time was not enough."""
        return True

    def _work_on(self, is_time_up: Callable[[], bool]) -> bool:
        """Do something else that takes long; False where the time was not enough."""
        return True

    @contextmanager
    def _standing_still(self) -> Iterator[None]:
        """Have what is on the first row there afterwards too, although something above may have grown.

        So what is read does not move; and until the next frame, the mouse finds what is still to be seen.
        """
        heights = self._column.heights
        place = heights.at(self.top_line)
        yield
        if place is not None:
            index, row = place
            self.top_line = heights.top(index) + min(row, heights.height(index))

    def _measure_near(self) -> None:
        """Let nothing be a guess in view, nor a window above and below it, where the next key may lead."""
        while True:
            self.top_line = self.max_top_line if self._is_following else min(self.top_line, self.max_top_line)
            with self._standing_still():
                has_grown = self._measure_around(self.top_line)
            if not has_grown:
                return

    def _measure_around(self, line: int) -> bool:
        """Lay out what is in a window at this line, and in one above and one below; False where all of it was."""
        height = self.size.height
        return self._column.measure_guesses(range(line - height, line + 2 * height))

    def _current_scene(self) -> Scene:
        width = self.size.width - 1  # the scroll bar
        theme = self.app.current_theme
        palette = palette_for(theme)
        if self._scene is None or self._scene.width != width or self._scene.palette is not palette:
            # The terminal's own sixteen colours draw no picture.
            pictures = None if theme.ansi else self._pictures
            terminals = self._conversation.terminals
            self._scene = Scene(width, palette, terminals, self._screens, self._cwd, pictures, self._folds)
        return self._scene

    def _show_length(self) -> None:
        self._measure_near()
        if self._is_following:
            self._seen_entries = len(self._column.drawings)
        elif self._seen_entries != len(self._column.drawings):
            self._tell_following()
        self._paint()

    def show_as(self, folds: Folds, images: Wanted) -> None:
        """Show so much of everything from now on, and pictures in that way."""
        images = self._fitted(images)
        if (folds, images) == (self._folds, self._images):
            return
        if images != self._images and self.is_mounted:
            if self._pictures is not None:
                self._pictures.close()
            self._pictures = pictures_for(self, images, self._mark_drawing)
        self._folds, self._images = folds, images
        self._scene = None
        self._redraw()

    def _fitted(self, images: Wanted) -> Wanted:
        """No pictures where only ASCII is shown: they are made of other characters."""
        is_ascii = any(isinstance(look, Ascii) for look in self.app.get_line_filters())
        return "off" if is_ascii else images

    def _redraw(self) -> None:
        """Everything may look different: another width, other colours, other folds. What stands at the top stays."""
        if not self.size.width:
            return
        self._column.mark_scene()
        self._show_length()
        self._schedule(0)

    def on_resize(self, event: events.Resize) -> None:
        """Draw for the new width."""
        self._redraw()

    def _mark_terminals(self) -> None:
        self._column.mark(self._conversation.terminal_entries.values())
        self._schedule(0)

    def _mark_terminal(self, terminal_id: TerminalId) -> None:
        """More of its output is in its emulator."""
        entry_id = self._conversation.terminal_entries.get(terminal_id)
        if entry_id is not None:
            self.mark(Change((entry_id,)))

    def _mark_drawing(self, drawing: Drawing) -> None:
        """A picture in it is there."""
        if self._column.mark_drawing(drawing) is not None:
            self._schedule(0)

    def _reply(self, terminal_id: TerminalId, position: int, replies: bytes) -> None:
        self.post_message(self.Replied(terminal_id, position, replies))

    @property
    def terminal_screens(self) -> TerminalScreens:
        """What its terminals show: there is one emulator for each, whoever looks at it."""
        return self._screens

    # Drawing the window

    def render_lines(self, crop: Region) -> list[Strip]:
        """The rows of `crop`; lines that were shown before are given again as the same objects."""
        strips = self._rows(range(crop.y, crop.bottom))
        for y, strip in enumerate(strips[: len(self._painted) - crop.y], crop.y):
            if self._painted[y] is not strip:
                self._painted[y] = None
        if crop.x == 0 and crop.width == self.size.width:
            return strips
        return [strip.crop(crop.x, crop.right) for strip in strips]

    def render_line(self, y: int) -> Strip:
        """One row: Textual asks for it to find out what is under the mouse."""
        return self._rows(range(y, y + 1))[0]

    def _paint(self) -> None:
        """Draw the rows that have changed; each that is not drawn is not sent to the terminal either."""
        strips = self._rows(range(self.size.height))
        before = self._painted if len(self._painted) == len(strips) else [None] * len(strips)
        self._painted = [*strips]
        changed = [y for y, strip in enumerate(strips) if strip is not before[y]]
        if changed:
            self.refresh(*(Region(0, y, self.size.width, 1) for y in changed))

    def _rows(self, rows: range) -> list[Strip]:
        self._bakery.use(self.visual_style.rich_style, self.get_line_filters(), self.background_colors[1])
        if self._column.mark_scene():  # Textual draws before it tells of another size
            self._measure_near()
        scene, thumb = self._current_scene(), self._thumb
        return [self._row(y, scene, thumb) for y in rows]

    def _row(self, y: int, scene: Scene, thumb_rows: range) -> Strip:
        thumb = scene.palette.rule if y in thumb_rows else None
        place = self._column.heights.at(self.top_line + y)
        if place is None:
            return self._bakery.blank(scene.width, thumb)
        index, row = place
        lines = self._column.lines(index)
        if row >= len(lines):
            return self._bakery.blank(scene.width, thumb)
        strip = self._bakery.bake(lines[row], scene.width, thumb, self._marker(index, scene))
        return self._marked(strip, index, row, lines[row].cell_length, scene)

    def _marker(self, index: int, scene: Scene) -> Style | None:
        """What is drawn on the left edge of an entry."""
        return None

    def _marked(self, strip: Strip, index: int, row: int, length: int, scene: Scene) -> Strip:
        """The row of an entry, of which `length` cells are drawn, with what is laid over it."""
        return strip

    @property
    def _thumb(self) -> range:
        return handle_rows(self._column.heights.total, self.size.height, self.top_line)

    # Scrolling

    @property
    def max_top_line(self) -> int:
        """The first line in view when the end is."""
        return max(0, self._column.heights.total - self.size.height)

    def scroll_to_line(self, line: int) -> None:
        """Put this line on the first row, as far as there is enough below it. At the end, follow; above it, do not."""
        self._is_following, was_following = False, self._is_following
        self.top_line = max(0, line)
        self._measure_near()
        self._is_following = was_following
        self._set_following(self.top_line >= self.max_top_line)
        self._paint()

    def scroll_to_row(self, index: int, row: int, above: int = 0) -> None:
        """Put this row of an entry on the one with so many `above` it, as far as there is enough around it."""
        while True:
            line = self._column.heights.top(index) + row - above
            if not self._measure_around(line):
                break
        self.scroll_to_line(line)

    def _set_following(self, is_following: bool) -> None:
        if self._is_following != is_following:
            self._is_following = is_following
            self._seen_entries = len(self._column.drawings)
            self._tell_following()

    def _tell_following(self) -> None:
        new = 0 if self._is_following else len(self._column.drawings) - self._seen_entries
        self.post_message(self.FollowingChanged(self._is_following, new))

    def action_follow(self) -> None:
        """Go to the end and stay there."""
        self._set_following(True)
        self._measure_near()
        self._paint()

    def action_top(self) -> None:
        """Go to the beginning."""
        self.scroll_to_line(0)

    def action_page(self, direction: int) -> None:
        """Scroll by a page, up for -1 and down for 1."""
        self.scroll_to_line(self.top_line + direction * max(self.size.height - 2, 1))

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """The wheel."""
        event.stop()
        self.scroll_to_line(self.top_line - WHEEL_LINES)

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """The wheel."""
        event.stop()
        self.scroll_to_line(self.top_line + WHEEL_LINES)

    def _drag_to(self, y: int) -> None:
        self.scroll_to_line(line_at(y, self._column.heights.total, self.size.height))
