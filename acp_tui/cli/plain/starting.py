"""The way to an agent, line by line: the start, a login where it wants one, trust in a project's MCP servers."""

from __future__ import annotations

import os
import shlex
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from anyio import to_thread
from anyio.abc import TaskGroup

from acp_tui.cli.plain.asking import choose, confirm
from acp_tui.cli.plain.console import Console
from acp_tui.cli.plain.words import ours
from acp_tui.cli.saying import error_text
from acp_tui.cli.session_start import SlowStart, additional_directories, mcp_servers
from acp_tui.client import settings as mcp
from acp_tui.client.agents.command import AgentCommand
from acp_tui.client.errors import AuthenticationRequired, ClientError, SettingsError
from acp_tui.client.mcp_question import rows_of
from acp_tui.client.sessions.agent import Agent
from acp_tui.client.sessions.hub import SessionHub
from acp_tui.client.sessions.logins import logged_in
from acp_tui.client.sessions.offers import INTERACTIVE
from acp_tui.client.sessions.policy import policy_of
from acp_tui.client.sessions.recordings import recording_plan
from acp_tui.client.sessions.session import Session
from acp_tui.client.sessions.session_calls import Attend
from acp_tui.client.settings import Settings
from acp_tui.client.transcript.record_to import RecordTo
from acp_tui.conversation.facts import SessionId
from acp_tui.conversation.visible import make_visible, make_visible_line

T = TypeVar("T")


class AgentStart:
    """Starts one agent, as often as need be; `agent` is the process that runs now."""

    agent: Agent

    def __init__(
        self, hub: SessionHub, command: AgentCommand, cwd: Path, settings: Settings, record: RecordTo | None
    ) -> None:
        self.servers: Sequence[mcp.Server] = ()
        """The MCP servers for each session."""
        self.directories: Sequence[Path] = ()
        """The directories beside its own for each session."""
        self._hub = hub
        self._command = command
        self._cwd = cwd
        self._settings = settings
        self._record = record

    async def start(self, console: Console, tasks: TaskGroup, on_question: Callable[[], None]) -> None:
        """A new process, with the handshake done. `on_question`: it asks something outside of any session.

        Raises ClientError.
        """

        def say(text: str) -> None:
            console.say(ours(make_visible(text)))

        with SlowStart(tasks, self._command.name, say) as slow:
            self.agent = await self._hub.start_agent(
                self._command,
                cwd=self._cwd,
                offer=replace(INTERACTIVE, trace_context=self._settings.agent.trace_context.as_mapping()),
                policy=policy_of(self._settings),
                recordings=recording_plan(self._settings.recordings, self._cwd, say, to=self._record),
            )
            slow.step = "initializing"
            self.agent.on_elicitations = on_question
            await self.agent.initialize(self._settings.agent.start_limit_s or None)
        await self._ask_for_trust(console)
        capabilities, wanted = self.agent.capabilities, self._settings.workspace.additional_directories
        self.directories = additional_directories(capabilities, wanted, say)
        self.servers = mcp_servers(capabilities, self._cwd, say, self.agent.command.mcp_servers)

    async def _ask_for_trust(self, console: Console) -> None:
        """Whether a project's MCP servers are used, where that was not decided yet."""
        try:
            project = await to_thread.run_sync(mcp.read_project_servers, self._cwd)
        except SettingsError:
            return  # it is said where the servers are read
        if project is None or not project.declared.servers:
            return
        if mcp.trust_state(project, mcp.trust_file()) is not mcp.Trust.UNDECIDED:
            return
        console.say(f"The project's file {make_visible_line(str(project.file))} names MCP servers:")
        console.say("\n".join(map(_server_words, project.declared.servers)))
        is_trusted = await confirm(console, "Use them, now and until the file changes?")
        try:
            mcp.remember(project, mcp.Trust.TRUSTED if is_trusted else mcp.Trust.REJECTED, mcp.trust_file())
        except SettingsError as error:
            console.say(error_text(error))

    # Sessions, with the directories and servers that are settled. Each raises ClientError.

    async def new_session(self, agent: Agent, earlier: Session | None) -> Session:
        """A new one, in place of an `earlier` one."""
        return await agent.new_session(
            self._cwd,
            additional_directories=self.directories,
            mcp_servers=self.servers,
            earlier=earlier,
        )

    async def open_session(self, agent: Agent, session_id: SessionId, cwd: Path, attend: Attend) -> Session:
        """The one that is open already, else as the agent gives it."""
        return agent.sessions.get(session_id) or await agent.open_session(
            session_id,
            cwd,
            attend,
            additional_directories=self.directories,
            mcp_servers=self.servers,
        )

    async def resume_session(self, earlier: Session) -> Session:
        """Go on with one of an earlier process."""
        return await self.agent.resume_session(
            earlier.session_id,
            earlier.cwd,
            additional_directories=self.directories,
            mcp_servers=self.servers,
            earlier=earlier,
        )

    # Logging in

    async def logged_in(
        self, console: Console, call: Callable[[Agent], Awaitable[T]], restart: Callable[[], Awaitable[None]]
    ) -> T:
        """Make `call`; where the agent wants a login first, let the user log in and make it again (R-AUTH-3)."""
        return await logged_in(
            lambda: call(self.agent), lambda wanted: self._log_in(console, wanted, restart)
        )

    async def _log_in(
        self, console: Console, wanted: AuthenticationRequired, restart: Callable[[], Awaitable[None]]
    ) -> bool:
        """Whether it is worth trying again."""
        agent = self.agent
        ways = [f"{method.name}: {method.description or method.kind}" for method in wanted.methods]
        reason = f": {make_visible(wanted.detail)}" if wanted.detail else ""
        chosen = await choose(console, f"{make_visible_line(agent.title)} wants you to log in{reason}", ways)
        if chosen is None:
            return False
        method = wanted.methods[chosen]
        if method.kind == "terminal":
            command = agent.login_command(method.method_id)
            await agent.stop()
            status = await console.lend(command.argv, command.env)
            if status != 0:
                console.say(ours(f"the login ended with status {status}, so it has not worked"))
            await restart()
            return True
        console.say(ours("the agent logs you in; it may have opened a browser (Ctrl+C stops it)"))
        try:
            await agent.authenticate(method.method_id)
        except ClientError as error:
            console.say(error_text(error))
        return True


def _server_words(server: mcp.Server) -> str:
    """What would be run or spoken to, as it stands in the file, and what it would get of the user's environment."""
    if isinstance(server, mcp.StdioServer):
        names = ", ".join(name for name, _ in server.env)
        line = shlex.join([server.command, *server.args])
        words = f"{server.name}: runs {line}" + (f", with {names} set" if names else "")
    else:
        names = ", ".join(name for name, _ in server.headers)
        words = f"{server.name}: {server.kind} at {server.url}" + (f", with {names}" if names else "")
    rows = (f"    {'Warning: ' if row.is_warning else ''}{row.text}" for row in rows_of(server, os.environ))
    return "\n".join([f"  {make_visible_line(words)}", *map(make_visible_line, rows)])
