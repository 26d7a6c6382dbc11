"""What a user does with the terminals of a session: take one over, interrupt it, end it; it draws nothing itself."""

from __future__ import annotations

from collections.abc import Sequence

from acp_tui.client.sessions.session import Session
from acp_tui.conversation.entries import Entry, OwnCommand, TerminalState, ToolCallEntry
from acp_tui.conversation.tool_calls import TerminalContent, TerminalId
from acp_tui.conversation.visible import make_visible_line
from acp_tui.ui.dialogs.take_over import TakeOver
from acp_tui.ui.session.panel import SessionPanel
from acp_tui.ui.tab.host import TabHost

MAX_COMMAND_CHARACTERS = 60
"""Of a command, in a word to the user."""


class TerminalsController:
    """The terminals that one tab shows. Its async methods are to run in a worker."""

    def __init__(self, host: TabHost) -> None:
        self._host = host

    async def take_over(self) -> None:
        """Give the keyboard to a terminal until the user takes it back."""
        chosen = self._choose()
        if chosen is None:
            return
        panel, session, state = chosen
        screens = panel.view.terminal_screens
        await self._host.screen.app.push_screen_wait(
            TakeOver(session, state, screens, clock=self._host.clock)
        )
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
        panel = self._host.panel
        if panel is None or panel.session is None:
            self._host.say("There is no session yet.", severity="warning")
            return None
        known = panel.conversation.terminals
        shown = [known[one] for one in _terminals_of(panel.view.entry_under_cursor) if one in known]
        running = [state for state in shown or known.values() if state.is_ours and not state.has_exited]
        if not running:
            why = "No command runs there any more." if shown else "No command runs that you could type into."
            self._host.say(why, severity="warning")
            return None
        waiting = [state for state in running if state.is_waiting]
        return panel, panel.session, (waiting or running)[-1]

    def _tell(self, state: TerminalState, what: str) -> None:
        command = make_visible_line(state.command or "a terminal")
        if len(command) > MAX_COMMAND_CHARACTERS:
            command = command[: MAX_COMMAND_CHARACTERS - 1] + "…"
        self._host.say(f"{what}: {command}")


def _terminals_of(entry: Entry | None) -> Sequence[TerminalId]:
    """The terminals that an entry shows, from top to bottom."""
    match entry:
        case OwnCommand(terminal_id=terminal_id):
            return (terminal_id,)
        case ToolCallEntry(call=call):
            return [item.terminal_id for item in call.content if isinstance(item, TerminalContent)]
        case _:
            return ()
