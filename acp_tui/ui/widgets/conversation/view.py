"""What a user does in a conversation: walk from entry to entry, fold, select, find."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar, Self, cast

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Offset, Region
from textual.message import Message as TextualMessage
from textual.strip import Strip
from textual.timer import Timer

from acp_tui.conversation.conversation import Conversation
from acp_tui.conversation.entries import Entry, OwnCommand
from acp_tui.ui.drawings.drawing import Scene
from acp_tui.ui.drawings.folds import AS_BY_DEFAULT, Folds
from acp_tui.ui.drawings.images import Wanted
from acp_tui.ui.kit.stylesheets import stylesheet
from acp_tui.ui.widgets.conversation.entry_views import EntryView, Kind, command_state, kind_of
from acp_tui.ui.widgets.conversation.folded_text import may_hide
from acp_tui.ui.widgets.conversation.pool import Slot
from acp_tui.ui.widgets.conversation.searching import Searching, Standing
from acp_tui.ui.widgets.conversation.selecting import Selecting
from acp_tui.ui.widgets.conversation.window import FRAME_S, ConversationWindow


class ConversationView(ConversationWindow):
    """A conversation that can be worked with; `show` and `mark` it as the window says."""

    DEFAULT_CSS = "ConversationView { height: 1fr; overflow: hidden hidden; }" + stylesheet("conversation")

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "cursor(-1)", "Entry above", show=False),
        Binding("down", "cursor(1)", "Entry below", show=False),
        Binding("space,enter", "toggle_entry", "Fold or unfold", show=False),
        Binding("ctrl+a", "select_all", "Select everything", show=False),
        Binding("ctrl+e", "screen.do('edit_location')", "Open the file in the editor", show=False),
        # Some terminals keep Ctrl+S for themselves.
        Binding("ctrl+s,ctrl+y", "screen.do('save_attached')", "Save what is attached", show=False),
    ]

    class Searched(TextualMessage):
        """How the search stands."""

        def __init__(self, standing: Standing) -> None:
            super().__init__()
            self.standing = standing

    def __init__(
        self,
        *,
        images: Wanted = "auto",
        folds: Folds = AS_BY_DEFAULT,
        id: str | None = None,  # noqa: A002 - Textual's own name
    ) -> None:
        super().__init__(images=images, folds=folds, id=id)
        self._selecting = Selecting(self._column)
        self._searching = Searching(self._column, self._may_hide)
        self._told: Standing | None = None
        """How the search stood when that was last told."""
        self._cursor: int | None = None
        self.tab_stop: int | None = None
        """The entry that Tab leads to."""
        self._is_dragging = False
        self._scroll_timer: Timer | None = None

    def show(self, conversation: Conversation, cwd: str = "") -> None:
        """Show this conversation from now on; what was selected or looked for in another is no more."""
        if self.has_focus_within:
            self._take_focus_back()
        super().show(conversation, cwd)
        self._selecting.clear()
        self._searching.begin("")
        self._cursor = None

    def on_resize(self, event: events.Resize) -> None:
        """What was selected stands elsewhere now."""
        if self._scene is not None and self._scene.width != self.outer_size.width - 1:
            self._selecting.clear()

    # What is laid over the lines

    def _note_measured(self, entry: int) -> None:
        self._searching.mark(entry)

    def _may_hide(self, index: int, query: str) -> bool:
        return may_hide(self.conversation.entries[index], query, self.conversation.terminals)

    def _work_ahead(self, is_time_up: Callable[[], bool]) -> bool:
        if not self._searching.has_steps_due:
            return True
        at = self._column.heights.at(self.top_line)
        with self._standing_still():
            is_done = self._searching.walk(at[0] if at is not None else 0, is_time_up)
            place = self._searching.reveal() if is_done else None
        if place is not None:
            self._bring_into_view(*place)
        self._tell_standing()
        return is_done

    def _bring_into_view(self, index: int, row: int) -> None:
        line = self._column.heights.top(index) + row
        if self.top_line <= line < self.top_line + self.outer_size.height:
            self.scroll_to_line(self.top_line)  # what was unfolded there may reach beyond the end
        else:
            self.scroll_to_row(index, row, above=self.outer_size.height // 3)

    def _work_on(self, is_time_up: Callable[[], bool]) -> bool:
        is_done = self._searching.work(is_time_up)
        self._tell_standing()
        return is_done

    def _tell_standing(self) -> None:
        if self._searching.is_active and self._told != (standing := self._searching.standing()):
            self._told = standing
            self.post_message(self.Searched(standing))

    def _marker(self, index: int, scene: Scene) -> Style | None:
        return scene.palette.accent if index == self._cursor and self.has_focus_within else None

    def _marked(self, strip: Strip, index: int, row: int, length: int, scene: Scene) -> Strip:
        """The strip with what was found and what is selected in it."""
        if self._searching.is_active:
            for is_current, spans in self._searching.spans(index, row).items():
                style = scene.palette.match_at if is_current else scene.palette.match
                for cells in spans:
                    strip = _styled(strip, cells, style)
        selected = self._selecting.cells(index, row, length)
        return _styled(strip, selected, scene.palette.selection) if selected else strip

    # The mouse

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Take hold of the scroll bar, or begin to select."""
        if event.button != 1:
            return
        if not self.has_focus_within:
            self.focus()
        x, y = self._place_of(event)
        if x == self.outer_size.width - 1 and self._thumb:
            self._is_dragging = True
            self._drag_to(y)
        else:
            self._selecting.begin(self.top_line + y, x)
            self.refresh()
        self.capture_mouse()

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """Drag the scroll bar, or select; beyond the edges, scroll on as long as the button is down."""
        x, y = self._place_of(event)
        if self._is_dragging:
            self._drag_to(y)
        elif self._selecting.is_held:
            self._select_to(y, x)
            beyond = min(y, 0) or max(y - self.outer_size.height + 1, 0)
            self._scroll_on(beyond, x)

    def _place_of(self, event: events.MouseEvent) -> Offset:
        """Where it happened in the window: an entry's events count from the entry."""
        return event.screen_offset - self.region.offset

    def _select_to(self, y: int, x: int) -> None:
        if self._selecting.move(self.top_line + max(0, min(y, self.outer_size.height - 1)), x):
            self.refresh()

    def _scroll_on(self, beyond: int, x: int) -> None:
        """Scroll while the mouse stands still beyond an edge; the farther, the faster."""
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
        """Let go."""
        self._is_dragging = False
        self._selecting.release()
        self._scroll_on(0, 0)
        self.release_mouse()

    # Entries

    @property
    def entry_under_cursor(self) -> Entry | None:
        """The one that the cursor is seen on; None while the focus is elsewhere."""
        is_seen = self._cursor is not None and self.has_focus_within
        return self.conversation.entries[cast(int, self._cursor)] if is_seen else None

    def focus(self, scroll_visible: bool = True) -> Self:
        """Give the keyboard to the entry at the bottom of the view, or to the view itself where there is none."""
        stop = self._pool.views.get(self.tab_stop)
        if stop is None:
            return super().focus(scroll_visible=False)
        self.screen.set_focus(stop, scroll_visible=False)
        return self

    def allow_focus(self) -> bool:
        """Only as long as there is no entry to be focused."""
        return self.tab_stop not in self._pool.views

    def _take_focus_back(self) -> None:
        self.tab_stop = None
        self.screen.set_focus(self, scroll_visible=False)

    def note_focus(self, view: EntryView[Entry] | None) -> None:
        """An entry has come under the cursor; None: one has it no longer."""
        if view is not None:
            self._cursor = self.tab_stop = view.index
            view.post_message(view.Chosen(view, view.entry))
        self._paint()

    def note_ground(self) -> None:
        """An entry lies on something else: show it with the next frame."""
        self._schedule(0)

    def _choose(self, index: int) -> None:
        """Move the cursor to an entry in view."""
        self._cursor = self.tab_stop = index
        self._paint()
        if (view := self._pool.views.get(index)) is not None:
            self.screen.set_focus(view, scroll_visible=False)

    def _slots(self) -> list[Slot]:
        """The entries in view, and the focused one, wherever it is."""
        heights, top, width, height = self._column.heights, self.top_line, *self.outer_size
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
        if isinstance(entry, OwnCommand):
            command = command_state(self.conversation.terminals.get(entry.terminal_id))
        return kind_of(entry, is_run=self._column.is_run(index), command=command)

    def _look(self, index: int, scene: Scene) -> Scene:
        return self._looks.scene(self._kind(index), scene)

    def is_open(self, index: int) -> bool:
        """Whether all of an entry is shown."""
        return self._column.is_open(index)

    def cut_text(self, index: int) -> str:
        """The whole of the line that is cut in an entry; "" where nothing is."""
        return self._column.cut_text(index)

    def is_text(self, event: events.Key) -> bool:
        """Whether the key means nothing here: who presses it writes. The space bar folds."""
        return event.is_printable and event.character != " "

    def action_cursor(self, step: int) -> None:
        """Move the cursor by entries, over those that show nothing."""
        if self._cursor is None:
            return
        at = self._cursor + step
        count = len(self._column.drawings)
        while 0 <= at < count and not self._has_lines(at):
            at += step
        if 0 <= at < count:
            self._scroll_to_entry(at)
            self._choose(at)

    def _has_lines(self, index: int) -> bool:
        self._column.read(index, lambda: True)  # a piece of it is enough to know
        return self._column.heights.height(index) > 0

    def _scroll_to_entry(self, index: int) -> None:
        top, height = self._column.heights.top(index), self._column.heights.height(index)
        if top < self.top_line:
            self.scroll_to_row(index, 0)
        elif top + height > self.top_line + self.outer_size.height:
            self.scroll_to_row(index, 0, above=max(self.outer_size.height - height, 0))

    def action_toggle_entry(self) -> None:
        """Fold or unfold the entry at the cursor."""
        if self._cursor is not None:
            self.toggle(self._cursor)

    def toggle(self, index: int) -> None:
        """Fold or unfold an entry, where it folds."""
        self._searching.keep_unfolded()
        if self._column.toggle(index):
            if isinstance(view := self._pool.views.get(index), EntryView):
                view.post_message(view.Toggled(view, view.entry))
            # What unfolds is read from its beginning; where all of it fits, there is nothing to scroll away from.
            self._set_following(self.max_top_line == 0)
            self._schedule(0)
            self._show_length()

    def toggle_all(self) -> None:
        """Unfold everything, or fold everything again."""
        self._searching.keep_unfolded()
        self._column.toggle_all()
        self._redraw()

    def action_to_prompt(self, direction: int) -> None:
        """Go to the user's prompt above (-1) or below (1) the first line in view."""
        place = self._column.heights.at(self.top_line)
        if place is None:
            return
        index, row = place
        above = range(index if row else index - 1, -1, -1)
        below = range(index + 1, len(self._column.drawings))
        prompt = next(filter(self._is_prompt, below if direction > 0 else above), None)
        if prompt is not None:
            self.scroll_to_row(prompt, 0)

    def _is_prompt(self, index: int) -> bool:
        return self._column.is_prompt(index) and self._has_lines(index)

    def on_click(self, event: events.Click) -> None:
        """Put the cursor on an entry; its first line folds it. Two clicks select a word, three a line."""
        x, y = self._place_of(event)
        line = self.top_line + y
        place = self._column.heights.at(line)
        if place is None or x >= self.outer_size.width - 1 or event.button != 1:
            return
        if event.chain == 2:
            self._selecting.select_word(line, x)
        elif event.chain >= 3:
            self._selecting.select_line(line)
        elif self._selecting.is_empty:
            self._choose(place[0])
            if place[1] == 0:
                self.toggle(place[0])
        self.refresh()

    # Selecting and finding

    @property
    def selected_text(self) -> str:
        """What is selected, also where it is not in view."""
        return self._selecting.text()

    def action_select_all(self) -> None:
        """Select the whole conversation."""
        self._selecting.select_all()
        self.refresh()

    def clear_selection(self) -> None:
        """Select nothing."""
        self._selecting.clear()
        self.refresh()

    def look_for(self, query: str) -> None:
        """Mark every place that says this; `Searched` tells how many there are. A blank query ends it."""
        self._searching.begin(query)
        self._told = self._searching.standing()
        self.post_message(self.Searched(self._told))
        self._schedule(0)
        self.refresh()

    def action_find(self, direction: int) -> None:
        """Go to the next (1) or the previous (-1) place that was found."""
        self._searching.step(direction)
        self._work_ahead(self._time_for_a_slice())
        self._schedule(0)
        self.refresh()


def _styled(strip: Strip, cells: range, style: Style) -> Strip:
    """The strip with another look for these cells."""
    if not cells:
        return strip
    within = strip.crop(cells.start, cells.stop)
    marked = Strip(
        [Segment(text, (own or Style.null()) + style) for text, own, _ in within], within.cell_length
    )
    return Strip.join([strip.crop(0, cells.start), marked, strip.crop(cells.stop, strip.cell_length)])
