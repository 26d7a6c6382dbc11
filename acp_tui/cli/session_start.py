"""The way to a session where there is no screen: a word where the start takes long, and what the settings add to it.

`exec`, the line mode and the doctor share it; each waits for its agent, and asks its user, in its own way.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final, Self

import anyio
from anyio.abc import TaskGroup

from acp_tui.client import settings
from acp_tui.client.agents.command import Phase
from acp_tui.client.errors import AuthenticationRequired, SettingsError
from acp_tui.client.sessions.driver import Additions

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

    def note(self, phase: Phase) -> None:
        """The start goes on."""
        self.step = phase.value

    def __enter__(self) -> Self:
        self._tasks.start_soon(self._say_late)
        return self

    def __exit__(self, *_: object) -> None:
        self._scope.cancel()

    async def _say_late(self) -> None:
        with self._scope:
            await self._sleep(PATIENCE_S)
            self._say(f"waiting for {self._agent_name}: {self.step} ... (Ctrl+C to stop)")


class Headless:
    """Nobody is here to be asked: no login, and no trust in a project that was not given before."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say

    async def log_in(self, _: AuthenticationRequired) -> bool:
        """Not here."""
        return False

    async def trusts(self, project: settings.ProjectServers) -> None:
        """Undecided, as it was."""
        self._say(
            f"MCP servers skipped: you haven't trusted {project.file} yet; acp-tui asks about it on the screen"
        )

    def say_error(self, error: SettingsError) -> None:
        """In a line."""
        self._say(str(error))


def say_left_out(additions: Additions, say: Callable[[str], None]) -> None:
    """What sessions are without, a line each."""
    for note in additions.directories_left_out:
        say(note)
    for note in additions.servers_left_out:
        say(f"MCP servers: {note}")
