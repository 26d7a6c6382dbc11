"""A diff turns the old text into the new one, and says what it couldn't compare."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_tui.client import line_comparison
from acp_tui.ui.rendering.diff_model import (
    SPLIT_AT_ONCE,
    Diff,
    DiffHunk,
    DiffLine,
    TextComparison,
    changed_words,
)

LONG = 20_000

TEXTS = st.lists(st.sampled_from(["a\n", "b\n", "c\n", "d\r\n", "\n", "e"]), max_size=25).map("".join)


def compare(old_text: str, new_text: str) -> Diff:
    comparison = TextComparison(old_text, new_text)
    for _ in comparison.steps():
        pass
    return comparison.diff


def numbered(count: int) -> list[str]:
    return [f"line {number}\n" for number in range(1, count + 1)]


def all_lines(diff: Diff) -> list[DiffLine]:
    return [line for hunk in diff.hunks() for line in diff.lines(hunk)]


def applied(diff: Diff, hunks: tuple[DiffHunk, ...]) -> str:
    """The old text, with each hunk's old lines replaced by its new ones."""
    text: list[str] = []
    at = 0
    for hunk in hunks:
        text += diff.old[at : hunk.old_start - 1]
        text += [line.text + line.end for line in diff.lines(hunk) if line.kind != "removed"]
        at = hunk.old_start - 1 + hunk.old_count
    return "".join([*text, *diff.old[at:]])


def old_side(diff: Diff, hunk: DiffHunk) -> list[str]:
    return [line.text + line.end for line in diff.lines(hunk) if line.kind != "added"]


@given(TEXTS, TEXTS, st.sampled_from([0, 1, 3, None]))
def test_the_hunks_applied_to_the_old_text_give_the_new_one(old: str, new: str, context: int | None) -> None:
    diff = compare(old, new)
    hunks = diff.hunks(context)
    assert applied(diff, hunks) == new
    for hunk in hunks:
        assert old_side(diff, hunk) == diff.old[hunk.old_start - 1 : hunk.old_start - 1 + hunk.old_count]


@given(TEXTS, TEXTS)
def test_with_all_lines_there_are_as_many_hunks_as_otherwise_and_none_skips_any(old: str, new: str) -> None:
    diff = compare(old, new)
    hunks = diff.hunks(None)
    assert len([hunk for hunk in hunks if hunk.has_changes]) == len(diff.hunks())
    assert [line for hunk in hunks for line in old_side(diff, hunk)] == (diff.old if hunks else [])


@given(TEXTS, TEXTS, st.integers(0, 3))
def test_line_numbers_and_hunk_headers_are_right(old: str, new: str, context: int) -> None:
    diff = compare(old, new)
    hunks = diff.hunks(context)
    at = 0
    for hunk in hunks:
        lines = list(diff.lines(hunk))
        old_numbers = [line.old_number for line in lines if line.old_number]
        new_numbers = [line.new_number for line in lines if line.new_number]
        assert old_numbers == list(range(hunk.old_start, hunk.old_start + hunk.old_count))
        assert new_numbers == list(range(hunk.new_start, hunk.new_start + hunk.new_count))
        assert hunk.skipped_before == hunk.old_start - 1 - at
        at = hunk.old_start - 1 + hunk.old_count
    assert at + diff.skipped_after(hunks) == len(diff.old)


@given(TEXTS, TEXTS)
def test_side_by_side_stands_what_stands_below_each_other(old: str, new: str) -> None:
    diff = compare(old, new)
    for hunk in diff.hunks(1):
        pairs = [diff.pair(run, index) for run in hunk.runs for index in range(run.pair_count)]
        lines = list(diff.lines(hunk))
        assert [left for left, _ in pairs if left] == [line for line in lines if line.kind != "added"]
        assert [right for _, right in pairs if right] == [line for line in lines if line.kind != "removed"]


def test_far_changes_are_in_hunks_of_their_own_and_near_ones_together() -> None:
    old = numbered(50)
    new = [*old]
    new[10], new[13], new[40] = "x\n", "y\n", "z\n"
    diff = compare("".join(old), "".join(new))
    hunks = diff.hunks(3)
    assert [(hunk.skipped_before, len(list(diff.lines(hunk)))) for hunk in hunks] == [(7, 12), (20, 8)]
    assert (diff.skipped_after(hunks), diff.added, diff.removed) == (6, 3, 3)


def test_changed_words_of_a_changed_line_are_marked() -> None:
    lines = all_lines(compare("total = old_sum(a)\n", "total = new_sum(a)\n"))
    marked = [line.text[start:stop] for line in lines for start, stop in line.changed]
    assert marked == ["old_sum", "new_sum"]


def test_lines_with_little_in_common_have_no_marks() -> None:
    assert changed_words("return self.value", "for x in y: pass") == ((), ())


def test_line_ends_and_a_missing_last_newline_are_told_apart() -> None:
    lines = all_lines(compare("a\r\nb\n", "a\nb"))
    assert [(line.kind, line.text, line.end) for line in lines] == [
        ("removed", "a", "\r\n"),
        ("removed", "b", "\n"),
        ("added", "a", "\n"),
        ("added", "b", ""),
    ]
    assert compare("a\r\n", "b\r\n").crlf
    assert not compare("a\r\n", "b\n").crlf


def test_other_separators_do_not_end_a_line() -> None:
    assert [line.text for line in all_lines(compare("", "a\x0cb\u2028c\rd\n"))] == ["a\x0cb\u2028c\rd"]


def test_too_large_a_difference_is_shown_as_replaced_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(line_comparison, "MAX_LINES", 5)
    diff = compare("same\n" + "a\n" * 3 + "b\n", "same\n" + "c\n" * 3 + "b\nd\n")
    assert (diff.approximate, diff.removed, diff.added) == (True, 4, 5)
    assert all_lines(diff)[0] == DiffLine("context", "same", "\n", 1, 1)


def test_work_on_repeated_lines_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(line_comparison, "MAX_WORK", 10)
    diff = compare("b\na\nb\na\nb\n", "a\na\nb\nb\na\n")
    assert (diff.approximate, diff.removed, diff.added) == (True, 5, 5)


def test_unique_lines_divide_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(line_comparison, "MAX_WORK", 1_000)
    old = numbered(2_000)
    diff = compare("".join(old), "".join(["x\n" if at % 2 else line for at, line in enumerate(old)]))
    assert (diff.approximate, diff.added) == (False, 1_000)


def test_a_long_comparison_is_made_in_many_steps_and_a_short_one_in_one() -> None:
    old = numbered(LONG)
    new = [f"{at}\n" if at % 5 == 2 else line for at, line in enumerate(old)]
    assert steps("".join(old), "".join(new)) > LONG // line_comparison.STEP_WORK
    assert steps("".join(old[:50]), "".join(new[:50])) == 0


def test_one_edit_of_a_long_file_is_found_in_one_step() -> None:
    old = numbered(LONG)
    assert steps("".join(old), "".join([*old[:9_000], "new\n", *old[9_001:]])) == 0


def test_a_long_text_is_split_into_lines_in_many_steps() -> None:
    texts = ["a\n\n" * SPLIT_AT_ONCE, "no end of a line" * SPLIT_AT_ONCE, "last" + "\n" * SPLIT_AT_ONCE + "one"]
    for text in texts:
        diff = compare(text, "")
        assert diff.old == line_comparison.split_lines(text)
        assert steps(text, "") >= text.count("\n") // SPLIT_AT_ONCE


def test_what_cannot_be_compared_ends_after_a_bounded_number_of_steps(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(line_comparison, "MAX_WORK", 100_000)
    random = Random(1)
    old, new = ("".join([f"{random.randrange(9)}\n" for _ in range(3_000)]) for _ in range(2))
    most = line_comparison.MAX_WORK // line_comparison.STEP_WORK
    assert most // 2 < steps(old, new) < 2 * most
    assert compare(old, new).approximate


def test_an_edit_longer_than_is_searched_for_at_once_is_found_in_stretches(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(line_comparison, "MAX_EDITS", 3)
    old = [f"{at % 5}\n" for at in range(200)]
    new = [line for at, line in enumerate(old) if at % 9]
    diff = compare("".join(old), "".join(new))
    assert not diff.approximate
    assert applied(diff, diff.hunks()) == "".join(new)
    assert diff.added + diff.removed < 60


def steps(old: str, new: str) -> int:
    return len(list(TextComparison(old, new).steps()))


def test_the_shortest_edit_is_found_where_no_line_is_the_only_one_of_its_kind() -> None:
    diff = compare("a\nb\nc\na\nb\nb\na\n", "c\nb\na\nb\na\nc\n")
    assert diff.removed + diff.added == 5
    assert not diff.approximate


@pytest.mark.parametrize("length", [300, 1_000_000])
def test_in_a_line_of_any_length_only_what_differs_is_marked(length: int) -> None:
    old = "x, " * (length // 3) + "old" + ", y" * (length // 3)
    new = "x, " * (length // 3) + "new" + ", y" * (length // 3)
    (old_range,), (new_range,) = changed_words(old, new)
    assert (old[slice(*old_range)], new[slice(*new_range)]) == ("old", "new")


def test_lines_whose_words_repeat_too_often_are_marked_as_one_stretch() -> None:
    begin, end = "the same beginning of both, " * 10, " and the same end" * 10
    old, new = begin + "1, " + "0, " * 60 + "2" + end, begin + "3, " + "0, " * 62 + "4" + end
    (old_range,), (new_range,) = changed_words(old, new)
    assert old[slice(*old_range)] == "1, " + "0, " * 60 + "2"
    assert new[slice(*new_range)] == "3, " + "0, " * 62 + "4"
