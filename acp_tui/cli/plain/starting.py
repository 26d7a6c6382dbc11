"""The way to an agent, line by line: the start, a login where it wants one, trust in a project's MCP servers."""

from __future__ import annotations

import os
import shlex
from collections.abc import Awaitable, Callable
from pathlib import Path

from anyio.abc import TaskGroup

from acp_tui.cli.plain.asking import choose, confirm
from acp_tui.cli.plain.console import Console
from acp_tui.cli.plain.words import ours
from acp_tui.cli.saying import error_text
from acp_tui.cli.session_start import SlowStart, say_left_out
from acp_tui.client import settings as mcp
from acp_tui.client.agents.command import AgentCommand
from acp_tui.client.errors import AuthenticationRequired, ClientError, SettingsError
from acp_tui.client.loading_variables import rows_of
from acp_tui.client.sessions.access import INTERACTIVE
from acp_tui.client.sessions.agent import Agent
from acp_tui.client.sessions.driver import Additions, additions_for, start_agent
from acp_tui.client.sessions.hub import SessionHub
from acp_tui.client.settings import Settings
from acp_tui.client.transcript.record_to import RecordTo
from acp_tui.conversation.visible import make_visible, make_visible_line


class AgentStart:
    """Starts one agent, as often as need be, and asks the user on its way; `agent` is the process that runs now."""

    def __init__(
        self,
        hub: SessionHub,
        command: AgentCommand,
        cwd: Path,
        settings: Settings,
        record: RecordTo | None,
        *,
        console: Console,
        restart: Callable[[], Awaitable[None]],
    ) -> None:
        """`restart` starts the agent again after a login in the terminal."""
        self.agent: Agent | None = None
        self.additions = Additions()
        self._hub = hub
        self._command = command
        self._cwd = cwd
        self._settings = settings
        self._record = record
        self._console = console
        self._restart = restart

    async def start(self, tasks: TaskGroup, on_questions: Callable[[Agent], None]) -> None:
        """A new process, with the handshake done. `on_questions`: it asks something outside of any session.

        Raises ClientError.
        """
        with SlowStart(tasks, self._command.name, self._say) as slow:
            self.agent = await start_agent(
                self._hub,
                self._command,
                self._cwd,
                self._settings,
                INTERACTIVE,
                self._say,
                recordings=self._settings.recordings,
                record=self._record,
                on_phase=slow.note,
                on_questions=on_questions,
            )
        wanted = self._settings.workspace.additional_directories
        self.additions = await additions_for(self.agent, self._cwd, wanted, self)
        say_left_out(self.additions, self._say)

    def _say(self, text: str) -> None:
        self._console.say(ours(make_visible(text)))

    # What the driver of its sessions asks

    async def log_in(self, wanted: AuthenticationRequired) -> bool:
        """Whether it is worth trying again."""
        agent = self.agent
        assert agent is not None
        ways = [f"{method.name}: {method.description or method.kind}" for method in wanted.methods]
        reason = f": {make_visible(wanted.detail)}" if wanted.detail else ""
        chosen = await choose(
            self._console, f"{make_visible_line(agent.title)} needs you to log in{reason}", ways
        )
        if chosen is None:
            return False
        method = wanted.methods[chosen]
        if method.kind == "terminal":
            command = agent.login_command(method.method_id)
            await agent.stop()
            status = await self._console.lend(command.argv, command.env)
            if status != 0:
                self._say(f"the login failed with status {status}")
            await self._restart()
            return True
        self._say("the agent is logging you in, perhaps in a browser (Ctrl+C to stop)")
        try:
            await agent.authenticate(method.method_id)
        except ClientError as error:
            self._console.say(error_text(error))
        return True

    async def trusts(self, project: mcp.ProjectServers) -> bool:
        """Whether a project's MCP servers are used."""
        self._console.say(f"The project's file {make_visible_line(str(project.file))} names MCP servers:")
        self._console.say("\n".join(map(_server_words, project.declared.servers)))
        return await confirm(self._console, "Use them until the file changes?")

    def say_error(self, error: SettingsError) -> None:
        """A file of settings is of no use."""
        self._console.say(error_text(error))


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
