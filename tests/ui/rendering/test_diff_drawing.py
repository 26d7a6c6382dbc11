"""How a diff looks."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.style import Style
from textual.strip import Strip

from acp_tui.client import line_comparison
from acp_tui.ui.rendering import diff_blocks, diff_text, highlight
from acp_tui.ui.rendering.diff import NOTED_STEPS, DiffRenderer
from acp_tui.ui.rendering.diff_blocks import BlockRows, DiffRows
from acp_tui.ui.rendering.diff_model import Diff, DiffLine, LineRun
from acp_tui.ui.rendering.diff_text import MAX_CHARACTERS
from acp_tui.ui.rendering.highlight import Lexed, LexerState
from acp_tui.ui.rendering.palette import PLAIN, Palette

LINES = st.text("ab \t日é\u0301😀\x1b\r\u202eя", max_size=90).flatmap(
    lambda text: st.sampled_from([text + "\n", text + "\r\n", text, "same\n", "x" * 150 + "\n"])
)
COLORS = Palette(
    diff_added=Style(bgcolor="green"), diff_removed=Style(bgcolor="red"), syntax_keyword=Style(italic=True)
)


def draw(old: str | None, new: str | None, width: int = 40, path: str = "a.py") -> list[str]:
    strips = list(DiffRenderer(path, old, new).lines(width, PLAIN))
    assert all(cell_len(strip.text) == strip.cell_length <= width for strip in strips)
    return [strip.text.rstrip() for strip in strips]


def test_a_change_is_shown_with_numbers_signs_and_what_is_skipped() -> None:
    old = [f"line {number}\n" for number in range(1, 21)]
    new = [*old[:9], "new\n", *old[10:]]
    assert draw("".join(old), "".join(new)) == [
        "a.py  +1  -1",
        "@@ -7,7 +7,7 @@  … 6 unchanged lines",
        " 7  7    line 7",
        " 8  8    line 8",
        " 9  9    line 9",
        "10     - line 10",
        "   10  + new",
        "11 11    line 11",
        "12 12    line 12",
        "13 13    line 13",
        "… 7 unchanged lines",
    ]


def test_a_new_and_a_deleted_file_are_called_so() -> None:
    assert draw(None, "a\n") == ["a.py  new file  +1", "  1  + a"]
    assert draw("a\n", None) == ["a.py  deleted  -1", "1    - a"]
    assert draw("a\n", "") == ["a.py  emptied or deleted  -1", "1    - a"]
    assert draw(None, "") == ["a.py  new file"]
    assert draw("a\n", "a\n") == ["a.py  no change"]


def test_a_missing_last_newline_is_said() -> None:
    assert draw("a\n", "a")[2:] == ["1    - a", "  1  + a", "       \\ No newline at end of file"]


def test_a_changed_line_end_and_tabs_are_seen() -> None:
    assert draw("\tb\r\n", "\tb\n")[2:] == ["1    - →   b␍", "  1  + →   b"]


def test_a_file_of_crlf_lines_says_so_once() -> None:
    assert draw("a\r\n", "b\r\n") == [
        "a.py  +1  -1  CRLF line ends",
        "@@ -1,1 +1,1 @@",
        "1    - a",
        "  1  + b",
    ]


def test_a_long_line_is_folded_under_its_number() -> None:
    assert draw(None, "abcdefghijklmnopqrstuvwxyz\n", 20)[1:] == [
        "  1  + abcdefghijklm",
        "       nopqrstuvwxyz",
    ]


def test_a_narrow_view_has_no_numbers() -> None:
    assert draw("a\n", "b\n", 10)[-2:] == ["- a", "+ b"]


def test_hostile_text_and_paths_are_made_visible_and_markup_stays_literal() -> None:
    lines = draw(None, "[bold]\x1b[2J\u202e\r!\n", path="a\n\x1b[31m/[red].py")
    assert lines == ["a␊␛[31m/[red].py  new file  +1", "  1  + [bold]␛[2J⟨U+202E⟩␍!"]


def test_changed_words_have_their_own_style_where_stand_ins_move_them() -> None:
    mark = Style(bold=True)
    palette = Palette(diff_added_word=mark)
    rows = DiffRenderer("a", "\tx\x1b = one + 1\n", "\tx\x1b = two + 1\n").lines(60, palette)
    assert [segment.text for strip in rows for segment in strip if segment.style == mark] == ["two"]


def test_a_diff_that_was_not_compared_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(line_comparison, "MAX_LINES", 1)
    assert draw("a\n", "b\n", 80)[1] == "Too different to compare line by line: shown as replaced."


def test_lines_are_kept_until_width_or_palette_change() -> None:
    renderer = DiffRenderer("a", "a\n", "b\n")
    rows = renderer.lines(40, PLAIN)
    assert renderer.lines(40, PLAIN) is rows
    assert rows[2] is rows[2]
    assert renderer.lines(41, PLAIN) is not rows
    assert [strip.text for strip in renderer.lines(40, PLAIN)] == [strip.text for strip in rows]


def test_every_width_can_be_drawn() -> None:
    for width in range(2, 60):
        draw("日本語 a\n" * 3 + "x" * 50, "日本語 b\n" * 3 + "y" * 50, max(width, 10))


def test_the_whole_file_can_be_asked_for() -> None:
    old = numbered(20)
    renderer = DiffRenderer("a", "".join(old), "".join([*old[:9], "new\n", *old[10:]]))
    texts = [strip.text.rstrip() for strip in renderer.lines(40, PLAIN, context=None)]
    assert (texts[1], texts[-1]) == (" 1  1    line 1", "20 20    line 20")
    assert len(texts) == 22
    assert renderer.hunk_rows == (7,)


@given(st.lists(LINES, max_size=60), st.lists(LINES, max_size=60), st.integers(10, 130), st.booleans())
def test_as_many_rows_are_counted_as_are_drawn(old: list[str], new: list[str], width: int, is_wide: bool) -> None:
    renderer = DiffRenderer("a", "".join(old), "".join(new))
    assert_counts_are_right(renderer.lines(width, PLAIN, "columns" if is_wide else "unified"), width)


@settings(max_examples=20)
@given(st.lists(LINES, min_size=5, max_size=60), st.integers(20, 130))
def test_rows_beyond_the_limit_are_neither_drawn_nor_counted(lines: list[str], width: int) -> None:
    odd = ["日本語" * 40 + "\n"] * (diff_blocks.MAX_ODD_CHARACTERS // 120 + 1)
    assert_counts_are_right(DiffRenderer("a", None, "".join([*odd, *lines])).lines(width, PLAIN), width)


def assert_counts_are_right(rows: DiffRows, width: int) -> None:
    assert all(cell_len(strip.text) == strip.cell_length <= width for strip in rows)
    blocks = [run for run in rows.runs if isinstance(run, BlockRows)]
    assert [len(block) for block in blocks] == [len(block.drawn()) for block in blocks]


def test_a_very_long_line_shows_its_change_and_counts_the_rest() -> None:
    many = 500_000
    lines = draw("x" * many + "old" + "y" * many + "\n", "x" * many + "new" + "y" * many + "\n", 100)
    assert len(lines) < 100
    assert "xold" in "".join(lines[2:6])
    notes = [line.strip() for line in lines if "not shown" in line]
    assert notes == [f"… {2 * many + 3 - MAX_CHARACTERS:,} more characters, not shown"] * 2


def test_only_the_rows_that_are_looked_at_are_made(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []
    line = Diff.line

    def counted(diff: Diff, run: LineRun, index: int) -> DiffLine:
        made.append(index)
        return line(diff, run, index)

    monkeypatch.setattr(Diff, "line", counted)
    rows = DiffRenderer("a", None, "".join(numbered(20_000))).lines(80, PLAIN)
    assert len(rows) == 20_001
    assert made == []
    assert len(rows[10_000:10_040]) == 40
    assert len(made) <= 2 * diff_blocks.BLOCK_LINES


def test_no_more_of_a_long_line_is_made_visible_than_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[int] = []
    make_visible = diff_text.make_visible

    def counted(text: str) -> str:
        shown.append(len(text))
        return make_visible(text)

    monkeypatch.setattr(diff_text, "make_visible", counted)
    for odd in ("\0", "a", "é"):
        renderer = DiffRenderer("a", None, odd * 1_000_000)
        assert renderer.lines(80, PLAIN)[1].text.strip()
    assert sum(shown) < 10 * MAX_CHARACTERS


def test_a_diff_of_millions_of_lines_has_no_more_blocks_than_one_can_keep() -> None:
    rows = DiffRenderer("a", None, "\n" * 1_000_000).lines(80, PLAIN)
    assert len(rows) == 1_000_001
    assert len(rows.runs) <= diff_blocks.MAX_BLOCKS + 4
    assert rows[999_999].text.split() == ["999999", "+"]


def test_a_page_deep_in_a_long_file_is_colored_from_little_context(monkeypatch: pytest.MonkeyPatch) -> None:
    lexed: list[str] = []
    lex_line = highlight.lex_line

    def counted(language: str, line: str, state: LexerState) -> tuple[Lexed, LexerState]:
        lexed.append(line)
        return lex_line(language, line, state)

    monkeypatch.setattr(highlight, "lex_line", counted)
    rows = DiffRenderer("a.py", None, "x = 1\n" * 20_000).lines(80, COLORS)
    assert len(rows[10_000:10_040]) == 40
    assert len(lexed) == 40 + diff_text.MAX_LINES_ABOVE
    assert len(rows[10_040:10_050]) == 10
    assert len(lexed) == 50 + diff_text.MAX_LINES_ABOVE


def test_code_has_the_colors_of_its_language_on_both_sides() -> None:
    old, new = "def a(): pass\n\n'''\nfor\n", "def b(): pass\n\n'''\nin\n"
    rows = DiffRenderer("a.py", old, new).lines(80, COLORS)
    assert italic(rows) == ["def", "pass", "def", "pass"]


def test_where_changes_have_no_ground_of_their_own_code_has_no_colors() -> None:
    palette = Palette(diff_added=Style(color="green"), syntax_keyword=Style(italic=True))
    assert italic(DiffRenderer("a.py", None, "def a(): pass\n").lines(80, palette)) == []


def italic(rows: Sequence[Strip]) -> list[str]:
    segments = [segment for strip in rows for segment in strip]
    return [segment.text.strip() for segment in segments if segment.style and segment.style.italic]


def test_until_it_is_compared_its_name_is_shown_and_then_that_it_takes_time() -> None:
    old = "".join(numbered(20_000))
    renderer = DiffRenderer("a", old, old.replace("7\n", "7!\n"))
    assert not renderer.advance(1)
    assert [strip.text for strip in renderer.waiting_lines(40, PLAIN)] == ["a"]
    assert not renderer.advance(NOTED_STEPS)
    assert [strip.text for strip in renderer.waiting_lines(40, PLAIN)] == ["a  comparing …"]
    while not renderer.advance(1):
        pass
    assert renderer.lines(40, PLAIN)[0].text == "a  +2000  -2000"


def numbered(count: int) -> list[str]:
    return [f"line {number}\n" for number in range(1, count + 1)]
