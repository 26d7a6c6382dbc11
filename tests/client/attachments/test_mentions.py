"""What counts as a mention of a file in a prompt, before the disk is read."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from acp_tui.client.attachments.attach import Mention, mentions, without_mentions
from acp_tui.client.attachments.files import MentionedLines

PIECES = [
    "@",
    "a.py",
    ":10",
    "-20",
    '"',
    "`",
    "```",
    "~~~",
    "\n",
    "\r\n",
    " ",
    "(",
    ").",
    "…",
    "/",
    "é",
    "\0",
    "\ud800",
]
TEXTS = st.one_of(st.text(), st.lists(st.sampled_from(PIECES), max_size=30).map("".join))


def found(text: str) -> list[tuple[str, int | None, int | None]]:
    return [
        (mention.path_text, *((mention.lines.first, mention.lines.last) if mention.lines is not None else (None, None)))
        for mention in mentions(text)
    ]


def paths(text: str) -> list[str]:
    return [mention.path_text for mention in mentions(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("@a.py", ("a.py", None, None)),
        ("@a.py:10", ("a.py", 10, 10)),
        ("@a.py:10-20", ("a.py", 10, 20)),
        ('@"a b.py"', ("a b.py", None, None)),
        ('@"a b.py":10-20', ("a b.py", 10, 20)),
        ('@"a b.py:10-20"', ("a b.py", 10, 20)),
        ("@~/a.py", ("~/a.py", None, None)),
        ("@/abs/a.py:3", ("/abs/a.py", 3, 3)),
        ("@dir/", ("dir/", None, None)),
        ("@../", ("../", None, None)),
        ("@名前.py:1", ("名前.py", 1, 1)),
        ("@a:b.py:1", ("a:b.py", 1, 1)),
    ],
)
def test_a_mention_is_a_path_and_may_name_lines(text: str, expected: tuple[str, int | None, int | None]) -> None:
    assert found(text) == [expected]


def test_lines_in_the_wrong_order_are_turned_round_and_line_0_is_line_1() -> None:
    assert found("@a:20-10 @a:0 @a:0-3") == [("a", 10, 20), ("a", 1, 1), ("a", 1, 3)]


def test_a_number_of_absurd_length_is_part_of_the_name() -> None:
    number = "9" * 5000
    assert found(f"@a:{number}") == [(f"a:{number}", None, None)]


@pytest.mark.parametrize("before", ["", " ", "\n", "\t", "(", "[", "{", "<", '"', "'", "“", "「"])
def test_a_mention_begins_a_word(before: str) -> None:
    assert mentions(f"{before}@a.py") == [Mention(len(before), len(before) + 5, "a.py")]


@pytest.mark.parametrize("text", ["me@a.py", "a.@a.py", "@", "@ a.py", "@.", "@...", "@/", '@"', '@"a\nb"', "x/@a.py"])
def test_an_at_sign_elsewhere_or_without_a_name_is_no_mention(text: str) -> None:
    assert mentions(text) == []


@pytest.mark.parametrize("after", [".", ",", ";", ":", "!", "?", ")", "]", "}", "'", '"', ").", "…", "”", "。"])
def test_punctuation_behind_a_mention_is_not_part_of_it(after: str) -> None:
    assert mentions(f"@a.py{after}") == [Mention(0, 5, "a.py")]
    assert mentions(f"@a.py:3-4{after} x") == [Mention(0, 9, "a.py", MentionedLines(3, 4))]
    assert mentions(f'@"a b"{after}') == [Mention(0, 6, "a b")]


@pytest.mark.parametrize(
    "code",
    [
        "`@a.py`",
        "`` ` @a.py``",
        "`a\n@a.py`",
        "```\n@a.py\n```",
        "```python\r\n@a.py\r\n```\r\n",
        "> ~~~\n> @a.py\n> ~~~",
        "````\n```\n@a.py\n````",
        "   ```\n@a.py",
        "text\n~~~~\n~~~\n@a.py",
    ],
)
def test_code_holds_no_mentions(code: str) -> None:
    assert mentions(code) == []


def test_mentions_go_on_behind_code() -> None:
    assert paths("@a `@b` @c\n```\n@d\n```\n@e") == ["a", "c", "e"]


@pytest.mark.parametrize("text", ["a ` tick @a.py", "a ` tick\n\n@a.py `", "`` a ` @a.py", "@a.py`"])
def test_a_backtick_without_its_like_in_the_paragraph_begins_no_code(text: str) -> None:
    assert paths(text) == ["a.py"]


@given(TEXTS)
@example("@a.py:1 and @b.py")
def test_spans_are_in_order_and_within_the_text(text: str) -> None:
    spans = [(mention.start, mention.stop) for mention in mentions(text)]
    assert all(0 <= start < stop <= len(text) for start, stop in spans)
    assert all(stop <= start for (_, stop), (start, _) in pairwise(spans))


@given(TEXTS)
@example('@a.py:1 and @"b c.py" and @"b c.py:1"')
def test_a_span_holds_an_at_sign_and_then_the_name(text: str) -> None:
    for mention in mentions(text):
        written = text[mention.start : mention.stop]
        assert written.startswith((f"@{mention.path_text}", f'@"{mention.path_text}'))


@given(TEXTS)
def test_a_text_of_others_mentions_nothing_and_loses_nothing(text: str) -> None:
    told = without_mentions(text)
    assert mentions(told) == []
    assert told.replace("\\@", "@") == text.replace("\\@", "@")


@pytest.mark.parametrize("text", ['@"a @b"', "(@a) @b @/etc/passwd:1-2", "```\n@a\n```\n@b", '@"' * 5_000])
def test_mentions_in_mentions_are_found_too(text: str) -> None:
    assert mentions(without_mentions(text)) == []
    assert mentions(without_mentions(text) + "\n@mine.py")
