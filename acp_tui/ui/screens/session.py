"""The screen of a session: where it is shown, the prompt, the status line, and the way to an agent.

The first frame holds the prompt and the status line; everything that knows conversations comes after it.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Final

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import Screen

from acp_tui.client.settings.tree import Settings
from acp_tui.conversation.facts import Turn
from acp_tui.ui.commands import bindings
from acp_tui.ui.memory import keep_what_is_loaded
from acp_tui.ui.preloading import BEFORE_A_SESSION, preload
from acp_tui.ui.prompting import Prompting
from acp_tui.ui.widgets.prompt import PromptInput
from acp_tui.ui.widgets.queue_lines import QueueLines
from acp_tui.ui.widgets.status_line import Status, StatusLine

if TYPE_CHECKING:
    from acp_tui.client.errors import ClientError
    from acp_tui.client.sessions.agent import Agent
    from acp_tui.client.sessions.phase import Phase
    from acp_tui.client.sessions.session import Session
    from acp_tui.ui.agent_desk import AgentDesk
    from acp_tui.ui.changes_desk import ChangesDesk
    from acp_tui.ui.terminal_desk import TerminalDesk
    from acp_tui.ui.widgets.conversation.view import ConversationView
    from acp_tui.ui.widgets.session_panel import SessionPanel

Start = Callable[[Callable[["Phase"], None]], Awaitable["Agent"]]
"""Starts the agent's process, telling each phase. Raises ClientError."""


HEAD_START_S: Final = 0.5
"""How long the agent's start waits for what the files are now; beyond that, both go on side by side."""


class SessionScreen(Screen[None]):
    """Shows one session; without one, how far the agent has come and why it got no further."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings(),
        # Bindings, not key methods: after such a method the key would still move the focus, from the prompt on.
        Binding("escape,tab", "focus_prompt", "Back to the prompt", show=False),
    ]

    def __init__(
        self,
        start: Start | None,
        cwd: Path | None = None,
        *,
        settings: Settings | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`cwd` is where sessions work. Without `start`, whoever has a session calls `show_session`."""
        super().__init__()
        self._start = start
        self._cwd = cwd or Path.cwd()
        self._settings = settings or Settings()
        self._clock = clock
        self._desk: AgentDesk | None = None
        self._panel: SessionPanel | None = None
        self._agent_title = ""
        self._phase = "starting"
        self._has_failed = False
        self._prompting = Prompting(self)
        self._changes: ChangesDesk | None = None

    def compose(self) -> ComposeResult:
        """From top to bottom."""
        yield Vertical(id="session")
        yield QueueLines(id="queue")
        with Vertical(id="prompt-frame"):
            yield PromptInput(id="prompt")
        yield StatusLine(id="status")

    def on_mount(self) -> None:
        """Start the agent once the first frame is on its way."""
        self._prompt.focus()
        self._show_status()
        if self._start is not None:
            self.call_after_refresh(self._connect)

    @property
    def _prompt(self) -> PromptInput:
        return self.query_one(PromptInput)

    # The way to a session

    @work
    async def _connect(self) -> None:
        from anyio import to_thread

        assert self._start is not None
        await to_thread.run_sync(preload, BEFORE_A_SESSION)
        from acp_tui.client.errors import ClientError
        from acp_tui.ui.agent_desk import AgentDesk

        changes = await self._take_stock()
        self._desk = AgentDesk(self, partial(self._start, self._on_phase), self._cwd, self._settings)
        try:
            session = await self._desk.connect()
        except ClientError as error:
            await self._fail(error)
            return
        self._phase = "taking stock of the files"
        self._show_status()
        await changes.ready()  # before anything is asked of the agent
        await self._show_agents_session(session)
        keep_what_is_loaded()

    async def _take_stock(self) -> ChangesDesk:
        """Begin to keep what the files are; a large workspace takes longer than the agent's start should wait."""
        from anyio import move_on_after

        from acp_tui.client.changes import Limits
        from acp_tui.ui.changes_desk import ChangesDesk

        limits = self._settings.changes
        self._changes = ChangesDesk(
            self, self._cwd, Limits(limits.max_file_bytes, limits.max_total_bytes, limits.max_files)
        )
        self._changes.start()
        with move_on_after(HEAD_START_S):
            await self._changes.ready()
        return self._changes

    def on_changes_desk_changed(self) -> None:
        """Say how much has changed."""
        self._show_status()

    def action_show_changes(self) -> None:
        """List the files that have changed."""
        if self._changes is not None:
            self._changes.open()
        else:
            self.notify("There is no session yet.")

    async def _show_agents_session(self, session: Session | None) -> None:
        if session is not None and self._desk is not None and self._desk.agent is not None:
            await self.show_session(session, self._desk.agent.title)

    def _on_phase(self, phase: Phase) -> None:
        if self.is_attached and self._panel is None:
            self._phase = phase.value
            self._show_status()

    async def _fail(self, error: ClientError) -> None:
        """Tell what went wrong where the conversation would stand."""
        from acp_tui.client.errors import AgentLost
        from acp_tui.conversation import reducer
        from acp_tui.conversation.conversation import Conversation
        from acp_tui.conversation.updates import Disconnected
        from acp_tui.ui.widgets.session_panel import SessionPanel

        stderr_tail = error.detail if isinstance(error, AgentLost) else ""
        parts = (str(error), "" if stderr_tail else error.detail, error.hint)
        conversation = Conversation()
        reducer.apply(conversation, Disconnected("\n".join(filter(None, parts)), stderr_tail))
        self._has_failed = True
        self._phase = "no session; Ctrl+Q quits"
        await self._show_panel(SessionPanel(conversation))

    async def show_session(self, session: Session, agent_title: str) -> None:
        """Show this session from now on."""
        from acp_tui.conversation.visible import make_visible_line
        from acp_tui.ui.agent_desk import AgentDesk
        from acp_tui.ui.widgets.session_panel import SessionPanel

        if self._desk is None:
            self._desk = AgentDesk(self, None, session.cwd, self._settings)
        self._agent_title = make_visible_line(agent_title)
        await self._show_panel(SessionPanel(session.conversation, session, clock=self._clock))

    async def _show_panel(self, panel: SessionPanel) -> None:
        shown, self._panel = self._panel, panel
        if shown is not None:
            self._prompt.give_no_reason()  # it would go to another session
            await shown.remove()
        for place in self.query("#session"):  # none where the user has quit meanwhile
            await place.mount(panel)
        self._show_status()

    def on_session_panel_facts_changed(self) -> None:
        """Say so in the status line, and show what the agent asks."""
        self._show_status()
        self._prompting.show_waiting(self._session)
        if self._desk is not None and self._panel is not None:
            self._desk.look_for_questions(self._panel.session)

    def _show_status(self) -> None:
        panel = self._panel
        if panel is None or panel.session is None:
            self._say_status(Status(phase=self._phase))
            return
        from acp_tui.ui.status import facts_of, state_of

        facts = facts_of(panel.conversation)
        if self._changes is not None and self._changes.summary():
            facts = (*facts, self._changes.summary())
        if not panel.is_following:
            below = f"{panel.new_entries} new" if panel.new_entries else "more"
            # Not End: in the prompt, where one mostly is, that leads to the end of the line.
            facts = (f"{below} below: Ctrl+End", *facts)
        state = state_of(panel.conversation)
        self._say_status(Status(agent=self._agent_title, state=state, facts=facts))

    def _say_status(self, status: Status) -> None:
        for line in self.query(StatusLine):  # none where the user has quit meanwhile
            line.show(status)

    # From the user to the session

    @property
    def _session(self) -> Session | None:
        return self._panel.session if self._panel is not None else None

    def on_prompt_input_submitted(self, message: PromptInput.Submitted) -> None:
        """Do what is written, or say why not and keep the draft; a blank draft lets the queue go on."""
        if not message.text.strip():
            if self._session is not None:
                self._prompting.go_on(self._session)
            return
        reason = self._reason_not_to_send()
        if reason is not None:
            self.notify(f"{reason} What you have written stays.", severity="warning", markup=False)
            return
        assert self._panel is not None
        assert self._panel.session is not None
        self._prompt.clear_draft()
        self._panel.view.action_follow()
        self._prompting.submit(self._panel.session, message.text, is_command=message.is_command)

    def _reason_not_to_send(self) -> str | None:
        if self._panel is None:
            return f"There is no session yet: {self._phase}."
        if self._panel.session is None:
            return "There is no session. Ctrl+Q quits."
        return None if self._panel.conversation.is_connected else "The agent is gone."

    def on_prompt_input_pull_back_requested(self) -> None:
        """The last queued prompt becomes the draft again."""
        text = self._prompting.pull_back(self._session) if self._session is not None else None
        if text is not None:
            self._prompt.put_before(text)

    def on_prompt_input_drop_requested(self) -> None:
        """The next prompt is not to take the last output along."""
        if self._session is not None:
            self._prompting.drop_output(self._session)

    def on_prompt_input_escape_requested(self) -> None:
        """Cancel the turn."""
        if self._session is not None:
            self._prompting.cancel(self._session)

    def on_prompt_input_leave_requested(self) -> None:
        """To the card where a decision waits, else into the conversation."""
        if self._panel is not None:
            (self._panel.card if self._panel.card.display else self._panel.view).focus()

    def on_prompt_input_page_requested(self, message: PromptInput.PageRequested) -> None:
        """Page without leaving the prompt."""
        if self._panel is not None:
            self._panel.view.action_page(message.direction)

    def on_conversation_view_typed(self, message: ConversationView.Typed) -> None:
        """Whoever types means the prompt."""
        self._prompt.focus()
        self._prompt.insert(message.text)

    def on_session_panel_left(self) -> None:
        """Back to the draft."""
        self._prompt.focus()

    def action_focus_prompt(self) -> None:
        """Back to the draft, from anywhere else."""
        self._prompt.focus()

    def action_follow(self) -> None:
        """Go to the end of the conversation."""
        if self._panel is not None:
            self._panel.view.action_follow()

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
        selected = self._prompt.selected_text or self.get_selected_text()
        if selected:
            self.app.copy_to_clipboard(selected)
        elif self._prompt.text:
            self._prompt.clear_draft()
        elif self._session is not None and self._session.conversation.turn is not Turn.IDLE:
            self._prompting.cancel(self._session)
        else:
            self.notify("Ctrl+Q quits")

    @work
    async def action_copy_reply(self) -> None:
        """Copy the agent's last message."""
        from acp_tui.ui.conversation_desk import ConversationDesk

        if self._panel is not None:
            await ConversationDesk(self).copy_reply(self._panel.conversation)

    @work
    async def action_copy_code(self) -> None:
        """Copy a piece of code of the agent's."""
        from acp_tui.ui.conversation_desk import ConversationDesk

        if self._panel is not None:
            await ConversationDesk(self).copy_code(self._panel.conversation)

    @work
    async def action_export(self) -> None:
        """Write the conversation to a file."""
        from acp_tui.ui.conversation_desk import ConversationDesk

        if self._session is not None:
            agent = self._desk.agent if self._desk is not None else None
            await ConversationDesk(self).export(self._session, agent)

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

    def action_dismiss_visits(self) -> None:
        """Forget the pages that the agent asked for; it may never say that they are dealt with (R-ELIC-12)."""
        if self._panel is not None and self._panel.session is not None:
            for visit in tuple(self._panel.conversation.visits):
                self._panel.session.dismiss_visit(visit)
