"""How a diff looks in two columns."""

from __future__ import annotations

import pytest
from rich.cells import cell_len
from rich.style import Style

from acp_tui.ui.rendering.diff import MIN_COLUMNS_CELLS, DiffRenderer
from acp_tui.ui.rendering.palette import PLAIN, Palette

WIDTH = 61
"""Two columns of 29 cells and the rule between them; a line has 24 of each."""


def draw(old: str | None, new: str | None, width: int = WIDTH) -> list[str]:
    strips = list(DiffRenderer("a.py", old, new).lines(width, PLAIN, "columns"))
    assert all(cell_len(strip.text) == strip.cell_length <= width for strip in strips)
    return [strip.text.rstrip() for strip in strips]


def sides(old: str, new: str) -> list[tuple[str, str]]:
    """Both sides of each row below the title and the first hunk's header."""
    rows = [row.ljust(WIDTH).partition(" │ ") for row in draw(old, new)[2:]]
    return [(left.rstrip(), right.rstrip()) for left, _, right in rows]


def test_the_old_text_stands_beside_the_new_one_with_its_own_numbers() -> None:
    assert sides("one\ntwo\nthree\n", "zero\none\n2\nthree\n") == [
        ("", "1  + zero"),
        ("1    one", "2    one"),
        ("2  - two", "3  + 2"),
        ("3    three", "4    three"),
    ]


def test_what_has_no_counterpart_stands_beside_nothing() -> None:
    assert sides("same\na\nb\n", "same\nA\n") == [
        ("1    same", "1    same"),
        ("2  - a", "2  + A"),
        ("3  - b", ""),
    ]


def test_where_lines_are_only_added_or_only_removed_no_column_is_left_empty() -> None:
    for old, new in (("one\n", "one\ntwo\n"), ("one\ntwo\n", "one\n"), ("one\ntwo\n", "zero\none\n")):
        assert not any("│" in row for row in draw(old, new))
    assert any("│" in row for row in draw("one\ntwo\n", "zero\none\n2\n"))


def test_title_hunk_headers_and_what_is_skipped_are_those_of_one_column() -> None:
    old = [f"line {number}\n" for number in range(1, 21)]
    new = [*old[:9], "new\n", *old[10:]]
    rows = draw("".join(old), "".join(new))
    assert rows[:2] == ["a.py  +1  -1", "@@ -7,7 +7,7 @@  … 6 unchanged lines"]
    assert rows[-1] == "… 7 unchanged lines"


def test_a_long_line_is_folded_on_its_own_side_and_nothing_is_cut() -> None:
    long = "abcdefghijklmnopqrstuvwxyz0123456789"
    assert sides(f"{long}\nx\n", "y\nx\n") == [
        (f"1  - {long[:24]}", "1  + y"),
        (f"     {long[24:]}", ""),
        ("2    x", "2    x"),
    ]


def test_a_missing_last_newline_is_said_on_its_side() -> None:
    assert sides("a\n", "b") == [("1  - a", "1  + b"), ("", "     \\ No newline at end of f")]


def test_a_changed_line_end_and_tabs_are_seen() -> None:
    assert sides("\tb\r\n", "\tb\n") == [("1  - →   b␍", "1  + →   b")]


def test_a_file_of_crlf_lines_says_so_once() -> None:
    assert draw("a\r\n", "b\r\n")[0] == "a.py  +1  -1  CRLF line ends"
    assert sides("a\r\n", "b\r\n") == [("1  - a", "1  + b")]


def test_changed_words_have_their_own_style_on_each_side() -> None:
    gone, came = Style(strike=True), Style(bold=True)
    palette = Palette(diff_removed_word=gone, diff_added_word=came)
    rows = DiffRenderer("a", "\tx = one + 1\n", "\tx = two + 1\n").lines(WIDTH, palette, "columns")
    marked = [(segment.text, segment.style) for strip in rows for segment in strip if segment.style in (gone, came)]
    assert marked == [("one", gone), ("two", came)]


@pytest.mark.parametrize(("old", "new"), [(None, "a\n"), ("a\n", None), ("", "a\n"), ("a\n", "a\n")])
def test_a_text_alone_is_shown_in_one_column(old: str | None, new: str | None) -> None:
    one = [strip.text.rstrip() for strip in DiffRenderer("a.py", old, new).lines(WIDTH, PLAIN)]
    assert draw(old, new) == one


def test_where_it_is_too_narrow_it_is_shown_in_one_column_and_says_so() -> None:
    width = MIN_COLUMNS_CELLS - 1
    one = [strip.text.rstrip() for strip in DiffRenderer("a.py", "a\n", "b\n").lines(width, PLAIN)]
    assert draw("a\n", "b\n", width) == [one[0], "Too narrow for two columns, so one is shown.", *one[1:]]


@pytest.mark.parametrize("layout", ["unified", "columns"])
def test_it_is_known_where_each_hunk_begins(layout: str) -> None:
    old = [f"line {number}\n" for number in range(1, 41)]
    new = ["first\n", *old[1:20], "x" * 100 + "\n", *old[21:]]
    renderer = DiffRenderer("a.py", "".join(old), "".join(new))
    lines = renderer.lines(WIDTH, PLAIN, layout)  # type: ignore[arg-type]
    headers = tuple(row for row, strip in enumerate(lines) if strip.text.startswith("@@"))
    assert renderer.hunk_rows == headers
    assert len(headers) == 2


def test_every_width_can_be_drawn_in_two_columns() -> None:
    for width in range(MIN_COLUMNS_CELLS - 2, MIN_COLUMNS_CELLS + 60):
        draw("日本語 a\n" * 3 + "日" * 50, "日本語 b\n" * 3 + "é" * 50 + "\n", width)
