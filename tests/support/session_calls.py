"""Session calls to an agent in memory that supports all of them: made by the client, answered by the test."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager
from typing import Any, TypeVar

import anyio
import pytest

from acp_tui.client.errors import (
    AgentRefused,
)
from acp_tui.client.sessions.agent import Agent
from support.agents import SERVING, in_memory
from support.peers import Counterpart, response

ALL = {
    "loadSession": True,
    "mcpCapabilities": {"http": True, "sse": True},
    "sessionCapabilities": {name: {} for name in ("list", "delete", "resume", "close", "additionalDirectories")},
}
T = TypeVar("T")


@asynccontextmanager
async def capable(capabilities: Any = ALL) -> AsyncIterator[tuple[Agent, Counterpart]]:
    """An agent in memory that offers all of this."""
    async with in_memory(policy=SERVING) as (agent, wire):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(agent.initialize)
            result = {"protocolVersion": 1, "agentCapabilities": capabilities}
            await wire.answer(await wire.expect("initialize"), result)
        yield agent, wire


async def exchange(call: Awaitable[T], wire: Counterpart, method: str, *said_first: Any, **result: Any) -> T:
    """Make a client call, which the agent answers after sending some updates."""
    results: list[T] = []

    async def make() -> None:
        results.append(await call)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(make)
        request = await wire.expect(method)
        await wire.send(*said_first, response(request["id"], result))
    return results[0]


async def refused(call: Awaitable[Any], wire: Counterpart, method: str, code: int = -32603) -> None:
    """The same, but the agent refuses."""
    async with anyio.create_task_group() as tasks:

        async def make() -> None:
            with pytest.raises(AgentRefused):
                await call

        tasks.start_soon(make)
        await wire.refuse(await wire.expect(method), code, "no")
