"""The way to a session where there is no screen: a word where the start takes long, and what the settings add to it.

`exec`, the line mode and the doctor share it; each waits for its agent, and asks its user, in its own way.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Final, Self

import anyio
from anyio.abc import TaskGroup

from acp_tui.client import settings
from acp_tui.client.errors import SettingsError
from acp_tui.client.sessions.workplaces import usable_directories, usable_servers
from acp_tui.protocol.capabilities import AgentCapabilities

PATIENCE_S: Final = 3.0
"""Some agents are downloaded first; who sees nothing for longer takes it for a hang."""


class SlowStart:
    """While this context is open, the start goes on; where it goes on for long, that is said, once."""

    def __init__(
        self,
        tasks: TaskGroup,
        agent_name: str,
        say: Callable[[str], None],
        sleep: Callable[[float], Awaitable[None]] = anyio.sleep,
    ) -> None:
        self.step = "starting"
        """What is being done; change it as the start goes on."""
        self._tasks = tasks
        self._agent_name = agent_name
        self._say = say
        self._sleep = sleep
        self._scope = anyio.CancelScope()

    def __enter__(self) -> Self:
        self._tasks.start_soon(self._say_late)
        return self

    def __exit__(self, *_: object) -> None:
        self._scope.cancel()

    async def _say_late(self) -> None:
        with self._scope:
            await self._sleep(PATIENCE_S)
            self._say(f"waiting for {self._agent_name}: {self.step} ... (Ctrl+C stops it)")


def mcp_servers(
    capabilities: AgentCapabilities,
    cwd: Path,
    say: Callable[[str], None],
    wanted: Sequence[str] | None = None,
) -> Sequence[settings.Server]:
    """The user's servers, and the project's where the user has trusted them: nobody is here to be asked."""
    user = _readable(lambda: settings.servers_at_start(settings.settings_file()), say)
    project = _readable(lambda: _trusted_servers(cwd, say), say)
    servers, notes = usable_servers(capabilities, (user, project), wanted)
    for note in notes:
        say(f"MCP servers: {note}")
    return servers


def _readable(read: Callable[[], settings.ServerList], say: Callable[[str], None]) -> settings.ServerList:
    try:
        return read()
    except SettingsError as error:
        say(str(error))
        return settings.ServerList()


def _trusted_servers(cwd: Path, say: Callable[[str], None]) -> settings.ServerList:
    project = settings.read_project_servers(cwd)
    if project is None:
        return settings.ServerList()
    trust = settings.trust_state(project, settings.trust_file())
    if trust is settings.Trust.UNDECIDED and project.declared.servers:
        say(f"MCP servers left out: {project.file} is not trusted yet; acp-tui asks about it on the screen")
    return settings.trusted_servers(project, trust)


def additional_directories(
    capabilities: AgentCapabilities, wanted: Sequence[Path], say: Callable[[str], None]
) -> Sequence[Path]:
    """Those of the settings, where the agent takes any and they are there."""
    directories, notes = usable_directories(capabilities, wanted)
    for note in notes:
        say(note)
    return directories
