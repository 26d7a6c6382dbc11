"""Rows with a second line: both belong to the row, for the cursor, pages, and the mouse; and the text about a row."""

from __future__ import annotations

import pytest

from acp_tui.ui.kit.pickers import Picker
from acp_tui.ui.kit.row_list import PickerRow
from support.dialogs import open_dialog

ROWS = [PickerRow(number, f"Row {number}", below=f"below {number}" if number % 2 else "") for number in range(40)]


async def test_a_second_line_is_below_its_row_and_a_row_without_one_has_none() -> None:
    async with open_dialog(Picker("Rows", ROWS[:6], search=False)) as page:
        shown = [line.strip("│ ") for line in page.lines if "Row " in line or "below" in line]
        assert shown[:5] == ["Row 0", "Row 1", "below 1", "Row 2", "Row 3"]


async def test_what_is_at_the_right_keeps_off_the_scroll_bar() -> None:
    rows = [PickerRow(number, f"Row {number}", aside="aside") for number in range(40)]
    for shown, gap in ((rows, 2), (rows[:2], 0)):
        async with open_dialog(Picker("Rows", shown, search=False)) as page:
            (row,) = [line for line in page.lines if "Row 0" in line]
            (title,) = [line for line in page.lines if line.strip("│ ") == "Rows"]
            edge = len(title.rstrip().removesuffix("│"))
            assert edge - row.index("aside") - len("aside") - 2 == gap


async def test_a_click_on_the_second_line_chooses_the_row() -> None:
    async with open_dialog(Picker("Rows", ROWS, search=False)) as page:
        await page.click("below 3")
        assert page.result == 3


async def test_a_page_is_as_many_lines_as_are_in_view_and_both_lines_come_into_view() -> None:
    async with open_dialog(Picker("Rows", ROWS, search=False)) as page:
        in_view = sum("Row " in line for line in page.lines)
        await page.press("pagedown", "pagedown")
        assert "Row 0" not in page.words
        assert any(f"Row {number}" in page.words for number in range(in_view, 2 * in_view))
        await page.press("end")
        assert "Row 39" in page.words
        assert "below 39" in page.words
        await page.press("home", "enter")
        assert page.result == 0


@pytest.mark.parametrize("first", ["a", "aa", "aaa", "aaaa"])
async def test_the_text_about_a_row_breaks_between_its_facts(first: str) -> None:
    rows = [PickerRow(0, "A row", " · ".join([first, *"z" * 70]), aside="aside")]
    async with open_dialog(Picker("Rows", rows, search=False)) as page:
        shown = [line.strip("│ ") for line in page.lines if "z · z" in line]
        assert len(shown) == 2
        assert not any(line.endswith("·") for line in shown)
