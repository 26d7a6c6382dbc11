"""Agents behind a WebSocket on loopback, one process per connection, and servers that misbehave."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import anyio
from websockets.asyncio.server import ServerConnection, serve, unix_serve
from websockets.exceptions import ConnectionClosed

from acp_tui.client.agents.catalogue import command_at
from acp_tui.client.agents.command import AgentCommand
from acp_tui.client.agents.process import running_agent
from acp_tui.rpc.websocket import WebSocketStream

Serve = Callable[[ServerConnection], Awaitable[None]]


@asynccontextmanager
async def websocket_server(handler: Serve, **options: Any) -> AsyncIterator[AgentCommand]:
    """An agent at an address; `handler` gets each connection."""
    async with serve(handler, "127.0.0.1", 0, compression=None, **options) as server:
        port = next(iter(server.sockets)).getsockname()[1]
        yield command_at(f"ws://127.0.0.1:{port}/acp")


@asynccontextmanager
async def unix_websocket_server(handler: Serve, path: Path) -> AsyncIterator[AgentCommand]:
    """The same, at a Unix socket."""
    async with unix_serve(handler, str(path), compression=None):
        yield command_at(f"unix://{path}")


def agent_behind(command: AgentCommand) -> Serve:
    """Connect each client to its own process."""

    async def lead(connection: ServerConnection) -> None:
        near = WebSocketStream(connection)
        async with running_agent(command, lambda _: None) as process:

            async def pump(source: Any, target: Any) -> None:
                with suppress(anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError):
                    while True:
                        await target.send(await source.receive())
                tasks.cancel_scope.cancel()

            async with anyio.create_task_group() as tasks:
                tasks.start_soon(pump, near, process.stream)
                tasks.start_soon(pump, process.stream, near)

    return lead


async def hang_up(connection: ServerConnection) -> None:
    """Read one message, and leave without a word."""
    with suppress(ConnectionClosed):
        await connection.recv()
    connection.transport.abort()
