"""Chunked bodies are read correctly, no matter where the network splits them."""

from __future__ import annotations

import asyncio
from itertools import pairwise

import httpcore
import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_tui.client.agents.http_connections import MAX_SIZE_LINE, Chunks, Transport, body_of
from support.listening import listening


def framed(chunks: list[bytes], extension: bytes = b"") -> bytes:
    return b"".join(b"%X%b\r\n%b\r\n" % (len(chunk), extension, chunk) for chunk in chunks) + b"0\r\n\r\n"


@given(
    chunks=st.lists(st.binary(min_size=1, max_size=40), max_size=8),
    cuts=st.lists(st.integers(0, 400), max_size=12),
    extension=st.sampled_from([b"", b";name=value"]),
)
def test_chunks_give_their_content_wherever_they_are_cut(chunks: list[bytes], cuts: list[int], extension: bytes):
    body, reader, read = framed(chunks, extension), Chunks(), b""
    places = [0, *sorted(min(cut, len(body)) for cut in cuts), len(body)]
    for start, stop in pairwise(places):
        if not reader.is_over:
            read += reader.feed(body[start:stop])
    assert read == b"".join(chunks)
    assert reader.is_over


@pytest.mark.parametrize("garbage", [b"hello\r\n", b"-5\r\n", b"\r\n\r\n", b"5" * (MAX_SIZE_LINE + 1)])
def test_what_is_not_framed_is_no_body(garbage: bytes):
    with pytest.raises(httpcore.RemoteProtocolError):
        Chunks().feed(garbage)


@pytest.mark.parametrize("size", [1, 10_000])
async def test_a_body_that_comes_with_its_head_is_read_from_its_first_byte(size: int):
    events = [b"first" * size, b"second" * size]

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + framed(events))
        await writer.drain()

    async with (
        listening(answer) as port,
        httpx.AsyncClient(transport=Transport(None, None, ())) as client,
        client.stream("GET", f"http://127.0.0.1:{port}/") as response,
    ):
        read = [data async for data in body_of(response)]
    assert b"".join(read) == b"".join(events)
