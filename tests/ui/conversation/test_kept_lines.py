"""Only a few screens' worth of a long message's drawn lines are kept."""

from __future__ import annotations

from rich.segment import Segment
from textual.strip import Strip

from acp_tui.ui.conversation.drawing import MAX_MADE, Indented


def test_a_message_of_many_lines_keeps_few_of_them_and_those_in_view_as_they_are() -> None:
    source = [Strip([Segment(str(number))]) for number in range(4 * MAX_MADE)]
    lines = Indented(source, Segment("  "))
    for at in range(len(lines)):
        view = [lines[each] for each in range(max(0, at - 50), at + 1)]
        again = [lines[each] for each in range(max(0, at - 50), at + 1)]
        assert all(one is other for one, other in zip(view, again, strict=True))
    assert len(lines.made) <= MAX_MADE
    assert lines[0].text == "  0"
