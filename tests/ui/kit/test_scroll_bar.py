"""The scroll bar's handle: its position, and where dragging it leads."""

from hypothesis import given
from hypothesis import strategies as st

from acp_tui.ui.kit.line_view import handle_rows, line_at


def test_there_is_no_handle_where_everything_is_in_view() -> None:
    assert handle_rows(10, 10, 0) == range(0)


@given(st.integers(1, 10_000), st.integers(1, 100), st.floats(0, 1))
def test_the_handle_stays_in_the_window(extra: int, height: int, share: float) -> None:
    rows = handle_rows(height + extra, height, round(extra * share))
    assert 0 <= rows.start < rows.stop <= height


def test_the_handle_is_at_the_top_and_at_the_bottom_with_the_text() -> None:
    assert handle_rows(1_000, 20, 0).start == 0
    assert handle_rows(1_000, 20, 980).stop == 20


def test_dragging_to_either_end_leads_there() -> None:
    assert (line_at(0, 1_000, 20), line_at(19, 1_000, 20)) == (0, 980)
