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

from acp_tui.client.settings.tree import Settings
from acp_tui.ui.commands import bindings, slash_action
from acp_tui.ui.memory import keep_what_is_loaded
from acp_tui.ui.preloading import BEFORE_A_SESSION, BEFORE_TAKING_STOCK, preload
from acp_tui.ui.screens.session_actions import SessionActions
from acp_tui.ui.widgets.prompt import PromptInput
from acp_tui.ui.widgets.queue_lines import QueueLines
from acp_tui.ui.widgets.status_line import Status, StatusLine

if TYPE_CHECKING:
    from acp_tui.client.errors import ClientError
    from acp_tui.client.sessions.agent import Agent
    from acp_tui.client.sessions.phase import Phase
    from acp_tui.client.sessions.session import Session
    from acp_tui.ui.changes_desk import ChangesDesk
    from acp_tui.ui.widgets.conversation.view import ConversationView
    from acp_tui.ui.widgets.session_panel import SessionPanel

Start = Callable[[Callable[["Phase"], None]], Awaitable["Agent"]]
"""Starts the agent's process, telling each phase. Raises ClientError."""


HEAD_START_S: Final = 0.5
"""How long the agent's start waits for what the files are now; beyond that, both go on side by side."""


class SessionScreen(SessionActions):
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
        super().__init__(clock)
        self._start = start
        self._cwd = cwd or Path.cwd()
        self._settings = settings or Settings()
        self._agent_title = ""
        self._phase = "starting"
        self._has_failed = False

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

    # The way to a session

    @work
    async def _connect(self) -> None:
        from anyio import move_on_after, to_thread

        assert self._start is not None
        await to_thread.run_sync(preload, BEFORE_TAKING_STOCK)
        changes = self._take_stock()
        await to_thread.run_sync(preload, BEFORE_A_SESSION)
        from acp_tui.client.errors import ClientError
        from acp_tui.ui.agent_desk import AgentDesk

        with move_on_after(HEAD_START_S):
            await changes.ready()
        start = partial(self._start, self._on_phase)
        self._desk = AgentDesk(self, start, self._cwd, self._settings, self._show_agents_session)
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

    def _take_stock(self) -> ChangesDesk:
        """Begin to keep what the files are."""
        from acp_tui.client.changes import Limits
        from acp_tui.ui.changes_desk import ChangesDesk

        limits = self._settings.changes
        kept = Limits(limits.max_file_bytes, limits.max_total_bytes, limits.max_files)
        self._changes = ChangesDesk(self, self._cwd, kept)
        self._changes.start()
        return self._changes

    def on_changes_desk_changed(self) -> None:
        """Say how much has changed."""
        self._show_status()

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

        if self._desk is None:
            self._desk = AgentDesk(self, None, session.cwd, self._settings, self._show_agents_session)
        self._agent_title = make_visible_line(agent_title)
        await self._show_panel(self._panel_of(session))

    def _panel_of(self, session: Session) -> SessionPanel:
        """A panel that shows as much of the session as the settings say."""
        from acp_tui.ui.drawings.folds import Folds
        from acp_tui.ui.widgets.session_panel import SessionPanel

        shown = self._settings.conversation
        folds = Folds(
            kinds=frozenset(shown.fold_kinds),
            diff_lines=shown.diff_lines,
            text_lines=shown.text_lines,
            terminal_lines=shown.terminal_lines,
            are_thoughts_open=shown.thoughts == "open",
        )
        images = self._settings.appearance.images
        return SessionPanel(session.conversation, session, clock=self._clock, folds=folds, images=images)

    async def _show_panel(self, panel: SessionPanel) -> None:
        shown, self._panel = self._panel, panel
        if shown is not None:
            self._prompt.give_no_reason()  # it would go to another session
            await self.query("FindBar").remove()
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

    def on_prompt_input_submitted(self, message: PromptInput.Submitted) -> None:
        """Do what is written, or say why not and keep the draft; a blank draft lets the queue go on."""
        if not message.text.strip():
            if self._session is not None:
                self._prompting.go_on(self._session)
            return
        own = self._own_command(message.text)
        if own is not None:
            self._prompt.clear_draft()
            self.run_worker(self.run_action(own))
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

    def _own_command(self, text: str) -> str | None:
        """The action for a slash command of ours; those of the agent go before them."""
        if not text.startswith("/"):
            return None
        commands = self._panel.conversation.commands if self._panel is not None else ()
        return slash_action(text, {command.name.removeprefix("/") for command in commands})

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

    def on_conversation_view_searched(self, message: ConversationView.Searched) -> None:
        """Say how the search stands, where it is asked for."""
        from acp_tui.ui.widgets.find_bar import FindBar

        for bar in self.query(FindBar):
            bar.show_standing(message.standing)

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
