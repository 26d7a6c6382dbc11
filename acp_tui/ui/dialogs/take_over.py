"""Shows one terminal in the whole window and sends it every key, until the user presses the key to leave."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar, Final, TypeAlias

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual import events, on
from textual.app import ComposeResult
from textual.content import Content
from textual.geometry import Offset, Region
from textual.message import Message
from textual.screen import Screen
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Static

from acp_tui.client.terminals.emulator import Line, TerminalModes
from acp_tui.client.terminals.pty import TerminalInputFull
from acp_tui.client.terminals.screen import (
    TerminalScreen,
    Window,
    encode_focus,
    encode_key,
    encode_paste,
)
from acp_tui.conversation.conversation import Change
from acp_tui.conversation.entries import TerminalState, ToolCallEntry
from acp_tui.conversation.tool_text import PROMPT, visible_title
from acp_tui.conversation.visible import make_visible_line
from acp_tui.ui.commands.command import Place
from acp_tui.ui.commands.keys import keys_in_force
from acp_tui.ui.conversation.terminals import TerminalScreens, state_of_command, strip_of
from acp_tui.ui.kit.answer_guard import AnswerGuard
from acp_tui.ui.kit.frame_loop import FLOOD_FRAME_S, Frames
from acp_tui.ui.kit.line_view import WHEEL_LINES
from acp_tui.ui.rendering.palette import PLAIN

if TYPE_CHECKING:
    from acp_tui.client.sessions.session import Session, Unsubscribe

LEAVE_KEY: Final = "ctrl+right_square_bracket"
LEAVE_KEYS_AT_THE_END: Final = frozenset({LEAVE_KEY, "enter", "escape"})
FRAME_S: Final = 1 / 60

Row: TypeAlias = tuple[Line, int | None]
"""A line, and the cell of the cursor in it."""


class TakenTerminal(Widget, can_focus=True):
    """Draws the terminal, and encodes keys and pastes for its program."""

    DEFAULT_CSS = "TakenTerminal { height: 1fr; }"
    ALLOW_SELECT = False

    class Typed(Message):
        """Posted with input for the program."""

        def __init__(self, data: bytes) -> None:
            super().__init__()
            self.data = data

    class Sized(Message):
        """Posted with the size available for the terminal."""

        def __init__(self, columns: int, rows: int) -> None:
            super().__init__()
            self.columns = columns
            self.rows = rows

    class Drawn(Message):
        """Posted after a frame: the status of the terminal may have changed."""

    class Left(Message):
        """Posted when the user leaves the terminal."""

    def __init__(self, state: TerminalState, screens: TerminalScreens, *, clock: Callable[[], float]) -> None:
        super().__init__()
        self._state = state
        self._screens = screens
        self._end_guard: AnswerGuard | None = None
        self._clock = clock
        self._window: Window | None = None
        self._top: int | None = None
        """The line on the first row; None to follow the program's output."""
        self._rows: list[Row] = []
        self._strips: list[Strip] = []
        self._base = Style.null()
        self._frames = Frames(self, self._draw_frame, lambda now: FLOOD_FRAME_S if screens.has_flood(now) else FRAME_S)

    @property
    def lines_below(self) -> int:
        """How many lines are below the window, because the user has scrolled up."""
        return self._window.lines_below if self._window is not None else 0

    @property
    def has_ended(self) -> bool:
        """Whether the last frame showed the program's end. Only then do other keys leave, after a pause."""
        return self._end_guard is not None

    # Frames

    def on_mount(self) -> None:
        self._frames.start()
        self.mark()

    def on_unmount(self) -> None:
        self._frames.stop()

    def mark(self) -> None:
        """Draw with the next frame. Cheap, and callable from any task of the loop."""
        self._frames.schedule()

    def _draw_frame(self) -> None:
        self._frames.shown_at = self._frames.now
        if self._state.has_exited and self._end_guard is None:
            self._end_guard = AnswerGuard(self._clock)
        screen = self._screens.screen(self._state)
        if screen is not None:
            screen.update()
            self._show(screen)
        if screen is None or screen.is_feeding:  # the emulator is being loaded, or is behind
            self.mark()
        self.post_message(self.Drawn())

    def _show(self, screen: TerminalScreen) -> None:
        window = self._window = screen.window(self._top)
        base = self.visual_style.rich_style
        if base != self._base:
            self._base, self._rows = base, []
        rows = self._rows_of(window)
        if len(rows) != len(self._rows):
            self._strips = [self._bake(row) for row in rows]
            self.refresh()
        else:
            for y, (row, shown) in enumerate(zip(rows, self._rows, strict=True)):
                if row != shown:
                    self._strips[y] = self._bake(row)
                    self.refresh(Region(0, y, self.size.width, 1))
        self._rows = rows

    def _rows_of(self, window: Window) -> list[Row]:
        rows: list[Row] = [(line, None) for line in window.lines[: self.size.height]]
        rows += [([], None)] * (self.size.height - len(rows))
        column, y = min(window.cursor[0], self.size.width - 1), window.cursor[1]
        if 0 <= y < len(rows) and self.size.width:
            # Input methods open their windows at the cursor of the user's own terminal.
            self.app.cursor_position = self.content_region.offset + Offset(column, y)
            if window.modes.cursor_visible and self.has_focus and not self._state.has_exited:
                rows[y] = (rows[y][0], column)
        return rows

    def _bake(self, row: Row) -> Strip:
        line, cursor = row
        strip = strip_of(line).adjust_cell_length(self.size.width)
        return (strip if cursor is None else _with_cursor(strip, cursor)).apply_style(self._base)

    def render_line(self, y: int) -> Strip:
        if y < len(self._strips):
            return self._strips[y].adjust_cell_length(self.size.width, self._base)
        return Strip.blank(self.size.width, self._base)

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self.mark()

    def on_resize(self, event: events.Resize) -> None:
        self._rows = []
        if event.size:
            self.post_message(self.Sized(event.size.width, event.size.height))
        self.mark()

    # Keys and pastes

    def check_consume_key(self, key: str, character: str | None) -> bool:
        """Consume every key while the program runs; after that, only the keys that leave."""
        return not self._state.has_exited or key in LEAVE_KEYS_AT_THE_END

    def on_key(self, event: events.Key) -> None:
        """Send the key to the program, unless it leaves the terminal."""
        if not self.check_consume_key(event.key, event.character):
            return
        event.stop()
        event.prevent_default()
        if event.key == LEAVE_KEY or (self._end_guard is not None and self._end_guard.is_open):
            self.leave()
        elif not self._state.has_exited:
            self._type(encode_key(event.key, event.character, self._modes))

    def on_paste(self, event: events.Paste) -> None:
        event.stop()
        self._type(encode_paste(event.text, self._modes))

    def leave(self) -> None:
        self._tell_focus(has_focus=False)
        self.post_message(self.Left())

    def on_focus(self) -> None:
        self._tell_focus(has_focus=True)

    def on_blur(self) -> None:
        self._tell_focus(has_focus=False)

    def _tell_focus(self, *, has_focus: bool) -> None:
        self._tell(encode_focus(has_focus, self._modes))
        self.mark()

    def _type(self, data: bytes) -> None:
        """Send input to the program, and scroll down so that the user sees the effect."""
        self._go_to(None)
        self._tell(data)

    def _tell(self, data: bytes) -> None:
        if data and not self._state.has_exited:
            self.post_message(self.Typed(data))

    @property
    def _modes(self) -> TerminalModes:
        screen = self._screens.screen(self._state)
        return screen.modes if screen is not None else TerminalModes()

    @on(events.MouseScrollUp)
    @on(events.MouseScrollDown)
    def _turn_wheel(self, event: events.MouseScrollUp | events.MouseScrollDown) -> None:
        """Scroll; in full-screen programs, send arrow keys, as xterm does."""
        event.stop()
        is_up, modes = isinstance(event, events.MouseScrollUp), self._modes
        if modes.alternate_screen and not self._state.has_exited:
            self._tell(encode_key("up" if is_up else "down", None, modes) * WHEEL_LINES)
        elif self._window is not None:
            lines = -WHEEL_LINES if is_up else WHEEL_LINES
            is_at_end = lines >= self._window.lines_below
            self._go_to(None if is_at_end else max(0, self._window.top + lines))

    def _go_to(self, top: int | None) -> None:
        if top != self._top:
            self._top = top
            self.mark()


def _with_cursor(strip: Strip, column: int) -> Strip:
    width = max(1, cell_len(strip.crop(column, column + 2).text[:1]))
    before, under, after = strip.divide([column, column + width, strip.cell_length])
    reversed_cells = [
        Segment(text, (style or Style.null()) + Style(reverse=not (style and style.reverse)))
        for text, style, _ in under
    ]
    return Strip.join([before, Strip(reversed_cells), after])


class KeyboardLine(Static):
    """Shows that the terminal has the keyboard, and how to leave it."""

    DEFAULT_CSS = "KeyboardLine { height: 1; }"
    ALLOW_SELECT = False

    def __init__(self) -> None:
        super().__init__(markup=False)
        self._said = ("", "", "")

    def show(self, before: str, command: str, after: str) -> None:
        if (before, command, after) != self._said:
            self._said = before, command, after
            self._draw()

    @on(events.Resize)
    def _draw(self) -> None:
        before, command, after = map(Content, self._said)
        room = self.content_size.width - before.cell_length - after.cell_length - 2
        shown = command.truncate(max(1, room), ellipsis=True).stylize("bold")
        gap = " " * max(2, room + 2 - shown.cell_length)
        self.update(Content.assemble(before, shown, gap, after))


class TakeOver(Screen[None]):
    """Gives the keyboard to the program in a terminal. Closes when the user leaves."""

    PLACE: ClassVar[Place] = "terminal"

    def __init__(
        self, session: Session, state: TerminalState, screens: TerminalScreens, *, clock: Callable[[], float]
    ) -> None:
        """`screens` are those of the view that shows the session's conversation."""
        super().__init__()
        self._session = session
        self._state = state
        self._line = KeyboardLine()
        self._view = TakenTerminal(state, screens, clock=clock)
        self._unsubscribe: Unsubscribe = lambda: None
        self._is_taken = True
        """Whether the last input was accepted."""

    def compose(self) -> ComposeResult:
        yield self._line
        yield self._view

    def on_mount(self) -> None:
        self.set_focus(self._view)
        self._unsubscribe = self._session.subscribe(self._on_change)

    def _on_prune(self) -> None:
        """Unsubscribe while everything is still here."""
        self._unsubscribe()

    def _on_change(self, change: Change) -> None:
        if change.facts:
            self._view.mark()

    @on(TakenTerminal.Typed)
    def _write_to_terminal(self, message: TakenTerminal.Typed) -> None:
        try:
            self._session.client_tools.type_into(self._state.terminal_id, message.data)
            self._is_taken = True
        except TerminalInputFull as error:
            if self._is_taken:  # once, not for every key
                self._is_taken = False
                self.notify(f"{error}. What you type now is lost.", severity="warning", markup=False)

    @on(TakenTerminal.Sized)
    def _resize_terminal(self, message: TakenTerminal.Sized) -> None:
        self._session.client_tools.resize_terminal(self._state.terminal_id, message.columns, message.rows)

    @on(TakenTerminal.Left)
    def _give_back(self) -> None:
        """Go back to the conversation, and restore the terminal's size there."""
        tools = self._session.client_tools
        tools.resize_terminal(self._state.terminal_id, *tools.terminal_size)
        self.dismiss()

    def on_click(self, event: events.Click) -> None:
        """Leave on a click on the status line: not every keyboard has the key to leave."""
        if event.widget is self._line:
            self._view.leave()

    @on(TakenTerminal.Drawn)
    def _show_state(self) -> None:
        has_ended = self._view.has_ended
        self._line.set_class(has_ended, "-ended")
        self._line.set_class(self._is_asked, "-asked")
        self._line.show("" if has_ended else "keyboard is in ", self._head, self._words)

    @property
    def _head(self) -> str:
        """The title of the call that the terminal belongs to, and the command where the title doesn't say it."""
        conversation, command = self._session.conversation, make_visible_line(self._state.command or "a terminal")
        entries = map(conversation.entries.__getitem__, conversation.terminal_entries.get(self._state.terminal_id, ()))
        calls = (entry.call for entry in entries if isinstance(entry, ToolCallEntry) and entry.call.title)
        title = next(map(visible_title, calls), command)
        return title if command in title else f"{title}  {PROMPT}{command}"

    @property
    def _words(self) -> str:
        leave = keys_in_force(self).shown("leave_terminal")
        end = " · ".join(text for text, _ in state_of_command(self._state, PLAIN, ""))
        if self._is_asked:
            asked = f"the agent needs your decision: {leave}"
            return f"{end} · {asked}" if self._view.has_ended else asked
        if self._view.has_ended:
            return f"{end} · Enter or {leave} leaves"
        if below := self._view.lines_below:
            return f"{below} more below · {leave} takes the keyboard back"
        return f"{leave} takes the keyboard back"

    @property
    def _is_asked(self) -> bool:
        return self._session.conversation.is_asking
