"""What an agent reports beyond the protocol, told as an indented list."""

from collections.abc import Iterator
from typing import Any

import pytest

from acp_tui.conversation.value_outline import MAX_DEPTH, MAX_KEY, MAX_LINES, reported_fields, value_lines

QUESTIONS = {
    "questions": [
        {"header": "Color", "question": "Which one?\nOr none?", "options": [{"label": "Red"}, {"label": "Blue"}]},
        {"header": "Size"},
    ],
    "done": False,
}


def test_what_holds_several_is_named_once_above_them() -> None:
    assert list(value_lines(QUESTIONS, "input")) == [
        "input:",
        "  questions:",
        "    - header: Color",
        "      question: Which one?",
        "        Or none?",
        "      options:",
        "        - label: Red",
        "        - label: Blue",
        "    - header: Size",
        "  done: false",
    ]


@pytest.mark.parametrize(
    ("value", "lines"),
    [
        ("text", ["output: text"]),
        ({}, ["output: {}"]),
        (None, ["output: null"]),
        ([1, "two"], ["output:", "  - 1", "  - two"]),
        ([[1, 2], [3]], ["output:", "  - - 1", "    - 2", "  - - 3"]),
        ({"a": {"b": 1}, "c": {"b": 2}}, ["output:", "  a:", "    b: 1", "  c:", "    b: 2"]),
    ],
)
def test_each_kind_of_value_has_its_lines(value: Any, lines: list[str]) -> None:
    assert list(value_lines(value, "output")) == lines


def test_a_key_is_one_visible_line_of_bounded_length() -> None:
    (head, line, *more) = value_lines({"  odd\n\x1b[2J " + MAX_KEY * "k": "value"}, "input")
    assert (head, more) == ("input:", [])
    assert line.startswith("  odd")
    assert line.endswith(" …: value")
    assert "\x1b" not in line
    assert len(line) < MAX_KEY + 20


def test_of_many_values_the_first_are_told_and_no_more_are_looked_at() -> None:
    looked_at = 0

    class Counted(list[int]):
        def __iter__(self) -> Iterator[int]:
            nonlocal looked_at
            for number in super().__iter__():
                looked_at += 1
                yield number

    lines = list(value_lines(Counted(range(1_000_000)), "output"))
    assert lines[1] == "  - 0"
    assert lines[-1] == f"… only the first {MAX_LINES:,} values are shown"
    assert looked_at <= MAX_LINES + 1
    next(reported_fields(Counted(range(1_000_000))))
    assert looked_at <= MAX_LINES + 2


def test_deep_values_are_indented_up_to_a_depth() -> None:
    value: Any = {"b": "end", "c": ["too"]}
    for _ in range(200):
        value = {"a": value}
    *_, above, deeper, end, too = value_lines(value, "input")
    indent = "  " * MAX_DEPTH
    assert [above, deeper, end, too] == [f"{indent[2:]}a:", f"{indent}…:", f"{indent}  b: end", f"{indent}  - too"]
