"""Code is highlighted line by line, in the palette's styles, and never fails."""

from __future__ import annotations

import pytest
from rich.style import Style

from acp_tui.ui.rendering import highlight
from acp_tui.ui.rendering.highlight import Highlighter, language_name
from acp_tui.ui.rendering.palette import NO_STYLE, Palette

STRING, KEYWORD = Style(color="green"), Style(bold=True)
PALETTE = Palette(syntax_string=STRING, syntax_keyword=KEYWORD)


def spans(language: str, *lines: str) -> list[list[tuple[str, Style]]]:
    highlighter = Highlighter(language)
    for line in lines:
        highlighter.append(line)
    return [highlighter.spans(number, PALETTE, NO_STYLE) for number in range(len(lines))]


def test_a_keyword_and_a_string_have_their_styles() -> None:
    assert spans("python", "return 'x'")[0] == [("return ", KEYWORD), ("'x'", STRING)]


def test_a_string_that_goes_over_lines_stays_a_string() -> None:
    assert spans("python", '"""for', "in", 'if"""')[1] == [("in", STRING)]


@pytest.mark.parametrize("language", ["", "no-such-language", "{=}", "\x1b"])
def test_an_unknown_language_is_plain(language: str) -> None:
    assert spans(language, "return 1") == [[("return 1", NO_STYLE)]]


@pytest.mark.parametrize(
    "language",
    ["python", "js", "json", "yaml", "bash", "rust", "html", "md", "diff", "ruby", "console", "php"],
)
def test_no_lexer_changes_the_text(language: str) -> None:
    lines = ["# a: 'b' <c>", "  - [1, 2]", "", "def f() { return `x` } # é日本", "```py", "<<EOF $(x)"]
    assert ["".join([text for text, _ in line]) for line in spans(language, *lines)] == lines


def test_very_long_lines_are_plain() -> None:
    assert spans("python", "return " * 1_000) == [[("return " * 1_000, NO_STYLE)]]


def test_a_line_is_read_only_when_it_or_a_later_one_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    lex = highlight.lex_line

    def note(language: str, line: str, stack: tuple[str, ...]) -> object:
        read.append(line)
        return lex(language, line, stack)

    monkeypatch.setattr(highlight, "lex_line", note)
    highlighter = Highlighter("python")
    for number in range(10):
        highlighter.append(str(number))
    highlighter.spans(2, PALETTE, NO_STYLE)
    highlighter.spans(1, PALETTE, NO_STYLE)
    assert read == ["0", "1", "2"]


@pytest.mark.parametrize(
    ("info", "name"),
    [("python title=x", "python"), ("{.Rust}", "rust"), ("c++", "c++"), ("", ""), ("py:a.py", "py")],
)
def test_the_language_is_the_first_word_of_the_info_string(info: str, name: str) -> None:
    assert language_name(info) == name
