"""A diff turns the old text into the new one, and says what it could not compare."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_tui.ui.rendering import diff_model
from acp_tui.ui.rendering.diff_model import Diff, DiffLine, compare
from acp_tui.ui.rendering.diff_words import changed_words

TEXTS = st.lists(st.sampled_from(["a\n", "b\n", "c\n", "d\r\n", "\n", "e"]), max_size=25).map("".join)


def numbered(count: int) -> list[str]:
    return [f"line {number}\n" for number in range(1, count + 1)]


def side(diff: Diff, kind: str) -> str:
    lines = [line for hunk in diff.hunks for line in hunk.lines if line.kind in ("context", kind)]
    return "".join([line.text + line.end for line in lines])


@given(TEXTS, TEXTS)
def test_with_all_context_a_diff_holds_both_texts(old: str, new: str) -> None:
    diff = compare(old, new, context=1_000)
    if old != new:
        assert (side(diff, "removed"), side(diff, "added")) == (old, new)
    else:
        assert diff.hunks == ()


@given(TEXTS, TEXTS, st.integers(0, 3))
def test_line_numbers_and_hunk_headers_are_right(old: str, new: str, context: int) -> None:
    diff = compare(old, new, context)
    at = 0
    for hunk in diff.hunks:
        old_numbers = [line.old_number for line in hunk.lines if line.old_number]
        new_numbers = [line.new_number for line in hunk.lines if line.new_number]
        assert old_numbers == list(range(hunk.old_start, hunk.old_start + hunk.old_count))
        assert new_numbers == list(range(hunk.new_start, hunk.new_start + hunk.new_count))
        assert hunk.skipped_before == hunk.old_start - 1 - at
        at = hunk.old_start - 1 + hunk.old_count
    assert at + diff.skipped_after == len(diff_model._split(old))


def test_far_changes_are_in_hunks_of_their_own_and_near_ones_together() -> None:
    old = numbered(50)
    new = [*old]
    new[10], new[13], new[40] = "x\n", "y\n", "z\n"
    diff = compare("".join(old), "".join(new))
    assert [(hunk.skipped_before, len(hunk.lines)) for hunk in diff.hunks] == [(7, 12), (20, 8)]
    assert (diff.skipped_after, diff.added, diff.removed) == (6, 3, 3)


def test_changed_words_of_a_changed_line_are_marked() -> None:
    diff = compare("total = old_sum(a)\n", "total = new_sum(a)\n")
    marked = [line.text[start:stop] for line in diff.hunks[0].lines for start, stop in line.changed]
    assert marked == ["old_sum", "new_sum"]


def test_lines_with_little_in_common_have_no_marks() -> None:
    assert changed_words("return self.value", "for x in y: pass") == ((), ())


def test_line_ends_and_a_missing_last_newline_are_told_apart() -> None:
    lines = compare("a\r\nb\n", "a\nb").hunks[0].lines
    assert [(line.kind, line.text, line.end) for line in lines] == [
        ("removed", "a", "\r\n"),
        ("removed", "b", "\n"),
        ("added", "a", "\n"),
        ("added", "b", ""),
    ]
    assert compare("a\r\n", "b\r\n").crlf
    assert not compare("a\r\n", "b\n").crlf


def test_other_separators_do_not_end_a_line() -> None:
    assert [line.text for line in compare("", "a\x0cb\u2028c\rd\n").hunks[0].lines] == ["a\x0cb\u2028c\rd"]


def test_too_large_a_difference_is_shown_as_replaced_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(diff_model, "MAX_LINES", 5)
    diff = compare("same\n" + "a\n" * 3 + "b\n", "same\n" + "c\n" * 3 + "b\nd\n")
    assert (diff.approximate, diff.removed, diff.added) == (True, 4, 5)
    assert diff.hunks[0].lines[0] == DiffLine("context", "same", "\n", 1, 1)


def test_work_on_repeated_lines_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(diff_model, "MAX_WORK", 10)
    diff = compare("b\na\nb\na\nb\n", "a\na\nb\nb\na\n")
    assert (diff.approximate, diff.removed, diff.added) == (True, 5, 5)


def test_unique_lines_divide_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(diff_model, "MAX_WORK", 1_000)
    old = numbered(2_000)
    diff = compare("".join(old), "".join(["x\n" if at % 2 else line for at, line in enumerate(old)]))
    assert (diff.approximate, diff.added) == (False, 1_000)
