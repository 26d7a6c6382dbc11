"""Chunked bodies are read correctly, no matter where the network splits them."""

from __future__ import annotations

from itertools import pairwise

import httpcore
import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_tui.client.agents.http_connections import MAX_SIZE_LINE, Chunks


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
