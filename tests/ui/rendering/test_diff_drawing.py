"""What a diff looks like."""

from __future__ import annotations

import pytest
from rich.cells import cell_len
from rich.style import Style

from acp_tui.ui.rendering import diff_model
from acp_tui.ui.rendering.diff import DiffRenderer
from acp_tui.ui.rendering.palette import PLAIN, Palette


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
    monkeypatch.setattr(diff_model, "MAX_LINES", 1)
    assert draw("a\n", "b\n", 80)[1] == "Too much differs to compare line by line: shown as replaced."


def test_lines_are_kept_until_width_or_palette_change_or_they_are_released() -> None:
    renderer = DiffRenderer("a", "a\n", "b\n")
    rows = renderer.lines(40, PLAIN)
    assert renderer.lines(40, PLAIN) is rows
    assert rows[2] is rows[2]
    assert renderer.lines(41, PLAIN) is not rows
    renderer.release()
    assert [strip.text for strip in renderer.lines(40, PLAIN)] == [strip.text for strip in rows]


def test_every_width_can_be_drawn() -> None:
    for width in range(2, 60):
        draw("日本語 a\n" * 3 + "x" * 50, "日本語 b\n" * 3 + "y" * 50, max(width, 10))
