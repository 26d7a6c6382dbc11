"""A connected pair of byte streams in memory, for two sides in one process."""

from __future__ import annotations

import anyio
from anyio.abc import ByteStream
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream


class MemoryStream(ByteStream):
    """One end of the pair."""

    def __init__(self, outgoing: MemoryObjectSendStream[bytes], incoming: MemoryObjectReceiveStream[bytes]) -> None:
        self._outgoing = outgoing
        self._incoming = incoming
        self._rest = b""

    async def send(self, item: bytes) -> None:
        """Pass `item` to the other end; wait while it hasn't taken the previous one."""
        await self._outgoing.send(item)

    async def receive(self, max_bytes: int = 65536) -> bytes:
        """The next bytes, at most `max_bytes`. Raises EndOfStream."""
        data = self._rest or await self._incoming.receive()
        self._rest = data[max_bytes:]
        return data[:max_bytes]

    async def send_eof(self) -> None:
        """End this direction; the other stays open."""
        await self._outgoing.aclose()

    async def aclose(self) -> None:
        """End both directions."""
        await self._outgoing.aclose()
        await self._incoming.aclose()


def connected_pair() -> tuple[MemoryStream, MemoryStream]:
    """Two ends; each receives what the other sends."""
    there_send, there_receive = anyio.create_memory_object_stream[bytes](16)
    back_send, back_receive = anyio.create_memory_object_stream[bytes](16)
    return MemoryStream(there_send, back_receive), MemoryStream(back_send, there_receive)
