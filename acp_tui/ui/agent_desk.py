"""What a user does with an agent beside prompting: log in, choose a session or a setting, answer its questions.

It opens the dialogs and calls the client; it draws nothing itself, and everything it needs is loaded after the first
frame.
"""

from __future__ import annotations

import os
import signal
import subprocess
import webbrowser
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from anyio import Event, to_thread
from textual.screen import Screen

from acp_tui.client import settings as mcp
from acp_tui.client.errors import (
    AgentRefused,
    AuthenticationRequired,
    ClientError,
    SettingsError,
    Unsupported,
)
from acp_tui.client.sessions.workplaces import usable_directories, usable_servers
from acp_tui.conversation.conversation import Change
from acp_tui.conversation.elicitation import Form, UrlVisit
from acp_tui.conversation.facts import Fact
from acp_tui.conversation.visible import make_visible, make_visible_line
from acp_tui.ui.screens.take_over import TakeOver

if TYPE_CHECKING:
    from acp_tui.client.sessions.agent import Agent
    from acp_tui.client.sessions.session import Session
    from acp_tui.client.settings import Settings
    from acp_tui.conversation.elicitation import Elicitation, FormValues
    from acp_tui.ui.screens.login import LoginMethod

T = TypeVar("T")

StartAgent = Callable[[], Awaitable["Agent"]]
"""Starts the agent's process. Raises ClientError."""


class AgentDesk:
    """The dialogs around one agent. Its methods are to run in a worker of the screen, since they wait for the user."""

    def __init__(
        self,
        screen: Screen[None],
        start: StartAgent | None,
        cwd: Path,
        settings: Settings,
        show: Callable[[Session], Awaitable[None]],
    ) -> None:
        """Without `start`, for a session that has no agent behind it, there is none to connect to.

        `show` brings a session to the screen that has something to ask before it is loaded.
        """
        self._screen = screen
        self._start = start
        self._cwd = cwd
        self._settings = settings
        self._show = show
        self._servers: Sequence[mcp.Server] = ()
        self._directories: Sequence[Path] = ()
        self._folders: dict[str, Path] = {}
        """Where each session that was listed works."""
        self._asked: tuple[Any, Elicitation, Screen[Any]] | None = None
        self._session: Session | None = None
        """The one whose questions were looked for last."""
        self._answered = Event()
        self._starting: Agent | None = None
        """It may ask before the handshake is done; nothing else is to be wanted of it till then."""
        self.agent: Agent | None = None

    # The way to a session

    async def connect(self) -> Session:
        """Start the agent and open a session. Raises ClientError."""
        await self._start_agent()
        self._servers = await self._mcp_servers()
        self._directories = self._additional_directories()
        return await self._new_session()

    async def _start_agent(self) -> None:
        assert self._start is not None
        self.agent = None
        agent = self._starting = await self._start()
        agent.on_elicitations = self.look_for_questions
        await agent.initialize(self._settings.agent.start_limit_s or None)
        self.agent = agent

    async def _new_session(self) -> Session:
        return await self._logged_in(
            lambda agent: agent.new_session(
                self._cwd, additional_directories=self._directories, mcp_servers=self._servers
            )
        )

    async def _logged_in(self, call: Callable[[Agent], Awaitable[T]]) -> T:
        """Make `call`; where the agent wants a login first, let the user log in and make it again (R-AUTH-3)."""
        while True:
            assert self.agent is not None
            try:
                return await call(self.agent)
            except AuthenticationRequired as wanted:
                if not wanted.methods or not await self._log_in(wanted):
                    raise

    async def _log_in(self, wanted: AuthenticationRequired) -> bool:
        from acp_tui.ui.screens.login import LoginDialog

        agent = self.agent
        assert agent is not None

        async def authenticate(method: LoginMethod) -> None:
            await agent.authenticate(method.method_id)
            await self._until_nothing_is_asked()  # the login's dialog can be closed only from the top

        dialog = LoginDialog(agent.title, wanted.methods, authenticate, reason=wanted.detail)
        method = await self._screen.app.push_screen_wait(dialog)
        if method is not None and method.kind == "terminal":
            await self._log_in_in_terminal(agent, method.method_id)
        return method is not None

    async def _log_in_in_terminal(self, agent: Agent, method_id: str) -> None:
        """Give the terminal to the agent's own login, then start the agent anew (R-AUTH-6, R-AUTH-7)."""
        command = agent.login_command(method_id)
        await agent.stop()
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
            self._say(f"The login ended with status {status}, so it has not worked.", severity="error")
        await self._start_agent()

    def _additional_directories(self) -> Sequence[Path]:
        """Those of the settings, where the agent takes any (R-DIR-1); what is left out is said."""
        assert self.agent is not None
        wanted = self._settings.workspace.additional_directories
        directories, notes = usable_directories(self.agent.capabilities, wanted)
        for note in notes:
            self._say(note, severity="warning")
        return directories

    async def _mcp_servers(self) -> Sequence[mcp.Server]:
        """The user's servers and, once the user trusts them, the project's; what is left out is said (R-MCP-2)."""
        assert self.agent is not None
        user = await self._readable(to_thread.run_sync(mcp.read_user_servers, mcp.settings_file()))
        theirs = await self._readable(self._project_servers())
        servers, notes = usable_servers(self.agent.capabilities, (user, theirs))
        for note in notes:
            self._say(note, severity="warning", title="MCP servers")
        return servers

    async def _readable(self, servers: Awaitable[mcp.ServerList]) -> mcp.ServerList:
        """Those servers; a file that is of no use is said, and keeps those of the other file from nobody."""
        try:
            return await servers
        except SettingsError as error:
            self._say_error(error)
            return mcp.ServerList()

    async def _project_servers(self) -> mcp.ServerList:
        project = await to_thread.run_sync(mcp.read_project_servers, self._cwd)
        if project is None:
            return mcp.ServerList()
        trust = mcp.trust_state(project, mcp.trust_file())
        if trust is mcp.Trust.UNDECIDED and project.declared.servers:
            from acp_tui.ui.screens.trust import TrustDialog

            is_trusted = await self._screen.app.push_screen_wait(
                TrustDialog(project.file, project.declared.servers)
            )
            trust = mcp.Trust.TRUSTED if is_trusted else mcp.Trust.REJECTED
            try:
                mcp.remember(project, trust, mcp.trust_file())
            except SettingsError as error:
                self._say_error(error)  # the answer holds all the same
        return mcp.trusted_servers(project, trust)

    # What the agent asks

    def look_for_questions(self, session: Session | None = None) -> None:
        """Show the next question of the agent, and take away one that has been withdrawn. Cheap where there is none.

        Without `session`, the agent's own questions have changed, and those of the session last given still count.
        """
        self._session = session or self._session
        if self._asked is not None:
            owner, asked, dialog = self._asked
            if asked.key not in _waiting(owner) and dialog.is_active:
                dialog.dismiss(("cancel", None) if isinstance(asked, Form) else "cancel")
            return
        if isinstance(self._screen.app.screen, TakeOver):
            return  # the keys are for a program; it is said there that something waits
        for owner in (self._session, self._starting):
            waiting = next(iter(_waiting(owner).values()), None)
            if owner is not None and waiting is not None:
                self._screen.run_worker(self._ask(owner, waiting))
                return

    async def _ask(self, owner: Any, elicitation: Elicitation) -> None:
        if self._asked is not None or elicitation.key not in _waiting(owner):
            return
        title = self._starting.title if self._starting is not None else "The agent"
        if isinstance(elicitation, UrlVisit):
            await self._ask_to_visit(owner, elicitation, title)
        else:
            from acp_tui.ui.screens.form import FormDialog

            form = FormDialog(elicitation, title)
            self._asked = (owner, elicitation, form)
            action, values = await self._screen.app.push_screen_wait(form)
            self._answer(owner, elicitation, action, values)
        self.look_for_questions()

    async def _ask_to_visit(self, owner: Any, visit: UrlVisit, title: str) -> None:
        from acp_tui.ui.screens.visit import VisitDialog

        dialog = VisitDialog(visit, title)
        self._asked = (owner, visit, dialog)
        consent = await self._screen.app.push_screen_wait(dialog)
        self._answer(owner, visit, consent, None)
        if consent == "accept" and not await to_thread.run_sync(webbrowser.open, visit.url):
            self._say(f"No browser could be started. The page is {visit.url}", severity="warning")

    def _answer(self, owner: Any, elicitation: Elicitation, action: Any, values: FormValues | None) -> None:
        self._asked = None
        self._answered.set()
        owner.answer_elicitation(elicitation.key, action, values)

    async def _until_nothing_is_asked(self) -> None:
        while self._asked is not None:
            self._answered = Event()
            await self._answered.wait()

    # What the user wants

    async def choose_option(self, session: Session) -> None:
        """Let the user change a setting of the session: mode, model, or another."""
        from acp_tui.ui.screens.options import OptionsDialog

        chosen = await self._screen.app.push_screen_wait(OptionsDialog(session.conversation.options))
        if chosen is not None:
            await self.set_option(session, *chosen)

    async def set_option(self, session: Session, option_id: str, value: str | bool) -> None:
        """Ask the agent for a value; what it makes of it is shown where the option is."""
        try:
            await session.set_option(option_id, value)
        except ClientError as error:
            self._say_error(error)

    async def choose_session(self, current: Session | None) -> Session | None:
        """Let the user open, delete or begin a session; gives the one to show now, or None for the same."""
        from acp_tui.ui.screens.sessions import SessionsDialog

        agent = self._agent_or_say()
        if agent is None:
            return None
        offered = agent.capabilities
        if not offered.list_sessions:
            self._say_error(
                Unsupported(f"{agent.title} does not offer to list its sessions; Ctrl+N begins a new one")
            )
            return None

        async def load_page(cursor: str | None, is_everywhere: bool) -> tuple[Sequence[Any], str | None]:
            # fast-agent 0.10.46 and Qwen Code 0.24.4, asked for all, list those of their own process's folder only.
            page = await agent.list_sessions(cwd=None if is_everywhere else self._cwd, cursor=cursor)
            self._folders.update({listed.session_id: listed.cwd for listed in page.sessions})
            return page.sessions, page.next_cursor

        can_open = offered.load_session or offered.resume_session
        wish = await self._screen.app.push_screen_wait(
            SessionsDialog(
                agent.title,
                load_page,
                current=current.session_id if current is not None else "",
                here=self._cwd,
                no_delete=""
                if offered.delete_session
                else f"{agent.title} does not offer to delete sessions",
                no_open="" if can_open else f"{agent.title} offers neither to load nor to resume sessions",
            )
        )
        return None if wish is None else await self._fulfil(wish[0], wish[1], current)

    async def _fulfil(self, wish: str, session_id: str, current: Session | None) -> Session | None:
        try:
            if wish == "new":
                return await self._new_session()
            if wish == "delete":
                return await self._delete(session_id, current)
            return await self._open(session_id)
        except ClientError as error:
            self._say_error(error)
            return None

    async def _open(self, session_id: Any) -> Session:
        """The session as it is where it is open already, else as the agent gives it (R-SESS-10)."""
        assert self.agent is not None
        known = self.agent.sessions.get(session_id)
        if known is not None:
            return known

        def show_question(change: Change) -> None:
            """What the agent asks while it loads must be seen: the loading may wait for the answer."""
            session = self.agent.sessions.get(session_id) if self.agent is not None else None
            if session is not None and Fact.PERMISSIONS in change.facts:
                self._screen.run_worker(self._show(session))

        return await self._logged_in(
            lambda agent: agent.open_session(
                session_id,
                self._folders.get(session_id, self._cwd),
                show_question,
                additional_directories=self._directories,
                mcp_servers=self._servers,
            )
        )

    async def _delete(self, session_id: Any, current: Session | None) -> Session | None:
        assert self.agent is not None
        await self.agent.delete_session(session_id)
        self._say("The session is deleted.")
        is_current = current is not None and current.session_id == session_id
        return await self._new_session() if is_current else None

    async def begin_session(self) -> Session | None:
        """A new session beside those that are open."""
        return None if self._agent_or_say() is None else await self._fulfil("new", "", None)

    async def close_session(self, session: Session) -> Session | None:
        """Close a session in the agent; gives a new one to show in its place."""
        assert self.agent is not None
        try:
            await self.agent.close_session(session)
            return await self._new_session()
        except ClientError as error:
            self._say_error(error)
            return None

    async def log_out(self) -> None:
        """Log out of the agent."""
        agent = self._agent_or_say()
        if agent is None:
            return
        try:
            await agent.logout()
        except ClientError as error:
            self._say_error(error)
        else:
            self._say("Logged out. The agent may want a login again.")

    async def show_agent(self) -> None:
        """Show what the agent offers and what it lacks."""
        from acp_tui.ui.screens.capability_card import AgentFacts, CapabilityCard

        agent = self._agent_or_say()
        if agent is None:
            return
        identity = agent.identity
        facts = AgentFacts(
            title=agent.title,
            name=identity.name if identity is not None else "",
            version=identity.version if identity is not None else "",
            protocol="v1",
            command=agent.command.argv,
            capabilities=agent.capabilities,
            auth_methods=agent.auth_methods,
            log=tuple(agent.log),
        )
        await self._screen.app.push_screen_wait(CapabilityCard(facts))

    # Words to the user

    def _say(self, text: str, *, severity: Any = "information", title: str = "") -> None:
        self._screen.notify(
            make_visible(text), severity=severity, title=make_visible_line(title), markup=False
        )

    def _agent_or_say(self) -> Agent | None:
        if self.agent is None:
            self._say("There is no agent yet.", severity="warning")
        return self.agent

    def _say_error(self, error: ClientError) -> None:
        detail = f"\n{error.detail}" if isinstance(error, AgentRefused) and error.detail else ""
        hint = f"\n{error.hint}" if error.hint else ""
        self._say(f"{error}{detail}{hint}", severity="error")


def _waiting(owner: Any) -> dict[Any, Elicitation]:
    """The questions of a session, or those of an agent outside of any session."""
    if owner is None:
        return {}
    found: dict[Any, Elicitation] = (
        owner.conversation.elicitations if hasattr(owner, "conversation") else owner.elicitations
    )
    return found
