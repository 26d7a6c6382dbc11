"""FrameSplitter: whole lines from any pieces, and no line over the limit."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from acp_tui.rpc import FrameTooLarge
from acp_tui.rpc.messages import FrameSplitter

LINES = st.lists(st.binary(max_size=40).map(lambda line: line.replace(b"\n", b"\r")), max_size=8)


def split_at(data: bytes, cuts: list[int]) -> list[bytes]:
    ends = [*sorted(min(cut, len(data)) for cut in cuts), len(data)]
    return [data[start:end] for start, end in zip([0, *ends], ends, strict=False)]


@settings(deadline=None)
@given(lines=LINES, cuts=st.lists(st.integers(0, 400), max_size=12))
def test_lines_are_whole_wherever_the_stream_is_cut(lines: list[bytes], cuts: list[int]) -> None:
    splitter = FrameSplitter()
    stream = b"".join(line + b"\n" for line in lines)
    assert [line for piece in split_at(stream, cuts) for line in splitter.feed(piece)] == lines


def test_a_line_comes_with_its_end_and_not_before() -> None:
    splitter = FrameSplitter()
    assert splitter.feed(b'{"a"') == []
    assert splitter.feed(b":1}") == []
    assert splitter.feed(b"\nnext") == [b'{"a":1}']


def test_a_line_of_20_mib_comes_whole_out_of_small_pieces() -> None:
    """R-TRANS-4."""
    splitter = FrameSplitter()
    piece = bytes(range(65, 91)) * 157
    count = (20 << 20) // len(piece) + 1
    assert not any(splitter.feed(piece) for _ in range(count))
    assert splitter.feed(b"\n") == [piece * count]


def test_a_line_as_long_as_the_ceiling_passes() -> None:
    assert FrameSplitter(max_frame_bytes=4).feed(b"1234\n") == [b"1234"]


@pytest.mark.parametrize("pieces", [[b"12345\n"], [b"12345"], [b"123", b"45"], [b"123", b"45\n"], [b"1\n12345"]])
def test_a_line_over_the_ceiling_is_refused_with_or_without_its_end(pieces: list[bytes]) -> None:
    splitter = FrameSplitter(max_frame_bytes=4)
    with pytest.raises(FrameTooLarge) as caught:
        for piece in pieces:
            splitter.feed(piece)
    assert caught.value.limit_bytes == 4


def test_the_ceiling_is_for_each_line_and_not_for_their_sum() -> None:
    splitter = FrameSplitter(max_frame_bytes=4)
    pieces = (b"123\n123\n12", b"34\n12", b"34\n1", b"234")
    assert [line for piece in pieces for line in splitter.feed(piece)] == [b"123", b"123", b"1234", b"1234"]
