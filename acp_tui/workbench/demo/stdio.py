"""The process's own stdin and stdout as one byte stream; it knows nothing of what is sent."""

from __future__ import annotations

import os
import select
from collections.abc import Awaitable, Callable

import anyio
from anyio.abc import ByteStream

STDIN_FD = 0
STDOUT_FD = 1


class StdioStream(ByteStream):
    """Reads what the parent writes and writes what it reads, without a thread."""

    def __init__(self) -> None:
        self._sending = anyio.Lock()

    async def receive(self, max_bytes: int = 65536) -> bytes:
        """The next bytes. Raises EndOfStream when the parent closed its end."""
        await _ready(anyio.wait_readable, STDIN_FD)
        data = os.read(STDIN_FD, max_bytes)
        if not data:
            raise anyio.EndOfStream
        return data

    async def send(self, item: bytes) -> None:
        """Write all of `item`; two senders never mix. Raises BrokenResourceError when nobody reads."""
        rest = memoryview(item)
        async with self._sending:
            while rest:
                await _ready(anyio.wait_writable, STDOUT_FD)
                try:
                    # A pipe that is ready takes this much without blocking, and promises no more.
                    written = os.write(STDOUT_FD, rest[: select.PIPE_BUF])
                except BrokenPipeError as error:
                    raise anyio.BrokenResourceError from error
                rest = rest[written:]

    async def send_eof(self) -> None:
        """Close stdout."""
        os.close(STDOUT_FD)

    async def aclose(self) -> None:
        """Nothing: the descriptors belong to the process."""


async def _ready(wait: Callable[[int], Awaitable[None]], fd: int) -> None:
    try:
        await wait(fd)
    except PermissionError:
        # A plain file or /dev/null, which epoll refuses: it is always ready.
        await anyio.sleep(0)
