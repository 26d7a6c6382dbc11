"""Where two texts differ: exactly enough to rebuild either from the other."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_tui.client import line_comparison
from acp_tui.client.changes import compare, split_lines
from acp_tui.client.line_comparison import LineChange

texts = st.lists(st.sampled_from([b"a\n", b"b\n", b"c\n", b"\n", b"d\r\n", b"e\r", b"f"])).map(b"".join)


@given(texts)
def test_lines_joined_are_the_text(text: bytes) -> None:
    assert b"".join(split_lines(text)) == text
    assert all(line.endswith(b"\n") for line in split_lines(text)[:-1])


def require_exact(before: tuple[bytes, ...], after: tuple[bytes, ...], hunks: tuple[LineChange, ...]) -> None:
    """Between hunks, both texts are equal, and there is something between them."""
    ends = [(0, 0), *((hunk.old_to, hunk.new_to) for hunk in hunks)]
    starts = [*((hunk.old_from, hunk.new_from) for hunk in hunks), (len(before), len(after))]
    between = [(before[x:u], after[y:v]) for (x, y), (u, v) in zip(ends, starts, strict=True)]
    assert all(left == right for left, right in between)
    assert all(left for left, _ in between[1:-1])
    assert all(hunk.old_from < hunk.old_to or hunk.new_from < hunk.new_to for hunk in hunks)


@given(texts, texts)
def test_what_lies_between_differences_is_equal_and_no_two_touch(one: bytes, other: bytes) -> None:
    before, after = split_lines(one), split_lines(other)
    hunks, is_approximate = compare(before, after)

    require_exact(before, after, hunks)
    assert not is_approximate


@given(texts, texts, st.integers(0, 3), st.integers(0, 60))
def test_that_holds_also_where_the_search_is_cut_short(one: bytes, other: bytes, max_edits: int, max_work: int) -> None:
    before, after = split_lines(one), split_lines(other)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(line_comparison, "MAX_EDITS", max_edits)
        patch.setattr(line_comparison, "MAX_WORK", max_work)
        hunks, _ = compare(before, after)

    require_exact(before, after, hunks)


def test_a_line_in_the_middle_is_one_difference() -> None:
    assert compare([b"a", b"b", b"c"], [b"a", b"x", b"y", b"c"]) == ((LineChange(1, 2, 1, 3),), False)


def test_moved_lines_are_found_by_the_unique_ones() -> None:
    before = [b"}", b"one", b"}", b"two", b"}"]

    assert compare(before, [b"}", b"two", b"}"])[0] == (LineChange(1, 3, 1, 1),)


def test_texts_that_take_too_long_to_compare_are_said_to_be_approximate(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(line_comparison, "MAX_WORK", 100_000)
    before = [b"ab"[i % 2 : i % 2 + 1] for i in range(6_000)]
    after = [b"aab"[i % 3 : i % 3 + 1] for i in range(6_000)]

    hunks, is_approximate = compare(before, after)

    assert is_approximate
    assert hunks


def test_a_large_text_with_scattered_edits_is_compared_exactly() -> None:
    before = [b"line %d" % i for i in range(50_000)]
    after = [b"edited" if i % 100 == 0 else line for i, line in enumerate(before)]

    hunks, is_approximate = compare(before, after)

    assert len(hunks) == 500
    assert not is_approximate
