"""Streamed plain text ends up as if it had arrived whole, and each piece costs only its own length."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.segment import Segment
from rich.style import Style

from acp_tui.ui.rendering import plain
from acp_tui.ui.rendering.plain import PlainStream, plain_lines

WIDTH = 12
STYLE = Style(bold=True)
WORDS = st.sampled_from(["a", "bc ", " ", "\n", "\n\n", "\t", "日本", "👩\u200d👩", "long" * 8, "\r", "\u200b"])


def streamed(text: str, size: int) -> list[list[Segment]]:
    stream = PlainStream(WIDTH, STYLE)
    for start in range(0, len(text), size):
        stream.append(text[start : start + size])
    stream.finish()
    return [list(strip) for strip in stream.rows]


def whole(text: str) -> list[list[Segment]]:
    return [list(strip) for strip in plain_lines(text.strip(), WIDTH, STYLE)]


@given(st.lists(WORDS, max_size=20).map("".join), st.integers(1, 9))
def test_any_text_ends_the_same_streamed_as_whole(text: str, size: int) -> None:
    assert streamed(text, size) == whole(text)


def test_what_was_finished_goes_on_when_text_arrives_late() -> None:
    stream = PlainStream(WIDTH, STYLE)
    for text in ("one two three", " four five", "\nsix 日本"):
        stream.append(text)
        stream.finish()
    assert [list(strip) for strip in stream.rows] == whole("one two three four five\nsix 日本")


@pytest.mark.parametrize("chunk", ["some words go on xyz", "x" * 20, "some words go on xy\n"])
def test_a_long_text_is_wrapped_by_what_comes_and_not_by_what_was_there(
    chunk: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrapped: list[int] = []
    wrap = plain.wrap

    def counted(spans: list[tuple[str, Style]], width: int) -> object:
        wrapped.append(sum(len(text) for text, _ in spans))
        return wrap(spans, width)

    monkeypatch.setattr(plain, "wrap", counted)
    stream = PlainStream(WIDTH, STYLE)
    for _ in range(1_000):
        stream.append(chunk)
    assert max(wrapped) <= len(chunk) + WIDTH
    rows = list(stream.rows)
    stream.append(" more")
    # Except for the row where the text continues, rows stay the same objects, so their escape sequences stay cached.
    assert all(now is before for now, before in zip(list(stream.rows)[: len(rows) - 1], rows, strict=False))
