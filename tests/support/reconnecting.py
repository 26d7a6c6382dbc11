"""An agent that continues without its client, behind connections that break."""

from __future__ import annotations

import json
import socket
import struct
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from random import Random
from typing import Any

import anyio
from anyio.abc import SocketAttribute, SocketStream, TaskGroup
from websockets.asyncio.server import ServerConnection
from websockets.exceptions import ConnectionClosed

from acp_tui.client.agents.catalogue import command_at
from acp_tui.client.agents.command import AgentCommand
from support.servers import http_server, websocket_server

# Behind a WebSocket, it remembers what it said, and replays it


class Remembered:
    """One of its sessions."""

    def __init__(self, session_id: str) -> None:
        self.session_id = session_id
        self.record: list[dict[str, Any]] = []
        """Every update in order, including prompts."""
        self.question: tuple[str, anyio.Event] | None = None
        """The call that waits for permission."""
        self.answers: list[tuple[str, str]] = []
        """Decided calls, and the decisions."""
        self.is_working = False
        self.changed = anyio.Event()

    def note(self, kind: str, **fields: Any) -> None:
        """Send something to whoever is connected."""
        self.record.append({"sessionUpdate": kind, **fields})
        self.tell()

    def tell(self) -> None:
        """Notice a change."""
        self.changed.set()
        self.changed = anyio.Event()

    def said(self) -> list[tuple[str, ...]]:
        """Who said what, and each call's outcome."""
        said: list[tuple[str, ...]] = []
        for update in self.record:
            match update:
                case {"sessionUpdate": "tool_call", "toolCallId": call_id}:
                    said.append(("call", call_id, "pending"))
                case {"sessionUpdate": "tool_call_update", "toolCallId": call_id, "status": status}:
                    said[said.index(("call", call_id, "pending"))] = ("call", call_id, status)
                case {"sessionUpdate": kind, "content": {"text": text}}:
                    role = kind.partition("_")[0]
                    if said and said[-1][0] == role:
                        text = said.pop()[1] + text
                    said.append((role, text))
        return said


class RememberingAgent:
    """Serves any number of connections, in sequence or at once."""

    def __init__(self, tasks: TaskGroup, seed: int, **capabilities: Any) -> None:
        self.sessions: dict[str, Remembered] = {}
        self.connections = 0
        self.on_prompt: Callable[[], None] = lambda: None
        """Called when a prompt arrives."""
        self._tasks = tasks
        self._random = Random(seed)
        self._capabilities = capabilities

    async def serve(self, connection: ServerConnection) -> None:
        """One connection, until it ends."""
        self.connections += 1
        try:
            async with anyio.create_task_group() as tasks:
                await _Served(self, connection, tasks).run()
        finally:
            self.connections -= 1

    def initialized(self) -> dict[str, Any]:
        """Its answer to initialize."""
        return {"protocolVersion": 1, "agentCapabilities": self._capabilities}

    def begin(self) -> Remembered:
        """A new session."""
        session = Remembered(f"s{len(self.sessions) + 1}")
        self.sessions[session.session_id] = session
        return session

    def work(self, session: Remembered, prompt: str) -> anyio.Event:
        """Take a turn, whether or not anyone listens; return the event set at its end."""
        session.is_working = True
        session.note("user_message_chunk", content={"type": "text", "text": prompt})
        self.on_prompt()
        is_over = anyio.Event()
        self._tasks.start_soon(self._turn, session, prompt, is_over)
        return is_over

    async def _turn(self, session: Remembered, prompt: str, is_over: anyio.Event) -> None:
        for step in range(self._random.randrange(1, 6)):
            if self._random.random() < 0.4:
                call_id = f"{prompt}-{step}"
                session.note("tool_call", toolCallId=call_id, title="Do it", status="pending")
                answered = anyio.Event()
                session.question = (call_id, answered)
                session.tell()
                await answered.wait()
                session.note("tool_call_update", toolCallId=call_id, status="completed")
            for _ in range(self._random.randrange(8)):
                text = f"<{len(session.record)}" + " word" * self._random.randrange(40) + ">"
                session.note("agent_message_chunk", content={"type": "text", "text": text})
                await anyio.sleep(0)
        session.is_working = False
        is_over.set()
        session.tell()


class _Served:
    """A connection."""

    def __init__(self, agent: RememberingAgent, connection: ServerConnection, tasks: TaskGroup) -> None:
        self._agent = agent
        self._connection = connection
        self._tasks = tasks
        self._own_prompts: set[int] = set()
        self._asked: dict[str, tuple[Remembered, str]] = {}

    async def run(self) -> None:
        """Serve until the client is gone."""
        with suppress(ConnectionClosed):
            async for frame in self._connection:
                await self._hear(json.loads(frame))
        self._tasks.cancel_scope.cancel()

    async def _send(self, **message: Any) -> None:
        await self._connection.send(json.dumps({"jsonrpc": "2.0", **message}))

    async def _hear(self, message: dict[str, Any]) -> None:
        request_id, params = message.get("id"), message.get("params", {})
        match message.get("method"):
            case "initialize":
                await self._send(id=request_id, result=self._agent.initialized())
            case "session/new":
                session = self._agent.begin()
                await self._send(id=request_id, result={"sessionId": session.session_id})
                self._tasks.start_soon(self._follow, session, 0)
            case "session/resume" | "session/load" as method:
                session = self._agent.sessions[params["sessionId"]]
                end = len(session.record)
                for update in session.record[:end] if method == "session/load" else ():
                    await self._update(session, update)
                await self._send(id=request_id, result={})
                self._tasks.start_soon(self._follow, session, end)
            case "session/prompt":
                session = self._agent.sessions[params["sessionId"]]
                self._own_prompts.add(len(session.record))
                is_over = self._agent.work(session, params["prompt"][0]["text"])
                self._tasks.start_soon(self._end_turn, session, request_id, is_over)
            case None if request_id in self._asked:
                session, call_id = self._asked.pop(request_id)
                outcome = message["result"]["outcome"]
                if session.question is not None and session.question[0] == call_id and "optionId" in outcome:
                    session.answers.append((call_id, outcome["optionId"]))
                    session.question[1].set()
                    session.question = None

    async def _update(self, session: Remembered, update: dict[str, Any]) -> None:
        await self._send(method="session/update", params={"sessionId": session.session_id, "update": update})

    async def _follow(self, session: Remembered, at: int) -> None:
        """Send everything from here on, except what the other side sent itself."""
        asked = None
        self._sent = at
        with suppress(ConnectionClosed):
            while True:
                changed = session.changed
                while self._sent < len(session.record):
                    update = session.record[self._sent]
                    if self._sent not in self._own_prompts:
                        await self._update(session, update)
                    self._sent += 1
                session.tell()
                if session.question is not None and session.question is not asked:
                    asked = session.question
                    await self._ask(session, asked[0])
                await changed.wait()

    async def _ask(self, session: Remembered, call_id: str) -> None:
        self._asked[call_id] = (session, call_id)
        await self._send(
            id=call_id,
            method="session/request_permission",
            params={
                "sessionId": session.session_id,
                "toolCall": {"toolCallId": call_id},
                "options": [{"optionId": "yes", "name": "Yes", "kind": "allow_once"}],
            },
        )

    async def _end_turn(self, session: Remembered, request_id: Any, is_over: anyio.Event) -> None:
        await is_over.wait()
        with suppress(ConnectionClosed):
            while self._sent < len(session.record):
                await session.changed.wait()
            await self._send(id=request_id, result={"stopReason": "end_turn"})


# A local proxy that counts the bytes that pass, and breaks connections


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
