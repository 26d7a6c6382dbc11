"""Servers on loopback that talk however a test wants."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, TypeAlias

Talk: TypeAlias = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def listening(talk: Talk, **options: Any) -> AsyncIterator[int]:
    """A server, and its port. `talk` gets each connection, which ends with the block, however long `talk` goes on.

    From Python 3.12 on, a server waits for all its connections before it is closed.
    """
    talks: set[asyncio.Task[Any] | None] = set()
    connections: list[asyncio.WriteTransport] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        talks.add(task)
        connections.append(writer.transport)
        try:
            if server.is_serving():
                await talk(reader, writer)
        finally:
            talks.remove(task)
            if not server.is_serving():
                writer.transport.abort()

    async with await asyncio.start_server(serve, "127.0.0.1", 0, **options) as server:
        try:
            yield server.sockets[0].getsockname()[1]
        finally:
            server.close()
            for task in talks:
                assert task is not None
                task.cancel()
            for connection in connections:
                connection.abort()
