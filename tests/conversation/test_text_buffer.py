"""TextBuffer grows in pieces; appending and reading the end cost the same at any length."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from acp_tui.conversation.buffers import TextBuffer


def buffer_of(*pieces: str) -> TextBuffer:
    buffer = TextBuffer()
    for piece in pieces:
        buffer.append(piece)
    return buffer


@settings(deadline=None)
@given(
    pieces=st.lists(st.text(max_size=5), max_size=12),
    offset=st.integers(0, 70),
    joined_after=st.integers(0, 12),
)
def test_text_and_since_agree_with_a_plain_string(pieces: list[str], offset: int, joined_after: int) -> None:
    """Whether or not the text was read, and so joined, in between."""
    buffer = buffer_of(*pieces[:joined_after])
    assert buffer.text == "".join(pieces[:joined_after])
    for piece in pieces[joined_after:]:
        buffer.append(piece)
    plain = "".join(pieces)
    assert (buffer.since(offset), buffer.text, buffer.length) == (plain[offset:], plain, len(plain))


def test_a_reader_that_comes_back_for_what_is_new_gets_everything_once() -> None:
    buffer, read = TextBuffer(), ""
    for n in range(100):
        buffer.append(f"piece {n}\n")
        if n % 7 == 0:
            read += buffer.since(len(read))
    assert read + buffer.since(len(read)) == buffer.text


def test_an_append_copies_nothing_that_was_there() -> None:
    """Counted in the stored pieces, because time would vary: the same objects, none joined."""
    pieces = [f"piece {n}" for n in range(1000)]
    held = buffer_of(*pieces).pieces
    assert len(held) == 1000
    assert all(kept is piece for kept, piece in zip(held, pieces, strict=True))


class CountedPieces(list[str]):
    """Counts how many pieces are read."""

    looked_at = 0

    def __getitem__(self, index):  # type: ignore[no-untyped-def]
        found = super().__getitem__(index)
        self.looked_at += len(found) if isinstance(index, slice) else 1
        return found


@pytest.mark.parametrize("length", [10, 10_000])
def test_a_look_at_the_end_costs_what_it_returns_and_not_the_text(length: int) -> None:
    buffer = buffer_of(*("0123456789" for _ in range(length)))
    counted = buffer.pieces = CountedPieces(buffer.pieces)
    assert buffer.since(buffer.length - 25) == "567890123456789" + "0123456789"
    assert counted.looked_at == 3


def test_a_text_is_joined_once_and_stays_joined() -> None:
    buffer = buffer_of("a", "b", "c")
    assert buffer.text is buffer.text
    assert buffer.pieces == ["abc"]


def test_empty_pieces_are_not_kept() -> None:
    assert buffer_of("", "a", "", "").pieces == ["a"]


def test_buffers_with_the_same_text_are_equal_however_it_was_cut() -> None:
    assert buffer_of("ab", "c") == buffer_of("a", "bc") == TextBuffer("abc")
    assert TextBuffer("abc") != TextBuffer("abd")
    assert TextBuffer("abc") != "abc"
    assert repr(buffer_of("a", "b")) == "TextBuffer('ab')"


def test_a_buffer_cannot_be_hashed_because_it_changes() -> None:
    with pytest.raises(TypeError):
        hash(TextBuffer())


@given(st.lists(st.text(max_size=4), max_size=10), st.integers(0, 50), st.integers(0, 50))
def test_a_part_of_the_text_is_read(pieces: list[str], offset: int, most: int) -> None:
    buffer = TextBuffer()
    for piece in pieces:
        buffer.append(piece)
    assert buffer.since(offset, most) == "".join(pieces)[offset : offset + most]
    assert buffer.since(offset) == "".join(pieces)[offset:]
