"""What a user can want of the session screen by key or from the command palette; each action is one of the table's.

How the screen looks and how it comes to a session is `session`'s. What an action needs is loaded when it is first used.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from textual import work
from textual.events import Key, Paste
from textual.screen import Screen

from acp_tui.client.settings.tree import Settings
from acp_tui.ui.keyed_app import keys_in_force
from acp_tui.ui.preloading import preload
from acp_tui.ui.prompting import Prompting
from acp_tui.ui.tabbed_app import TabbedApp
from acp_tui.ui.tabs import FIRST_MODE
from acp_tui.ui.textual_internals import press_in
from acp_tui.ui.widgets.prompt import PromptInput

if TYPE_CHECKING:
    from acp_tui.client.sessions.session import Session
    from acp_tui.client.sessions.session_history import PastSession
    from acp_tui.ui.agent_desk import AgentDesk
    from acp_tui.ui.agent_link import AgentLink
    from acp_tui.ui.changes_desk import ChangesDesk
    from acp_tui.ui.conversation_desk import ConversationDesk
    from acp_tui.ui.entry_desk import EntryDesk
    from acp_tui.ui.sessions_desk import SessionsDesk
    from acp_tui.ui.sidebar_desk import SidebarDesk
    from acp_tui.ui.terminal_desk import TerminalDesk
    from acp_tui.ui.widgets.session_panel import SessionPanel
    from acp_tui.ui.widgets.sidebar import Sidebar


class SessionActions(Screen[None]):
    """The part of the session screen that answers keys."""

    mode = FIRST_MODE
    """The tab, as Textual knows it."""

    def __init__(self, cwd: Path, clock: Callable[[], float]) -> None:
        super().__init__()
        self._cwd = cwd
        self._clock = clock
        self._settings = Settings()
        self._desk: AgentDesk | None = None
        self._sessions: SessionsDesk | None = None
        self._has_desks = asyncio.Event()
        self._panel: SessionPanel | None = None
        self._changes: ChangesDesk | None = None
        self._sidebar: SidebarDesk | None = None
        """None until there is a session to tell of."""
        self._prompting = Prompting(self)
        self._has_news = False
        """A turn has ended while another tab was in front."""

    @property
    def is_current(self) -> bool:
        """Whether it is in front: behind a dialog it stands still, though it can be seen, and costs nothing."""
        return self.app.screen is self

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

    @property
    def clock(self) -> Callable[[], float]:
        """Gives seconds."""
        return self._clock

    @property
    def is_keyboard_free(self) -> bool:
        """Whether the user writes nothing and presses nothing, so that a card may take the keyboard."""
        return any(prompt.is_free for prompt in self.query(PromptInput))

    def write_on(self, text: str, keys: Sequence[Key | Paste], *, is_paste: bool) -> None:
        """Into the draft with what is typed on a card that asks for something else, and the `keys` behind it."""
        for prompt in self.query(PromptInput):
            self.set_focus(prompt)
            if is_paste:
                prompt.paste(text)
            else:
                prompt.insert(text)
            for key in keys:
                press_in(prompt, key)

    def action_focus_prompt(self) -> None:
        """Back to the draft, from anywhere else."""
        for prompt in self.query(PromptInput):
            self.set_focus(prompt)

    def look_at_requests(self) -> None:
        """A form is there, or is gone: permission requests wait behind it, or not any more."""
        if self._panel is not None and self._panel.is_mounted:
            self._panel.look_at_requests()

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
        """Unfold or fold the plan, in the sidebar where that is shown."""
        if self._sidebar is not None and self._sidebar.toggle_plan():
            return
        if self._panel is not None:
            self._panel.toggle_plan()

    def action_turn_sidebar(self) -> None:
        """Show the sidebar; where it is shown, go to it; from there, hide it."""
        if self._sidebar is not None:
            self._sidebar.turn()
        else:
            self.notify("There is no session yet.")

    def on_sidebar_file_chosen(self, message: Sidebar.FileChosen) -> None:
        """Show what became of the file."""
        from acp_tui.ui.screens.review import ReviewScreen

        if self._changes is not None:
            self.app.push_screen(ReviewScreen(self._changes, message.path))

    @work
    async def action_help(self) -> None:
        """Show the commands with their keys, and do the one that is chosen there."""
        from acp_tui.ui.keymap import places_of
        from acp_tui.ui.screens.help import HelpScreen  # when it is first asked for

        action = await self.app.push_screen_wait(HelpScreen(places_of(self.focused or self)))
        if action is not None:
            await self.run_action(action)

    def action_interrupt(self) -> None:
        """Ctrl+C: copy a selection, else clear the draft, else cancel the turn. With a question: stop the agent."""
        field = getattr(self.focused, "selected_text", "")
        selected = (
            field or self._prompt.selected_text or (self._panel.view.selected_text if self._panel else "")
        )
        if self.app.screen is not self:
            self._stop_asking()
        elif selected:
            self.run_worker(self._conversation_desk.copy(selected))
            if self._panel is not None:
                self._panel.view.clear_selection()
        elif self._desk is not None and self._desk.questions.card is not None:
            self._stop_asking()
        elif self._prompt.text or self._prompt.images:
            self._prompt.discard_draft()
        elif self._session is not None and not self._session.conversation.is_idle:
            self._prompting.cancel(self._session)
        else:
            self._prompt.say(keys_in_force(self).hint("{quit} quits"))

    def _stop_asking(self) -> None:
        """Cancel the turn, and take back every question of the agent's: the draft below them stays."""
        if self._session is not None and not self._session.conversation.is_idle:
            self._prompting.cancel(self._session)
        if self._desk is not None:
            self._desk.questions.cancel_all()

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
    async def action_export(self, file: str = "") -> None:
        """Write the conversation to this file; without one, ask for it."""
        if self._session is not None:
            agent = self._desk.agent if self._desk is not None else None
            await self._conversation_desk.export(self._session, agent, file)

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
        """Ask the agent for its next mode; the badge shows what it reports, a notice what that mode means."""
        from acp_tui.conversation.facts import SelectOption
        from acp_tui.conversation.visible import make_visible_line

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
        wanted = modes[0].choices[(at + 1) % len(values)]
        await self._desk.set_option(session, modes[0].option_id, wanted.value)
        now = {option.option_id: option.value for option in session.conversation.options}
        if wanted.description and now.get(modes[0].option_id) == wanted.value:
            self.notify(make_visible_line(f"{wanted.name}: {wanted.description}"), markup=False)

    @work
    async def action_choose_option(self) -> None:
        """Change a setting of the session."""
        if self._desk is not None and self._panel is not None and self._panel.session is not None:
            await self._desk.choose_option(self._panel.session)

    @work
    async def action_choose_value(self, category: str) -> None:
        """Change the model, or the mode."""
        if self._desk is not None and self._session is not None:
            from acp_tui.ui.option_choice import choose_value

            await choose_value(self._desk, self._session, category)

    @work
    async def action_show_mcp(self) -> None:
        """Show the MCP servers."""
        agent = self._desk.agent_or_say() if self._desk is not None else None
        if agent is not None:
            from acp_tui.ui.mcp_listing import mcp_servers_told
            from acp_tui.ui.screens.reading import ReadingScreen

            self.app.push_screen(ReadingScreen("MCP servers", await mcp_servers_told(agent, self._cwd)))

    @work
    async def action_choose_session(self) -> None:
        """Look for a session of the past; open it, or begin another."""
        from anyio import to_thread

        await to_thread.run_sync(preload, ("acp_tui.ui.history_desk",))
        from acp_tui.ui.history_desk import HistoryDesk

        await HistoryDesk(self).choose()

    def shows(self, past: PastSession) -> bool:
        """Whether it is this session."""
        from acp_tui.ui.reopening import is_shown

        return is_shown(past, self._session, self.link)

    async def show_opened(self, session: Session) -> None:
        """Show this session from now on."""
        await self._show_agents_session(session)

    async def desks(self) -> tuple[AgentDesk, SessionsDesk]:
        """What is done with its agent; a tab that has just been opened has none yet."""
        await self._has_desks.wait()
        assert self._desk is not None
        assert self._sessions is not None
        return self._desk, self._sessions

    @property
    def link(self) -> AgentLink | None:
        """The way to its agent, once there is one."""
        return self._desk.link if self._desk is not None else None

    @property
    def session(self) -> Session | None:
        """The session that it shows."""
        return self._session

    @property
    def is_blank(self) -> bool:
        """Whether nothing was said here yet."""
        return self._session is not None and self._session.conversation.is_blank

    @work
    async def action_begin_session(self) -> None:
        """Begin a session in a new tab; in this one where that it was opened for is not to be had."""
        if self._desk is None or self._desk.agent_or_say() is None:
            return
        if self._panel is not None and self._session is None:
            await self.begin_anew()
        else:
            await self.tabbed.open_tab(self._desk.link, self._cwd)

    async def begin_anew(self) -> None:
        """Begin a session in place of the one that is shown."""
        raise NotImplementedError

    @property
    def tabbed(self) -> TabbedApp:
        """The app, of which this is a tab."""
        assert isinstance(self.app, TabbedApp)
        return self.app

    @property
    def changes(self) -> ChangesDesk | None:
        """What has changed in its folder; None where nobody looks."""
        return self._changes

    @property
    def cwd(self) -> Path:
        """Where its sessions work."""
        return self._cwd

    # Closing the tab

    async def may_close(self) -> bool:
        """Whether the user is sure, where the agent is at work."""
        is_at_work = self._session is not None and not self._session.conversation.is_idle
        return not is_at_work or (
            self._desk is not None and await self._desk.confirm("The agent is at work. Close the tab?")
        )

    async def leave(self) -> None:
        """Close the session, and the agent where no other tab uses it."""
        if self._session is not None and self._sessions is not None:
            await self._sessions.close(self._session)
        if self._desk is not None:
            await self._desk.leave()

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
