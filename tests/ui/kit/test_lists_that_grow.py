"""A list whose rows a worker reads: later rows never move the row at the cursor away."""

from __future__ import annotations

from typing import Any

from acp_tui.ui.kit.pickers import Picker
from acp_tui.ui.kit.row_list import PickerRow
from support.dialogs import open_dialog


def rows(*names: str) -> list[PickerRow[str]]:
    return [PickerRow(name, name) for name in names]


async def test_enter_chooses_the_row_that_was_gone_to_whatever_comes_before_it() -> None:
    picker: Picker[Any] = Picker("Choose", rows("one", "two", "three"))
    async with open_dialog(picker) as page:
        await page.press("down")
        picker.rows.show_rows(rows("zero", "one", "one and a half", "two", "three"))
        await page.press("enter")
        assert page.result == "two"


async def test_a_cursor_that_nobody_has_moved_stays_on_its_row() -> None:
    picker: Picker[Any] = Picker("Choose", rows("one", "two"))
    async with open_dialog(picker) as page:
        picker.rows.show_rows(rows("zero", "one", "two"))
        await page.press("enter")
        assert page.result == "one"
