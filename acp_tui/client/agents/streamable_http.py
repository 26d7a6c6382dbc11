"""Streamable HTTP as a stream of lines. Each message from us is a POST; the agent's arrive as server-sent events.

There is one event stream for the connection and one for each session (RFD "Streamable HTTP and WebSocket transport").
"""

from __future__ import annotations

import socket
import ssl
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from http import HTTPStatus
from typing import Final

import anyio
from anyio.abc import TaskGroup, TaskStatus

from acp_tui.client.agents import remote_errors
from acp_tui.client.agents.address import Address
from acp_tui.rpc import messages
from acp_tui.rpc.messages import DEFAULT_MAX_FRAME_BYTES

try:
    import httpx
except ImportError as error:
    raise remote_errors.missing(error) from error

ACCEPT_TIMEOUT_S: Final = 30.0
"""How long a server may take to accept a message. Its answer arrives as an event."""
CLOSE_LIMIT_S: Final = 2.0
QUIET_S: Final = 0.1
"""A session's stream that is silent for this long has nothing in transit."""
REPLAY_LIMIT_S: Final = 5.0
"""How long the answer that ends a replay waits for the rest of the replay."""
MAX_NAME: Final = 4096
"""Characters of a connection or session ID, which we send in a header."""
MAX_REFUSAL_BYTES: Final = 64 << 10
"""The part we read of a response that isn't a success."""
READ_AHEAD: Final = 8
"""Blocks of messages waiting to be read. With more, we stop reading from the network."""
KEEPALIVE: Final[Sequence[tuple[int, int, int]]] = (
    (socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1),
    *((socket.IPPROTO_TCP, getattr(socket, name), value)
      for name, value in (("TCP_KEEPIDLE", 20), ("TCP_KEEPINTVL", 10), ("TCP_KEEPCNT", 2))
      if hasattr(socket, name)),
)  # fmt: skip
"""HTTP has no pings, so the system has to notice that the other side is gone."""
_GONE: Final = frozenset({401, 403, 404, 410})
"""The connection is gone, according to the RFD."""
_REOPENING: Final = frozenset({"session/load", "session/resume"})
"""The server may keep the broken connection for a while. That's no reason to begin another session."""
_BEGINNING: Final = frozenset({"session/new", "session/fork"})
_EVENTS: Final = "text/event-stream"
_PATIENT: Final = httpx.Timeout(None, connect=remote_errors.OPEN_LIMIT_S)
"""An event stream may be silent as long as the agent works."""
_LIMITS: Final = httpx.Limits(max_connections=None, keepalive_expiry=1.0)
"""A connection that was idle for longer isn't used again. Servers close idle ones, many after 5 s (Node, uvicorn), some
after 2 s: a message that crosses the end would be lost, and nobody knows whether the server has read it."""
_BROKEN: Final = (httpx.HTTPError, messages.FrameTooLarge, OSError)


class HttpStream(remote_errors.RemoteStream):
    """Lines of one connection. It opens with the first message, `initialize`."""

    def __init__(self, url: str, client: httpx.AsyncClient, tasks: TaskGroup, proxy: str | None = None) -> None:
        self._url = url
        self._proxy = proxy
        self._client = client
        self._tasks = tasks
        self._send_block, self._blocks = anyio.create_memory_object_stream[bytes](READ_AHEAD)
        self._outgoing = messages.FrameSplitter()
        self._connection_id = ""
        self._streams: dict[str, anyio.Event] = {}
        """By session, "" for the connection: set once the server has accepted it."""
        self._read: dict[str, int] = {}
        """By session, the number of bytes received."""
        self._asked: messages.Recent[messages.Key, str] = messages.Recent()
        """The agent's unanswered requests, and the session whose stream they came on."""
        self._loading: dict[messages.Key, str] = {}
        """Our requests that are answered after a replay, and the session whose stream carries the replay."""
        self._beginning: set[messages.Key] = set()
        """Our requests whose answer contains the ID of a new session."""
        self._refusals: dict[str, remote_errors.Ended] = {}
        """By session, why the server doesn't open its stream."""
        self._closed: set[str] = set()
        """Sessions that we have closed, so their streams may end."""
        self._ended: remote_errors.Ended | None = None

    @property
    def ended(self) -> remote_errors.Ended:
        return self._ended or remote_errors.Ended("was left")

    # Lines

    async def receive(self, max_bytes: int = 65536) -> bytes:
        """The next complete messages, whatever `max_bytes` says. Raises EndOfStream."""
        return await self._blocks.receive()

    async def send(self, item: bytes) -> None:
        """Post each complete line, one after the other so that they arrive in order. Raises BrokenResourceError."""
        for line in self._outgoing.feed(item):
            if self._ended is None:
                await self._post(line)
            if self._ended is not None:
                raise anyio.BrokenResourceError

    async def send_eof(self) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close it, and tell the server to forget it."""
        if self._connection_id and self._ended is None:
            with suppress(*_BROKEN), anyio.move_on_after(CLOSE_LIMIT_S):
                await self._client.delete(self._url, headers=self._names(""))

    def _how(self, error: Exception) -> remote_errors.Ended:
        match error:
            case messages.FrameTooLarge():
                return remote_errors.Ended(f"broke the protocol: it sent {error}", is_temporary=False)
            case httpx.ConnectTimeout():
                return remote_errors.failure(TimeoutError(), self._proxy)
            case httpx.TimeoutException() | TimeoutError():
                return remote_errors.Ended(f"hasn't answered within {ACCEPT_TIMEOUT_S:g} s")
            case httpx.ProxyError():
                return remote_errors.proxy_refusal(self._proxy or "", f"HTTP {error}")
            case httpx.RemoteProtocolError() if not self._connection_id and not _is_cut(error):
                return remote_errors.Ended("doesn't speak HTTP", is_temporary=False)
            case httpx.ConnectError() if (cause := _cause_of(error)) is not None:
                return remote_errors.failure(cause, self._proxy)
        return remote_errors.Ended("can't be reached: the connection broke")

    def _end(self, ended: remote_errors.Ended) -> None:
        if self._ended is None:
            self._ended = ended
            self._send_block.close()
            self._tasks.cancel_scope.cancel()

    # Sending

    async def _post(self, line: bytes) -> None:
        message = messages.decode(line)
        method, params = message.get("method"), message.get("params")
        key = messages.key_of(message.get("id"))
        if method is None:
            session_id = self._asked.pop(key, "") if key is not None else ""
        else:
            session_id = params.get("sessionId", "") if isinstance(params, dict) else ""
        is_request = method is not None and "id" in message
        try:
            if not self._connection_id:
                await self._initialize(line)
                return
            if not _is_name(session_id):
                self._end(remote_errors.Ended("sent a session id that can't be sent back", is_temporary=False))
                return
            refused = await self._open(session_id) if session_id else None
            if refused is None:
                if is_request and key is not None and method == "session/load":
                    self._loading[key] = session_id
                if is_request and key is not None and method in _BEGINNING:
                    self._beginning.add(key)
                response, content = await self._send_post(line, self._names(session_id))
                refused = await self._take_response(response, content)
        except _BROKEN as error:
            self._end(self._how(error))
            return
        if refused is None:
            if method in ("session/close", "session/delete"):
                self._closed.add(session_id)
        elif is_request and not (refused.is_temporary and method in _REOPENING):
            what = messages.RequestFailed(messages.ErrorCode.INTERNAL_ERROR, f"the server {refused.how}")
            await self._deliver([messages.write_failure(message["id"], what)])
        elif is_request or method is None:  # it may work later; without an answer from us, the agent would wait forever
            self._end(refused)

    async def _send_post(self, line: bytes, headers: Mapping[str, str]) -> tuple[httpx.Response, bytes]:
        """The response and its content, limited to the size of a message. Raises FrameTooLarge."""
        content = bytearray()
        with anyio.fail_after(ACCEPT_TIMEOUT_S):  # the limit includes the content: a byte now and then isn't an answer
            async with self._client.stream("POST", self._url, content=line, headers=headers) as response:
                is_message = response.status_code == HTTPStatus.OK
                async for data in response.aiter_raw():  # without decompressing, which could produce any size
                    content += data
                    if is_message and len(content) > DEFAULT_MAX_FRAME_BYTES:
                        raise messages.FrameTooLarge(DEFAULT_MAX_FRAME_BYTES)
                    if not is_message and len(content) > MAX_REFUSAL_BYTES:
                        break
        return response, bytes(content)

    async def _initialize(self, line: bytes) -> None:
        response, content = await self._send_post(line, {})
        if response.status_code != HTTPStatus.OK:
            self._end(remote_errors.refusal(response.status_code, response.headers.get("Location")))
            return
        self._connection_id = response.headers.get("Acp-Connection-Id", "")
        if not self._connection_id or not _is_name(self._connection_id):
            said = response.headers.get("Content-Type", "").partition(";")[0]
            hint = "is it the address of an agent? many are at /acp, and some only speak wss://"
            how = f"doesn't speak ACP over HTTP: its answer ({said}) doesn't name a connection"
            self._end(remote_errors.Ended(how, hint, is_temporary=False))
            return
        if await self._open("") is None:
            await self._take_response(response, content)

    async def _take_response(self, response: httpx.Response, content: bytes) -> remote_errors.Ended | None:
        """Why the message wasn't accepted."""
        if response.status_code in _GONE:
            self._end(remote_errors.refusal(response.status_code))
            return None
        if not response.is_success:
            return remote_errors.refusal(response.status_code, response.headers.get("Location"))
        if response.status_code == HTTPStatus.OK and content.strip():
            await self._deliver([content.replace(b"\n", b" ")])
        return None

    def _names(self, session_id: str) -> dict[str, str]:
        of_session = {"Acp-Session-Id": session_id} if session_id else {}
        return {"Acp-Connection-Id": self._connection_id, **of_session}

    # Receiving

    async def _open(self, session_id: str) -> remote_errors.Ended | None:
        """Open the session's event stream. None once it's open, otherwise why the server refuses it."""
        opened = self._streams.get(session_id)
        if opened is None:
            self._closed.discard(session_id)
            self._streams[session_id] = opened = anyio.Event()
            self._tasks.start_soon(self._listen, session_id, opened)
        await opened.wait()
        return None if session_id in self._streams else self._refusals.pop(session_id, self.ended)

    async def _listen(self, session_id: str, opened: anyio.Event) -> None:
        headers = {**self._names(session_id), "Accept": _EVENTS}
        get = self._client.stream("GET", self._url, headers=headers, timeout=_PATIENT)
        try:
            async with AsyncExitStack() as stack:
                with anyio.fail_after(ACCEPT_TIMEOUT_S):
                    response = await stack.enter_async_context(get)
                kind = response.headers.get("Content-Type", "")
                if response.status_code != HTTPStatus.OK or not kind.startswith(_EVENTS):
                    self._refused(session_id, remote_errors.refusal(response.status_code))
                    return
                opened.set()
                await self._read_events(session_id, response)
            if session_id not in self._closed:
                self._end(remote_errors.Ended("closed the connection"))
        except _BROKEN as error:
            if session_id not in self._closed:
                self._end(self._how(error))
        finally:
            self._streams.pop(session_id, None)
            opened.set()

    def _refused(self, session_id: str, why: remote_errors.Ended) -> None:
        """Note why a stream was refused. Without the connection's own stream, the connection ends.

        A session's stream may belong to another client, or its session may be gone.
        """
        self._refusals[session_id] = why
        if not session_id:
            self._end(why)

    async def _read_events(self, session_id: str, response: httpx.Response) -> None:
        events = _Events()
        async for data in response.aiter_raw():
            self._read[session_id] = self._read.get(session_id, 0) + len(data)
            lines = []
            for message in events.feed(data):
                if b'"id"' not in message or not self._note(session_id, message):
                    lines.append(message)
            await self._deliver(lines)

    async def _deliver(self, lines: Sequence[bytes]) -> None:
        if lines:
            with suppress(anyio.ClosedResourceError, anyio.BrokenResourceError):
                await self._send_block.send(b"\n".join((*lines, b"")))

    def _note(self, session_id: str, line: bytes) -> bool:
        """Note requests and answers. True if the message will be delivered later."""
        message = messages.decode(line)  # its reader reports what can't be read
        if not isinstance(message, dict) or (key := messages.key_of(message.get("id"))) is None:
            return False
        if "method" in message:
            if session_id:
                self._asked[key] = session_id
            return False
        if key in self._beginning:
            self._beginning.remove(key)
            result = message.get("result")
            new = result.get("sessionId") if isinstance(result, dict) else None
            if isinstance(new, str) and new and new not in self._streams and _is_name(new):
                self._tasks.start_soon(self._open, new)
        loaded = self._loading.pop(key, "")
        if loaded and loaded != session_id:
            self._tasks.start_soon(self._deliver_behind_replay, loaded, line)
            return True
        return False

    async def _deliver_behind_replay(self, session_id: str, line: bytes) -> None:
        """Deliver an answer after the replay it ends, which comes on another stream and may be late."""
        with anyio.move_on_after(REPLAY_LIMIT_S):
            before = -1
            while before != (before := self._read.get(session_id, 0)):
                await anyio.sleep(QUIET_S)
        await self._deliver([line])


def _is_name(given: str) -> bool:
    return given.isascii() and (given.isprintable() or not given) and len(given) <= MAX_NAME


def _cause_of(error: BaseException) -> OSError | None:
    """What the system said, below the libraries' own errors."""
    found = None
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, BaseExceptionGroup):  # of the addresses of a name
            cause = cause.exceptions[0]
        found = cause if isinstance(cause, OSError) else found
        cause = cause.__cause__ or cause.__context__
    return found


def _is_cut(error: httpx.RemoteProtocolError) -> bool:
    """Whether the connection ended mid-message, rather than carrying something other than HTTP."""
    return any(word in str(error) for word in ("disconnected", "closed", "ended"))


class _Events:
    def __init__(self) -> None:
        self._lines = messages.FrameSplitter(DEFAULT_MAX_FRAME_BYTES)
        self._parts: list[bytes] = []
        self._size = 0

    def feed(self, data: bytes) -> list[bytes]:
        """The messages completed by the received data. Raises FrameTooLarge."""
        if b"\r" in data:  # in JSON it only occurs between values
            data = data.replace(b"\r", b"")
        lines, parts = [], self._parts
        for line in self._lines.feed(data):
            if line[:5] == b"data:":
                parts.append(line[5:])
                self._size += len(line)
                if self._size > DEFAULT_MAX_FRAME_BYTES:
                    raise messages.FrameTooLarge(DEFAULT_MAX_FRAME_BYTES)
            elif not line and parts:
                lines.append(parts[0] if len(parts) == 1 else b" ".join(parts))
                parts.clear()
                self._size = 0
        return lines


async def _hold(*, task_status: TaskStatus[TaskGroup]) -> None:
    """A task group that can be cancelled without cancelling the reader of the stream, which gets an error."""
    async with anyio.create_task_group() as tasks:
        task_status.started(tasks)
        await anyio.sleep_forever()


@asynccontextmanager
async def opened_http(address: Address, headers: Mapping[str, str]) -> AsyncIterator[HttpStream]:
    """The agent's lines until the block ends. Connects with the first message."""
    proxy, is_sealed = remote_errors.proxy_for(address), address.url.startswith("https:")
    try:
        transport = httpx.AsyncHTTPTransport(
            # Without certificates, which take long to load, it trusts nobody.
            verify=ssl.create_default_context() if is_sealed else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT),
            proxy=proxy,
            limits=_LIMITS,
            socket_options=KEEPALIVE,
        )
    except (ImportError, ValueError, RuntimeError, httpx.InvalidURL) as error:
        raise remote_errors.Ended(f"can't be reached through the proxy: {error}").of(address.host) from None
    client = httpx.AsyncClient(
        headers={**headers, "Content-Type": "application/json", "Accept-Encoding": "identity"},
        timeout=httpx.Timeout(ACCEPT_TIMEOUT_S, connect=remote_errors.OPEN_LIMIT_S, pool=None),
        transport=transport,
    )
    async with client, anyio.create_task_group() as outer:
        tasks: TaskGroup = await outer.start(_hold)
        stream = HttpStream(address.url, client, tasks, proxy)
        try:
            yield stream
        finally:
            with anyio.CancelScope(shield=True):
                await stream.aclose()
            tasks.cancel_scope.cancel()
