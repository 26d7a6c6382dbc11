"""A diff of a patch, which has only parts of a file."""

from __future__ import annotations

import re
from typing import Any

import pytest

from acp_tui.conversation.tool_calls import HunkStart
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
