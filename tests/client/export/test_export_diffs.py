"""Unified diffs in exports: the same as `diff -u`, with bounded work and nothing invisible."""

import random
from collections import Counter, deque

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_tui.client import line_comparison
from acp_tui.client.line_comparison import unified_diff
from acp_tui.ui.rendering.diff_model import TextComparison

LINES = st.lists(st.sampled_from(["a", "b", "c", "", "+d", "-e", "@@ f"]), max_size=30).map("\n".join)


def applied(diff: str, old: str) -> str:
    """`old` with the diff applied, as by `patch`; fails if they don't match."""
    source = old.splitlines(keepends=True)
    result: list[str] = []
    at = 0
    for line in diff.replace("\n\\ No newline at end of file", "\0").split("\n")[2:]:
        sign, text = line[0], line[1:].removesuffix("\0") + ("" if line.endswith("\0") else "\n")
        if sign == "@":
            start, count = map(int, line.split()[1][1:].split(","))
            stop = start - 1 if count else start
            result += source[at:stop]
            at = stop
        if sign in " -":
            assert source[at] == text
            at += 1
        if sign in " +":
            result.append(text)
    return "".join(result + source[at:])


@given(LINES, LINES)
def test_a_diff_turns_the_old_text_into_the_new_one(old: str, new: str) -> None:
    diff = unified_diff("a", old, new)

    if old == new:
        assert diff == "--- a\n+++ a"
    else:
        assert applied(diff, old) == new


@pytest.mark.parametrize(
    ("old", "new", "body"),
    [
        (None, "x\n", "@@ -0,0 +1,1 @@\n+x"),
        ("x\n", "", "@@ -1,1 +0,0 @@\n-x"),
        ("x\n", "x", "@@ -1,1 +1,1 @@\n-x\n+x\n\\ No newline at end of file"),
        ("a\r\nb\r\n", "a\r\nc\r\n", "@@ -1,2 +1,2 @@\n a\n-b\n+c"),
        ("a\r\nb\n", "a\nb\n", "@@ -1,2 +1,2 @@\n-a␍\n+a\n b"),
        ("\tx\n", "\t\x1b\u202e\n", "@@ -1,1 +1,1 @@\n-\tx\n+\t␛⟨U+202E⟩"),
    ],
)
def test_what_a_diff_looks_like(old: str | None, new: str, body: str) -> None:
    header = f"--- {'/dev/null' if old is None else 'p␊q'}\n+++ p␊q\n"

    assert unified_diff("p\nq", old, new) == header + body


def test_changes_far_apart_in_a_long_file_stay_small() -> None:
    old = [f"line {number}\n" for number in range(5000)]
    new = [*old[:10], "new\n", *old[10:4900], *old[4901:]]

    assert unified_diff("a", "".join(old), "".join(new)).count("\n") == 17


def test_texts_that_take_too_long_to_compare_count_as_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(line_comparison, "MAX_WORK", 10)
    choice = random.Random(1)
    old, new = ("".join(f"{choice.randrange(2)}\n" for _ in range(300)) for _ in range(2))

    diff = unified_diff("a", old, new)

    assert applied(diff, old) == new


def repeated(seed: int, count: int = 400) -> tuple[str, str]:
    """Texts of few different lines, partly changed, so that there are many ways to compare them."""
    choice = random.Random(seed)
    lines = choice.choices(["{\n", "}\n", "\n", "    return\n", f"{choice.random()}\n"], k=count)
    changed = [choice.choice(["{\n", "\n", "new\n"]) if choice.random() < 0.3 else line for line in lines]
    return "".join(lines), "".join(changed)


@pytest.mark.parametrize("seed", range(10))
def test_an_export_and_the_screen_say_the_same_of_repeated_lines(seed: int) -> None:
    old, new = repeated(seed)
    comparison = TextComparison(old, new)
    deque(comparison.steps(), maxlen=0)
    shown = Counter({"+": comparison.diff.added, "-": comparison.diff.removed})

    lines = unified_diff("a", old, new).split("\n")[2:]

    assert Counter(line[0] for line in lines if line[0] in "+-") == shown
    assert applied(unified_diff("a", old, new), old) == new


def test_every_other_of_many_equal_lines_changed_is_no_text_replaced_as_a_whole() -> None:
    old = "same\n" * 6_000
    new = "".join("new\n" if at % 3 == 0 else "same\n" for at in range(6_000))

    lines = unified_diff("a", old, new).split("\n")[2:]

    assert len([line for line in lines if line[0] in "+-"]) < 6_000
