"""A word to the user whose agent takes long to start; it neither starts nor stops one."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final, Self

import anyio
from anyio.abc import TaskGroup

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
