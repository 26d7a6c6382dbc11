"""Find finds text where it appears, however it is laid out."""

import pytest
from rich.segment import Segment
from textual.strip import Strip

from acp_tui.ui.conversation.searching import MatchSpan, find_in, pattern_of
from acp_tui.ui.rendering.wrapping import CUT, JOINT, Gutter


def row(*parts: str | Segment) -> Strip:
    return Strip([part if isinstance(part, Segment) else Segment(part) for part in parts])


def found(query: str, *lines: Strip) -> list[tuple[MatchSpan, ...]]:
    pattern = pattern_of(query)
    assert pattern is not None
    return list(find_in(lines, pattern))


def test_every_match_is_found_from_top_to_bottom() -> None:
    assert found("ab", row("ab cab"), row("b"), row("xab")) == [
        (MatchSpan(0, range(2)),),
        (MatchSpan(0, range(4, 6)),),
        (MatchSpan(2, range(1, 3)),),
    ]


def test_gutters_and_styles_do_not_stand_in_the_way() -> None:
    assert found("one two", row(Gutter("│ "), "o", "ne ", "two")) == [(MatchSpan(0, range(2, 9)),)]


def test_a_match_goes_on_where_a_line_was_wrapped() -> None:
    rows = (row(Gutter("│ "), "the quick"), row(Gutter("│ "), JOINT, "brown fox"))
    assert found("quick brown", *rows) == [(MatchSpan(0, range(6, 11)), MatchSpan(1, range(2, 7)))]
    assert found("supercali", row("super"), row(CUT, "cali")) == [(MatchSpan(0, range(5)), MatchSpan(1, range(4)))]


def test_wide_characters_take_their_cells() -> None:
    assert found("字", row("漢字x")) == [(MatchSpan(0, range(2, 4)),)]


@pytest.mark.parametrize(("query", "count"), [("readme", 2), ("README", 1), ("Readme", 0)])
def test_case_counts_only_where_capitals_are_looked_for(query: str, count: int) -> None:
    assert len(found(query, row("README readme"))) == count


def test_what_means_something_in_a_pattern_is_looked_for_as_it_is() -> None:
    assert len(found("a.b(", row("a.b( axb("))) == 1


def test_nothing_is_looked_for_where_nothing_is_asked() -> None:
    assert pattern_of("  ") is None
