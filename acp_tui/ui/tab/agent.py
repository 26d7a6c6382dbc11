"""What you can do with an agent, besides prompting, and with its sessions.

With the agent: log in, change options, show its capabilities, restart it. With its sessions: start, open, delete,
close, and resume them after a restart.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from anyio import to_thread

from acp_tui.client import errors
from acp_tui.client.sessions import driver
from acp_tui.client.sessions.agent import Agent
from acp_tui.client.sessions.session import Session
from acp_tui.client.sessions.session_history import warning_if_open
from acp_tui.client.settings import mcp, trust
from acp_tui.client.settings.location import settings_file
from acp_tui.conversation.facts import AuthMethod, BooleanOption, SessionId, StdioServer, mode_of
from acp_tui.conversation.updates import ClientRemark
from acp_tui.conversation.visible import make_visible_line
from acp_tui.conversation.wording import clock
from acp_tui.ui.commands.keys import note_question_gone
from acp_tui.ui.dialogs import agent_offers
from acp_tui.ui.dialogs.trust import OpenTwiceQuestion, TrustDialog
from acp_tui.ui.kit.desktop import lent_terminal
from acp_tui.ui.kit.pickers import ReadingScreen
from acp_tui.ui.kit.question_screen import QuestionScreen
from acp_tui.ui.rendering.wrapping import cut
from acp_tui.ui.session.status import question_in
from acp_tui.ui.tab.stage import NO_SESSION
from acp_tui.ui.textual_gaps.fence import fence_of

if TYPE_CHECKING:
    from acp_tui.ui.tab.tab import Opening, Tab

UNHEARD: Final = (
    "it seems to ask in an interface of its own: acp-tui got no request, so you can't answer it here."
    " {cancel} cancels the turn; then say it in a prompt"
)
MAX_NAMED: Final = 5
"""How many of the agent's other tabs to name when asking whether to stop it."""
MAX_TITLE_CELLS: Final = 40
PROMPT_USES: Final = {False: "Follows the agent's own instructions", True: "Replaces the agent's own instructions"}


class AgentController:
    """The dialogs about one agent, for one tab. The methods wait for the user, so run them in a worker."""

    def __init__(self, tab: Tab) -> None:
        self._tab = tab
        self._link = tab.link
        self.sessions = SessionsController(tab)

    @property
    def agent(self) -> Agent | None:
        """The agent, once it is ready for requests."""
        return self._link.agent

    @property
    def title(self) -> str:
        """The agent's title, safe to show on one line; "" without an agent."""
        return make_visible_line(self.agent.title) if self.agent is not None else ""

    # Starting the agent

    async def ensure_agent(self) -> None:
        """Start the agent if it isn't running. Raises ClientError."""
        async with self._link.starting_again:
            if self._link.is_lost:
                agent = await self._start_agent()
                wanted = self._tab.settings.workspace.additional_directories
                # What is left out is noted in each session opened without it; a notice would be gone by then.
                self._link.additions = await driver.additions_for(agent, self._tab.cwd, wanted, self)

    async def _start_agent(self) -> Agent:
        return await self._link.start(self._tab.starter.note_phase, self._tab.settings.agent.start_limit_s or None)

    async def log_in(self, wanted: errors.AuthenticationRequired) -> AuthMethod | None:
        """Let the user log in. Returns how; None if they decline."""
        agent = self.agent
        assert agent is not None

        async def authenticate(method: AuthMethod) -> None:
            await agent.authenticate(method.method_id)
            # The login dialog can be closed only when it's on top.
            await self._tab.questions.until_nothing_is_asked()

        if self._tab.questions.card is not None:  # the dialog would cover the card and take its keys
            self._tab.say(f"{agent.title} needs you to log in. First answer what it asks here.", severity="warning")
            await self._tab.questions.until_nothing_is_asked()
        dialog = agent_offers.LoginDialog(
            agent.title, wanted.methods, authenticate, reason=wanted.detail or str(wanted), tried=wanted.tried
        )
        method = await self._tab.ask(dialog)
        if method is not None and method.kind == "terminal":
            session = self._tab.session
            if session is not None and session.conversation.is_connected and not await self.may_restart():
                return None
            async with self._link.starting_again:  # other tabs wait for the new process
                await self._log_in_in_terminal(agent, method.method_id)
        return method

    async def _log_in_in_terminal(self, agent: Agent, method_id: str) -> None:
        """Give the terminal to the agent's own login, then restart the agent (R-AUTH-6, R-AUTH-7)."""
        login = agent.terminal_login(method_id)
        await self._link.stop("The agent was stopped so that you could log in")
        with lent_terminal(self._tab.app):
            status = login.run()
        if status != 0:
            self._tab.say(f"The login failed with status {status}.", severity="error")
        await self._start_agent()

    async def trusts(self, project: trust.ProjectServers) -> bool:
        """Whether the user trusts a project's MCP servers."""
        return await self._tab.ask(TrustDialog(project.file, project.declared.servers))

    def say_error(self, error: errors.ClientError) -> None:
        """Tell the user what failed."""
        self._tab.say_error(error)

    # Requests of the user

    async def choose_option(self, words: str = "") -> None:
        """Let the user change an option of the session: mode, model, or another.

        `words` may name the one, and the value to set at once.
        """
        session = self._tab.session
        name, _, value = words.partition(" ")
        written = self._tab.writing.slash_command  # another may be written before the agent answers
        if session is None or self._tab.writing.why_not:
            self._tab.say(f"{self._tab.writing.why_not or NO_SESSION}.")
            if value:
                self._tab.prompt.put_before(written)
            return
        if value:
            try:
                await driver.choose(session, [(name, value)])
            except errors.Unsupported:
                self._tab.prompt.put_before(written)
                raise
            return
        options = session.conversation.options
        option = driver.option_named(options, name) if name else None
        if option is None:
            if (chosen := await self._tab.ask(agent_offers.OptionsDialog(options))) is not None:
                await session.set_option(*chosen)
        elif isinstance(option, BooleanOption):
            await session.set_option(option.option_id, not option.value)
        elif (picked := await self._tab.ask(agent_offers.value_picker(option))) is not None:
            await session.set_option(option.option_id, picked)

    async def next_mode(self) -> None:
        """Ask the agent for its next mode. The badge shows what the agent reports, a notice what that mode means.

        Modes in which it asks less are only entered by choosing them in the list: a key pressed twice permits nothing.
        The exception is the one in which the session began.
        """
        session = self._tab.session
        if session is None:
            self._tab.say(f"{NO_SESSION}.")
            return
        modes = mode_of(session.conversation.options)
        if modes is None or not modes.choices:
            self._tab.say("This agent has no modes.")
            return
        values = [choice.value for choice in modes.choices]
        at = values.index(modes.value) + 1 if modes.value in values else 0
        next_ones = (*modes.choices[at:], *modes.choices[:at])
        wanted = next((one for one in next_ones if one.value == session.start_mode or not modes.caution(one)), None)
        passed = next_ones if wanted is None else next_ones[: next_ones.index(wanted)]
        skipped = ", ".join(choice.name for choice in passed if choice.value != modes.value)
        told = []
        if skipped:
            where = self._tab.hint("To choose: {choose_option}")
            told.append(f"Skipped, since the agent asks less there: {skipped}. {where}")
        if wanted is not None and wanted.value != modes.value:
            await session.set_option(modes.option_id, wanted.value)
            now = mode_of(session.conversation.options)
            if now is not None and now.value == wanted.value:
                told.insert(0, ": ".join(filter(None, (wanted.name, wanted.description))))
        if told:
            self._tab.say("\n".join(map(make_visible_line, told)), title="Mode")

    async def confirm(self, question: str, is_over: Callable[[], str] = str) -> bool:
        """Ask the user; at a change of the tabs, `is_over` may say why there's nothing to ask anymore: that's a no."""
        dialog, listeners = QuestionScreen(question, (), yes="Yes"), self._tab.app.tabs.listeners

        def look() -> None:
            if dialog.is_current and (why := is_over()):
                self._tab.say(why)
                note_question_gone(dialog)
                dialog.dismiss(False)

        listeners.append(look)
        try:
            return await self._tab.ask(dialog, in_front=True)
        finally:
            listeners.remove(look)

    async def may_restart(self) -> bool:
        """Whether the user agrees to stop a running agent. The question names its other tabs, which end too."""
        question = "Restart the agent? Its turn ends; the conversation goes on as far as the agent remembers it."
        others = [
            cut(tab.title, MAX_TITLE_CELLS)
            for tab in self._tab.app.tabs
            if tab is not self._tab and tab.link is self._tab.link
        ]
        if not others:
            return await self.confirm(question)
        tabs = "another tab" if len(others) == 1 else f"{len(others)} other tabs"
        names = ", ".join(f"“{name}”" for name in others[:MAX_NAMED])
        more = f" and {len(others) - MAX_NAMED} more" if len(others) > MAX_NAMED else ""
        return await self.confirm(f"{question} That also ends {tabs} of this agent: {names}{more}")

    async def log_in_again(self) -> None:
        """Let the user log in, perhaps otherwise than before, and continue the session."""
        agent = self.agent_or_say()
        if agent is not None and (used := await self.log_in(errors.AuthenticationRequired("", agent.auth_methods))):
            if used.kind == "terminal":  # there is another process
                await self._tab.starter.restart()
            else:
                self._tab.say(f"Logged in with “{make_visible_line(used.name)}”.")

    async def log_out(self) -> None:
        agent = self.agent_or_say()
        if agent is not None:
            await agent.logout()
            self._tab.say("Logged out. The agent may ask you to log in again.")

    async def show_agent(self) -> None:
        """Show what the agent offers and what it lacks."""
        agent = self.agent_or_say()
        if agent is None:
            return
        identity, session = agent.identity, self._tab.session
        decided = session.allowances.for_session if session is not None else {}
        fence = fence_of(self._tab.screen)
        facts = agent_offers.AgentFacts(
            title=agent.title,
            name=identity.name if identity is not None else "",
            version=identity.version if identity is not None else "",
            protocol=f"v{agent.protocol_version}" if agent.protocol_version is not None else "",
            command=agent.command.argv,
            chain=() if agent.chain is None else agent.chain.facts,
            place=agent.command.place_note,
            sandbox=_sandbox(agent),
            capabilities=agent.capabilities,
            auth_methods=agent.auth_methods,
            login=_login(agent),
            log=tuple(agent.log),
            lag_s=fence.lag_s if fence is not None else 0.0,
            unasked=dict(decided),
            turn=self._turn(),
            hosting=self._hosting(session),
            system_prompt=agent.command.system_prompt,
            prompt_use=agent.untaken_prompt or PROMPT_USES[agent.command.overrides_prompt],
        )
        card = agent_offers.CapabilityCard(facts, decided.clear)

        def show_login() -> None:
            card.show_login(_login(agent))

        agent.auth_listeners.append(show_login)
        self._tab.run(_ask_login(agent), group="login")
        try:
            await self._tab.ask(card)
        finally:
            agent.auth_listeners.remove(show_login)

    def _turn(self) -> Sequence[tuple[str, str]]:
        """What there is to say of the turn that runs, each with a label."""
        panel = self._tab.panel
        if panel is None or panel.conversation.is_idle:
            return ()
        work = panel.work
        turn = ("Turn", " · ".join(filter(None, (clock(work.took_s), work.activity, work.silence))))
        unheard = panel.work.unheard
        if unheard is None:
            return (turn,)
        question = question_in(unheard)
        return (turn, ("Waits", self._tab.hint(UNHEARD)), *((("Asks", question),) if question else ()))

    def _hosting(self, session: Session | None) -> Sequence[tuple[str, str]]:
        """What there is to say of the session's host, each with a label."""
        attendance = session.attendance if session is not None else None
        if attendance is None:
            return ()
        what = "you can only watch" if attendance.is_read_only else "it goes on without this terminal"
        return (
            ("Hosted", self._tab.hint(f"{what}; {{detach}} detaches")),
            ("Attached", "; ".join(attendance.others) or "nobody else"),
            ("Watching", "; ".join(attendance.watchers) or "nobody"),
        )

    async def show_mcp(self) -> None:
        """Show the MCP servers for the next session, and those left out."""
        agent = self.agent_or_say()
        if agent is not None:
            told = await to_thread.run_sync(_mcp_servers_told, agent, self._tab.cwd)
            await self._tab.ask(ReadingScreen("MCP servers", told))

    def agent_or_say(self) -> Agent | None:
        """The agent. If there is none, tell the user why, and what to do."""
        if self.agent is None:
            why_not = self._tab.writing.why_not or "There is no agent yet"
            self._tab.say(f"{why_not}.", severity="warning", is_over=lambda: self.agent is not None)
        return self.agent


def _login(agent: Agent) -> str:
    return "" if agent.auth_status is None else agent.auth_status.in_words


async def _ask_login(agent: Agent) -> None:
    with suppress(errors.ClientError):  # the card then shows what is known
        await agent.ask_auth_status()


def _sandbox(agent: Agent) -> Sequence[tuple[str, str]]:
    """What there is to say of the agent's sandbox, each with a label."""
    if agent.sandbox is not None:
        return agent.sandbox.facts
    if agent.sandbox_name:
        return [("Sandbox", f"{agent.sandbox_name}, says its host")]
    confined = [("Confined", agent_offers.ACTS_ITSELF)] if agent.capabilities.acts_itself else []
    return [
        *confined,
        ("Sandbox", agent_offers.SANDBOX_ELSEWHERE if agent.command.is_remote else agent_offers.NO_SANDBOX),
    ]


def _mcp_servers_told(agent: Agent, cwd: Path) -> str:
    """Describe the MCP servers in the settings and the project's file as they are now."""
    lists: list[mcp.ServerList] = []
    problems: list[str] = []
    for read in (partial(mcp.servers_at_start, settings_file()), partial(_of_project, cwd)):
        try:
            lists.append(read())
        except errors.SettingsError as error:
            problems.append(str(error))
    servers, left_out = driver.usable_servers(agent.capabilities, lists, runs_here=agent.runs_servers_here)
    used = "\n".join(map(_line, servers)) or "None."
    parts = [f"Every session of {agent.title} here uses:\n{used}"]
    if left_out or problems:
        parts.append("\n".join(("Skipped or unusual:", *(f"- {note}" for note in (*problems, *left_out)))))
    parts.append(f"They are set in {settings_file()}, section mcp, and in {cwd / '.mcp.json'}.")
    return "\n\n".join(parts)


def _of_project(cwd: Path) -> mcp.ServerList:
    project = trust.read_project_servers(cwd)
    if project is None:
        return mcp.ServerList()
    return trust.trusted_servers(project, trust.trust_state(project, trust.trust_file()))


def _line(server: mcp.Server) -> str:
    """A server's name and what it is. Other details may contain secrets."""
    if isinstance(server, StdioServer):
        return f"- {server.name}: runs {server.command}" + (" on this machine" if server.runs_here else "")
    return f"- {server.name}: {server.kind} at {urlsplit(server.url).hostname}"


WAYS_ON: Final = "{choose_session} or `acp-tui sessions` lists sessions; {begin_session} starts one"
"""Shown when the session the user wanted can't be opened."""


class SessionsController:
    """The sessions of one agent, for one tab. Methods raise ClientError, and log in first if the agent asks for it."""

    def __init__(self, tab: Tab) -> None:
        self._tab = tab
        self.has_shown_early = False
        """Whether a session was shown because its agent asked something before it was open."""

    async def begin(self, earlier: Session | None = None, why_anew: str = "") -> Session:
        """Start a session, and the agent if it isn't running.

        The new session continues below what was said in an `earlier` one; `why_anew` says why that one doesn't
        continue.
        """
        await self._tab.agent.ensure_agent()
        return self._with_remark(await self._driver.begin(earlier, why_anew))

    @property
    def _driver(self) -> driver.SessionDriver:
        return driver.SessionDriver(self._tab.link, self._tab.agent.log_in, self._tab.cwd)

    def _show(self, session: Session) -> None:
        self.has_shown_early = True
        self._tab.run(self._tab.show(session))

    def _with_remark(self, session: Session) -> Session:
        """Note in the session, once, what it lacks of the settings."""
        added = self._tab.link.additions
        assert added is not None
        remarks = [*added.left_out]
        if added.servers_left_out:
            remarks.append(f"MCP servers: {'; '.join(added.servers_left_out)}")
        for remark in remarks:
            if ClientRemark(remark) not in session.conversation.entries:
                session.apply(ClientRemark(remark))
        return session

    async def fork(self, source: Session, title: str) -> Session:
        await self._tab.agent.ensure_agent()
        return self._with_remark(await self._driver.fork(source, title))

    async def open(self, session_id: SessionId, cwd: Path, chosen: driver.Options = ()) -> Session:
        """The session, if it's open already; otherwise open it in the agent (R-SESS-10), with these options."""
        await self._tab.agent.ensure_agent()
        return self._with_remark(await self._driver.open(session_id, cwd, self._show, chosen))

    async def may_open(self, session_id: SessionId) -> bool:
        """Whether there is an agent to open it, and no other process has it open, or the user wants that anyway.

        A host is another process, but has it open for us.
        """
        command = self._tab.link.command
        if command is None or command.is_host:
            return self._tab.link.can_start
        told = await to_thread.run_sync(warning_if_open, session_id, command.name, command.argv)
        return not told or await self._tab.ask(OpenTwiceQuestion(told))

    async def go_on(self, earlier: Session) -> Session:
        """Restart the agent if it is gone, and continue a session as far as the agent remembers it."""
        await self._tab.agent.ensure_agent()

        def refused(error: errors.AgentRefused) -> str:
            return str(self.not_opened(earlier.session_id, error))

        return self._with_remark(await self._driver.go_on(earlier, refused, self._show))

    async def reconnected(self, earlier: Session) -> Session:
        """Continue a session once its agent can be reached again."""
        return await driver.until_connected(lambda: self.go_on(earlier))

    async def again(self, opening: Opening, pause: Callable[[float], Awaitable[None]]) -> Session:
        """Open a session whose connection was lost, once its agent can be reached again. `pause` takes seconds."""
        return await driver.until_connected(lambda: opening(self), pause)

    async def close(self, session: Session) -> None:
        """Close a session in the agent, if it is running and supports that."""
        agent = self._tab.link.agent
        if agent is not None and agent.lost is None and not session.is_closed and not session.is_read_only:
            await agent.close_session(session)

    def not_opened(self, session_id: SessionId, error: errors.ClientError) -> errors.ClientError:
        """Turn the error into one about this session, with a hint. AgentLost stays as it is."""
        if isinstance(error, errors.AgentLost):
            return error
        hint = "\n".join(filter(None, (error.hint, self._tab.hint(WAYS_ON))))
        named = f"Session {make_visible_line(session_id)} wasn't opened. {error}"
        return errors.SessionNotOpened(named, hint=hint, detail=error.detail)
