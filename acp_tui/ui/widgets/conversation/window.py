"""A window on a conversation: all of it is state, only the lines in view are on the screen, thirty times a second.

What changed is read in slices of a few milliseconds, so that a flood never keeps a key waiting. How it scrolls is in
`column_window`, what users do to entries in `view`.
"""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Callable
from typing import Final

from textual import events
from textual.geometry import Size
from textual.message import Message

from acp_tui.conversation.conversation import Change, Conversation
from acp_tui.conversation.tool_calls import TerminalId
from acp_tui.ui.drawings.drawing import Drawing, Scene
from acp_tui.ui.drawings.folds import AS_BY_DEFAULT, Folds
from acp_tui.ui.drawings.images import Pictures, Wanted, pictures_for
from acp_tui.ui.drawings.terminals import TerminalScreens
from acp_tui.ui.kit.themes import palette_for
from acp_tui.ui.rendering.ascii import Ascii
from acp_tui.ui.textual_gaps.pacing import RETRY_S, has_room
from acp_tui.ui.widgets.conversation.column_window import ColumnWindow

FRAME_S: Final = 1 / 30
FLOOD_FRAME_S: Final = 1 / 12
"""While a terminal prints more than anyone can read: each frame is sent whole, and keeps a core from the command."""
SLICE_S: Final = 0.004
"""How long entries are read before keys get their turn."""
PAUSE_S: Final = 0.002
"""Between two slices."""
KEY_PAUSE_S: Final = 0.025
"""After a key, until its echo is on the screen."""


class ConversationWindow(ColumnWindow):
    """A conversation from top to bottom."""

    class FollowingChanged(Message):
        """The view follows the end, or the user has scrolled away from it."""

        def __init__(self, is_following: bool, new_entries: int) -> None:
            super().__init__()
            self.is_following = is_following
            self.new_entries = new_entries

    def __init__(
        self,
        *,
        images: Wanted = "auto",
        folds: Folds = AS_BY_DEFAULT,
        id: str | None = None,  # noqa: A002 - Textual's own name
    ) -> None:
        super().__init__(id=id)
        self.conversation = Conversation()
        self._cwd = ""
        self._screens = TerminalScreens(self._mark_terminals, self._mark_terminal)
        self._images = images
        self._folds = folds
        self._pictures: Pictures | None = None
        self._scene: Scene | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._frame_context = contextvars.copy_context()
        self._flush_handle: asyncio.TimerHandle | None = None
        self._last_frame = 0.0
        self._is_alone = True
        """Nothing stands below it that would have its place."""

    # What it shows

    def show(self, conversation: Conversation, cwd: str = "") -> None:
        """Show this conversation from now on; call `mark` for each of its changes."""
        self.conversation = conversation
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

    def come_to_front(self) -> None:
        """Show what came while another tab was to be seen."""
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
        if self._loop is None or not self.outer_size.width:
            return  # the first resize draws
        if not self.screen.is_current:
            return  # another tab, or a screen without holes, is in front: `come_to_front` draws
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
        return has_room(self.app, is_small=False)

    @property
    def _now(self) -> float:
        return self._loop.time() if self._loop is not None else 0.0

    def _time_for_a_slice(self) -> Callable[[], bool]:
        """Says when keys are to get their turn."""
        deadline = self._now + SLICE_S
        return lambda: self._now >= deadline

    def _work_ahead(self, is_time_up: Callable[[], bool]) -> bool:
        """Do what the user waits for, before anything is drawn; False where the time was not enough."""
        return True

    def _work_on(self, is_time_up: Callable[[], bool]) -> bool:
        """Do something else that takes long; False where the time was not enough."""
        return True

    def _current_scene(self) -> Scene:
        width = self.outer_size.width - 1  # the scroll bar
        theme = self.app.current_theme
        palette = palette_for(theme)
        if self._scene is None or self._scene.width != width or self._scene.palette is not palette:
            # The terminal's own sixteen colours draw no picture.
            pictures = None if theme.ansi else self._pictures
            terminals = self.conversation.terminals
            self._scene = Scene(width, palette, terminals, self._screens, self._cwd, pictures, self._folds)
        return self._scene

    def _show_length(self) -> None:
        self._measure_near()
        if not self._is_alone and self.outer_size.height != self._column.heights.total:
            self.refresh(layout=True)
        if self._is_following:
            self._seen_entries = len(self._column.drawings)
        elif self._seen_entries != len(self._column.drawings):
            self._tell_following()
        self._paint()

    def show_above(self, *, is_alone: bool) -> None:
        """Take all the room; or only as much as there are lines, and none without any, where something stands below."""
        self._is_alone = is_alone
        self.styles.height = "1fr" if is_alone else "auto"
        self.display = is_alone or bool(self.conversation.entries)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """All lines, where the window is as high as they are."""
        return max(self._column.heights.total, 1)

    def _tell_following(self) -> None:
        new = 0 if self._is_following else len(self._column.drawings) - self._seen_entries
        self.post_message(self.FollowingChanged(self._is_following, new))

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
        if not self.outer_size.width:
            return
        self._column.mark_scene()
        self._show_length()
        self._schedule(0)

    def on_resize(self, event: events.Resize) -> None:
        """Draw for the new width."""
        self._redraw()

    def _mark_terminals(self) -> None:
        self._column.mark(self.conversation.terminal_entries.values())
        self._schedule(0)

    def _mark_terminal(self, terminal_id: TerminalId) -> None:
        """More of its output is in its emulator."""
        entry_id = self.conversation.terminal_entries.get(terminal_id)
        if entry_id is not None:
            self.mark(Change((entry_id,)))

    def _mark_drawing(self, drawing: Drawing) -> None:
        """A picture in it is there."""
        if self._column.mark_drawing(drawing) is not None:
            self._schedule(0)

    @property
    def terminal_screens(self) -> TerminalScreens:
        """What its terminals show: there is one emulator for each, whoever looks at it."""
        return self._screens
