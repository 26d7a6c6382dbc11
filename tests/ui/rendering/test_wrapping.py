"""Lines break between words, to the cell, and lose nothing but spaces at the break."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len, split_graphemes
from rich.style import Style
from textual.strip import Strip

from acp_tui.ui.rendering import plain, wrapping
from acp_tui.ui.rendering.palette import NO_STYLE
from acp_tui.ui.rendering.plain import PlainLines, plain_lines
from acp_tui.ui.rendering.wrapping import Span, break_words, cut_at_word, fold, wrap

BOLD = Style(bold=True)
TEXTS = st.text(st.sampled_from("ab -日本、é👍\u200d\u0301\U0001f469\ufe0f"), max_size=60)


LONG_TEXTS = st.text(st.sampled_from("abcdefgh      -日本、é👍\u200d\u0301\U0001f469\ufe0f"), max_size=400)


def texts(strips: list[Strip]) -> list[str]:
    return [strip.text for strip in strips]


@given(TEXTS, st.integers(2, 20))
def test_a_wrapped_line_is_never_too_wide_and_knows_its_width(text: str, width: int) -> None:
    for strip in wrap([(text, NO_STYLE)], width):
        assert cell_len(strip.text) == strip.cell_length <= width


@pytest.mark.parametrize(
    ("width", "shown"),
    [(17, "Show every method"), (16, "Show every…"), (11, "Show every…"), (10, "Show…"), (4, "Sho…")],
)
def test_a_cut_line_ends_with_a_whole_word(width: int, shown: str) -> None:
    assert cut_at_word("Show every method", width) == shown


@pytest.mark.parametrize("width", [16, 17])
def test_a_line_is_not_cut_behind_what_only_separates(width: int) -> None:
    assert cut_at_word("Show · every · method", width) == "Show · every…"


@given(TEXTS, st.integers(2, 20))
def test_wrapping_loses_nothing_but_spaces(text: str, width: int) -> None:
    wrapped = "".join(texts(wrap([(text, NO_STYLE)], width)))
    assert wrapped.replace(" ", "") == text.replace(" ", "")


@given(TEXTS, st.integers(2, 20))
def test_folding_loses_nothing(text: str, width: int) -> None:
    parts = fold(text, width)
    assert "".join([text[start:stop] for start, stop, _ in parts]) == text
    assert all(cell_len(text[start:stop]) == cells <= width for start, stop, cells in parts)


@pytest.mark.parametrize(
    ("text", "width", "rows"),
    [
        ("return total + self.count", 20, ["return total + ", "self.count"]),
        ("call(first, second, third)", 20, ["call(first, second, ", "third)"]),
        ("handlers.get(self.name)", 20, ["handlers.get(self.", "name)"]),
        ("--option=one,--other=two", 18, ["--option=one,", "--other=two"]),
        ("if first_one == second_one", 16, ["if first_one == ", "second_one"]),
        ("a b0123456789012345678", 15, ["a b012345678901", "2345678"]),
        ("            indented_word", 15, ["            ind", "ented_word"]),
        ("見積もり と ab = total_sum", 16, ["見積もり と ab ", "= total_sum"]),
    ],
    ids=["space", "comma", "dot", "dash", "operator", "nothing near", "indentation", "wide"],
)
def test_code_is_cut_between_words_where_there_is_a_place_near(text: str, width: int, rows: list[str]) -> None:
    assert [text[start:stop] for start, stop, _ in fold(text, width)] == rows


@given(st.text(st.sampled_from('ab_1 .,([])-="/'), max_size=90), st.integers(2, 30))
def test_code_is_cut_at_the_same_places_beside_wide_characters(text: str, width: int) -> None:
    odd = fold(f"{text}\n漢", width)
    plain = fold(text, width)
    assert odd[: len(plain) - 1] == plain[:-1]


def test_a_word_that_spans_two_styles_is_not_broken_between_them() -> None:
    strips = wrap([("see ", NO_STYLE), ("bold", BOLD), (", then", NO_STYLE)], 8)
    assert texts(strips) == ["see", "bold,", "then"]
    drawn = [(segment.text, segment.style) for segment in strips[1] if segment.text]
    assert drawn == [("bold", BOLD), (",", NO_STYLE)]


def test_a_word_longer_than_the_line_is_cut() -> None:
    assert texts(wrap([("abcdefghij kl", NO_STYLE)], 4)) == ["abcd", "efgh", "ij", "kl"]


@pytest.mark.parametrize(
    ("text", "width", "lines"),
    [
        ("日本語テキスト", 6, ["日本語", "テキス", "ト"]),
        ("日本、語", 4, ["日", "本、", "語"]),
        ("a 日本 b", 4, ["a 日", "本 b"]),
        ("日本abc", 6, ["日本", "abc"]),
        ("👩‍👩‍👧👩‍👩‍👧👩‍👩‍👧", 4, ["👩‍👩‍👧👩‍👩‍👧", "👩‍👩‍👧"]),
    ],
)
def test_wide_characters_and_joined_emoji_stay_whole(text: str, width: int, lines: list[str]) -> None:
    assert texts(wrap([(text, NO_STYLE)], width)) == lines


def test_plain_text_keeps_indentation_and_markup_and_expands_tabs() -> None:
    assert texts(plain_lines("  [bold]x[/]\n\ty **z**\n", 40, NO_STYLE)) == ["  [bold]x[/]", "    y **z**"]


def test_plain_text_shows_what_a_terminal_would_obey() -> None:
    assert texts(plain_lines("a\x1b[31mb\u202e", 40, NO_STYLE)) == ["a␛[31mb⟨U+202E⟩"]


def test_no_text_gives_no_lines() -> None:
    assert plain_lines("", 40, NO_STYLE) == []


@given(st.text(st.sampled_from("abcd   \n\t日本、é"), max_size=200), st.integers(2, 20))
def test_a_text_is_wrapped_line_by_line(text: str, width: int) -> None:
    lines = text.removesuffix("\n").split("\n") if text else []
    wrapped = [row for line in lines for row in wrap([(line.expandtabs(4), NO_STYLE)], width)]
    assert list(map(list, PlainLines(text, width, NO_STYLE))) == list(map(list, wrapped))


def test_of_a_long_output_only_viewed_lines_are_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[str] = []

    def counted(spans: Sequence[Span], width: int) -> list[Strip]:
        drawn.append(spans[0][0])
        return wrap(spans, width)

    monkeypatch.setattr(plain, "wrap", counted)
    lines = PlainLines("".join(f"line {number}\n" for number in range(10_000)), 40, NO_STYLE)
    assert (len(lines), drawn) == (10_000, [])
    assert texts(lines[5_000:5_002]) == ["line 5000", "line 5001"]
    assert lines[5_000] is lines[5_000]
    assert drawn == ["line 5000", "line 5001"]


def test_a_joiner_that_joins_nothing_makes_no_line_too_wide() -> None:
    assert [part.cells for part in fold("\u200d\u200da、", 2)] == [1, 2]


def test_what_is_left_behind_a_good_place_to_break_is_broken_again() -> None:
    assert [strip.cell_length for strip in wrap([("\u0301日、", NO_STYLE)], 2)] == [0, 2, 2]


@given(LONG_TEXTS, st.integers(2, 5))
def test_a_long_text_breaks_part_by_part_where_it_would_as_a_whole(text: str, width: int) -> None:
    whole = break_words(text, width), fold(text, width)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(wrapping, "PART", 0)
        assert (break_words(text, width), fold(text, width)) == whole


@pytest.mark.parametrize(
    "text", ["\u0301" * 5 + "⟨U+0301⟩" * 20_000, "x" * 200_000 + "漢", "word " * 40_000 + "é\u0301"]
)
def test_one_odd_character_does_not_make_a_long_text_slow(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    looked_at = 0

    def counted(part: str) -> object:
        nonlocal looked_at
        looked_at += len(part)
        return split_graphemes(part)

    monkeypatch.setattr(wrapping, "split_graphemes", counted)
    break_words(text, 80)
    fold(text, 80)
    assert looked_at < 20_000
