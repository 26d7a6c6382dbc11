"""What a user does with the terminals of a session: take one over, interrupt it, end it; it draws nothing itself."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from textual.screen import Screen

from acp_tui.conversation.entries import Entry, OwnCommand, TerminalState, ToolCallEntry
from acp_tui.conversation.tool_calls import TerminalContent, TerminalId
from acp_tui.conversation.visible import make_visible_line
from acp_tui.ui.widgets.session_panel import SessionPanel

if TYPE_CHECKING:
    from textual.notifications import SeverityLevel

    from acp_tui.client.sessions.session import Session

MAX_COMMAND_CHARACTERS = 60
"""Of a command, in a word to the user."""


class TerminalDesk:
    """The terminals of what a panel shows. Its async methods are to run in a worker of the screen."""

    def __init__(
        self, screen: Screen[None], panel: SessionPanel | None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Without a panel there is nothing yet, which is said."""
        self._screen = screen
        self._panel = panel
        self._clock = clock

    async def take_over(self) -> None:
        """Give the keyboard to a terminal until the user takes it back."""
        chosen = self._choose()
        if chosen is None:
            return
        from acp_tui.ui.screens.take_over import TakeOver  # when it is first asked for

        panel, session, state = chosen
        screens = panel.view.terminal_screens
        await self._screen.app.push_screen_wait(TakeOver(session, state, screens, clock=self._clock))
        panel.post_message(SessionPanel.FactsChanged())  # what the agent has asked meanwhile is shown now

    def interrupt(self) -> None:
        """Press Ctrl+C in a terminal."""
        if chosen := self._choose():
            _, session, state = chosen
            is_done = session.machine.interrupt(state.terminal_id)
            self._tell(state, "Ctrl+C was pressed in" if is_done else "The agent has released")

    async def end(self) -> None:
        """End a terminal's command."""
        if chosen := self._choose():
            _, session, state = chosen
            is_done = await session.machine.end_terminal(state.terminal_id)
            self._tell(state, "You have ended" if is_done else "The agent has released")

    def _choose(self) -> tuple[SessionPanel, Session, TerminalState] | None:
        """The terminal under the cursor, else one that waits for input, else the youngest; only where it runs."""
        panel = self._panel
        if panel is None or panel.session is None:
            self._say("There is no session yet.")
            return None
        known = panel.conversation.terminals
        shown = [known[one] for one in _terminals_of(panel.view.entry_under_cursor) if one in known]
        running = [state for state in shown or known.values() if state.is_ours and not state.has_exited]
        if not running:
            self._say(
                "No command runs there any more." if shown else "No command runs that you could type into."
            )
            return None
        waiting = [state for state in running if state.is_waiting]
        return panel, panel.session, (waiting or running)[-1]

    def _tell(self, state: TerminalState, what: str) -> None:
        command = make_visible_line(state.command or "a terminal")
        if len(command) > MAX_COMMAND_CHARACTERS:
            command = command[: MAX_COMMAND_CHARACTERS - 1] + "…"
        self._say(f"{what}: {command}", severity="information")

    def _say(self, text: str, *, severity: SeverityLevel = "warning") -> None:
        self._screen.notify(text, severity=severity, markup=False)


def _terminals_of(entry: Entry | None) -> Sequence[TerminalId]:
    """The terminals that an entry shows, from top to bottom."""
    match entry:
        case OwnCommand(terminal_id=terminal_id):
            return (terminal_id,)
        case ToolCallEntry(call=call):
            return [item.terminal_id for item in call.content if isinstance(item, TerminalContent)]
        case _:
            return ()
