"""JSON is shown as it was written, and nothing is too large to draw."""

from __future__ import annotations

import json

import pytest

from acp_tui.workbench.inspect.outline import MAX_DEPTH, MAX_LINES, MAX_TEXT, outline


def text_of(written: str) -> list[str]:
    return ["  " * depth + "".join(text for text, _ in pieces) for depth, pieces in outline(written)]


def test_it_is_shown_as_it_was_written() -> None:
    assert text_of('{"b": 1.50, "a": [true, null], "b": 1e3, "e": {}, "u": "\\u00fc"}') == [
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


def test_a_text_of_several_lines_has_a_line_for_each() -> None:
    assert text_of(json.dumps({"text": "one\ntwo\nthree"}))[1:5] == [
        '  "text": text of 3 lines',
        "    one",
        "    two",
        "    three",
    ]


def test_of_a_picture_only_the_beginning_is_shown() -> None:
    shown = text_of(json.dumps({"data": "A" * 100_000}))
    assert len(shown) == 3
    assert len(shown[1]) < MAX_TEXT + 100
    assert shown[1].endswith("more characters")


def test_of_much_only_so_much_is_shown() -> None:
    shown = text_of(json.dumps([{"id": number} for number in range(MAX_LINES)]))
    assert len(shown) == MAX_LINES + 1
    assert shown[-1] == f"more than {MAX_LINES:,} lines"
    assert text_of("[" * 500 + "]" * 500)[MAX_DEPTH].strip() == "…"


@pytest.mark.parametrize("text", ["junk", "[" * 100_000, "{"])
def test_what_is_no_json_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        outline(text)
