"""Shows a conversation: all of it is state, only the lines in view are drawn, at most thirty times a second."""

from __future__ import annotations

import asyncio
import contextvars
from typing import ClassVar, Final

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from acp_tui.conversation.conversation import Change, Conversation
from acp_tui.conversation.entries import EntryId
from acp_tui.conversation.facts import Turn
from acp_tui.ui.drawings.drawing import Drawing, Scene
from acp_tui.ui.drawings.entries import drawing_of
from acp_tui.ui.drawings.terminals import TerminalScreens
from acp_tui.ui.themes import palette_for
from acp_tui.ui.widgets.conversation.heights import Heights

FRAME_S: Final = 1 / 30


class ConversationView(ScrollView, can_focus=True):
    """A conversation from top to bottom; follows its end until the user scrolls up."""

    DEFAULT_CSS = """
    ConversationView {
        height: 1fr;
        overflow-y: scroll;
        overflow-x: hidden;
        scrollbar-size-vertical: 1;
    }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "cursor(-1)", "Entry above", show=False),
        Binding("down", "cursor(1)", "Entry below", show=False),
        Binding("space,enter", "toggle_entry", "Fold or unfold", show=False),
        Binding("end", "follow", "Go to the end", show=False),
        Binding("home", "top", "Go to the beginning", show=False),
    ]

    class FollowingChanged(Message):
        """The view follows the end, or the user has scrolled away from it."""

        def __init__(self, is_following: bool, new_entries: int) -> None:
            super().__init__()
            self.is_following = is_following
            self.new_entries = new_entries

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's own name for it
        super().__init__(id=id)
        self._conversation = Conversation()
        self._cwd = ""
        self._drawings: list[Drawing] = []
        self._heights = Heights()
        self._dirty: set[EntryId] = set()
        self._screens = TerminalScreens(self._on_emulator_loaded)
        self._scene: Scene | None = None
        self._flush_handle: asyncio.TimerHandle | None = None
        self._last_flush = 0.0
        self._frame_context = contextvars.copy_context()
        self._is_following = True
        self._seen_entries = 0
        self._cursor: int | None = None
        self._all_open = False
        self._loop: asyncio.AbstractEventLoop | None = None

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
        self._schedule()

    def mark(self, change: Change) -> None:
        """Remember what to draw again with the next frame. Cheap, and callable from any task of the loop."""
        self._dirty.update(change.entries)
        if self._dirty or change.facts:
            self._schedule()

    def on_mount(self) -> None:
        """Remember where frames are to run: updates come from tasks that know no app."""
        self._frame_context = contextvars.copy_context()
        self._loop = asyncio.get_running_loop()
        self.watch(self.app, "theme", self._on_theme, init=False)
        self._schedule()

    def on_unmount(self) -> None:
        """Draw no frame into nothing."""
        if self._flush_handle is not None:
            self._flush_handle.cancel()
        self._loop = None

    def _schedule(self) -> None:
        if self._loop is None or self._flush_handle is not None:
            return
        wait_s = max(0.0, self._last_flush + FRAME_S - self._loop.time())
        self._flush_handle = self._loop.call_later(wait_s, self._flush, context=self._frame_context)

    def _flush(self) -> None:
        self._flush_handle = None
        if self._loop is None:
            return
        if not self.size.width:
            return  # the first resize draws
        self._last_flush = self._loop.time()
        self._draw_dirty()
        self._show_length()

    def _draw_dirty(self) -> None:
        scene = self._current_scene()
        entries = self._conversation.entries
        dirty, self._dirty = self._dirty, set()
        for entry_id in sorted(dirty):
            while entry_id >= len(self._drawings):
                self._open_drawing(len(self._drawings))
            drawing = self._drawings[entry_id]
            drawing.refresh()
            self._heights.set(entry_id, len(drawing.lines(scene)))
        if self._conversation.turn is Turn.IDLE and entries and self._drawings:
            last = len(self._drawings) - 1
            self._close_drawing(last, scene)

    def _open_drawing(self, index: int) -> None:
        if index:
            self._close_drawing(index - 1, self._current_scene())
        drawing = drawing_of(self._conversation.entries[index])
        drawing.refresh()
        drawing.set_open(self._all_open)
        self._drawings.append(drawing)
        self._heights.append(len(drawing.lines(self._current_scene())))

    def _close_drawing(self, index: int, scene: Scene) -> None:
        self._drawings[index].close()
        self._heights.set(index, len(self._drawings[index].lines(scene)))

    def _current_scene(self) -> Scene:
        width = self.scrollable_content_region.width
        palette = palette_for(self.app.current_theme)
        if self._scene is None or self._scene.width != width or self._scene.palette is not palette:
            self._scene = Scene(width, palette, self._conversation.terminals, self._screens, self._cwd)
        return self._scene

    def _show_length(self) -> None:
        size = Size(self.scrollable_content_region.width, self._heights.total)
        if size != self.virtual_size:
            self.virtual_size = size
        if self._is_following:
            self.scroll_to(y=self.max_scroll_y, animate=False, force=True)
            self._seen_entries = len(self._drawings)
        elif self._seen_entries != len(self._drawings):
            self._tell_following()
        self.refresh()

    def _redraw(self) -> None:
        """Everything may look different: another width, other colours, other folds."""
        if not self.size.width:
            return
        scene = self._current_scene()
        anchor = None if self._is_following else self._heights.at(self.scroll_offset.y)
        for index, drawing in enumerate(self._drawings):
            self._heights.set(index, len(drawing.lines(scene)))
        self._show_length()
        if anchor is not None:
            index, row = anchor
            line = self._heights.top(index) + min(row, self._heights.height(index))
            self.scroll_to(y=line, animate=False, force=True)

    def _on_theme(self) -> None:
        self._redraw()
        self._schedule()

    def on_resize(self, event: events.Resize) -> None:
        """Draw for the new width; what stands at the top stays there."""
        self._redraw()
        self._schedule()

    def _on_emulator_loaded(self) -> None:
        """Called in the thread that loaded the terminal emulator."""
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._mark_terminals)

    def _mark_terminals(self) -> None:
        self._dirty.update(self._conversation.terminal_entries.values())
        self._schedule()

    # Drawing the window

    def render_line(self, y: int) -> Strip:
        """The line of the conversation that stands on row `y` of the window."""
        region = self.scrollable_content_region
        background = self.visual_style.rich_style
        place = self._heights.at(self.scroll_offset.y + y)
        if place is None:
            return Strip.blank(region.width, background)
        index, row = place
        lines = self._drawings[index].lines(self._current_scene())
        if row >= len(lines):
            return Strip.blank(region.width, background)
        strip = lines[row].adjust_cell_length(region.width).apply_style(background)
        if index == self._cursor and self.has_focus:
            marker = Segment("▎", background + self._current_scene().palette.accent + Style(bold=True))
            strip = Strip([marker, *strip.crop(1, region.width)], region.width)
        return strip

    # Scrolling

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Whoever scrolls up stops following; whoever comes back to the end follows again."""
        super().watch_scroll_y(old_value, new_value)
        if new_value < old_value and new_value < self.max_scroll_y:
            self._set_following(False)
        elif new_value > old_value and new_value >= self.max_scroll_y:
            self._set_following(True)

    def _set_following(self, is_following: bool) -> None:
        if self._is_following != is_following:
            self._is_following = is_following
            if is_following:
                self._seen_entries = len(self._drawings)
            self._tell_following()

    def _tell_following(self) -> None:
        new = 0 if self._is_following else len(self._drawings) - self._seen_entries
        self.post_message(self.FollowingChanged(self._is_following, new))

    def action_follow(self) -> None:
        """Go to the end and stay there."""
        self._set_following(True)
        self.scroll_to(y=self.max_scroll_y, animate=False, force=True)

    def action_top(self) -> None:
        """Go to the beginning."""
        self.scroll_to(y=0, animate=False, force=True)

    def page(self, direction: int) -> None:
        """Scroll by a page, up for -1 and down for 1."""
        height = self.scrollable_content_region.height
        self.scroll_to(y=self.scroll_offset.y + direction * max(height - 2, 1), animate=False, force=True)

    # Entries

    def on_focus(self) -> None:
        """Put the cursor on the last entry in view."""
        bottom = self.scroll_offset.y + self.scrollable_content_region.height - 1
        place = self._heights.at(min(bottom, self._heights.total - 1))
        self._cursor = place[0] if place else None
        self.refresh()

    def on_blur(self) -> None:
        """Hide the cursor."""
        self.refresh()

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
        region = Region(0, self._heights.top(index), 1, max(self._heights.height(index), 1))
        top, height = self.scroll_offset.y, self.scrollable_content_region.height
        if region.y < top:
            self.scroll_to(y=region.y, animate=False, force=True)
        elif region.bottom > top + height:
            self.scroll_to(y=min(region.y, region.bottom - height), animate=False, force=True)

    def action_toggle_entry(self) -> None:
        """Fold or unfold the entry at the cursor."""
        if self._cursor is not None:
            self._toggle(self._cursor)

    def _toggle(self, index: int) -> None:
        drawing = self._drawings[index]
        if drawing.toggle():
            self._is_following = False
            self._heights.set(index, len(drawing.lines(self._current_scene())))
            self._show_length()

    def toggle_all(self) -> None:
        """Unfold everything, or fold everything again."""
        self._all_open = not self._all_open
        for drawing in self._drawings:
            drawing.set_open(self._all_open)
        self._redraw()

    def on_click(self, event: events.Click) -> None:
        """A click on an entry puts the cursor there; on the first line of one that folds, it folds or unfolds it."""
        place = self._heights.at(self.scroll_offset.y + event.y)
        if place is not None:
            self._cursor = place[0]
            if place[1] == 0:
                self._toggle(place[0])
            self.refresh()
