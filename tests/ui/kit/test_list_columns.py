"""A list's text in columns."""

from acp_tui.ui.kit.row_list import aligned


def test_texts_end_in_one_column_by_their_width() -> None:
    assert aligned(["a", "例", "abc"]) == ["a  ", "例 ", "abc"]
    assert aligned([]) == []


def test_a_text_that_is_too_wide_does_not_widen_the_column() -> None:
    assert aligned(["a", "abc", "abcdef"], 3) == ["a  ", "abc", "abcdef"]
