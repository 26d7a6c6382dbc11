"""Only a few screens' worth of a long message's drawn lines are kept, and many runs of lines are gone through once."""

from __future__ import annotations

import pytest
from rich.segment import Segment
from textual.strip import Strip

from acp_tui.ui.conversation.drawing import MAX_MADE, Indented, Joined


def test_a_message_of_many_lines_keeps_few_of_them_and_those_in_view_as_they_are() -> None:
    source = [Strip([Segment(str(number))]) for number in range(4 * MAX_MADE)]
    lines = Indented(source, Segment("  "))
    for at in range(len(lines)):
        view = [lines[each] for each in range(max(0, at - 50), at + 1)]
        again = [lines[each] for each in range(max(0, at - 50), at + 1)]
        assert all(one is other for one, other in zip(view, again, strict=True))
    assert len(lines.made) <= MAX_MADE
    assert lines[0].text == "  0"


class Run(list[Strip]):
    asked = 0
    """How often any run was asked for its length."""

    def __len__(self) -> int:
        Run.asked += 1
        return super().__len__()


def test_a_screen_of_many_runs_asks_each_of_them_for_its_length_twice() -> None:
    runs = [Run([Strip([Segment(f"{number} {row}")]) for row in range(number % 3)]) for number in range(3_000)]
    lines = Joined(*runs)
    Run.asked = 0
    assert [line.text for line in lines[2_980:3_000]][:2] == ["2981 0", "2981 1"]
    assert Run.asked <= 2 * len(runs)


@pytest.mark.parametrize("step", [1, 2, -1])
def test_any_lines_of_runs_are_those_of_their_list(step: int) -> None:
    runs = [[Strip([Segment(f"{number} {row}")]) for row in range(number)] for number in (2, 0, 3, 1)]
    lines, whole = Joined(*runs), [line for run in runs for line in run]
    for begin in range(-7, 8):
        for end in range(-7, 8):
            assert lines[begin:end:step] == whole[begin:end:step]
