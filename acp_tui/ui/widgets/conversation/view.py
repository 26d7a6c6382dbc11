"""Shows a conversation: all of it is state, only the lines in view are on the screen, at most thirty times a second.

What changed is read in slices of a few milliseconds, so that a flood never keeps a key waiting; it scrolls by itself,
because every change of a Textual scroll view's length lays out the whole screen.
"""

from __future__ import annotations

import asyncio
import contextvars
import logging
from typing import ClassVar, Final

from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Region
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from acp_tui.conversation.conversation import Change, Conversation
from acp_tui.conversation.entries import EntryId
from acp_tui.conversation.facts import Turn
from acp_tui.conversation.tool_calls import TerminalId
from acp_tui.ui.drawings.drawing import Drawing, Scene
from acp_tui.ui.drawings.entries import drawing_of
from acp_tui.ui.drawings.notes import Undrawable
from acp_tui.ui.drawings.terminals import TerminalScreens
from acp_tui.ui.themes import palette_for
from acp_tui.ui.widgets.conversation.baking import Bakery
from acp_tui.ui.widgets.conversation.heights import Heights
from acp_tui.ui.widgets.conversation.scroll_bar import handle_rows, line_at

log = logging.getLogger(__name__)

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


class ConversationView(Widget, can_focus=True):
    """A conversation from top to bottom; follows its end until the user scrolls up."""

    DEFAULT_CSS = "ConversationView { height: 1fr; }"
    ALLOW_SELECT = False

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "cursor(-1)", "Entry above", show=False),
        Binding("down", "cursor(1)", "Entry below", show=False),
        Binding("space,enter", "toggle_entry", "Fold or unfold", show=False),
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

    class Typed(Message):
        """The user types here what is meant for the prompt."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's own name for it
        super().__init__(id=id)
        self.top_line = 0
        """The line of the conversation on the first row."""
        self._conversation = Conversation()
        self._cwd = ""
        self._drawings: list[Drawing] = []
        self._heights = Heights()
        self._dirty: set[EntryId] = set()
        self._screens = TerminalScreens(self._mark_terminals, self._mark_terminal)
        self._scene: Scene | None = None
        self._bakery = Bakery()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._frame_context = contextvars.copy_context()
        self._flush_handle: asyncio.TimerHandle | None = None
        self._last_frame = 0.0
        self._is_following = True
        self._seen_entries = 0
        self._cursor: int | None = None
        self._all_open = False
        self._is_dragging = False

    # What it shows

    def show(self, conversation: Conversation, cwd: str = "") -> None:
        """Show this conversation from now on; call `mark` for each of its changes."""
        self._conversation = conversation
        self._cwd = cwd
        self._drawings = []
        self._heights = Heights()
        self._dirty = set(map(EntryId, range(len(conversation.entries))))
        self._cursor = None
        self._is_following = True
        self._scene = None
        self._schedule(0)

    def mark(self, change: Change) -> None:
        """Remember what to draw again with the next frame. Cheap, and callable from any task of the loop."""
        self._dirty.update(change.entries)
        if change.terminal is not None:
            self._screens.keep_up(change.terminal)
        if self._dirty or change.facts:
            self._schedule(0)

    def on_mount(self) -> None:
        """Remember where frames are to run: updates come from tasks that know no app."""
        self._frame_context = contextvars.copy_context()
        self._loop = asyncio.get_running_loop()
        self.watch(self.app, "theme", self._redraw, init=False)
        self._schedule(0)

    def on_unmount(self) -> None:
        """Draw no frame into nothing."""
        if self._flush_handle is not None:
            self._flush_handle.cancel()
        self._screens.close()
        self._loop = None

    @property
    def is_settled(self) -> bool:
        """True when everything that was marked is on the screen."""
        return self._flush_handle is None and not self._dirty and not self._screens.is_feeding

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
        if held_s > 0:
            self._schedule(held_s)
            return
        is_done = self._read_dirty(self._loop.time() + SLICE_S)
        if is_done or self._loop.time() >= self._last_frame + FRAME_S:
            self._last_frame = self._loop.time()
            self._show_length()
        if not is_done:
            self._schedule(PAUSE_S)

    def _read_dirty(self, deadline: float) -> bool:
        """Read the entries that changed, oldest first; False where the time was not enough."""
        assert self._loop is not None
        for entry_id in sorted(self._dirty):
            while entry_id >= len(self._drawings):
                self._open_drawing(len(self._drawings))
            while not self._read(entry_id):
                if self._loop.time() >= deadline:
                    return False
            self._dirty.discard(entry_id)
            if self._dirty and self._loop.time() >= deadline:
                return False
        if self._conversation.turn is Turn.IDLE and self._drawings:
            self._close_drawing(len(self._drawings) - 1)
        return True

    def _read(self, index: int) -> bool:
        is_done = self._drawings[index].refresh()
        self._measure(index)
        return is_done

    def _measure(self, index: int) -> None:
        try:
            height = len(self._drawings[index].lines(self._current_scene()))
        except Exception:
            # What an agent sent must not take the screen down; the rest of the conversation stays readable.
            log.exception("entry %d cannot be drawn", index)
            self._drawings[index] = Undrawable()
            height = 1
        self._heights.set(index, height)

    def _open_drawing(self, index: int) -> None:
        if index:
            self._close_drawing(index - 1)
        drawing = drawing_of(self._conversation.entries[index])
        drawing.set_open(self._all_open)
        self._drawings.append(drawing)
        self._heights.append(0)
        # Read with the next slices: it may be long.
        self._dirty.add(EntryId(index))

    def _close_drawing(self, index: int) -> None:
        if EntryId(index) in self._dirty and not self._read(index):
            return
        self._drawings[index].close()
        self._measure(index)

    def _current_scene(self) -> Scene:
        width = self.size.width - 1  # the scroll bar
        palette = palette_for(self.app.current_theme)
        if self._scene is None or self._scene.width != width or self._scene.palette is not palette:
            self._scene = Scene(width, palette, self._conversation.terminals, self._screens, self._cwd)
        return self._scene

    def _show_length(self) -> None:
        if self._is_following:
            self.top_line = self.max_top_line
            self._seen_entries = len(self._drawings)
        else:
            self.top_line = min(self.top_line, self.max_top_line)
            if self._seen_entries != len(self._drawings):
                self._tell_following()
        self.refresh()

    def _redraw(self) -> None:
        """Everything may look different: another width, other colours, other folds. What stands at the top stays."""
        if not self.size.width:
            return
        anchor = None if self._is_following else self._heights.at(self.top_line)
        for index in range(len(self._drawings)):
            self._measure(index)
        if anchor is not None:
            index, row = anchor
            self.top_line = self._heights.top(index) + min(row, self._heights.height(index))
        self._show_length()
        if self._dirty:
            self._schedule(0)

    def on_resize(self, event: events.Resize) -> None:
        """Draw for the new width."""
        self._redraw()

    def _mark_terminals(self) -> None:
        self._dirty.update(self._conversation.terminal_entries.values())
        self._schedule(0)

    def _mark_terminal(self, terminal_id: TerminalId) -> None:
        """More of its output is in its emulator."""
        entry_id = self._conversation.terminal_entries.get(terminal_id)
        if entry_id is not None:
            self.mark(Change((entry_id,)))

    # Drawing the window

    def render_lines(self, crop: Region) -> list[Strip]:
        """The rows of `crop`; lines that were shown before are given again as the same objects."""
        self._bakery.use(self.visual_style.rich_style, self.get_line_filters(), self.background_colors[1])
        scene, thumb = self._current_scene(), self._thumb
        strips = [self._row(y, scene, thumb) for y in range(crop.y, crop.bottom)]
        if crop.x == 0 and crop.width == self.size.width:
            return strips
        return [strip.crop(crop.x, crop.right) for strip in strips]

    def render_line(self, y: int) -> Strip:
        """One row: Textual asks for it to find out what is under the mouse."""
        self._bakery.use(self.visual_style.rich_style, self.get_line_filters(), self.background_colors[1])
        return self._row(y, self._current_scene(), self._thumb)

    def _row(self, y: int, scene: Scene, thumb_rows: range) -> Strip:
        thumb = scene.palette.rule if y in thumb_rows else None
        place = self._heights.at(self.top_line + y)
        if place is None:
            return self._bakery.blank(scene.width, thumb)
        index, row = place
        lines = self._drawings[index].lines(scene)
        if row >= len(lines):
            return self._bakery.blank(scene.width, thumb)
        marker = scene.palette.accent if index == self._cursor and self.has_focus else None
        return self._bakery.bake(lines[row], scene.width, thumb, marker)

    @property
    def _thumb(self) -> range:
        return handle_rows(self._heights.total, self.size.height, self.top_line)

    # Scrolling

    @property
    def max_top_line(self) -> int:
        """The first line in view when the end is."""
        return max(0, self._heights.total - self.size.height)

    def scroll_to_line(self, line: int) -> None:
        """Put this line on the first row, as far as there is enough below it. At the end, follow; above it, do not."""
        self.top_line = max(0, min(line, self.max_top_line))
        self._set_following(self.top_line >= self.max_top_line)
        self.refresh()

    def _set_following(self, is_following: bool) -> None:
        if self._is_following != is_following:
            self._is_following = is_following
            self._seen_entries = len(self._drawings)
            self._tell_following()

    def _tell_following(self) -> None:
        new = 0 if self._is_following else len(self._drawings) - self._seen_entries
        self.post_message(self.FollowingChanged(self._is_following, new))

    def action_follow(self) -> None:
        """Go to the end and stay there."""
        self.scroll_to_line(self.max_top_line)

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

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Take hold of the scroll bar."""
        if event.x == self.size.width - 1 and self._thumb:
            self._is_dragging = True
            self.capture_mouse()
            self._drag_to(event.y)

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """Drag the scroll bar."""
        if self._is_dragging:
            self._drag_to(event.y)

    def on_mouse_up(self, event: events.MouseUp) -> None:
        """Let go of the scroll bar."""
        if self._is_dragging:
            self._is_dragging = False
            self.release_mouse()

    def _drag_to(self, y: int) -> None:
        self.scroll_to_line(line_at(y, self._heights.total, self.size.height))

    # Entries

    def on_focus(self) -> None:
        """Put the cursor on the last entry in view."""
        bottom = self.top_line + self.size.height - 1
        place = self._heights.at(min(bottom, self._heights.total - 1))
        self._cursor = place[0] if place else None

    def on_key(self, event: events.Key) -> None:
        """Pass on what is typed; the space bar folds."""
        if event.is_printable and event.character and event.character != " ":
            event.stop()
            self.post_message(self.Typed(event.character))

    def action_cursor(self, step: int) -> None:
        """Move the cursor by entries, over those that show nothing."""
        if self._cursor is None:
            return
        at = self._cursor + step
        while 0 <= at < len(self._drawings) and not self._heights.height(at):
            at += step
        if 0 <= at < len(self._drawings):
            self._cursor = at
            self._scroll_to_entry(at)
            self.refresh()

    def _scroll_to_entry(self, index: int) -> None:
        top, height = self._heights.top(index), self._heights.height(index)
        if top < self.top_line:
            self.scroll_to_line(top)
        elif top + height > self.top_line + self.size.height:
            self.scroll_to_line(min(top, top + height - self.size.height))

    def action_toggle_entry(self) -> None:
        """Fold or unfold the entry at the cursor."""
        if self._cursor is not None:
            self._toggle(self._cursor)

    def _toggle(self, index: int) -> None:
        if self._drawings[index].toggle():
            self._measure(index)
            # What unfolds is read from its beginning; where all of it fits, there is nothing to scroll away from.
            self._set_following(self.max_top_line == 0)
            self._show_length()

    def toggle_all(self) -> None:
        """Unfold everything, or fold everything again."""
        self._all_open = not self._all_open
        for drawing in self._drawings:
            drawing.set_open(self._all_open)
        self._redraw()

    def on_click(self, event: events.Click) -> None:
        """A click on an entry puts the cursor there; on the first line of one that folds, it folds or unfolds it."""
        place = self._heights.at(self.top_line + event.y)
        if place is not None and event.x < self.size.width - 1:
            self._cursor = place[0]
            if place[1] == 0:
                self._toggle(place[0])
            self.refresh()
