"""The other end of a connection, in memory and controlled by the test. It knows none of ACP's methods."""

from __future__ import annotations

import json
import math
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import Any

import anyio
import anyio.lowlevel
from anyio.abc import ByteStream
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

from acp_tui.rpc import ErrorCode, Handler, Peer, RequestFailed, Tap
from acp_tui.rpc.memory_stream import memory_stream
from acp_tui.rpc.messages import DEFAULT_MAX_FRAME_BYTES
from acp_tui.rpc.peer import MAX_WAITING_BYTES
from support.waiting import LIMIT_S

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
    max_frame_bytes: int = DEFAULT_MAX_FRAME_BYTES,
    tap: Tap | None = None,
    buffered_writes: float = math.inf,
    max_waiting_bytes: int = MAX_WAITING_BYTES,
) -> AsyncIterator[tuple[Peer, Counterpart]]:
    """A running peer and its counterpart, for at most `LIMIT_S`."""
    with connected(buffered_writes) as (counterpart, stream), anyio.fail_after(LIMIT_S):
        peer = Peer(
            stream,
            handler or RecordingHandler(),
            max_frame_bytes=max_frame_bytes,
            max_waiting_bytes=max_waiting_bytes,
            tap=tap,
        )
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
