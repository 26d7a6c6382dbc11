"""What a user does with an agent beside prompting: log in, choose a session or a setting, start it again.

It opens the dialogs and calls the client; it draws nothing itself, and everything it needs is loaded after the first
frame.
"""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from anyio import to_thread

from acp_tui.client import settings as mcp
from acp_tui.client.errors import (
    AgentRefused,
    AuthenticationRequired,
    ClientError,
    SettingsError,
)
from acp_tui.client.sessions.driver import logged_in, usable_directories, usable_servers
from acp_tui.conversation.visible import make_visible, make_visible_line
from acp_tui.ui.agent_link import AgentLink
from acp_tui.ui.keyed_app import keys_in_force
from acp_tui.ui.questions_desk import QuestionsDesk

if TYPE_CHECKING:
    from textual.screen import Screen

    from acp_tui.client.sessions.agent import Agent
    from acp_tui.client.sessions.phase import Phase
    from acp_tui.client.sessions.session import Session
    from acp_tui.client.settings import Settings
    from acp_tui.ui.screens.login import LoginMethod
    from acp_tui.ui.screens.session_actions import SessionActions

T = TypeVar("T")


class AgentDesk:
    """The dialogs around one agent, for one tab. Its methods wait for the user: they are to run in a worker."""

    def __init__(
        self,
        screen: SessionActions,
        link: AgentLink,
        cwd: Path,
        settings: Settings,
        on_phase: Callable[[Phase], None],
    ) -> None:
        self._screen = screen
        self._link = link
        self._cwd = cwd
        self._settings = settings
        self._on_phase = on_phase
        self.questions = QuestionsDesk(screen, lambda: link.agent or link.starting)
        link.join(self)
        link.listeners.append(self.questions.note_agents_questions)

    @property
    def agent(self) -> Agent | None:
        """The agent, once something can be wanted of it."""
        return self._link.agent

    @property
    def link(self) -> AgentLink:
        """What this tab shares with others of the same agent."""
        return self._link

    def use_settings(self, settings: Settings) -> None:
        """These hold from now on, for what is still to be started or opened."""
        self._settings = settings

    async def leave(self) -> None:
        """This tab is closed."""
        self._link.listeners.remove(self.questions.note_agents_questions)
        await self._link.leave(self)

    # The way to the agent

    async def ensure_agent(self) -> None:
        """Start the agent where it does not run. Raises ClientError."""
        async with self._link.starting_again:
            if self._link.is_lost:
                await self._start_agent()
                self._link.servers = await self._mcp_servers()
                self._link.directories = self._additional_directories()

    async def _start_agent(self) -> None:
        await self._link.start(self._on_phase, self._settings.agent.start_limit_s or None)

    async def logged_in(self, call: Callable[[Agent], Awaitable[T]]) -> T:
        """Make `call`; where the agent wants a login first, let the user log in and make it again (R-AUTH-3)."""

        async def call_agent() -> T:
            assert self.agent is not None
            return await call(self.agent)

        return await logged_in(call_agent, self._log_in)

    async def _log_in(self, wanted: AuthenticationRequired) -> bool:
        from acp_tui.ui.screens.login import LoginDialog

        agent = self.agent
        assert agent is not None

        async def authenticate(method: LoginMethod) -> None:
            await agent.authenticate(method.method_id)
            await (
                self.questions.until_nothing_is_asked()
            )  # the login's dialog can be closed only from the top

        if self.questions.card is not None:  # the dialog would lie over it, and take its keys
            self.say(
                f"{agent.title} wants you to log in. Answer what it asks here first.", severity="warning"
            )
            await self.questions.until_nothing_is_asked()
        dialog = LoginDialog(agent.title, wanted.methods, authenticate, reason=wanted.detail)
        method = await self.ask(dialog)
        if method is not None and method.kind == "terminal":
            async with self._link.starting_again:  # other tabs wait for the new process
                await self._log_in_in_terminal(agent, method.method_id)
        return method is not None

    async def _log_in_in_terminal(self, agent: Agent, method_id: str) -> None:
        """Give the terminal to the agent's own login, then start the agent anew (R-AUTH-6, R-AUTH-7)."""
        command = agent.login_command(method_id)
        await self._link.stop("The agent was stopped, so that you could log in")
        with self._screen.app.suspend():
            # Ctrl+C belongs to the program that has the terminal; it would inherit SIG_IGN, but not a handler.
            before = signal.signal(signal.SIGINT, lambda *_: None)
            try:
                status = subprocess.call(command.argv, env={**os.environ, **command.env})
            except OSError as error:
                status = error.errno or 1
            finally:
                signal.signal(signal.SIGINT, before)
        if status != 0:
            self.say(f"The login ended with status {status}, so it has not worked.", severity="error")
        await self._start_agent()

    def _additional_directories(self) -> Sequence[Path]:
        """Those of the settings, where the agent takes any (R-DIR-1).

        What is left out stands in each session that is opened without it: a toast would be gone by then.
        """
        assert self.agent is not None
        wanted = self._settings.workspace.additional_directories
        directories, self._link.directories_left_out = usable_directories(self.agent.capabilities, wanted)
        return directories

    async def _mcp_servers(self) -> Sequence[mcp.Server]:
        """The user's servers and, once the user trusts them, the project's (R-MCP-2).

        What is left out stands in each session that is opened without it.
        """
        assert self.agent is not None
        user = await self._readable(to_thread.run_sync(mcp.servers_at_start, mcp.settings_file()))
        theirs = await self._readable(self._project_servers())
        wanted = self.agent.command.mcp_servers
        servers, self._link.servers_left_out = usable_servers(self.agent.capabilities, (user, theirs), wanted)
        return servers

    async def _readable(self, servers: Awaitable[mcp.ServerList]) -> mcp.ServerList:
        """Those servers; a file that is of no use is said, and keeps those of the other file from nobody."""
        try:
            return await servers
        except SettingsError as error:
            self.say_error(error)
            return mcp.ServerList()

    async def _project_servers(self) -> mcp.ServerList:
        project = await to_thread.run_sync(mcp.read_project_servers, self._cwd)
        if project is None:
            return mcp.ServerList()
        trust = await to_thread.run_sync(mcp.trust_state, project, mcp.trust_file())
        if trust is mcp.Trust.UNDECIDED and project.declared.servers:
            from acp_tui.ui.screens.trust import TrustDialog

            is_trusted = await self.ask(TrustDialog(project.file, project.declared.servers))
            trust = mcp.Trust.TRUSTED if is_trusted else mcp.Trust.REJECTED
            try:
                await to_thread.run_sync(mcp.remember, project, trust, mcp.trust_file())
            except SettingsError as error:
                self.say_error(error)  # the answer holds all the same
        return mcp.trusted_servers(project, trust)

    # What the user wants

    async def choose_option(self, session: Session) -> None:
        """Let the user change a setting of the session: mode, model, or another."""
        from acp_tui.ui.screens.options import OptionsDialog

        chosen = await self.ask(OptionsDialog(session.conversation.options))
        if chosen is not None:
            await self.set_option(session, *chosen)

    async def set_option(self, session: Session, option_id: str, value: str | bool) -> None:
        """Ask the agent for a value; what it makes of it is shown where the option is."""
        try:
            await session.set_option(option_id, value)
        except ClientError as error:
            self.say_error(error)

    async def log_out(self) -> None:
        """Log out of the agent."""
        agent = self.agent_or_say()
        if agent is None:
            return
        try:
            await agent.logout()
        except ClientError as error:
            self.say_error(error)
        else:
            self.say("Logged out. The agent may want a login again.")

    async def show_agent(self) -> None:
        """Show what the agent offers and what it lacks."""
        from acp_tui.ui.screens.capability_card import AgentFacts, CapabilityCard

        agent = self.agent_or_say()
        if agent is None:
            return
        identity = agent.identity
        facts = AgentFacts(
            title=agent.title,
            name=identity.name if identity is not None else "",
            version=identity.version if identity is not None else "",
            protocol="v1",
            command=agent.command.argv,
            place=agent.command.place_note,
            capabilities=agent.capabilities,
            auth_methods=agent.auth_methods,
            log=tuple(agent.log),
        )
        await self.ask(CapabilityCard(facts))

    # Words to the user

    async def ask(self, dialog: Screen[T]) -> T:
        """Open a dialog over this tab, whichever is in front; gives what the user makes of it."""
        return await self._screen.app.push_screen_wait(dialog, mode=self._screen.mode)

    async def confirm(self, question: str) -> bool:
        """Whether the user wants that."""
        from acp_tui.ui.screens.trust import TrustQuestion

        return await self.ask(TrustQuestion(question, (), yes="Yes"))

    def run(self, work: Coroutine[Any, Any, None]) -> None:
        """Do this as long as the tab is there."""
        self._screen.run_worker(work)

    def say(self, text: str, *, severity: Any = "information", title: str = "") -> None:
        """Tell the user."""
        self._screen.notify(
            make_visible(text), severity=severity, title=make_visible_line(title), markup=False
        )

    def hint(self, text: str) -> str:
        """The text with the keys in force in it (keymap.Keymap.hint)."""
        return keys_in_force(self._screen).hint(text)

    def agent_or_say(self) -> Agent | None:
        """The agent; where there is none, the user is told."""
        if self.agent is None:
            self.say("There is no agent yet.", severity="warning")
        return self.agent

    def say_error(self, error: ClientError) -> None:
        """Tell the user what went wrong, and what to do about it."""
        detail = f"\n{error.detail}" if isinstance(error, AgentRefused) and error.detail else ""
        hint = f"\n{error.hint}" if error.hint else ""
        self.say(f"{error}{detail}{hint}", severity="error")
