"""A diff of a patch, which has only parts of a file."""

from __future__ import annotations

import re
from typing import Any

import pytest

from acp_tui.conversation.tool_calls import NOWHERE, HunkStart
from acp_tui.ui.rendering.diff import DiffRenderer
from acp_tui.ui.rendering.palette import PLAIN


@pytest.mark.parametrize("layout", ["unified", "columns"])
def test_parts_of_a_file_are_numbered_as_the_file_is(layout: Any) -> None:
    """R2-DIFF: a patch has only the lines around its changes."""
    parts = (HunkStart(0, 7, 0, 7), HunkStart(2, 120, 2, 121))
    renderer = DiffRenderer("a.py", "one\ntwo\nlast\n", "one\n2\nLAST\n", parts)
    assert renderer.diff.number_in_file(3, is_old=True) == 120
    text = "\n".join("".join(segment.text for segment in line) for line in renderer.lines(90, PLAIN, layout))
    assert "@@ -7,3 +7,3 @@" in text
    for number in ("7", "8", "120", "121"):
        assert re.search(rf"\b{number}\b", text)


@pytest.mark.parametrize("layout", ["unified", "columns"])
def test_a_part_at_an_unknown_place_claims_none_and_no_end_of_the_file(layout: Any) -> None:
    renderer = DiffRenderer("a.py", "one\ntwo\nlast", "one\nTWO\nLAST", NOWHERE)
    lines = [line.text.rstrip() for line in renderer.lines(60, PLAIN, layout)]
    assert lines[0] == "a.py  +2  -2"
    shown = {
        "unified": ["  one", "- two", "- last", "+ TWO", "+ LAST"],
        "columns": ["one │ one", "- two │ + TWO", "- last │ + LAST"],
    }
    assert [re.sub(" +", " ", line).strip() for line in lines[1:]] == [each.strip() for each in shown[layout]]
