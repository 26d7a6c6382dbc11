"""ByteRing: limited to the byte, readable from any offset, whole characters."""

import pytest

from acp_tui.conversation.buffers import CHUNK_BYTES, ByteRing


def ring_of(limit_bytes: int, *pieces: bytes) -> ByteRing:
    ring = ByteRing(limit_bytes)
    for piece in pieces:
        ring.append(piece)
    return ring


def test_everything_is_kept_below_the_limit() -> None:
    ring = ring_of(10, b"hello", b" you")
    assert (ring.read(), ring.dropped, ring.end, len(ring)) == (b"hello you", 0, 9, 9)


def test_the_limit_is_exact_to_the_byte_within_a_chunk() -> None:
    ring = ring_of(4, b"abc", b"def")
    assert (ring.read(), ring.dropped, ring.end, len(ring)) == (b"cdef", 2, 6, 4)


def test_one_append_larger_than_the_limit_keeps_its_end() -> None:
    assert ring_of(3, b"x", b"abcdef").read() == b"def"


def test_a_limit_of_zero_keeps_nothing_and_still_counts() -> None:
    ring = ring_of(0, b"abc", b"", b"d")
    assert (ring.read(), ring.dropped, ring.end, ring.read_from(0)) == (b"", 4, 4, (4, b""))


def test_a_negative_limit_is_refused() -> None:
    with pytest.raises(ValueError, match="-1"):
        ByteRing(-1)


def test_memory_stays_near_the_limit_whatever_the_size_of_the_appends() -> None:
    for size in (1, 100, CHUNK_BYTES, 65536):
        ring = ByteRing(10_000)
        for _ in range(200_000 // size):
            ring.append(b"x" * size)
        assert len(ring.read()) == 10_000
        assert ring.stored <= 10_000 + CHUNK_BYTES + size


def test_a_reader_gets_only_what_is_new() -> None:
    ring = ring_of(100, b"one ", b"two ")
    start, data = ring.read_from(0)
    ring.append(b"three")
    assert ring.read_from(start + len(data)) == (8, b"three")
    assert ring.read_from(ring.end) == (13, b"")


def test_a_reader_that_fell_behind_is_told_where_its_bytes_begin() -> None:
    assert ring_of(4, b"abcdefgh").read_from(1) == (4, b"efgh")


def test_a_reader_can_take_what_is_new_in_pieces() -> None:
    ring = ByteRing(100_000)
    data = bytes(number % 251 for number in range(90_000))
    for start in range(0, len(data), 7_000):
        ring.append(data[start : start + 7_000])
    taken, at = [], 0
    while at < ring.end:
        start, piece = ring.read_from(at, 13_337)
        assert start == at
        assert len(piece) <= 13_337
        taken.append(piece)
        at += len(piece)
    assert b"".join(taken) == data
    assert ring.read_from(at, 5) == (at, b"")


def test_a_piece_after_lost_bytes_begins_where_the_ring_does() -> None:
    ring = ByteRing(6)
    ring.append(b"0123456789")
    assert ring.read_from(0, 3) == (4, b"456")


def test_dropping_costs_no_more_than_what_is_dropped() -> None:
    ring = ByteRing(1_000_000)
    for _ in range(250):
        ring.append(b"x" * 4096)
    stored = ring.stored
    ring.append(b"y" * 4096)
    assert ring.stored == stored


def test_an_offset_beyond_the_end_gives_nothing() -> None:
    assert ring_of(4, b"ab").read_from(99) == (2, b"")


@pytest.mark.parametrize("limit", range(1, 12))
def test_no_character_is_cut_at_the_start(limit: int) -> None:
    whole = "aä€😀b"
    kept = ring_of(limit, whole.encode()).tail_text()
    assert whole.endswith(kept)
    assert len(kept.encode()) > limit - 4 or kept == whole


def test_bytes_that_are_no_utf8_are_not_eaten_beyond_one_character() -> None:
    assert ring_of(5, b"\x80" * 8).read() == b"\x80" * 2


def test_continuation_bytes_at_the_true_start_are_kept() -> None:
    assert ring_of(8, b"\x80abc").read() == b"\x80abc"


def test_the_tail_can_be_asked_for_in_fewer_bytes() -> None:
    assert ring_of(100, "one €uro".encode()).read(5) == b"uro"


def test_equality_is_by_content_and_position_not_by_chunks() -> None:
    assert ring_of(8, b"ab", b"cd") == ring_of(8, b"abcd")
    assert ring_of(2, b"xxcd") == ring_of(2, b"yycd")
    assert ring_of(2, b"cd") != ring_of(2, b"xcd")
    assert ring_of(2, b"cd") != b"cd"
