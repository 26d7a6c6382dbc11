"""A WebSocket as a stream of lines, with one message per frame, for both sides.

Other modules open and serve WebSockets; only they load this module and the library.
"""

from __future__ import annotations

from typing import Final

import anyio
from anyio.abc import ByteStream
from websockets.asyncio.connection import Connection
from websockets.exceptions import ConnectionClosed
from websockets.frames import CloseCode

from acp_tui.rpc.messages import DEFAULT_MAX_FRAME_BYTES, FrameSplitter, FrameTooLarge

MAX_SIZE: Final = DEFAULT_MAX_FRAME_BYTES
"""The largest message; pass it to the library as `max_size`."""
PING_S: Final = 20.0
"""How often each side sends a ping, and how long it waits for the answer."""
CLOSE_LIMIT_S: Final = 2.0
"""How long to wait for the answer to a close frame."""


class WebSocketStream(ByteStream):
    """The lines of an open connection. Binary frames count as text: some servers send nothing else."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._outgoing = FrameSplitter()
        self._closed: ConnectionClosed | None = None

    async def receive(self, max_bytes: int = 65536) -> bytes:
        """Return the next message whole, with its line end: it's in memory anyway, so `max_bytes` is ignored.

        Raises EndOfStream and FrameTooLarge.
        """
        try:
            message = await self._connection.recv(decode=False)
        except ConnectionClosed as closed:
            self._closed = closed
            if closed.sent is not None and closed.sent.code == CloseCode.MESSAGE_TOO_BIG:
                raise FrameTooLarge(MAX_SIZE) from None
            raise anyio.EndOfStream from None
        # In JSON, a raw line end only occurs between values, where a space means the same.
        return message.replace(b"\n", b" ") + b"\n"

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
