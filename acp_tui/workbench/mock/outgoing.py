"""What goes to the client: lines in their order, many in one write; when they are said is not its matter."""

from __future__ import annotations

import math
from typing import Final

import anyio
from anyio.abc import ByteStream

ROOM_BYTES: Final = 64 << 10
"""Of lines that wait to be written: a client that departs is heard before more is said."""
PIECE_BYTES: Final = 16 << 10
"""So much is taken at a time: what a client takes of a long line counts, too."""


class Outgoing:
    """Lines for one stream, written by one task. With a timeout, a client that takes nothing is not waited for."""

    def __init__(self, stream: ByteStream, timeout_s: float = math.inf) -> None:
        self._stream = stream
        self._timeout_s = timeout_s
        self._lines: list[bytes] = []
        self._bytes = 0
        self._changed = anyio.Event()

    def put(self, line: bytes) -> None:
        """Say it, behind all that was said before."""
        self._lines.append(line)
        self._bytes += len(line)
        if len(self._lines) == 1:  # else nobody waits for it
            self._signal()

    async def has_room(self) -> None:
        """Wait until the client has taken enough."""
        while self._bytes > ROOM_BYTES:
            await self._changed.wait()

    async def is_empty(self) -> None:
        """Wait until the client has taken all."""
        while self._bytes:
            await self._changed.wait()

    async def write(self) -> None:
        """Write until this is cancelled.

        Raises BrokenResourceError when nobody can read, TimeoutError when nobody does.
        """
        while True:
            while not self._lines:
                await self._changed.wait()
            lines, self._lines = self._lines, []
            await self._send(b"\n".join([*lines, b""]))
            self._bytes -= sum(map(len, lines))
            self._signal()

    async def _send(self, data: bytes) -> None:
        for start in range(0, len(data), PIECE_BYTES):
            with anyio.fail_after(self._timeout_s):
                await self._stream.send(data[start : start + PIECE_BYTES])

    def _signal(self) -> None:
        self._changed.set()
        self._changed = anyio.Event()
