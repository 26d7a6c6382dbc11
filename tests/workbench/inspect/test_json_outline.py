"""Foldable JSON: nothing written is lost, and nothing is too large to draw."""

from __future__ import annotations

import json

import pytest

from acp_tui.workbench.inspect.outline import LINES_AT_FIRST, PART, Outline


def text_of(outline: Outline) -> list[str]:
    return ["  " * line.depth + "".join(text for text, _ in line.pieces) for line in outline.lines()]


def test_it_is_shown_as_it_was_written() -> None:
    outline = Outline('{"b": 1.50, "a": [true, null], "b": 1e3, "e": {}, "u": "\\u00fc"}')

    assert text_of(outline) == [
        "{",
        '  "b": 1.50,',
        '  "a": [',
        "    true,",
        "    null",
        "  ],",
        '  "b": 1e3,',
        '  "e": {},',
        '  "u": "ü"',
        "}",
    ]


def test_what_is_folded_says_how_much_it_holds() -> None:
    outline = Outline('{"a": {"b": 1, "c": 2}, "d": [1]}')
    outline.fold()

    assert text_of(outline)[1:3] == ['  "a": { … }, 2 keys', '  "d": [ … ] 1 item']


def test_a_long_text_is_folded_to_its_beginning_and_unfolds_to_its_lines() -> None:
    outline = Outline(json.dumps({"text": "one\ntwo\nthree"}))

    assert text_of(outline)[1:5] == [
        '  "text": text of 3 lines, 13 characters',
        "    one",
        "    two",
        "    three",
    ]
    outline.fold()
    assert text_of(outline)[1] == '  "text": "one\\ntwo\\nthree … 3 lines, 13 characters'


def test_a_picture_stays_folded() -> None:
    outline = Outline(json.dumps({"data": "A" * 100_000}))

    assert len(text_of(outline)) == 3
    assert text_of(outline)[1].endswith("… 100,000 characters")


def test_much_is_unfolded_in_parts() -> None:
    outline = Outline(json.dumps([{"id": number} for number in range(10 * PART)]))

    assert len(outline.lines()) < LINES_AT_FIRST
    assert text_of(outline)[1] == "  1 to 100"
    part = outline.root.children[3]
    part.is_open = True
    assert len(outline.lines()) < 2 * LINES_AT_FIRST
    assert part.children[0].value == [("id", "300")]


@pytest.mark.parametrize("text", ["junk", "[" * 100_000, "{"])
def test_what_is_no_json_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        Outline(text)
