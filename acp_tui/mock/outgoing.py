"""What goes to the client: lines in their order, many in one write; when they are said is not its matter."""

from __future__ import annotations

from typing import Final

import anyio
from anyio.abc import ByteStream

ROOM_BYTES: Final = 64 << 10
"""Of lines that wait to be written: a client that departs is heard before more is said."""


class Outgoing:
    """Lines for one stream, written by one task."""

    def __init__(self, stream: ByteStream) -> None:
        self._stream = stream
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
        """Write until this is cancelled. Raises BrokenResourceError when nobody reads."""
        while True:
            while not self._lines:
                await self._changed.wait()
            lines, self._lines = self._lines, []
            await self._stream.send(b"\n".join([*lines, b""]))
            self._bytes -= sum(map(len, lines))
            self._signal()

    def _signal(self) -> None:
        self._changed.set()
        self._changed = anyio.Event()
