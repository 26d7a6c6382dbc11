"""The user's keyboard in a terminal: one terminal fills the window until a key takes the keyboard back.

Which terminal that is, `terminal_desk` decides; what the keys become is the TerminalView's matter.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from textual import events
from textual.app import ComposeResult
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Static

from acp_tui.client.terminals.errors import TerminalInputFull
from acp_tui.conversation.conversation import Change
from acp_tui.conversation.entries import TerminalState
from acp_tui.conversation.visible import make_visible_line
from acp_tui.ui.commands.keys import keys_in_force
from acp_tui.ui.dialogs.terminal_view import TerminalView
from acp_tui.ui.drawings.terminals import TerminalScreens, state_of_command
from acp_tui.ui.rendering.palette import PLAIN

if TYPE_CHECKING:
    from acp_tui.client.sessions.session import Session, Unsubscribe


class KeyboardLine(Static):
    """Says where the keyboard is, and how to get it back."""

    DEFAULT_CSS = "KeyboardLine { height: 1; }"
    ALLOW_SELECT = False

    def __init__(self) -> None:
        super().__init__(markup=False)
        self._said = ("", "", "")

    def show(self, before: str, command: str, after: str) -> None:
        """Say this; of the command as much as there is room for."""
        if (before, command, after) != self._said:
            self._said = before, command, after
            self._draw()

    def on_resize(self) -> None:
        """There is room for more or less of the command."""
        self._draw()

    def _draw(self) -> None:
        before, command, after = map(Content, self._said)
        room = self.content_size.width - before.cell_length - after.cell_length - 2
        shown = command.truncate(max(1, room), ellipsis=True).stylize("bold")
        gap = " " * max(2, room + 2 - shown.cell_length)
        self.update(Content.assemble(before, shown, gap, after))


class TakeOver(Screen[None]):
    """Gives keyboard and mouse to the program in a terminal; ends when the user takes them back."""

    def __init__(
        self,
        session: Session,
        state: TerminalState,
        screens: TerminalScreens,
        *,
        clock: Callable[[], float],
    ) -> None:
        """`screens` are those of whoever shows the session's conversation."""
        super().__init__()
        self._session = session
        self._state = state
        self._line = KeyboardLine()
        self._view = TerminalView(state, screens, clock=clock)
        self._unsubscribe: Unsubscribe = lambda: None
        self._is_taken = True
        """What was typed last."""

    def compose(self) -> ComposeResult:
        """The line, and the terminal."""
        yield self._line
        yield self._view

    def on_mount(self) -> None:
        """Hear of every change."""
        self._view.focus()
        self._unsubscribe = self._session.subscribe(self._on_change)

    def on_unmount(self) -> None:
        """Hear no more."""
        self._unsubscribe()

    def _on_change(self, change: Change) -> None:
        if change.facts:
            self._view.mark()

    def on_terminal_view_typed(self, message: TerminalView.Typed) -> None:
        """Type it into the program."""
        try:
            self._session.machine.type_into(self._state.terminal_id, message.data)
            self._is_taken = True
        except TerminalInputFull as error:
            if self._is_taken:  # once, not for every key
                self._is_taken = False
                self.notify(f"{error}. What you type now is lost.", severity="warning", markup=False)

    def on_terminal_view_sized(self, message: TerminalView.Sized) -> None:
        """The terminal takes the room that there is."""
        self._session.machine.resize_terminal(self._state.terminal_id, message.columns, message.rows)

    def on_terminal_view_left(self) -> None:
        """Back to the conversation, where the terminal has the size that its card shows."""
        machine = self._session.machine
        machine.resize_terminal(self._state.terminal_id, *machine.terminal_size)
        self.dismiss()

    def on_click(self, event: events.Click) -> None:
        """On the line: not every keyboard has the key that leaves."""
        if event.widget is self._line:
            self._view.leave()

    def on_terminal_view_drawn(self) -> None:
        """Say how things stand."""
        state = self._state
        self._line.set_class(state.has_exited, "-ended")
        self._line.set_class(self._is_asked, "-asked")
        command = make_visible_line(state.command or "a terminal")
        self._line.show("" if state.has_exited else "keyboard is in ", command, self._words)

    @property
    def _words(self) -> str:
        leave = keys_in_force(self).shown("leave_terminal")
        end = " · ".join(text for text, _ in state_of_command(self._state, PLAIN))
        if self._is_asked:
            asked = f"the agent waits for your decision: {leave}"
            return f"{end} · {asked}" if self._state.has_exited else asked
        if self._state.has_exited:
            return f"{end} · Enter or {leave} leaves"
        if below := self._view.lines_below:
            return f"{below} more below · {leave} takes it back"
        return f"{leave} takes it back"

    @property
    def _is_asked(self) -> bool:
        conversation = self._session.conversation
        return bool(conversation.permissions or conversation.elicitations)
