"""Agents behind servers on loopback: WebSocket, Streamable HTTP, servers that misbehave or show certificates."""

from __future__ import annotations

import asyncio
import json
import shutil
import ssl
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import anyio
import pytest
from anyio.abc import TaskGroup
from websockets.asyncio.server import ServerConnection, serve, unix_serve
from websockets.exceptions import ConnectionClosed, ConnectionClosedError

from acp_tui.client.agents.catalogue import command_at
from acp_tui.client.agents.command import AgentCommand
from acp_tui.client.agents.process import running_agent
from acp_tui.rpc.websocket import WebSocketStream

# Servers that talk however a test wants

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


# WebSocket: one process per connection

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


# Streamable HTTP: to the agent, each connection looks like a WebSocket

ON_THE_CONNECTION = ("initialize", "session/new", "session/load", "session/resume")
"""Their answers come on the connection's stream, all others on the session's."""


class HttpConnection:
    """What a server knows about one client."""

    def __init__(self) -> None:
        self._tell, self._frames = anyio.create_memory_object_stream[str](1000)
        self._streams: dict[str, asyncio.StreamWriter] = {}
        self._early: dict[str, list[str]] = {}
        """Messages from before the client opened the stream."""
        self._asked_in: dict[str, str] = {}
        self._first = anyio.Event()
        self._answer = ""
        self.is_closed = False

    # As the agent sees it

    def __aiter__(self) -> AsyncIterator[str]:
        return self._frames.__aiter__()

    async def send(self, text: str) -> None:
        """Send something on the stream it belongs to. Raises ConnectionClosed."""
        if self.is_closed:
            raise ConnectionClosedError(None, None)
        message = json.loads(text)
        asked_in = self._asked_in.pop(json.dumps(message.get("id")), "") if "method" not in message else ""
        if not self._first.is_set():
            self._answer = text
            self._first.set()
            return
        session = message.get("params", {}).get("sessionId", asked_in)
        if session not in self._streams:
            self._early.setdefault(session, []).append(text)
            return
        await self._write(session, text)

    async def _write(self, session: str, text: str) -> None:
        event = f"event: message\ndata: {text}\n\n".encode()
        writer = self._streams[session]
        with suppress(ConnectionError):
            writer.write(b"%x\r\n%b\r\n" % (len(event), event))
            await writer.drain()
            return
        self.close()

    @property
    def is_followed(self) -> bool:
        """Whether it has a stream."""
        return bool(self._streams)

    def close(self) -> None:
        """The client is gone."""
        self.is_closed = True
        self._tell.close()
        for writer in self._streams.values():
            writer.transport.abort()

    # As the server sees it

    async def first_answer(self) -> str:
        """The answer to `initialize`."""
        await self._first.wait()
        return self._answer

    async def hear(self, body: bytes) -> None:
        """Take a message from the client."""
        message = json.loads(body)
        method, params = message.get("method"), message.get("params", {})
        if "id" in message and method is not None and method not in ON_THE_CONNECTION:
            self._asked_in[json.dumps(message["id"])] = params.get("sessionId", "")
        with suppress(anyio.ClosedResourceError, anyio.BrokenResourceError):
            await self._tell.send(body.decode())

    async def open(self, session: str, writer: asyncio.StreamWriter) -> None:
        """A stream of events, which begins with those that waited for it."""
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
        self._streams[session] = writer
        for text in self._early.pop(session, ()):
            await self._write(session, text)


@asynccontextmanager
async def http_server(handler: Callable[[Any], Awaitable[None]], **options: Any) -> AsyncIterator[AgentCommand]:
    """An agent at an address; `handler` gets each connection, in its own task."""
    async with anyio.create_task_group() as tasks, _serving(handler, tasks, options) as command:
        yield command
        tasks.cancel_scope.cancel()


@asynccontextmanager
async def _serving(
    handler: Callable[[Any], Awaitable[None]], tasks: TaskGroup, options: dict[str, Any]
) -> AsyncIterator[AgentCommand]:
    connections: dict[str, HttpConnection] = {}

    async def serve(connection: HttpConnection) -> None:
        await handler(connection)
        connection.close()

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        begun = None
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                first, *rest = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
                headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in rest)}
                body = await reader.readexactly(int(headers.get("content-length", "0")))
                method, known = first.partition(" ")[0], headers.get("acp-connection-id", "")
                if method == "POST" and not known:
                    known = f"c{len(connections) + 1}"
                    connections[known] = begun = HttpConnection()
                    tasks.start_soon(serve, begun)
                    await begun.hear(body)
                    writer.write(_response("200 OK", (await begun.first_answer()).encode(), known))
                elif (connection := connections.get(known)) is None or connection.is_closed:
                    writer.write(_response("404 Not Found"))
                elif method == "GET":
                    await connection.open(headers.get("acp-session-id", ""), writer)
                    with suppress(ConnectionError):
                        await reader.read()  # nothing else comes before the end
                    connection.close()
                    return
                elif method == "DELETE":
                    connection.close()
                    writer.write(_response("200 OK"))
                else:
                    await connection.hear(body)
                    writer.write(_response("202 Accepted"))
        writer.close()
        if begun is not None and not begun.is_followed:  # it doesn't know that there is a connection
            begun.close()

    async with listening(talk, **options) as port:
        yield command_at(f"http://127.0.0.1:{port}/acp")
        for connection in connections.values():
            connection.close()


def _response(status: str, body: bytes = b"", connection: str = "") -> bytes:
    named = f"Acp-Connection-Id: {connection}\r\nContent-Type: application/json\r\n" if connection else ""
    return f"HTTP/1.1 {status}\r\n{named}Content-Length: {len(body)}\r\n\r\n".encode() + body


# Certificates of a CA that a test makes for itself with openssl

SERVER_NAME = "agent.example"
"""The host that the certificates are for; no real host has this name."""
_KEY = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes")


@dataclass(frozen=True)
class Authority:
    """A CA. Its folder contains its certificate and those it has signed."""

    folder: Path

    @property
    def certificate(self) -> Path:
        """The certificate that a client trusts."""
        return self.folder / "ca.pem"

    def issue(self, names: str, days: int = 2) -> tuple[Path, Path]:
        """A certificate and its key for names such as `DNS:agent.example,IP:127.0.0.1`; with 0 days, it has expired."""
        stem = self.folder / f"{abs(hash(names))}-{days}"
        request, certificate, key, extension = (stem.with_suffix(end) for end in (".csr", ".pem", ".key", ".ext"))
        extension.write_text(f"subjectAltName={names}\n")
        _openssl("req", *_KEY, "-keyout", key, "-out", request, "-subj", f"/CN={SERVER_NAME}")
        signing = ("-CA", self.certificate, "-CAkey", self.folder / "ca.key", "-extfile", extension)
        _openssl("x509", "-req", "-in", request, *signing, "-days", days, "-out", certificate)
        return certificate, key

    def context(self, names: str, days: int = 2) -> ssl.SSLContext:
        """For a server that presents this certificate."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*self.issue(names, days))
        return context


def authority(folder: Path) -> Authority:
    """A new CA. Skips the test if openssl isn't installed."""
    if shutil.which("openssl") is None:
        pytest.skip("certificates are made with openssl, which isn't installed")
    _openssl(
        "req",
        "-x509",
        *_KEY,
        "-keyout",
        folder / "ca.key",
        "-out",
        folder / "ca.pem",
        "-subj",
        "/CN=a test's CA",
        "-addext",
        "keyUsage=critical,keyCertSign",  # as Python wants it from 3.13 on
    )
    return Authority(folder)


def _openssl(*words: object) -> None:
    subprocess.run(["openssl", *map(str, words)], check=True, capture_output=True, timeout=60)
