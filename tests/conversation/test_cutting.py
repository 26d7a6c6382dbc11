"""What is sent for a line is cut before anything looks at it, and says how much is missing."""

from __future__ import annotations

import pytest

from acp_tui.conversation.visible import make_visible
from acp_tui.conversation.visible.cutting import (
    MAX_DRAWN,
    MAX_LINE,
    MAX_RAW,
    cut_characters,
    cut_shown,
    cut_text,
    cut_value,
    drawing_cost,
)


def test_a_long_text_ends_with_a_mark_that_counts_what_is_missing() -> None:
    cut = cut_text("\u0301" * 10_000_000)

    assert cut == "\u0301" * MAX_LINE + "… (9,995,904 more characters)"
    assert cut_characters(cut) == 9_995_904


@pytest.mark.parametrize("text", ["", "x", "y" * MAX_LINE, "… (x more characters)", "… (12 more characters) and so on"])
def test_a_short_text_stays_and_has_lost_nothing(text: str) -> None:
    assert cut_text(text) is text
    assert cut_characters(text) == 0


def test_what_is_cut_already_stays_as_it_is() -> None:
    cut = cut_text("x" * 5_000)
    assert cut_text(cut) is cut
    assert cut_value({"a": cut})["a"] == cut
    assert cut_characters(cut_text(cut, 1_000)) == 4_000


def test_the_texts_and_keys_of_a_value_are_bounded_together() -> None:
    long = "x" * (2 * MAX_RAW)
    value = {long: [long, {"deep": long, "n": 5, "none": None}], "short": "kept", "last": long}

    cut = cut_value(value)

    assert len(str(cut)) < MAX_RAW + 10 * MAX_LINE
    assert cut["short"] == "kept"
    assert cut_characters(cut["last"]) == 2 * MAX_RAW - MAX_LINE
    assert cut_value({"a": [1, "x"]}) == {"a": [1, "x"]}


@pytest.mark.parametrize(
    "character", ["\u0301", "\u200b", "\u202e", "\U000e0041", "漢", "é", "x", "\0", "👩\u200d", "\n", "\t", "a\n"]
)
def test_a_text_is_cut_by_what_it_costs_to_draw(character: str) -> None:
    text = character * 3_000_000
    cut = cut_shown(text)
    kept = cut[: len(text) - cut_characters(cut)]

    assert text.startswith(kept)
    assert MAX_DRAWN <= drawing_cost(kept) < MAX_DRAWN + 100_000
    assert kept.count("\n") < 10_000
    assert len(make_visible(kept)) < 1.2 * MAX_DRAWN


def test_a_text_that_is_cheap_to_draw_stays_whole() -> None:
    for text in ("x" * MAX_DRAWN, "a line of forty characters, as many have\n" * 4_000, "漢" * 30_000):
        assert cut_shown(text) is text
