"""Agents for tests: one in memory, played by the test, and scripted ones as processes."""

from __future__ import annotations

import json
import math
import sys
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from textwrap import dedent
from typing import Any, TypeVar
from unittest.mock import patch

import anyio
import anyio.lowlevel
import psutil  # type: ignore[import-untyped]
import pytest
from anyio.abc import ByteStream
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

from acp_tui.client.agents.command import AgentCommand
from acp_tui.client.errors import AgentLost, AgentRefused
from acp_tui.client.processes.guard import guard
from acp_tui.client.sandbox.sandbox import Sandbox
from acp_tui.client.sessions import agent as agent_module
from acp_tui.client.sessions.agent import Agent
from acp_tui.client.sessions.consent import Grant, Policy
from acp_tui.client.sessions.driver import FrontEndLink, SessionDriver
from acp_tui.client.sessions.hub import open_hub
from acp_tui.client.sessions.session import Session
from acp_tui.client.settings.settings import RecordingSettings
from acp_tui.client.transcript.recording_plan import RecordingPlan, recording_store
from acp_tui.conversation.content import Text
from acp_tui.protocol.roles import ClientOffer
from acp_tui.rpc import ErrorCode, Handler, Peer, RequestFailed, Tap
from acp_tui.rpc.memory_stream import memory_stream
from acp_tui.rpc.peer import MAX_WAITING_BYTES
from support.waiting import LIMIT_S, TEST_LIMIT_S, Bell

# The other end of a connection, in memory and controlled by the test. It knows none of ACP's methods

# In memory, a message takes a handful of rounds of the loop; anyio's own wait for idleness takes 0.1 s each time.
_TURNS_TO_SETTLE = 60


class Counterpart:
    """Sends what the test says, byte by byte if necessary, and reads what the code under test sends."""

    def __init__(self, outgoing: MemoryObjectSendStream[bytes], incoming: MemoryObjectReceiveStream[bytes]) -> None:
        self._outgoing = outgoing
        self._incoming = incoming
        self._partial = b""
        self._lines: deque[bytes] = deque()

    async def send_bytes(self, data: bytes) -> None:
        """Send exactly this."""
        await self._outgoing.send(data)

    async def send(self, *messages: object) -> None:
        """Send these as JSON, one per line, in a single write."""
        await self.send_bytes(b"".join(json.dumps(message).encode() + b"\n" for message in messages))

    async def answer(self, request: Any, result: Any) -> None:
        """Answer a received request."""
        await self.send(response(request["id"], result))

    async def refuse(self, request: Any, code: int, message: str, data: Any = None) -> None:
        """Answer a received request with an error."""
        error = {"code": code, "message": message, **({} if data is None else {"data": data})}
        await self.send({"jsonrpc": "2.0", "id": request["id"], "error": error})

    async def receive_line(self) -> bytes:
        """The next line, as its bytes. Raises EndOfStream."""
        while not self._lines:
            self._take(await self._incoming.receive())
        return self._lines.popleft()

    async def receive(self) -> Any:
        """The next message. Raises EndOfStream."""
        return json.loads(await self.receive_line())

    async def expect(self, method: str) -> Any:
        """The next message, which must be of this method."""
        message = await self.receive()
        assert message.get("method") == method, message
        return message

    async def receive_all(self) -> list[Any]:
        """Every message sent by the time nothing moves any more; possibly none."""
        await settle()
        with suppress(anyio.WouldBlock, anyio.EndOfStream):
            while True:
                self._take(self._incoming.receive_nowait())
                await settle()
        lines, self._lines = self._lines, deque()
        return [json.loads(line) for line in lines]

    async def close_output(self) -> None:
        """Stop sending; the other side reads the end of the stream."""
        await self._outgoing.aclose()

    async def close_input(self) -> None:
        """Stop reading; the other side's writes fail."""
        await self._incoming.aclose()

    def _take(self, data: bytes) -> None:
        *lines, self._partial = (self._partial + data).split(b"\n")
        self._lines.extend(lines)


@contextmanager
def connected(buffered_writes: float = math.inf) -> Iterator[tuple[Counterpart, ByteStream]]:
    """A counterpart, and the stream to it. Its input accepts this many writes before they wait."""
    to_stream, from_counterpart = anyio.create_memory_object_stream[bytes](math.inf)
    to_counterpart, from_stream = anyio.create_memory_object_stream[bytes](buffered_writes)
    with to_stream, from_counterpart, to_counterpart, from_stream:
        yield Counterpart(to_stream, from_stream), memory_stream(to_counterpart, from_counterpart)


async def settle() -> None:
    """Let every other task run until it waits for something only the test can provide."""
    for _ in range(_TURNS_TO_SETTLE):
        await anyio.lowlevel.checkpoint()


class RecordingHandler:
    """Stores what it receives, and serves the given methods."""

    def __init__(self, **methods: Callable[[Any], Awaitable[Any]]) -> None:
        self.methods = methods
        self.notifications: list[tuple[str, Any]] = []
        self.junk: list[tuple[bytes, str]] = []

    def on_notification(self, method: str, params: Any) -> None:
        """Store it."""
        self.notifications.append((method, params))

    def on_request(self, method: str, params: Any) -> Awaitable[Any]:
        """Serve it, if the method is known."""
        if method not in self.methods:
            raise RequestFailed(ErrorCode.METHOD_NOT_FOUND, f"no {method} here", {"method": method})
        return self.methods[method](params)

    def on_malformed(self, line: bytes, reason: str) -> None:
        """Store it."""
        self.junk.append((line, reason))


@asynccontextmanager
async def serving(
    handler: Handler | None = None,
    *,
    tap: Tap | None = None,
    buffered_writes: float = math.inf,
    max_waiting_bytes: int = MAX_WAITING_BYTES,
) -> AsyncIterator[tuple[Peer, Counterpart]]:
    """A running peer and its counterpart, for at most `LIMIT_S`."""
    with connected(buffered_writes) as (counterpart, stream), anyio.fail_after(LIMIT_S):
        peer = Peer(stream, handler or RecordingHandler(), tap=tap)
        with patch("acp_tui.rpc.peer.MAX_WAITING_BYTES", max_waiting_bytes):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(peer.serve)
                yield peer, counterpart
                tasks.cancel_scope.cancel()


def request(request_id: Any, method: str, params: Any = None) -> dict[str, Any]:
    """A request, as on the wire."""
    return {"jsonrpc": "2.0", "id": request_id, "method": method, "params": params}


def notification(method: str, params: Any = None) -> dict[str, Any]:
    """A notification, as on the wire."""
    return {"jsonrpc": "2.0", "method": method, "params": params}


def response(request_id: Any, result: Any) -> dict[str, Any]:
    """A successful response, as on the wire."""
    return {"jsonrpc": "2.0", "id": request_id, "result": result}


# Agents of a client

T = TypeVar("T")
_SCRIPTED = Path(__file__).with_name("scripted_agent.py")
SDK_AGENT = (sys.executable, str(Path(__file__).parents[1] / "data" / "sdk_agent.py"))
"""An agent on the official SDK, whose one turn uses what a client serves."""
SERVING = Policy(write=Grant.ON, terminals=Grant.ON)
"""For tests of what is served, rather than of who is asked."""
EVERY_SESSION_CALL = {
    "loadSession": True,
    "mcpCapabilities": {"http": True, "sse": True},
    "sessionCapabilities": {name: {} for name in ("list", "delete", "resume", "close", "additionalDirectories")},
}
"""Capabilities."""
REPLY = [Text("go")]
"""A prompt."""


def scripted_argv(script: str) -> tuple[str, ...]:
    """The command of a process that runs `script` with the names of `scripted_agent`."""
    return (sys.executable, "-I", "-S", str(_SCRIPTED), dedent(script))


def scripted(script: str) -> AgentCommand:
    """The same, for a hub."""
    return AgentCommand("scripted", scripted_argv(script))


def behind(script: str, *proxies: Sequence[str]) -> AgentCommand:
    """The same behind proxies, the first one next to the client."""
    return replace(scripted(script), proxies=tuple(map(tuple, proxies)))


@asynccontextmanager
async def running(
    script: str | AgentCommand, offer: ClientOffer | None = None, policy: Policy | None = None
) -> AsyncIterator[Agent]:
    """A scripted agent, or another one, as a process."""
    command = scripted(script) if isinstance(script, str) else script
    with anyio.fail_after(TEST_LIMIT_S):
        async with open_hub() as hub:
            yield await hub.start_agent(command, offer=offer, policy=policy)


def our_children() -> list[psutil.Process]:
    """The processes below this one, including zombies, without the guardian and its keepers."""
    children: list[psutil.Process] = psutil.Process().children(recursive=True)
    with suppress(psutil.NoSuchProcess):
        return [child for child in children if guard.pid not in (child.pid, child.ppid())]
    return our_children()  # one has ended in the meantime


@dataclass
class MemoryProcess:
    """Stands in for an AgentProcess; the test plays the agent."""

    stream: ByteStream
    stderr_tail: str = ""
    sandbox: Sandbox | None = None
    given: Mapping[str, str] = field(default_factory=dict)

    async def wait_for_end(self, timeout_s: float) -> None:
        """Do nothing: there is no process."""

    def describe_exit(self) -> str:
        """How it ended."""
        return "closed its output"

    def loss(self, title: str) -> AgentLost:
        """The same, in words for the user."""
        return AgentLost(f"{title} {self.describe_exit()}", detail=self.stderr_tail)


@asynccontextmanager
async def in_memory(
    offer: ClientOffer | None = None,
    policy: Policy | None = None,
    command: AgentCommand | None = None,
    recordings: RecordingPlan | None = None,
    sandbox: Sandbox | None = None,
) -> AsyncIterator[tuple[Agent, Counterpart]]:
    """An agent of a hub, and the far end of its connection for the test."""
    with connected() as (wire, stream), anyio.fail_after(TEST_LIMIT_S), pytest.MonkeyPatch.context() as patch:

        @asynccontextmanager
        async def open_channel(*_: Any) -> AsyncIterator[MemoryProcess]:
            yield MemoryProcess(stream, sandbox=sandbox)

        patch.setattr(agent_module, "open_channel", open_channel)
        async with open_hub() as hub:
            played = command or AgentCommand("played", ("played",))
            agent = await hub.start_agent(played, offer=offer, policy=policy, recordings=recordings)
            yield agent, wire


@asynccontextmanager
async def capable(capabilities: Any = EVERY_SESSION_CALL) -> AsyncIterator[tuple[Agent, Counterpart]]:
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


async def open_session(agent: Agent, wire: Counterpart, cwd: Path, session_id: str = "s1", **setup: Any) -> Session:
    """A session that the agent opens with `setup`."""
    return await exchange(agent.new_session(cwd), wire, "session/new", sessionId=session_id, **setup)


async def shake_hands(agent: Agent, wire: Counterpart, name: str = "played", answer: Any = None) -> Any:
    """Do the handshake, by default in version 1; return what the client sent."""
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(agent.initialize)
        request = await wire.expect("initialize")
        info = {"name": name, "version": "1"}
        await wire.answer(request, answer or {"protocolVersion": 1, "agentInfo": info})
    return request


@asynccontextmanager
async def in_session(
    cwd: Path,
    *,
    name: str = "played",
    offer: ClientOffer | None = None,
    policy: Policy | None = None,
    **setup: Any,
) -> AsyncIterator[tuple[Session, Counterpart]]:
    """A session with an agent in memory."""
    async with in_memory(offer, policy) as (agent, wire):
        await shake_hands(agent, wire, name)
        yield await open_session(agent, wire, cwd, **setup), wire


@asynccontextmanager
async def in_turn(session: Session, wire: Counterpart) -> AsyncIterator[Any]:
    """A prompt that was sent, as the agent received it. When the block ends, the turn ends, too."""
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(session.send_prompt, REPLY)
        prompt = await wire.expect("session/prompt")
        yield prompt
        await wire.answer(prompt, {"stopReason": "end_turn"})


def said(text: str, session_id: str = "s1") -> dict[str, Any]:
    """A chunk of a message, as on the wire."""
    chunk = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}
    return notification("session/update", {"sessionId": session_id, "update": chunk})


def asked(
    request_id: Any, *options: str, call_id: str = "call", session_id: str = "s1", title: str = "Delete everything"
) -> dict[str, Any]:
    """A permission request, as on the wire, with options with these IDs."""
    params = {
        "sessionId": session_id,
        "toolCall": {"toolCallId": call_id, "title": title},
        "options": [{"optionId": option, "name": option, "kind": "allow_once"} for option in options],
    }
    return {"jsonrpc": "2.0", "id": request_id, "method": "session/request_permission", "params": params}


async def until(session: Session, is_so: Callable[[], bool]) -> None:
    """Wait for a change of the conversation after which `is_so` holds."""
    bell = Bell()
    unsubscribe = session.subscribe(bell.ring)
    try:
        await bell.until(is_so)
    finally:
        unsubscribe()


def agent_texts(session: Session) -> Sequence[str]:
    """What the agent said, message by message."""
    return [
        entry.text
        for entry in session.conversation.entries
        if getattr(entry, "role", None) == "agent" and hasattr(entry, "text")
    ]


# Drivers of recorded agents, as front ends have them


@asynccontextmanager
async def driving(script: str, cwd: Path) -> AsyncIterator[SessionDriver]:
    """A driver of an agent that is recorded. The same script is the same agent."""
    plan = RecordingPlan(cwd, store=recording_store(RecordingSettings()))
    with anyio.fail_after(LIMIT_S):
        async with open_hub() as hub:
            agent = await hub.start_agent(scripted(script), recordings=plan)
            await agent.initialize()
            yield SessionDriver(FrontEndLink(agent), no_login, cwd)


async def no_login(_: object) -> bool:
    return False
