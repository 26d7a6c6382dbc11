"""Copying drawn lines gives the text as it was written, not as it was laid out."""

import pytest
from rich.segment import Segment
from textual.strip import Strip

from acp_tui.ui.conversation.selecting import CopiedPiece, text_of
from acp_tui.ui.rendering.diff import DiffRenderer
from acp_tui.ui.rendering.highlight import CodePanel
from acp_tui.ui.rendering.palette import PLAIN
from acp_tui.ui.rendering.wrapping import CUT, JOINT, Gutter

ALL = range(1_000)


def row(*parts: str | Segment) -> Strip:
    return Strip([part if isinstance(part, Segment) else Segment(part) for part in parts])


def test_lines_that_were_wrapped_become_one_again() -> None:
    rows = [row("the quick"), row(JOINT, "brown fox "), row("jumps")]
    assert text_of(CopiedPiece(strip, ALL) for strip in rows) == "the quick brown fox\njumps"


def test_a_word_that_was_cut_is_whole_again() -> None:
    assert text_of([CopiedPiece(row("super"), ALL), CopiedPiece(row(CUT, "cali"), ALL)]) == "supercali"


def test_gutters_are_left_out_and_count_as_cells() -> None:
    rows = [row(Gutter("│ "), "one"), row(Gutter("│ "), JOINT, "two")]
    assert text_of(CopiedPiece(strip, ALL) for strip in rows) == "one two"
    assert text_of([CopiedPiece(rows[0], range(3, 4))]) == "n"


def test_a_selection_that_begins_in_a_wrapped_line_begins_there() -> None:
    assert (
        text_of([CopiedPiece(row(JOINT, "brown fox"), range(6, 9)), CopiedPiece(row("jumps"), range(2))]) == "fox\nju"
    )


@pytest.mark.parametrize(
    ("cells", "text"),
    [
        (range(2), "漢"),
        (range(1), "漢"),
        (range(1, 2), ""),
        (range(2, 4), "字"),
        (range(5), "漢字e\u0301"),
    ],
)
def test_a_wide_character_is_copied_with_its_first_cell(cells: range, text: str) -> None:
    assert text_of([CopiedPiece(row("漢字e\u0301"), cells)]) == text


@pytest.mark.parametrize(
    "text", ["def shown(first_argument, second_argument):", "見積もり(first_argument, second_argument)"]
)
def test_code_cut_at_a_space_is_copied_as_it_was_written(text: str) -> None:
    panel = CodePanel("", 30, PLAIN)
    rows = [row if isinstance(row, Strip) else row() for row in panel.append(text)]
    diff = DiffRenderer("a.py", None, f"{text}\n").lines(36, PLAIN)[1:]
    assert len(rows) > 1 and len(diff) > 1
    assert text_of(CopiedPiece(strip, ALL) for strip in rows) == text
    assert text_of(CopiedPiece(strip, ALL) for strip in diff) == f"+ {text}"
