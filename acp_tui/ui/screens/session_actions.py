"""What a user can want of the session screen by key or from the command palette; each action is one of the table's.

How the screen looks and how it comes to a session is `session`'s. What an action needs is loaded when it is first used.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from textual import work
from textual.screen import Screen

from acp_tui.ui.prompting import Prompting
from acp_tui.ui.widgets.prompt import PromptInput

if TYPE_CHECKING:
    from acp_tui.client.sessions.session import Session
    from acp_tui.ui.agent_desk import AgentDesk
    from acp_tui.ui.changes_desk import ChangesDesk
    from acp_tui.ui.conversation_desk import ConversationDesk
    from acp_tui.ui.entry_desk import EntryDesk
    from acp_tui.ui.terminal_desk import TerminalDesk
    from acp_tui.ui.widgets.session_panel import SessionPanel


class SessionActions(Screen[None]):
    """The half of the session screen that answers keys."""

    def __init__(self, clock: Callable[[], float]) -> None:
        super().__init__()
        self._clock = clock
        self._desk: AgentDesk | None = None
        self._panel: SessionPanel | None = None
        self._changes: ChangesDesk | None = None
        self._prompting = Prompting(self)

    @property
    def _prompt(self) -> PromptInput:
        return self.query_one(PromptInput)

    @property
    def _session(self) -> Session | None:
        return self._panel.session if self._panel is not None else None

    @property
    def _conversation_desk(self) -> ConversationDesk:
        from acp_tui.ui.conversation_desk import ConversationDesk

        return ConversationDesk(self)

    async def _show_agents_session(self, session: Session | None) -> None:
        """Show this session from now on, where there is one."""
        raise NotImplementedError

    # In the conversation

    def action_follow(self) -> None:
        """Go to the end of the conversation."""
        if self._panel is not None:
            self._panel.view.action_follow()

    def action_to_prompt(self, direction: int) -> None:
        """Go to the prompt above or below."""
        if self._panel is not None:
            self._panel.view.action_to_prompt(direction)

    async def action_find(self, query: str = "") -> None:
        """Look for a text in the conversation."""
        from acp_tui.ui.widgets.find_bar import FindBar

        if self._panel is None:
            self.notify("There is nothing to look through yet.")
            return
        bars = self.query(FindBar)
        bar = bars.first() if bars else FindBar(self._panel.view)
        if not bars:
            await self.mount(bar, before="#prompt-frame")
        bar.begin(query)

    def action_toggle_all(self) -> None:
        """Unfold or fold everything."""
        if self._panel is not None:
            self._panel.view.toggle_all()

    def action_toggle_plan(self) -> None:
        """Unfold or fold the plan."""
        if self._panel is not None:
            self._panel.toggle_plan()

    def action_help(self) -> None:
        """Show the keys."""
        from acp_tui.ui.screens.help import HelpScreen  # when it is first asked for

        self.app.push_screen(HelpScreen())

    def action_interrupt(self) -> None:
        """Ctrl+C: copy a selection, else clear the draft, else cancel the turn."""
        selected = self._prompt.selected_text or (self._panel.view.selected_text if self._panel else "")
        if selected:
            self.run_worker(self._conversation_desk.copy(selected))
            if self._panel is not None:
                self._panel.view.clear_selection()
        elif self._prompt.text:
            self._prompt.clear_draft()
        elif self._session is not None and not self._session.conversation.is_idle:
            self._prompting.cancel(self._session)
        else:
            self.notify("Ctrl+Q quits")

    @work
    async def action_copy_reply(self) -> None:
        """Copy the agent's last message."""
        if self._panel is not None:
            await self._conversation_desk.copy_reply(self._panel.conversation)

    @work
    async def action_copy_code(self) -> None:
        """Copy a piece of code of the agent's."""
        if self._panel is not None:
            await self._conversation_desk.copy_code(self._panel.conversation)

    @work
    async def action_export(self) -> None:
        """Write the conversation to a file."""
        if self._session is not None:
            agent = self._desk.agent if self._desk is not None else None
            await self._conversation_desk.export(self._session, agent)

    @work
    async def action_edit_location(self) -> None:
        """Open a file of a tool call's in the editor."""
        await self._entry_desk.edit_location()

    @work
    async def action_save_attached(self) -> None:
        """Save what the agent attached."""
        await self._entry_desk.save_attached()

    @property
    def _entry_desk(self) -> EntryDesk:
        from acp_tui.ui.entry_desk import EntryDesk

        return EntryDesk(self, self._panel)

    @work
    async def action_next_mode(self) -> None:
        """Ask the agent for its next mode; the badge shows what it reports."""
        from acp_tui.conversation.facts import SelectOption

        session = self._panel.session if self._panel is not None else None
        options = session.conversation.options if session is not None else ()
        modes = [
            option for option in options if isinstance(option, SelectOption) and option.category == "mode"
        ]
        if session is None or self._desk is None or not modes or not modes[0].choices:
            self.notify("This agent has no modes." if session else "There is no session yet.")
            return
        values = [choice.value for choice in modes[0].choices]
        at = values.index(modes[0].value) if modes[0].value in values else -1
        await self._desk.set_option(session, modes[0].option_id, values[(at + 1) % len(values)])

    @work
    async def action_choose_option(self) -> None:
        """Change a setting of the session."""
        if self._desk is not None and self._panel is not None and self._panel.session is not None:
            await self._desk.choose_option(self._panel.session)

    @work
    async def action_choose_session(self) -> None:
        """Open, delete or begin a session."""
        if self._desk is not None:
            session = self._panel.session if self._panel is not None else None
            await self._show_agents_session(await self._desk.choose_session(session))

    @work
    async def action_begin_session(self) -> None:
        """Begin a session beside those that are open."""
        if self._desk is not None:
            await self._show_agents_session(await self._desk.begin_session())

    @work
    async def action_close_session(self) -> None:
        """Close the session in the agent, and begin another."""
        if self._desk is not None and self._panel is not None and self._panel.session is not None:
            await self._show_agents_session(await self._desk.close_session(self._panel.session))

    @work
    async def action_show_agent(self) -> None:
        """Show what the agent offers."""
        if self._desk is not None:
            await self._desk.show_agent()

    @work
    async def action_log_out(self) -> None:
        """Log out of the agent."""
        if self._desk is not None:
            await self._desk.log_out()

    @work
    async def action_take_over(self) -> None:
        """Give the keyboard to a terminal."""
        await self._terminal_desk.take_over()

    def action_interrupt_terminal(self) -> None:
        """Press Ctrl+C in a terminal."""
        self._terminal_desk.interrupt()

    @work
    async def action_end_terminal(self) -> None:
        """End a terminal's command."""
        await self._terminal_desk.end()

    @property
    def _terminal_desk(self) -> TerminalDesk:
        from acp_tui.ui.terminal_desk import TerminalDesk

        return TerminalDesk(self, self._panel, self._clock)

    def action_show_changes(self) -> None:
        """List the files that have changed."""
        if self._changes is not None:
            self._changes.open()
        else:
            self.notify("There is no session yet.")

    def action_dismiss_visits(self) -> None:
        """Forget the pages that the agent asked for; it may never say that they are dealt with (R-ELIC-12)."""
        if self._panel is not None and self._panel.session is not None:
            for visit in tuple(self._panel.conversation.visits):
                self._panel.session.dismiss_visit(visit)
