"""One side of a JSON-RPC connection: one read loop, one writer, requests in both directions.

A `Wire` reads and writes lines, whatever they say; a `Peer` is one whose lines are messages.

Notifications, the start of each request, and the reading of each response run inside the read loop, in wire order.
Only slow work gets a task of its own. Cancellation is the only method this module knows.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine
from itertools import count
from typing import Any, Final, Generic, Protocol, TypeAlias, TypeVar

import anyio
from anyio.abc import ByteStream, TaskGroup

from acp_tui.rpc import messages

log = logging.getLogger(__name__)

CANCEL_REQUEST: Final = "$/cancel_request"
RECEIVE_BYTES: Final = 64 << 10
SEND_BYTES: Final = 64 << 10
"""The size of one write. Each piece the stream takes shows that the other side reads."""
MESSAGES_PER_SLICE: Final = 16
"""The most messages to read before the event loop handles keys and drawing."""
SLICE_BYTES: Final = 64 << 10
"""The most bytes to read before that; they take some milliseconds."""
TURNS_AFTER_LONG: Final = 20
"""How many turns the event loop gets after `SLICE_BYTES`: a key takes that many to reach the screen."""
MAX_UNDER_WAY: Final = 500
"""The most requests to serve at a time. Agents have a few, and each takes memory."""
MAX_UNDER_WAY_BYTES: Final = 64 << 20
"""The limit for their lines together. A single line may reach the frame limit."""
MAX_WAITING_BYTES: Final = 16 << 20
"""While more bytes than this wait to be written, no message is read and no answer is made."""
UNREAD_LIMIT_S: Final = 30.0
"""Give up on a side that takes none of them for this long. It may be computing, but not forever."""

T = TypeVar("T")


Tap: TypeAlias = Callable[[messages.Direction, bytes], None]
"""Sees the raw bytes of every frame, without the line end, including junk; used for recordings."""


class Wire:
    """Serves one connection until the other side ends it or the task running `serve()` is cancelled."""

    def __init__(
        self,
        stream: ByteStream,
        on_line: Callable[[bytes], Wire | None],
        on_lost: Callable[[messages.ConnectionLost], None] = lambda _: None,
        *,
        max_frame_bytes: int | None = None,
        tap: Tap | None = None,
    ) -> None:
        """`on_line` handles a line, and returns the wire that needs room for the next one; None for this wire.

        `on_lost` is called when the connection is lost, with the first reason.
        """
        self.waiting_bytes = 0
        """How many sent bytes the other side hasn't taken."""
        self.lost: messages.ConnectionLost | None = None
        """Why the connection has ended or is about to."""
        self.tasks: TaskGroup | None = None
        """For work that ends with the connection, while it's served."""
        self._stream = stream
        self._on_line = on_line
        self._on_lost = on_lost
        self.splitter = messages.FrameSplitter(max_frame_bytes or messages.DEFAULT_MAX_FRAME_BYTES)
        self._tap = tap
        self._outgoing: deque[bytes] = deque()
        self._outgoing_changed = anyio.Event()
        self._taken = anyio.Event()

    # Sending

    def send(self, frame: bytes) -> None:
        """Send a line, after everything sent before. Raises ConnectionLost."""
        if self.lost is not None:
            raise self.lost
        # Record it here, not when it's written, so that a recording never shows an answer before its question.
        if self._tap is not None:
            self._tap(messages.Direction.OUT, frame)
        self._outgoing.append(frame)
        self.waiting_bytes += len(frame) + 1
        self._signal()

    async def flush(self) -> None:
        """Wait until the stream took everything sent so far, or the connection is lost."""
        while self._outgoing and self.lost is None:
            await self._outgoing_changed.wait()

    def _signal(self) -> None:
        self._outgoing_changed.set()
        self._outgoing_changed = anyio.Event()

    async def until_room(self) -> None:
        """Wait while more than `MAX_WAITING_BYTES` waits to be written. Call it before making a long answer.

        If the other side takes nothing for `UNREAD_LIMIT_S`, the connection is lost.
        """
        while self.waiting_bytes > MAX_WAITING_BYTES:
            with anyio.move_on_after(UNREAD_LIMIT_S) as limit:
                await self._taken.wait()
            if limit.cancelled_caught:
                self.lose(messages.AnswersUnread(self.waiting_bytes))
                if self.tasks is not None:
                    self.tasks.cancel_scope.cancel()

    async def _write(self) -> None:
        """The only writer. A frame leaves the queue only after the stream took it, which is what flush waits for."""
        try:
            while True:
                while not self._outgoing:
                    await self._outgoing_changed.wait()
                frames, size = [], 0
                for frame in self._outgoing:
                    frames.append(frame)
                    size += len(frame) + 1
                    if size >= SEND_BYTES:
                        break
                data = frames[0] if len(frames) == 1 else b"\n".join(frames)
                for start in range(0, size, SEND_BYTES):
                    piece = data[start : start + SEND_BYTES]
                    if start + SEND_BYTES >= size:
                        piece += b"\n"  # not earlier: that would copy a frame, which may be long
                    await self._stream.send(piece)
                    if self.lost is not None:
                        return  # the queue was emptied while sending
                    self.waiting_bytes -= len(piece)
                    self._taken.set()
                    self._taken = anyio.Event()
                for _ in frames:
                    self._outgoing.popleft()
                self._signal()
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            # The other side may still be talking, so reading continues, but no answer can be expected.
            self.lose(messages.ConnectionLost("the agent closed its input"))

    # Receiving

    async def serve(self) -> None:
        """Read until the stream ends. After that, the connection is lost.

        Raises FrameTooLarge for a line over the limit, and AnswersUnread if the other side doesn't read. An ordinary
        end returns.
        """
        lost = messages.ConnectionLost("the connection was closed")
        try:
            async with anyio.create_task_group() as tasks:
                self.tasks = tasks
                tasks.start_soon(self._write)
                try:
                    await self._read()
                    lost = messages.ConnectionLost("the agent closed the connection")
                except messages.ConnectionLost as error:
                    lost = error
                finally:
                    # Before the tasks are cancelled, so that a task shielding a last request learns that it's in
                    # vain.
                    self.lose(lost)
                    tasks.cancel_scope.cancel()
        finally:
            self.lose(lost)
        for end in (lost, self.lost):
            if end is not None and type(end) is not messages.ConnectionLost:
                raise end

    async def _read(self) -> None:
        seen = size = 0
        while True:
            try:
                data = await self._stream.receive(RECEIVE_BYTES)
            except (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError):
                return
            is_blank = False
            for line in self.splitter.feed(data):
                size += len(line) + 1
                was_blank, is_blank = is_blank, not line or line.isspace()
                if is_blank and was_blank:
                    continue  # all blank lines in one read count as one
                if self._tap is not None:
                    self._tap(messages.Direction.IN, line)
                wire = self._on_line(line) or self
                seen += 1
                if seen >= MESSAGES_PER_SLICE or size >= SLICE_BYTES:
                    for _ in range(TURNS_AFTER_LONG if size >= SLICE_BYTES else 1):
                        await anyio.sleep(0)
                    seen = size = 0
                if wire.waiting_bytes > MAX_WAITING_BYTES:
                    await wire.until_room()

    # Ending

    def lose(self, error: messages.ConnectionLost) -> None:
        """Treat the connection as lost. Only the first reason counts."""
        if self.lost is None:
            self.lost = error
        self._outgoing.clear()
        self.waiting_bytes = 0
        self._signal()
        self._taken.set()
        self._on_lost(self.lost)


class Handler(Protocol):
    """What a peer does with messages from the other side."""

    def on_notification(self, method: str, params: Any) -> None:
        """Apply a notification now. Errors are logged."""

    def on_request(self, method: str, params: Any) -> Awaitable[Any]:
        """Accept a request now. The result of the awaitable is the answer.

        Raises RequestFailed, here or in the awaitable, to answer with that error.
        """

    def on_malformed(self, line: bytes, reason: str) -> None:
        """Handle a line that isn't a message."""


class _Pending(Generic[T]):
    def __init__(self, read: Callable[[Any], T], read_error: Callable[[messages.RequestFailed], T] | None) -> None:
        self._read = read
        self._read_error = read_error
        self.answered = anyio.Event()
        self.value: T
        self.error: Exception | None = None

    def settle(self, response: messages.Result | messages.ErrorResponse) -> None:
        try:
            if isinstance(response, messages.Result):
                self.value = self._read(response.value)
            elif self._read_error is not None:
                self.value = self._read_error(response.error)
            else:
                self.error = response.error
        except Exception as error:  # noqa: BLE001 - an unreadable response fails its own call, not the connection
            self.error = error
        self.answered.set()

    def fail(self, error: Exception) -> None:
        self.error = error
        self.answered.set()


class Peer(Wire):
    """A wire whose lines are messages. When it ends, every pending request fails with ConnectionLost."""

    def __init__(self, stream: ByteStream, handler: Handler, *, tap: Tap | None = None) -> None:
        super().__init__(stream, self._receive, self._fail_pending, tap=tap)
        self.handler = handler
        """Serves from the next message on."""
        self._ids = count(1)
        self._pending: messages.Pairing[_Pending[Any]] = messages.Pairing()
        self._handling: messages.Pairing[anyio.CancelScope] = messages.Pairing()
        self._under_way = self._under_way_bytes = 0

    # Sending

    def request(
        self,
        method: str,
        params: Any,
        *,
        read: Callable[[Any], T] = lambda result: result,
        read_error: Callable[[messages.RequestFailed], T] | None = None,
    ) -> Coroutine[Any, Any, T]:
        """Send a request now. Awaiting the result waits for the answer, without a time limit.

        `read` (or `read_error` for an error response) runs inside the read loop, before any later message is handled.
        What it returns or raises is the outcome here. Raises RequestFailed for an error response, and ConnectionLost
        if the connection ends first. Canceling the wait notifies the other side; a late response is still read.
        """
        request_id = next(self._ids)
        pending = _Pending(read, read_error)
        self.send(messages.write_request(request_id, method, params))
        self._pending.ask(messages.Direction.OUT, request_id, pending)
        return self._answer_to(request_id, pending)

    async def _answer_to(self, request_id: int, pending: _Pending[T]) -> T:
        try:
            await pending.answered.wait()
        except anyio.get_cancelled_exc_class():
            if not pending.answered.is_set():
                self.notify(CANCEL_REQUEST, {"requestId": request_id})
            raise
        if pending.error is not None:
            raise pending.error
        return pending.value

    def notify(self, method: str, params: Any) -> None:
        """Send a notification, after everything sent before. Raises ConnectionLost."""
        self.send(messages.write_notification(method, params))

    # Receiving

    def _receive(self, line: bytes) -> None:
        match messages.read_message(line):
            case messages.Notification(method, params):
                self._on_notification(method, params)
            case messages.Request() as request:
                self._on_request(request, len(line))
            case messages.Result() | messages.ErrorResponse() as response:
                self._on_response(response)
            case messages.Malformed(_, reason, answer):
                self.handler.on_malformed(line, reason)
                if answer is not None:
                    self._answer(answer)
            case None:
                pass

    def _on_notification(self, method: str, params: Any) -> None:
        if method == CANCEL_REQUEST:
            request_id = params.get("requestId") if isinstance(params, dict) else None
            scope = self._handling.waiting(messages.Direction.IN, request_id) if request_id is not None else None
            if scope is not None:
                scope.cancel()
            return
        try:
            self.handler.on_notification(method, params)
        except Exception:
            log.exception("a notification %s couldn't be applied and was dropped", method)

    def _on_response(self, response: messages.Result | messages.ErrorResponse) -> None:
        pending = self._pending.answer(messages.Direction.IN, response.id)
        if pending is None:
            log.debug("a response to an unknown request %r was ignored", response.id)
            return
        pending.settle(response)

    def _on_request(self, request: messages.Request, size: int) -> None:
        try:
            self._require_few(size)
            answer = self.handler.on_request(request.method, request.params)
        except Exception as error:  # noqa: BLE001 - the other side must never be left waiting
            self._answer(messages.write_failure(request.id, _as_failure(request.method, error)))
            return
        # Registered now, so that a cancellation right after the request finds it.
        scope = anyio.CancelScope()
        self._handling.ask(messages.Direction.IN, request.id, scope)
        assert self.tasks is not None
        self._under_way += 1
        self._under_way_bytes += size
        self.tasks.start_soon(self._handle, request, answer, scope, size)

    def _require_few(self, size: int) -> None:
        """Raise RequestFailed if another request of `size` bytes would exceed the limits."""
        is_too_much = self._under_way_bytes + size > MAX_UNDER_WAY_BYTES and self._under_way
        if is_too_much or self._under_way >= MAX_UNDER_WAY:
            waiting = f"{self._under_way} others are waiting for answers"
            raise messages.RequestFailed(messages.ErrorCode.INTERNAL_ERROR, f"Too many requests at once: {waiting}")

    async def _handle(
        self, request: messages.Request, answer: Awaitable[Any], scope: anyio.CancelScope, size: int
    ) -> None:
        with scope:
            try:
                await self.until_room()
                frame = await self._result(request.id, await answer)
            except Exception as error:  # noqa: BLE001 - the other side must never be left waiting
                frame = messages.write_failure(request.id, _as_failure(request.method, error))
        self._under_way -= 1
        self._under_way_bytes -= size
        if self._handling.waiting(messages.Direction.IN, request.id) is scope:  # and no later request uses its ID
            self._handling.answer(messages.Direction.OUT, request.id)
        if scope.cancelled_caught:
            cancelled = messages.RequestFailed(messages.ErrorCode.REQUEST_CANCELLED, "Request cancelled")
            frame = messages.write_failure(request.id, cancelled)
        self._answer(frame)

    async def _result(self, request_id: messages.RequestId, value: Any) -> bytes:
        """Return the answer's line. The pieces of a long text count as waiting while it's made."""
        texts = value.values() if isinstance(value, dict) else ()
        size = sum(len(text) for text in texts if isinstance(text, str))
        if size <= messages.PIECE_CHARACTERS:
            return messages.write_result(request_id, value)
        self.waiting_bytes += size
        try:
            pieces = []
            for piece in messages.result_pieces(request_id, value):
                pieces.append(piece)
                await anyio.sleep(0)
            del value, texts  # not needed while all of it is copied
            return b"".join(pieces)
        finally:
            self.waiting_bytes -= size

    def _answer(self, frame: bytes) -> None:
        try:
            self.send(frame)
        except messages.ConnectionLost:
            log.debug("the connection was lost before an answer could be sent")

    # Ending

    def _fail_pending(self, lost: messages.ConnectionLost) -> None:
        pending, self._pending = self._pending, messages.Pairing()
        for waiting in pending.all_waiting(messages.Direction.OUT):
            waiting.fail(lost)


def _as_failure(method: str, error: Exception) -> messages.RequestFailed:
    """The only place that turns an exception into an error on the wire."""
    if isinstance(error, messages.RequestFailed):
        return error
    log.error("the request %s failed", method, exc_info=error)
    return messages.RequestFailed(
        messages.ErrorCode.INTERNAL_ERROR, "Internal error", {"details": str(error) or type(error).__name__}
    )
