"""The conversation view: draws the entries in view, and lets the user scroll, navigate, fold, select, and search.

`column` has all lines, `scrolling` knows which are in view, and `spare_widgets` has the entries' widgets. Changes are
read in slices of a few milliseconds, so that a flood of output never delays a key.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial, reduce
from itertools import chain
from typing import ClassVar, Final, Self, cast

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.actions import SkipAction
from textual.binding import BindingType
from textual.color import Color
from textual.filter import LineFilter
from textual.geometry import Offset, Region, Size
from textual.layout import Layout
from textual.message import Message
from textual.strip import Strip
from textual.timer import Timer
from textual.widget import Widget

from acp_tui.client.settings.settings import ConversationSettings
from acp_tui.conversation import entries, facts, tool_calls, wording
from acp_tui.conversation.conversation import Change, Conversation
from acp_tui.ui.commands.command import Place
from acp_tui.ui.commands.keys import keys_in_force
from acp_tui.ui.commands.table import MOVING, bindings_of
from acp_tui.ui.conversation.column import Column
from acp_tui.ui.conversation.drawing import DEFAULT_FOLDS, DrawContext
from acp_tui.ui.conversation.entry_views import EntryContexts, EntryView, Kind, command_state, kind_of
from acp_tui.ui.conversation.images import Pictures, Wanted, pictures_for
from acp_tui.ui.conversation.searching import Searching, SearchState, may_hide
from acp_tui.ui.conversation.selecting import Selecting
from acp_tui.ui.conversation.spare_widgets import Slot, SpareWidgets
from acp_tui.ui.conversation.terminals import FLOOD_S, TerminalScreens
from acp_tui.ui.conversation.window import LineFinisher, Scrolling
from acp_tui.ui.kit.frame_loop import FLOOD_FRAME_S, FRAME_S, Frames
from acp_tui.ui.kit.line_view import WHEEL_LINES, line_at
from acp_tui.ui.kit.themes import palette_for, stylesheet
from acp_tui.ui.rendering.ascii import Ascii
from acp_tui.ui.rendering.palette import Palette
from acp_tui.ui.textual_gaps.driver import RETRY_S, has_room
from acp_tui.ui.textual_gaps.placing import DetachedOwner

PREPARING_S: Final = 0.03
"""Time after a frame that lacked widgets until spare ones are made."""
SLICE_S: Final = 0.004
"""How long to read entries before handling keys."""
PAUSE_S: Final = 0.002
"""Between two slices."""
FLOOD_SCREENS: Final = 2
"""More new lines than this in one frame are a flood."""
TICK_S: Final = 0.01
"""After a second has begun, so that its number is drawn."""
KEY_PAUSE_S: Final = 0.025
"""Time after a key for its echo to reach the screen."""


class ConversationView(DetachedOwner, can_focus=True):
    """A conversation from top to bottom. Call `show` once, and `mark` for each change."""

    ALLOW_SELECT = False
    DEFAULT_CSS = "ConversationView { height: 1fr; overflow: hidden hidden; }" + stylesheet("conversation")

    wall_clock: Callable[[], float] = staticmethod(time.time)
    """Seconds since the epoch."""
    PLACE: ClassVar[Place] = "conversation"
    BINDINGS: ClassVar[list[BindingType]] = bindings_of(*MOVING, place=PLACE)

    class FollowingChanged(Message):
        """Posted when the view starts or stops following the end, entries are added below, or some fold or unfold."""

        def __init__(self, is_following: bool, new_entries: int) -> None:
            super().__init__()
            self.is_following = is_following
            self.new_entries = new_entries

    class SubagentChosen(Message):
        """Posted when the user wants to see a subagent's conversation."""

        def __init__(self, session_id: facts.SessionId) -> None:
            super().__init__()
            self.session_id = session_id

    class SubagentLeft(Message):
        """Posted when the user wants to go back to the agent that started this one."""

    class LinkChosen(Message):
        def __init__(self, target: str) -> None:
            super().__init__()
            self.target = target

    class Searched(Message):
        def __init__(self, state: SearchState) -> None:
            super().__init__()
            self.state = state

    def __init__(
        self,
        *,
        images: Wanted = "auto",
        folds: ConversationSettings = DEFAULT_FOLDS,
        is_of_subagent: bool = False,
        id: str | None = None,  # noqa: A002 - Textual's own name
    ) -> None:
        """`is_of_subagent` means that the user can leave this view."""
        super().__init__(id=id)
        self.conversation = Conversation()
        self._is_of_subagent = is_of_subagent
        self._cwd = ""
        self.images = images
        self.folds = folds
        self._pictures: Pictures | None = None
        self._draw_context: DrawContext | None = None
        self._colors: Palette | None = None
        """The theme's palette that the context was made with."""
        self.frames = Frames(self, self._draw_frame, self.frame_s)
        self._shown_lines = 0
        self._flooded_at = float("-inf")
        """When a frame last had more new lines than anyone can read."""
        self.terminal_screens = TerminalScreens(self._mark_terminals, self._mark_terminal)
        """The screens of the conversation's terminals. Each terminal has one emulator, whatever shows it."""
        self._entry_contexts = EntryContexts(self)
        self.column = Column(self.current_context, lambda entry: self._searching.mark(entry), self._context_for)
        self.scrolling = Scrolling(self.column, lambda: self.outer_size.height, self._tell_following)
        self.selecting = Selecting(self.column)
        self._searching = Searching(self.column, self._may_hide)
        self._last_posted: SearchState | None = None
        self._spare = SpareWidgets(self)
        self._finisher = LineFinisher()
        self._background: tuple[Style, Color] | None = None
        """The background from the stylesheet, cached because looking it up takes longer than drawing a line."""
        self._painted: list[Strip | None] = []
        """The rows as they are on the screen; None if unknown."""
        self._cursor: int | None = None
        self._focus_due: int | None = None
        """The entry that gets the focus when it comes into view."""
        self.tab_stop: int | None = None
        """The entry that Tab moves to."""
        self._is_alone = True
        """Whether this view has all the room, with nothing below it."""
        self._is_dragging = False
        self._scroll_timer: Timer | None = None
        self.can_send = False
        """Whether the user can send a prompt here."""
        self.can_log_in = False
        """Whether the agent has ways to log in."""
        self._offering: entries.EntryId | None = None
        """The failure below which the user is offered to send the prompt again."""
        self._second: Timer | None = None
        """Counts down to that."""

    # Content

    def show(self, conversation: Conversation, cwd: str = "") -> None:
        """Show this conversation from now on, and clear the selection and the search."""
        if self.has_focus_within:
            self.tab_stop = None
            self.screen.set_focus(self, scroll_visible=False)
        self.conversation = conversation
        self._cwd = cwd
        self._offering = conversation.last_failure if self.can_send else None
        if self._second is not None:
            self._second.stop()
            self._second = None
        self.column.show(conversation)
        self.scrolling.begin()
        self._draw_context = None
        self.selecting.clear()
        self._searching.begin("")
        self._cursor = None
        self.frames.schedule()

    def mark(self, change: Change) -> None:
        """Schedule what changed to be drawn with the next frame. Cheap, and callable from any task of the loop."""
        self.column.mark(change.entries)
        if not {facts.Fact.TURN, facts.Fact.CONNECTION}.isdisjoint(change.facts):
            failed = self.conversation.last_failure if self.can_send else None
            if failed != self._offering:
                self.column.mark([at for at in (self._offering, failed) if at is not None])
                self._offering = failed
        if change.terminal is not None:
            self.terminal_screens.keep_up(change.terminal)
        if self.column.dirty or change.facts:
            self.frames.schedule()

    def on_mount(self) -> None:
        self.frames.start()
        self.watch(self.app, "theme", self._redraw, init=False)
        self.images = self._fitted(self.images)
        self._pictures = pictures_for(self, self.images, self._mark_drawing)
        self.frames.schedule()

    def on_unmount(self) -> None:
        self.frames.stop()
        self.terminal_screens.close()
        if self._pictures is not None:
            self._pictures.close()

    @property
    def is_settled(self) -> bool:
        """Whether everything that was marked is on the screen."""
        is_decoding = self._pictures is not None and self._pictures.is_decoding
        return not self.frames.is_scheduled and not (
            self.column.dirty or self.terminal_screens.is_feeding or is_decoding
        )

    def show_as(self, folds: ConversationSettings, images: Wanted) -> None:
        images = self._fitted(images)
        if (folds, images) == (self.folds, self.images):
            return
        if images != self.images and self.is_mounted:
            if self._pictures is not None:
                self._pictures.close()
            self._pictures = pictures_for(self, images, self._mark_drawing)
        self.folds, self.images = folds, images
        self._draw_context = None
        self._redraw()

    def _fitted(self, images: Wanted) -> Wanted:
        """Turn pictures off if only ASCII is shown: they consist of other characters."""
        is_ascii = any(isinstance(look, Ascii) for look in self.app.get_line_filters())
        return "off" if is_ascii else images

    def _redraw(self) -> None:
        """Draw everything again after a change of size, colors, or folds. The top line stays in place."""
        if not self.outer_size.width:
            return
        self.column.mark_context()
        self.show_length()
        if self.top_line >= self.max_top_line:
            self.scrolling.follow()  # the end has come into view
        self.frames.schedule()

    def on_resize(self, event: events.Resize) -> None:
        """Draw for the new width, and clear the selection, whose places have changed."""
        self._redraw()
        if self._draw_context is not None and self._draw_context.width != self.outer_size.width - 1:
            self.selecting.clear()

    def _mark_terminals(self) -> None:
        self.column.mark(chain.from_iterable(self.conversation.terminal_entries.values()))
        self.frames.schedule()

    def _mark_terminal(self, terminal_id: tool_calls.TerminalId) -> None:
        """Draw a terminal again: its emulator has more output."""
        self.mark(Change(self.conversation.terminal_entries.get(terminal_id, ())))

    def _mark_drawing(self, drawing: object) -> None:
        """Draw an entry again: one of its pictures is decoded."""
        self.column.mark_drawing(drawing)
        self.frames.schedule()

    # Frames

    def frame_s(self, now: float) -> float:
        """The length of a frame at a time of the loop. In a flood, frames are rarer: they take a third of the work."""
        is_flooded = now - self._flooded_at < FLOOD_S or self.terminal_screens.has_flood(now)
        return FLOOD_FRAME_S if is_flooded else FRAME_S

    def _draw_frame(self) -> None:
        if not self.outer_size.width:
            return  # the first resize draws
        if not self.display:
            return  # a subagent is shown instead: its end draws
        if not self.screen.is_current:
            return  # another tab or an opaque screen is in front: coming back draws
        held_s = getattr(self.app, "last_key_at", 0.0) + KEY_PAUSE_S - self.frames.now
        # Hold the frame back, so that it doesn't delay the echo of a key on a slow terminal.
        if held_s > 0 or not has_room(self.app, is_small=False):
            self.frames.schedule(max(held_s, RETRY_S))
            return
        is_time_up = self.frames.time_slice(SLICE_S)
        is_at_rest = not (self.column.mark_context() or self.column.dirty)
        is_done = self._work_ahead(is_time_up)
        if is_done:
            with self.scrolling.standing_still():
                is_done = self.column.read_dirty(is_time_up)
        is_done = is_done and self.work_ahead(is_time_up)
        if is_done and is_at_rest:
            with self.scrolling.standing_still():
                is_done = self.column.measure_rest(is_time_up)
        now = self.frames.now
        if is_done or now >= self.frames.shown_at + self.frame_s(now):
            self.frames.shown_at = now
            self.show_length()
            if self.column.heights.total - self._shown_lines > FLOOD_SCREENS * self.outer_size.height:
                self._flooded_at = now
            self._shown_lines = self.column.heights.total
        if not is_done:
            self.frames.schedule(PAUSE_S)
        elif not self.column.is_measured:
            self.frames.schedule()

    def _may_hide(self, index: int, query: str) -> bool:
        return may_hide(self.conversation.entries[index], query, self.conversation.terminals)

    def _work_ahead(self, is_time_up: Callable[[], bool]) -> bool:
        """Do the search steps that the user waits for before drawing. Returns False if the time wasn't enough."""
        if not self._searching.has_steps_due:
            return True
        at = self.column.heights.at(self.top_line)
        with self.scrolling.standing_still():
            is_done = self._searching.walk(at or (0, 0), is_time_up)
            place = self._searching.reveal() if is_done else None
        if place is not None:
            self._bring_into_view(*place)
        self._tell_standing()
        return is_done

    def _bring_into_view(self, index: int, row: int) -> None:
        line = self.column.heights.top(index) + row
        if self.top_line <= line < self.top_line + self.outer_size.height:
            self.scroll_to_line(self.top_line)  # unfolding may have moved the end
        else:
            self.scroll_to_row(index, row, above=self.outer_size.height // 3)

    def work_ahead(self, is_time_up: Callable[[], bool]) -> bool:
        is_done = self._searching.work(is_time_up)
        self._tell_standing()
        return is_done

    def _tell_standing(self) -> None:
        if self._searching.is_active and self._last_posted != (state := self._searching.state()):
            self._last_posted = state
            self.post_message(self.Searched(state))

    def current_context(self) -> DrawContext:
        width = self.outer_size.width - 1  # minus the scroll bar
        theme = self.app.current_theme
        colors = palette_for(theme)
        key, context = keys_in_force(self).shown("take_over"), self._draw_context
        if context is None or (context.width, context.take_over_key) != (width, key) or self._colors is not colors:
            self._colors = colors
            # The terminal's own 16 colors aren't enough for pictures.
            pictures = None if theme.ansi else self._pictures
            terminals = self.conversation.terminals
            context = self._draw_context = DrawContext(
                width,
                replace(colors, folder=self._cwd),
                terminals,
                self.terminal_screens,
                self._cwd,
                pictures,
                self.folds,
                self.conversation.subagents,
                key,
                self._retry_words,
            )
        return context

    def show_length(self) -> None:
        """Adapt the view to the current lines, and paint it."""
        self.scrolling.measure_near()
        if not self._is_alone and self.outer_size.height != self.column.heights.total:
            self.refresh(layout=True)
        self.scrolling.note_length()
        self._paint()

    def show_above(self, *, is_alone: bool) -> None:
        """Take all the room if alone; otherwise only as much as there are lines, and none without entries."""
        self._is_alone = is_alone
        self.styles.height = "1fr" if is_alone else "auto"
        self.display = is_alone or bool(self.conversation.entries)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """The number of all lines, for a view that is as high as its content."""
        return max(self.column.heights.total, 1)

    def _tell_following(self) -> None:
        self.post_message(self.FollowingChanged(self.scrolling.is_following, self.scrolling.new_entries))

    # Entries' widgets

    @property
    def layout(self) -> Layout:
        """A layout that puts entries where they were placed."""
        return self._spare.layout

    def place_entries(self) -> None:
        """Place the entries' widgets again: another one is ready."""
        self._spare.place()

    @property
    def detached(self) -> Iterable[Widget]:
        return self._spare.idle

    def _slots(self) -> list[Slot]:
        """The entries in view, and the focused one, wherever it is."""
        heights, top, width, height = self.column.heights, self.top_line, *self.outer_size
        has_focus = self.has_focus_within
        slots: list[Slot] = []
        shown: list[int] = []
        for index in heights.between(range(top, top + height)):
            first = heights.top(index) - top
            rows = range(max(first, 0), min(first + heights.height(index), height))
            if rows:
                shown.append(index)
                slots.append(Slot(index, *self._kind(index), Region(0, rows.start, width, len(rows))))
        if not has_focus:
            self.tab_stop = shown[-1] if shown else None
        elif self._cursor is not None and self._cursor not in shown:
            slots.append(Slot(self._cursor, *self._kind(self._cursor), None))
        return slots

    def _kind(self, index: int) -> Kind:
        entry = self.conversation.entries[index]
        command = ""
        if isinstance(entry, entries.OwnCommand):
            command = command_state(self.conversation.terminals.get(entry.terminal_id))
        return kind_of(entry, is_run=self.column.is_run(index), command=command)

    def _context_for(self, index: int, context: DrawContext) -> DrawContext:
        return self._entry_contexts.context(self._kind(index), context)

    # Drawing the rows

    def render_entry(self, view: EntryView[entries.Entry], crop: Region) -> list[Strip]:
        region = self._spare.layout.regions.get(view)
        if region is None:
            return [Strip.blank(crop.width)] * crop.height
        return self.render_lines(crop.translate((0, region.y)))

    def render_lines(self, crop: Region) -> list[Strip]:
        """The rows of `crop`. Lines that were shown before are returned as the same objects."""
        strips = self._rows(range(crop.y, crop.bottom))
        for y, strip in enumerate(strips[: len(self._painted) - crop.y], crop.y):
            if self._painted[y] is not strip:
                self._painted[y] = None
        if crop.x == 0 and crop.width == self.outer_size.width:
            return strips
        return [strip.crop(crop.x, crop.right) for strip in strips]

    def render_line(self, y: int) -> Strip:
        """One row. Textual asks for it to find out what is under the mouse."""
        return self._rows(range(y, y + 1))[0]

    def _paint(self) -> None:
        """Refresh only the rows that have changed; other rows aren't sent to the terminal."""
        if not self.is_attached:
            return  # not mounted yet (the user may already send a prompt), or just removed
        focused = self._spare.views.get(self._cursor) if self.has_focus_within else None
        if self._spare.show(self._slots()):
            successor = self._spare.views.get(self._cursor)
            if focused is not None and successor is not focused:
                self.screen.set_focus(successor, scroll_visible=False)  # the entry is of another kind now
            if self._spare.wanting is not None:
                self.set_timer(PREPARING_S, self._spare.prepare)
        if self._focus_due is not None:
            self._give_focus()
        strips = self._rows(range(self.outer_size.height))
        before = self._painted if len(self._painted) == len(strips) else [None] * len(strips)
        self._painted = [*strips]
        changed = [y for y, strip in enumerate(strips) if strip is not before[y]]
        if changed:
            self.refresh(*(Region(0, y, self.outer_size.width, 1) for y in changed))
        self._count_down()

    def _rows(self, rows: range) -> list[Strip]:
        self._finisher.use(*self._surface())
        if self.column.mark_context():  # Textual draws before it reports a new size
            self.scrolling.measure_near()
        context, heights, thumb_rows = self.current_context(), self.column.heights, self.scrolling.thumb
        strips: list[Strip] = []
        y = rows.start
        while y < rows.stop:
            index, row = heights.at(self.top_line + y) or (-1, 0)
            lines = self.column.lines(index) if index >= 0 else ()
            shown = lines[row : row + rows.stop - y]
            if not shown:
                strips.append(self._finisher.blank(context.width, context.palette.rule if y in thumb_rows else None))
                y += 1
                continue
            has_cursor = index == self._cursor and self.has_focus_within
            marker, ground = context.palette.accent if has_cursor else None, self._ground(index)
            for at, line in enumerate(shown):
                thumb = context.palette.rule if y + at in thumb_rows else None
                strip = self._finisher.finish(line, context.width, thumb, marker, ground)
                strips.append(self._marked(strip, index, row + at, line.cell_length, context))
            y += len(shown)
        return strips

    def _retry_words(self, failure: entries.Failure) -> str:
        """What to say of another try. The last failure counts down to it, and names the key for it."""
        said, now = failure.said, self.wall_clock()
        if self._offering is None or self.conversation.entries[self._offering] is not failure:
            return wording.retry_words(said) if said is not None else ""
        then = " then" if said is not None and said.retry_at is not None and now < said.retry_at else ""
        other = " · /login logs in otherwise" if self.can_log_in and wording.is_of_login(failure) else ""
        again = keys_in_force(self).hint(f"{{send_again}} sends your prompt again{then}{other}")
        return " · ".join(filter(None, (wording.retry_words(said, now) if said is not None else "", again)))

    def _count_down(self) -> None:
        """Draw the last failure again with the next second, as long as it's in view and the time hasn't come."""
        at = self._offering
        in_view = range(self.top_line, self.top_line + self.outer_size.height)
        if at is None or self._second is not None or at not in self.column.heights.between(in_view):
            return
        failure = self.conversation.entries[at]
        said = failure.said if isinstance(failure, entries.Failure) else None
        left = said.retry_at - self.wall_clock() if said is not None and said.retry_at is not None else 0.0
        if left > 0:
            self._second = self.set_timer(left % 1 + TICK_S, partial(self._tick, at))

    def _tick(self, at: entries.EntryId) -> None:
        self._second = None
        self.mark(Change((at,)))

    def _surface(self) -> tuple[Style, Sequence[LineFilter], Color]:
        """The background of the lines, the filters to apply, and the color that the filters need."""
        filters = self.get_line_filters()
        if self._background is None:
            self._background = (self.visual_style.rich_style, self.background_colors[1])
        return self._background[0], filters, self._background[1]

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._background = None
        if self.is_mounted:
            self._spare.note_styles()
            self._entry_contexts.forget()
            self.column.forget_looks()

    def _marked(self, strip: Strip, index: int, row: int, length: int, context: DrawContext) -> Strip:
        """The strip with the matches and the selection highlighted."""
        if self._searching.is_active:
            for is_current, spans in self._searching.spans(index, row).items():
                style = context.palette.match_at if is_current else context.palette.match
                for cells in spans:
                    strip = _styled(strip, cells, style)
        selected = self.selecting.cells(index, row, length)
        return _styled(strip, selected, context.palette.selection) if selected else strip

    def _ground(self, index: int) -> Style | None:
        view = self._spare.views.get(index)
        return view.ground if isinstance(view, EntryView) else None

    def last_turn(self, most: int) -> list[Strip]:
        """At most so many lines of the last turn, the last ones, for a terminal that has a background of its own."""
        _, filters, background = self._surface()
        found: list[Strip] = []
        for index in reversed(range(len(self.column.drawings))):
            self.column.read(index)
            found[:0] = self.column.lines(index)[-most:]
            if self.column.is_prompt(index) or len(found) >= most:
                break
        return [reduce(lambda strip, one: strip.apply_filter(one, background), filters, line) for line in found[-most:]]

    # Scrolling

    @property
    def top_line(self) -> int:
        return self.scrolling.top_line

    @property
    def max_top_line(self) -> int:
        return self.scrolling.max_top_line

    def scroll_to_line(self, line: int) -> None:
        """Put this line on the first row, if there are enough lines below it."""
        self.scrolling.to_line(line)
        self._paint()

    def scroll_to_row(self, index: int, row: int, above: int = 0) -> None:
        """Put this row of an entry below `above` others, if there are enough lines around it."""
        self.scrolling.to_row(index, row, above)
        self._paint()

    def action_follow(self) -> None:
        """Go to the end and stay there."""
        self.scrolling.follow()
        self.scrolling.measure_near()
        self._paint()

    def action_leave_subagent(self) -> None:
        """Go back to the agent that started this one. In other views, the key has its usual meaning."""
        if not self._is_of_subagent:
            raise SkipAction
        self.post_message(self.SubagentLeft())

    def action_go_to_end(self, direction: int) -> None:
        """Go to the beginning for -1; for 1, go to the end and stay there. A cursor goes along."""
        if direction > 0:
            self.action_follow()
        else:
            self.scroll_to_line(0)
        edge = self.column.heights.at(0 if direction < 0 else self.column.heights.total - 1)
        if edge is not None and self.has_focus_within:
            self._choose(edge[0])

    def action_page(self, direction: int) -> None:
        """Scroll by a page: up for -1, down for 1."""
        self.scroll_to_line(self.top_line + direction * max(self.outer_size.height - 2, 1))

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        event.stop()
        self.scroll_to_line(self.top_line - WHEEL_LINES)

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        event.stop()
        self.scroll_to_line(self.top_line + WHEEL_LINES)

    # The mouse

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Start dragging the scroll bar, or start selecting."""
        if event.button != 1:
            return
        if not self.has_focus_within:
            self.focus()
        x, y = self._place_of(event)
        if x == self.outer_size.width - 1 and self.scrolling.thumb:
            self._is_dragging = True
            self._drag_to(y)
        else:
            self._measure_in_view()
            self.selecting.begin(self.top_line + y, x)
            self.refresh()
        self.capture_mouse()

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """Drag the scroll bar, or extend the selection. Beyond the edges, keep scrolling while the button is down."""
        x, y = self._place_of(event)
        if self._is_dragging:
            self._drag_to(y)
        elif self.selecting.is_held:
            self._select_to(y, x)
            beyond = min(y, 0) or max(y - self.outer_size.height + 1, 0)
            self._scroll_on(beyond, x)

    def _place_of(self, event: events.MouseEvent) -> Offset:
        """The mouse's place in this view. An entry's events count from the entry."""
        return event.screen_offset - self.region.offset

    def _select_to(self, y: int, x: int) -> None:
        self._measure_in_view()
        if self.selecting.move(self.top_line + max(0, min(y, self.outer_size.height - 1)), x):
            self.refresh()

    def _measure_in_view(self) -> None:
        """Measure all of the entries in view, so that what is selected in them stays in its rows."""
        with self.scrolling.standing_still():
            for index in self.column.heights.between(range(self.top_line, self.top_line + self.outer_size.height)):
                self.column.read(index)

    def _scroll_on(self, beyond: int, x: int) -> None:
        """Keep scrolling while the mouse stays beyond an edge, faster the farther away it is."""
        if self._scroll_timer is not None:
            self._scroll_timer.stop()
            self._scroll_timer = None
        if beyond:
            y = 0 if beyond < 0 else self.outer_size.height - 1

            def scroll() -> None:
                self.scroll_to_line(self.top_line + beyond)
                self._select_to(y, x)

            self._scroll_timer = self.set_interval(FRAME_S, scroll)

    def on_mouse_up(self, event: events.MouseUp) -> None:
        self._is_dragging = False
        self.selecting.release()
        self._scroll_on(0, 0)
        self.release_mouse()

    def _drag_to(self, y: int) -> None:
        self.scroll_to_line(line_at(y, self.column.heights.total, self.outer_size.height))

    # Entries

    @property
    def entry_under_cursor(self) -> entries.Entry | None:
        """The entry with a visible cursor; None while the focus is elsewhere."""
        is_seen = self._cursor is not None and self.has_focus_within
        return self.conversation.entries[cast(int, self._cursor)] if is_seen else None

    @property
    def fold_at_cursor(self) -> str:
        """What its key does with the entry at the cursor: unfold or fold; "" if neither."""
        if self._cursor is None or not self.column.folds(self._cursor):
            return ""
        return "fold" if self.column.is_open(self._cursor) else "unfold"

    def focus(self, scroll_visible: bool = True) -> Self:
        """Focus the entry at the bottom of the view, or the view itself if there are no entries."""
        stop = self._spare.views.get(self.tab_stop)
        self.screen.set_focus(self if stop is None else stop, scroll_visible=False)
        return self

    def allow_focus(self) -> bool:
        """Whether the view itself can have the focus: only if there is no entry to focus.

        Not below a welcome, where it is hidden: the keyboard would be nowhere.
        """
        return self.display and self.tab_stop not in self._spare.views

    def note_focus(self, view: EntryView[entries.Entry] | None) -> None:
        """Move the cursor to the entry that got the focus. None means that an entry lost it."""
        if view is not None:
            self._cursor = self.tab_stop = view.index
            view.post_message(view.Chosen(view, view.entry))
        self._paint()

    def go_to(self, index: int, step: int = 1) -> None:
        """Put the cursor on an entry, and bring it into view. What is taller than the view is entered at the near edge.

        `step` is where the cursor comes from: up for -1, down for 1.
        """
        top, height, rows = self.column.heights.top(index), self.column.heights.height(index), self.outer_size.height
        if top < self.top_line and height > rows and step < 0:
            self.scroll_to_row(index + 1, 0, above=rows + 1)  # its end, and the empty line after it
        elif top < self.top_line:
            self.scroll_to_row(index, 0)
        elif top + height > self.top_line + rows:
            self.scroll_to_row(index, 0, above=max(rows - height, 0))
        self._choose(index)

    def go_to_end(self) -> None:
        if self.conversation.entries:
            self.action_follow()
            self._choose(len(self.conversation.entries) - 1)
        elif self.screen.focused is None:
            self.focus()

    def _choose(self, index: int) -> None:
        self._cursor = self.tab_stop = self._focus_due = index
        self._paint()

    def _give_focus(self) -> None:
        """Focus the entry that `_focus_due` names, once it is in view."""
        view = self._spare.views.get(self._focus_due)
        if view is not None:
            self.tab_stop, self._focus_due = self._focus_due, None
            if self.has_focus_within or self.screen.focused is None:
                self.screen.set_focus(view, scroll_visible=False)

    def action_move(self, step: int) -> None:
        """Move the cursor by entries, skipping those without lines. An edge out of view is scrolled to first, by lines.

        Without a cursor, go to the last entry in view.
        """
        if self._cursor is None:
            last = self.column.heights.at(min(self.top_line + self.outer_size.height, self.column.heights.total) - 1)
            if last is not None:
                self._choose(last[0])
            return
        above = self.top_line - self.column.heights.top(self._cursor)
        height, rows = self.column.heights.height(self._cursor), self.outer_size.height
        hidden = above if step < 0 else height - above - rows
        if hidden > 0 and -rows < above < height:
            self.scroll_to_line(self.top_line + step * min(hidden, WHEEL_LINES))
            return
        at = self._cursor + step
        count = len(self.column.drawings)
        while 0 <= at < count and not self._has_lines(at):
            at += step
        if 0 <= at < count:
            self.go_to(at, step)

    def _has_lines(self, index: int) -> bool:
        self.column.read(index, lambda: True)  # a piece of it is enough to know
        return self.column.heights.height(index) > 0

    def action_toggle_entry(self) -> None:
        if self._cursor is not None:
            self.toggle(self._cursor)

    def toggle(self, index: int) -> None:
        """Fold or unfold an entry, if it folds. For a subagent, ask for its conversation."""
        entry = self.conversation.entries[index]
        if isinstance(entry, entries.Subagent):
            self.post_message(self.SubagentChosen(facts.SessionId(entry.session_id)))
            return
        self._searching.keep_unfolded()
        if self.column.toggle(index):
            if isinstance(view := self._spare.views.get(index), EntryView):
                view.post_message(view.Toggled(view, view.entry))
            # An unfolded entry is read from its beginning, so don't follow the end, unless everything fits.
            self.scrolling.follow(self.max_top_line == 0)
            self._tell_following()
            self.frames.schedule()
            self.show_length()

    def toggle_all(self) -> None:
        """Unfold or fold everything. The entry at the cursor stays where it is on the screen."""
        self._searching.keep_unfolded()
        at = self._cursor if self.has_focus_within else None
        row = self.column.heights.top(at) - self.top_line if at is not None else 0
        self.column.toggle_all()
        self._tell_following()
        self._redraw()
        if at is not None and 0 <= row < self.outer_size.height:
            self.scroll_to_row(at, 0, above=row)

    def action_to_prompt(self, direction: int) -> None:
        """Go to the user's prompt above (-1) or below (1) the first line in view. A cursor goes along."""
        place = self.column.heights.at(self.top_line)
        if place is None:
            return
        index, row = place
        above = range(index if row else index - 1, -1, -1)
        below = range(index + 1, len(self.column.drawings))
        for at in below if direction > 0 else above:
            if self.column.is_prompt(at) and self._has_lines(at):
                self.scroll_to_row(at, 0)
                if self.has_focus_within:
                    self._choose(at)
                return

    def on_click(self, event: events.Click) -> None:
        """Put the cursor on an entry; a click on its first line folds it. Two clicks select a word, three a line.

        With Ctrl, a click opens a link.
        """
        x, y = self._place_of(event)
        line = self.top_line + y
        place = self.column.heights.at(line)
        if place is None or x >= self.outer_size.width - 1 or event.button != 1:
            return
        if event.ctrl:
            if link := self._link_at(x, y):
                self.post_message(self.LinkChosen(link))
        elif event.chain == 2:
            self.selecting.select_word(line, x)
        elif event.chain >= 3:
            self.selecting.select_line(line)
        elif self.selecting.is_empty:
            self._choose(place[0])
            if place[1] == 0:
                self.toggle(place[0])
        self.refresh()

    def _link_at(self, x: int, y: int) -> str:
        """The target of the link in this cell; "" if there is none."""
        cell = [*self.render_line(y).crop(x, x + 1)]
        return (cell[0].style and cell[0].style.link) or "" if cell else ""

    # Selecting and finding

    @property
    def selected_text(self) -> str:
        """The selected text, including parts that aren't in view."""
        return self.selecting.text()

    def action_select_all(self) -> None:
        self.selecting.select_all()
        self.refresh()

    def clear_selection(self) -> None:
        self.selecting.clear()
        self.refresh()

    def look_for(self, query: str) -> None:
        """Highlight every match, and post `Searched` with their number. A blank query ends the search."""
        self._searching.begin(query)
        self._last_posted = self._searching.state()
        self.post_message(self.Searched(self._last_posted))
        self.frames.schedule()
        self.refresh()

    def action_find(self, direction: int) -> None:
        """Go to the next (1) or the previous (-1) match."""
        self._searching.step(direction)
        self._work_ahead(self.frames.time_slice(SLICE_S))
        self.frames.schedule()
        self.refresh()


def _styled(strip: Strip, cells: range, style: Style) -> Strip:
    if not cells:
        return strip
    within = strip.crop(cells.start, cells.stop)
    marked = Strip([Segment(text, (own or Style.null()) + style) for text, own, _ in within], within.cell_length)
    return Strip.join([strip.crop(0, cells.start), marked, strip.crop(cells.stop, strip.cell_length)])
