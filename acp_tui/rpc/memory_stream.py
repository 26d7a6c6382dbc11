"""A connected pair of byte streams in memory, for two sides in one process."""

from __future__ import annotations

import anyio
from anyio.abc import ByteStream, ObjectReceiveStream, ObjectSendStream
from anyio.streams.buffered import BufferedByteStream
from anyio.streams.stapled import StapledObjectStream


def memory_stream(outgoing: ObjectSendStream[bytes], incoming: ObjectReceiveStream[bytes]) -> ByteStream:
    """One end of a pair. A send waits while the other end hasn't taken the one before."""
    return BufferedByteStream(StapledObjectStream(outgoing, incoming))


def connected_pair() -> tuple[ByteStream, ByteStream]:
    """Two ends; each receives what the other sends."""
    there_send, there_receive = anyio.create_memory_object_stream[bytes](16)
    back_send, back_receive = anyio.create_memory_object_stream[bytes](16)
    return memory_stream(there_send, back_receive), memory_stream(back_send, there_receive)
