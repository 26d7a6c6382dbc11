"""HTTP/1.1 connections for `streamable_http`. httpx uses them, but this module reads the body of an event stream.

The libraries pass each chunk of a body through half a dozen layers, which costs four times as much as all other work on
a short message. This module takes everything that has arrived at once. `streamable_http` interprets it.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Final, cast

import anyio
import httpcore
import httpx

READ_AHEAD_BYTES: Final = 64 << 10
"""With this many bytes unread, stop reading from the network."""
MAX_IDLE_S: Final = 1.0
"""A connection that was idle for longer isn't used again. Servers close idle ones, many after 5 s (Node, uvicorn), some
after 2 s: a message that crosses the end would be lost, and nobody knows whether the server has read it."""
CLOSE_LIMIT_S: Final = 0.5
"""How long a connection that we close waits for the other side to close it too."""
NEXT_ADDRESS_S: Final = 0.25
"""For a name with several addresses, how long to wait before trying the next one (RFC 8305)."""
MAX_HEAD_BYTES: Final = 64 << 10
MAX_SIZE_LINE: Final = 4 << 10
"""Bytes of the line that contains a chunk's length."""


class Transport(httpx.AsyncBaseTransport):
    """Carries httpx's requests. Raises httpcore's exceptions, or OSError from the system."""

    def __init__(self, tls: ssl.SSLContext | None, proxy: httpcore.Proxy | None, socket_options: Iterable[Any]) -> None:
        self._pool = httpcore.AsyncConnectionPool(
            ssl_context=tls,
            proxy=proxy,
            max_connections=None,
            keepalive_expiry=MAX_IDLE_S,
            network_backend=_Network(),
            socket_options=socket_options,
        )

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request and return the response once its head has arrived."""
        url = request.url
        response = await self._pool.handle_async_request(
            httpcore.Request(
                request.method,
                httpcore.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path),
                headers=request.headers.raw,
                content=request.stream,
                extensions=request.extensions,
            )
        )
        body = _Body(response.stream)
        return httpx.Response(response.status, headers=response.headers, stream=body, extensions=response.extensions)

    async def aclose(self) -> None:
        """Close all connections."""
        await self._pool.aclose()


class _Body(httpx.AsyncByteStream):
    def __init__(self, stream: Any) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for part in self._stream:
            yield part

    async def aclose(self) -> None:
        await self._stream.aclose()


def proxy_at(url: str) -> httpcore.Proxy:
    """The proxy at an address from the environment. Raises ValueError and httpx.InvalidURL, without the password."""
    parts = httpx.Proxy(url)
    where = httpcore.URL(
        scheme=parts.url.raw_scheme, host=parts.url.raw_host, port=parts.url.port, target=parts.url.raw_path
    )
    return httpcore.Proxy(where, auth=parts.raw_auth)


async def body_of(response: httpx.Response) -> AsyncIterator[bytes]:
    """The body of the response to a GET, each piece as long as what has arrived. Raises httpcore's exceptions."""
    is_chunked = response.headers.get("Transfer-Encoding", "").lower() == "chunked"
    if not is_chunked:
        async for data in response.aiter_raw():
            yield data
        return
    connection, chunks = response.extensions["network_stream"], Chunks()
    assert isinstance(connection, Connection)
    while not chunks.is_over:
        received = await connection.read(READ_AHEAD_BYTES)
        if not received:
            raise httpcore.RemoteProtocolError("the body ended without its last chunk")
        yield chunks.feed(received)


class Chunks:
    """Removes the framing from a chunked body (RFC 9112, section 7.1)."""

    def __init__(self) -> None:
        self.is_over = False
        self._kept = b""
        """The beginning of a line that contains a chunk's length."""
        self._left = 0
        """Bytes left in the current chunk, including the newline after it."""

    def feed(self, data: bytes) -> bytes:
        """The content of the received data. Raises httpcore.RemoteProtocolError."""
        data = self._kept + data if self._kept else data
        pieces: list[bytes] = []
        at, end = 0, len(data)
        while at < end:
            left = self._left
            if left == 0:
                line_end = data.find(b"\r\n", at)
                if line_end < 0:
                    break
                left = _size(data[at:line_end]) + 2
                at = line_end + 2
                if left == 2:
                    self.is_over = True
                    return b"".join(pieces)
            stop = at + left
            pieces.append(data[at : max(stop - 2, at)])
            self._left = stop - end if stop > end else 0
            at = stop
        self._kept = data[at:]
        if len(self._kept) > MAX_SIZE_LINE:
            raise httpcore.RemoteProtocolError("a chunk doesn't say how long it is")
        return b"".join(pieces)


def _size(line: bytes) -> int:
    try:
        size = int(line.partition(b";")[0], 16)
    except ValueError:
        size = -1
    if size < 0:
        raise httpcore.RemoteProtocolError("a chunk doesn't say how long it is")
    return size


# The network


class _Network(httpcore.AsyncNetworkBackend):
    """Opens connections. Raises OSError."""

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> Connection:
        """Connect to one of the addresses of a name."""
        loop = asyncio.get_running_loop()
        with _limited(timeout, httpcore.ConnectTimeout):
            transport, received = await loop.create_connection(
                _Received, host, port, happy_eyeballs_delay=NEXT_ADDRESS_S
            )
        for option in socket_options or ():
            transport.get_extra_info("socket").setsockopt(*option)
        return Connection(transport, received)

    async def sleep(self, seconds: float) -> None:
        """Wait between two attempts."""
        await anyio.sleep(seconds)


class Connection(httpcore.AsyncNetworkStream):
    """One connection, over TCP or TLS."""

    def __init__(self, transport: asyncio.Transport, received: _Received) -> None:
        self._transport = transport
        self._received = received
        self._awaits_head = False
        """The library gets the head of the next response, but not its body."""
        self._kept = b""

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """Everything that has arrived, even if it's more than `max_bytes`; empty at the end."""
        with _limited(timeout, httpcore.ReadTimeout):
            if self._awaits_head:
                return await self._read_head()
            if self._kept:
                data, self._kept = self._kept, b""
                return data
            return await self._received.take()

    async def _read_head(self) -> bytes:
        while (end := self._kept.find(b"\r\n\r\n")) < 0:
            is_head = len(self._kept) <= MAX_HEAD_BYTES and b"HTTP/".startswith(self._kept[:5])
            data = await self._received.take() if is_head else b""
            if not data:
                end = len(self._kept)
                break
            self._kept += data
        head, self._kept = self._kept[: end + 4], self._kept[end + 4 :]
        self._awaits_head = head.startswith(
            b"HTTP/1.1 1"
        )  # a 103 Early Hints, for example, is followed by another head
        return head

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Pass all of it to the system."""
        if not buffer:  # the library's end of a request without a body
            return
        self._awaits_head = buffer.startswith(b"GET ")
        if self._received.is_over:
            raise httpcore.WriteError("the connection broke off")
        self._transport.write(buffer)
        with _limited(timeout, httpcore.WriteTimeout):
            await self._received.until_written()
        if self._received.is_over:
            raise httpcore.WriteError("the connection broke off")

    async def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> Connection:
        """The same connection with TLS. Raises OSError, including ssl.SSLError."""
        loop = asyncio.get_running_loop()
        with _limited(timeout, httpcore.ConnectTimeout):
            transport = await loop.start_tls(
                self._transport, self._received, ssl_context, server_hostname=server_hostname
            )
        if transport is None:
            raise ConnectionResetError("the connection broke off")
        self._received.follow(transport)
        return Connection(transport, self._received)

    async def aclose(self) -> None:
        """Close the connection. Waits only briefly for TLS to close."""
        self._transport.close()
        with anyio.move_on_after(CLOSE_LIMIT_S, shield=True) as limit:
            await self._received.until_over()
        if limit.cancelled_caught:
            self._transport.abort()

    def get_extra_info(self, info: str) -> Any:
        """Information that the library asks for; None for what it doesn't need."""
        if info == "is_readable":  # readable without a request: the other side has closed it
            return self._received.has_some or self._received.is_over
        return self._transport.get_extra_info(info)


class _Received(asyncio.Protocol):
    """The data that has arrived on a connection and hasn't been taken yet."""

    def __init__(self) -> None:
        self.is_over = False
        self._transport: asyncio.Transport
        self._pieces: list[bytes] = []
        self._unread = 0
        self._error: Exception | None = None
        self._came = asyncio.Event()
        self._written = asyncio.Event()
        self._written.set()
        self._over = asyncio.Event()

    @property
    def has_some(self) -> bool:
        """Whether data has arrived."""
        return bool(self._pieces)

    async def take(self) -> bytes:
        """Everything that has arrived; empty at the end. Raises httpcore.ReadError."""
        while not self._pieces:
            if self.is_over:
                if self._error is not None:
                    raise httpcore.ReadError(str(self._error)) from self._error
                return b""
            self._came.clear()
            await self._came.wait()
        data = self._pieces[0] if len(self._pieces) == 1 else b"".join(self._pieces)
        self._pieces.clear()
        if self._unread > READ_AHEAD_BYTES and not self.is_over:
            self._transport.resume_reading()
        self._unread = 0
        return data

    async def until_written(self) -> None:
        """Wait until the system has taken everything that was written."""
        await self._written.wait()

    async def until_over(self) -> None:
        """Wait for the end."""
        await self._over.wait()

    def follow(self, transport: asyncio.Transport) -> None:
        """Receive from this transport from now on."""
        self._transport = transport
        transport.set_write_buffer_limits(high=0)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The connection is open."""
        self.follow(cast(asyncio.Transport, transport))

    def data_received(self, data: bytes) -> None:
        """Data has arrived."""
        self._pieces.append(data)
        was_little = self._unread <= READ_AHEAD_BYTES
        self._unread += len(data)
        if was_little and self._unread > READ_AHEAD_BYTES:
            self._transport.pause_reading()
        self._came.set()

    def pause_writing(self) -> None:
        """The system's buffer is full."""
        self._written.clear()

    def resume_writing(self) -> None:
        """The system's buffer has room again."""
        self._written.set()

    def connection_lost(self, exc: Exception | None) -> None:
        """No more data will arrive."""
        self.is_over = True
        self._error = exc
        for event in (self._came, self._written, self._over):
            event.set()


@contextmanager
def _limited(timeout: float | None, error: type[httpcore.TimeoutException]) -> Iterator[None]:
    with anyio.move_on_after(timeout) as limit:
        yield
    if limit.cancelled_caught:
        raise error(f"after {timeout:g} s")
