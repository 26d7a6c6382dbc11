"""How each kind of Markdown looks."""

from __future__ import annotations

import pytest
from rich.cells import cell_len
from rich.style import Style

from acp_tui.ui.rendering.markdown import MarkdownRenderer
from acp_tui.ui.rendering.palette import PLAIN, Palette

WIDTH = 40


def draw(source: str, width: int = WIDTH, palette: Palette = PLAIN) -> list[str]:
    renderer = MarkdownRenderer(source)
    renderer.finish()
    strips = list(renderer.lines(width, palette))
    assert all(cell_len(strip.text) == strip.cell_length <= width for strip in strips)
    return [strip.text.rstrip() for strip in strips]


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ("# One\ntext\n\n\ntwo", ["One", "", "text", "", "two"]),
        ("soft\nbreak\\\nhard", ["soft break", "hard"]),
        ("a *b* **c** ~~d~~ `e`", ["a b c d e"]),
        ("- a\n- b\n  - c\n    - d\n\n- e", [" • a", " • b", "    ◦ c", "       ▪ d", "", " • e"]),
        ("<!-- *a*\n\n  b -->\n*c*", ["<!-- *a*", "", "  b -->", "", "c"]),
        ("![]()", ["image"]),
        (">\n\na", ["│", "", "a"]),
        ("``` a&amp;\\_\nx", [" a&_", " x"]),
        ("9. a\n9. b\n", [" 9. a", "10. b"]),
        ("- [ ] a\n- [x] b\n- [c] d", [" ☐ a", " ☑ b", " • [c] d"]),
        ("1. [x] a", [" 1. ☑ a"]),
        ("-\n- a", [" •", " • a"]),
        ("> a\n>\n> > b\n> - c", ["│ a", "│", "│ │ b", "│  • c"]),
        ("- a\n\n  b\n\n  > c", [" • a", "", "   b", "", "   │ c"]),
        ("a\n\n---", ["a", "", "─" * WIDTH]),
        ("```py x=1\nif a:\n\tb\n```", [" py x=1", " if a:", "     b"]),
        ("    indented", [" indented"]),
        ("<b>html</b>\n\n<div>\nx\n</div>", ["<b>html</b>", "", "<div>", "x", "</div>"]),
        ("![alt *x*](a.png) ![](b.png)", ["image: alt x (a.png) image (b.png)"]),
    ],
)
def test_blocks_look_like_this(source: str, lines: list[str]) -> None:
    assert draw(source) == lines


@pytest.mark.parametrize(
    ("source", "line"),
    [
        ("[docs](https://a.example/x)", "docs (https://a.example/x)"),
        ("[https://a.example](https://b.example)", "https://a.example (https://b.example)"),
        ("[https://a.example/x](https://a.example/x)", "https://a.example/x"),
        ("<https://a.example/x> <me@a.example>", "https://a.example/x me@a.example"),
        ("[](https://a.example)", "https://a.example"),
        ("[a][r]\n\n[r]: /target", "a (/target)"),
    ],
)
def test_a_link_shows_its_target_unless_its_text_is_the_target(source: str, line: str) -> None:
    assert draw(source) == [line]


def test_a_table_has_aligned_columns_and_light_lines() -> None:
    assert draw("| a | bb | c |\n|:--|---:|:-:|\n| 1 | 2 | *345* |\n| 日本 | | 6 |") == [
        " a    │ bb │  c",
        "──────┼────┼─────",
        " 1    │  2 │ 345",
        " 日本 │    │  6",
    ]


def test_a_table_that_is_too_wide_wraps_its_cells() -> None:
    assert draw("| a | b |\n|--|--|\n| one | two three four |\n| 1 | 2 |", 18) == [
        " a   │ b",
        "─────┼────────────",
        " one │ two three",
        "     │ four",
        "╌╌╌╌╌┼╌╌╌╌╌╌╌╌╌╌╌╌",
        " 1   │ 2",
    ]


def test_a_table_that_does_not_fit_becomes_records() -> None:
    source = "| aaaa | bbbb | cccc |\n|--|--|--|\n| 1111 | 2222 | 3333 |\n| 4444 | 5 | 6 |"
    records = ["aaaa: 1111", "bbbb: 2222", "cccc: 3333"]
    assert draw(source, 12) == [*records, "╌" * 12, "aaaa: 4444", "bbbb: 5", "cccc: 6"]


def test_the_first_rows_of_a_long_table_lay_it_out() -> None:
    rows = "| 1 | 2 |\n" * 100
    lines = draw(f"| a | b |\n|--|--|\n{rows}| longer | 2 |\n{rows}")
    assert lines[:3] == [" a    │ b", "──────┼──────", " 1    │ 2"]
    assert lines[101:105] == [" 1    │ 2", " long │ 2", " er   │", " 1    │ 2"]


def test_a_long_line_of_code_is_folded_with_a_mark_and_loses_nothing() -> None:
    assert draw("```\nabcdefghijklmnop  qrs\n```", 12) == [" abcdefghij", " ↪ klmnop", " ↪ qrs"]


def test_code_fills_the_width_with_its_background_and_is_highlighted() -> None:
    palette = Palette(code_block=Style(bgcolor="blue"), syntax_keyword=Style(bold=True))
    renderer = MarkdownRenderer("```python\nreturn x\n```\n")
    renderer.finish()
    strip = renderer.lines(20, palette)[1]
    assert strip.cell_length == 20
    assert {segment.style.bgcolor for segment in strip if segment.style} == {Style(bgcolor="blue").bgcolor}
    assert [segment.text for segment in strip if segment.style and segment.style.bold] == ["return "]


@pytest.mark.parametrize(
    "source",
    [
        ">" * 1_000 + " end",
        "- " * 1_000 + "end",
        "".join("  " * depth + "- x\n" for depth in range(300)) + "  " * 300 + "- end",
        "[" * 30_000 + "end",
        "![" * 2_000 + "end" + "](a)" * 2_000,
        "*" * 3_000 + "end",
    ],
    ids=["quotes", "inline lists", "lists", "brackets", "images", "stars"],
)
@pytest.mark.parametrize("width", [10, 80])
def test_hostile_nesting_is_drawn_and_its_end_is_seen(source: str, width: int) -> None:
    assert "end" in "".join("".join(draw(source, width)).split())


def test_deep_quotes_leave_room_for_the_text() -> None:
    assert max(map(len, draw(">" * 20 + " several words of text", 20))) > 8


@pytest.mark.parametrize(
    ("source", "line"),
    [
        ("a\x1b[31mb\x07", "a␛[31mb␇"),
        ("a\u202eb\u2066c", "a⟨U+202E⟩b⟨U+2066⟩c"),
        ("&#27;[31m &#x202e; &#10;x", "�[31m ⟨U+202E⟩  x"),
        ("\ud800x", "�x"),
        ("[bold]markup[/] \\[x]", "[bold]markup[/] [x]"),
        ("`\x1b]8;;x\x07`", "␛]8;;x␇"),
        ("```\n\x1b[2J\n```", " ␛[2J"),
        ("```\x1b[2J\nx\n```", " ␛[2J\n x"),
        ("[a](<b\u202ec>)", "a (b%E2%9F%A8U+202E%E2%9F%A9c)"),
    ],
)
def test_nothing_hostile_reaches_the_terminal(source: str, line: str) -> None:
    assert "\n".join(draw(source)) == line


def test_a_style_of_the_palette_covers_what_it_names() -> None:
    bold, dim = Style(bold=True), Style(dim=True)
    renderer = MarkdownRenderer("a **b** > [c](d)")
    strip = renderer.lines(WIDTH, Palette(strong=bold, muted=dim))[0]
    assert [(segment.text, segment.style) for segment in strip if segment.style in (bold, dim)] == [
        ("b", bold),
        (" (d)", dim),
    ]
