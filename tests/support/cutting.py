"""Connections that break: a local proxy that counts the bytes that pass."""

from __future__ import annotations

import socket
import struct
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress

import anyio
from anyio.abc import SocketAttribute, SocketStream

from acp_tui.client.agents.catalogue import command_at
from acp_tui.client.agents.command import AgentCommand
from support.http_served import http_server
from support.remembering_agent import RememberingAgent
from support.served import websocket_server


class CuttingProxy:
    """Forwards connections to an address, and cuts each after this many bytes."""

    def __init__(self, port: int, bytes_until_cut: Callable[[], int | None]) -> None:
        self.cuts = 0
        self._port = port
        self._bytes_until_cut = bytes_until_cut
        self._open: list[anyio.CancelScope] = []

    def cut(self) -> None:
        """Cut the open connections."""
        for scope in self._open:
            scope.cancel()

    async def lead(self, near: SocketStream) -> None:
        """One connection."""
        left = self._bytes_until_cut()

        async def pump(source: SocketStream, target: SocketStream) -> None:
            nonlocal left
            with suppress(anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError):
                while True:
                    data = await source.receive()
                    if left is not None:
                        data, left = data[:left], left - len(data[:left])
                    await target.send(data)
                    if left == 0:
                        self.cuts += 1
                        break
            tasks.cancel_scope.cancel()

        async with await anyio.connect_tcp("127.0.0.1", self._port) as far:
            async with anyio.create_task_group() as tasks:
                self._open.append(tasks.cancel_scope)
                tasks.start_soon(pump, near, far)
                tasks.start_soon(pump, far, near)
            for stream in (near, far):
                _reset(stream)
        with anyio.CancelScope(shield=True):
            await near.aclose()


def _reset(stream: SocketStream) -> None:
    """Close it without a goodbye, as if a cable was unplugged."""
    raw = stream.extra(SocketAttribute.raw_socket)
    raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


@asynccontextmanager
async def cut_often(
    agent: RememberingAgent, bytes_until_cut: Callable[[], int | None], scheme: str = "ws"
) -> AsyncIterator[tuple[AgentCommand, CuttingProxy]]:
    """The agent behind connections that break."""
    server = websocket_server(agent.serve) if scheme == "ws" else http_server(agent.serve)
    async with anyio.create_task_group() as tasks, server as direct:
        proxy = CuttingProxy(int(direct.name.rpartition(":")[2].partition("/")[0]), bytes_until_cut)
        listener = await anyio.create_tcp_listener(local_host="127.0.0.1")
        tasks.start_soon(listener.serve, proxy.lead)
        yield command_at(f"{scheme}://127.0.0.1:{listener.extra(SocketAttribute.local_port)}/acp"), proxy
        tasks.cancel_scope.cancel()
