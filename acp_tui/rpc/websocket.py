"""A WebSocket as a stream of lines, with one message per frame, for both sides.

Other modules open and serve WebSockets; only they load this module and the library.
"""

from __future__ import annotations

import asyncio
from typing import Any, Final

import anyio
from anyio.abc import ByteStream
from websockets.asyncio.client import ClientConnection
from websockets.asyncio.connection import Connection
from websockets.exceptions import ConnectionClosed
from websockets.frames import CloseCode, Frame, Opcode
from websockets.protocol import State

from acp_tui.rpc.messages import DEFAULT_MAX_FRAME_BYTES, FrameSplitter, FrameTooLarge

MAX_SIZE: Final = DEFAULT_MAX_FRAME_BYTES
"""The largest message; pass it to the library as `max_size`."""
PING_S: Final = 20.0
"""How often each side sends a ping, and how long it waits for the answer."""
CLOSE_LIMIT_S: Final = 2.0
"""How long to wait for the answer to a close frame."""


READ_AHEAD_BYTES: Final = 1 << 20
"""With more unread bytes than this, reading from the network pauses."""
MAX_HEAD_BYTES: Final = 64 << 10
_TEXT: Final = 0x81
"""The first byte of a text message that fits in one frame."""
_PING: Final = 0x89


class LineConnection(ClientConnection):
    """Takes whole text messages from received data, many at a time. The library does the rest.

    The library creates objects for each frame and wakes its reader for it. That costs as much as everything else done
    for a short message here.
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._texts: list[bytes] = []
        self._unread = 0
        self._fragments = bytearray()
        self._changed = asyncio.Event()
        self._pieces: list[bytes] = []
        """Pieces of an incomplete frame or response head."""
        self._missing = 0
        """At least this many bytes are missing to complete it."""
        self._is_full = False
        """Whether sent data waits because the system doesn't take it."""
        self._is_over = False

    async def texts(self) -> bytes:
        """Wait for messages and return all received ones, each with a line end. Raises ConnectionClosed."""
        while not self._texts:
            if self._is_over:
                raise self.close_exc
            self._changed.clear()
            await self._changed.wait()
        # In JSON, a raw line end only occurs between values, where a space means the same.
        lines = [text.replace(b"\n", b" ") if b"\n" in text else text for text in (*self._texts, b"")]
        self._texts.clear()
        if self._unread > READ_AHEAD_BYTES and not self._is_over:
            self.transport.resume_reading()
        self._unread = 0
        return b"\n".join(lines)

    def data_received(self, data: bytes) -> None:
        self._pieces.append(data)
        self._missing -= len(data)
        if self._missing > 0:
            return
        data = b"".join(self._pieces) if len(self._pieces) > 1 else data
        self._pieces.clear()
        if self.protocol.state is State.CONNECTING:
            head, end, rest = data.partition(b"\r\n\r\n")
            if not end and data.startswith(b"HTTP/") and len(data) < MAX_HEAD_BYTES:
                self._pieces.append(data)
                return
            super().data_received(head + end)
            data = rest
        if self.protocol.state is not State.OPEN:
            super().data_received(data)
            return
        at = self._take_frames(data)
        if at < len(data):
            self._pieces.append(data[at:])
        if self._texts:
            self._changed.set()

    def _take_frames(self, data: bytes) -> int:
        """Take the complete frames. Returns where they end."""
        at, end = 0, len(data)
        while True:
            start = at + 2
            if start > end:
                self._missing = start - end
                return at
            length = data[at + 1]
            if length > 125:
                start += 2 if length == 126 else 8
                if start > end:
                    self._missing = start - end
                    return at
                length = MAX_SIZE + 1 if length > 127 else int.from_bytes(data[at + 2 : start])
            stop = start + length
            if length > MAX_SIZE:  # the frame is too large, so the library ends the connection
                super().data_received(data[at:])
                return end
            if stop > end:
                self._missing = stop - end
                return at
            if data[at] == _TEXT:
                self._put(data[start:stop])
            elif data[at] != _PING or not self._is_full:  # an unread answer is no use
                super().data_received(data[at:stop])
            at = stop

    def _put(self, text: bytes) -> None:
        self._texts.append(text)
        was_little = self._unread <= READ_AHEAD_BYTES
        self._unread += len(text)
        if was_little and self._unread > READ_AHEAD_BYTES:
            self.transport.pause_reading()

    def process_event(self, event: Any) -> None:
        if not (isinstance(event, Frame) and event.opcode in (Opcode.TEXT, Opcode.BINARY, Opcode.CONT)):
            super().process_event(event)
            return
        self._fragments += event.data
        if event.fin:
            self._put(bytes(self._fragments))
            self._fragments.clear()
            self._changed.set()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._is_full = True

    def resume_writing(self) -> None:
        super().resume_writing()
        self._is_full = False

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._is_over = True
        self._changed.set()


class WebSocketStream(ByteStream):
    """The lines of an open connection. Binary frames count as text: some servers send nothing else."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._outgoing = FrameSplitter()
        self._closed: ConnectionClosed | None = None

    async def receive(self, max_bytes: int = 65536) -> bytes:
        """Return the next messages whole, with their line ends: they're in memory anyway, so `max_bytes` is ignored.

        Raises EndOfStream and FrameTooLarge.
        """
        try:
            if isinstance(self._connection, LineConnection):
                return await self._connection.texts()
            message = await self._connection.recv(decode=False)
        except ConnectionClosed as closed:
            self._closed = closed
            if closed.sent is not None and closed.sent.code == CloseCode.MESSAGE_TOO_BIG:
                raise FrameTooLarge(MAX_SIZE) from None
            raise anyio.EndOfStream from None
        return (message.replace(b"\n", b" ") if b"\n" in message else message) + b"\n"

    async def send(self, item: bytes) -> None:
        """Send each complete line. Waits while the other side takes nothing. Raises BrokenResourceError."""
        for line in self._outgoing.feed(item):
            try:
                await self._connection.send(line, text=True)
            except ConnectionClosed as closed:
                self._closed = closed
                raise anyio.BrokenResourceError from None

    async def send_eof(self) -> None:
        """Close the connection: a WebSocket can't be half-closed."""
        await self.aclose()

    async def aclose(self) -> None:
        await self._connection.close()

    @property
    def close_code(self) -> int | None:
        """The other side's close code; None if it hasn't sent one."""
        return None if self._closed is None or self._closed.rcvd is None else self._closed.rcvd.code

    @property
    def end(self) -> str:
        """Describe how it ended, such as "closed the connection (1011: internal error)"."""
        if self._closed is None:
            return "is still connected"
        said = self._closed.rcvd
        if said is None:
            is_silent = self._closed.sent is not None and "ping" in self._closed.sent.reason
            return "no longer answers" if is_silent else "can't be reached: the connection broke"
        reason = f": {said.reason}" if said.reason else ""
        is_ordinary = said.code in (CloseCode.NORMAL_CLOSURE, CloseCode.GOING_AWAY)
        return f"closed the connection{reason if is_ordinary else f' ({said.code}{reason})'}"
