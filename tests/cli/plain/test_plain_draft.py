"""How to type a prompt of several lines."""

from __future__ import annotations

import pytest

from acp_tui.cli.plain.chat import Draft


@pytest.mark.parametrize(
    ("lines", "prompt"),
    [
        (["one line"], "one line"),
        (["a \\", "b\\", "c"], "a \nb\nc"),
        (['"""', "a", "", "b", '"""'], "a\n\nb"),
        (['"""a', 'b"""'], "a\nb"),
        (['"""a"""'], "a"),
        (['"""', "a \\", '"""'], "a \\"),
    ],
)
def test_a_prompt_ends_with_its_last_line(lines: list[str], prompt: str) -> None:
    draft = Draft()
    assert [draft.add(line) for line in lines] == [None] * (len(lines) - 1) + [prompt]
    assert not draft.is_open


def test_what_is_dropped_is_not_part_of_the_next_prompt() -> None:
    draft = Draft()
    draft.add("a\\")
    assert draft.is_open
    draft.drop()
    assert draft.add("b") == "b"
