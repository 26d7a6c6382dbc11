"""On a small screen, every list has rows, and shows the keys that close it."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Final

import pytest
from textual.screen import ModalScreen

from acp_tui.conversation.facts import Choice, SelectOption
from acp_tui.conversation.updates import OptionsReplaced
from acp_tui.ui.kit.filtered_list import FilteredList
from acp_tui.ui.kit.pickers import Picker
from acp_tui.ui.kit.row_list import PickerRow, RowList
from acp_tui.ui.prompt.completion import SuggestionList
from support.dialogs import open_dialog
from support.screens import open_page

SIZES: Final = ((40, 12), (80, 24), (60, 16), (100, 12), (40, 30))
MOVES: Final = ("up", "down", "down", "pageup", "pagedown", "ctrl+home", "ctrl+end")

OPTIONS = OptionsReplaced(
    tuple(
        SelectOption(f"o{at}", f"Option {at}", "a", (Choice("a", "First"), Choice("b", "Second")), "other")
        for at in range(8)
    )
)


@pytest.mark.parametrize("size", [(40, 12), (60, 20)])
@pytest.mark.parametrize("keys", [["ctrl+p"], ["f1"], ["f2"], ["f12"], ["alt+a"], ["ctrl+p", "b", "a"]])
async def test_a_list_shows_rows_and_the_way_out(size: tuple[int, int], keys: Sequence[str]) -> None:
    async with open_page(OPTIONS, size=size) as page:
        await page.press(*keys)
        await page.until(lambda: isinstance(page.pilot.app.screen, ModalScreen))
        rows = page.pilot.app.screen.query_one(RowList)
        await page.until(lambda: len(rows.rows) > 0)
        await page.settled()
        assert rows.size.height >= min(len(rows.rows), 3)
        frame = page.front_lines
        assert frame[0].lstrip().startswith("╭")
        assert frame[-1].lstrip().startswith("╰")
        assert "Esc" in " ".join(frame[-4:-1])


@pytest.mark.parametrize(("width", "hint"), [(40, "Enter sends it"), (100, "Ctrl+J starts a new line")])
async def test_the_hint_in_the_empty_prompt_is_never_half_a_sentence(width: int, hint: str) -> None:
    async with open_page(size=(width, 12)) as page:
        row = next(line for line in page.lines if "Write a prompt" in line)
        assert row.rstrip("│ ").endswith(hint)


async def test_a_long_draft_leaves_its_cursor_and_the_status_line_in_view() -> None:
    async with open_page(size=(40, 24)) as page:
        await page.write("\n".join(f"line {number}" for number in range(10)))
        assert "line 0" in page.text
        await page.pilot.resize_terminal(40, 12)
        await page.settled()
        assert "line 9" in page.text
        assert "F1 help" in page.status


@pytest.mark.parametrize("seed", range(3))
async def test_the_cursor_of_the_prompt_stays_in_view_while_the_window_changes(seed: int) -> None:
    random = Random(seed)
    edits = ("a", "space", "ctrl+j", "ctrl+j", "up", "down", "home", "end", "ctrl+k", "ctrl+left")
    async with open_page(size=SIZES[0]) as page:
        await page.write("some words that wrap in a window of forty columns\n" * 5)
        for _ in range(10):
            await page.pilot.resize_terminal(*random.choice(SIZES))
            await page.settled()
            assert page.prompt.cursor_screen_offset in page.prompt.content_region
            assert page.prompt.content_region in page.pilot.app.screen.region
            await page.press_at_once(*random.choices(edits, k=6))
            assert page.prompt.cursor_screen_offset in page.prompt.content_region


@pytest.mark.parametrize("seed", range(3))
async def test_the_row_of_a_list_stays_in_view_while_the_window_changes(seed: int) -> None:
    random = Random(seed)
    rows = [PickerRow(at, f"Row {at:03}", "long " * (at % 20), f"Group {at // 7}") for at in range(60)]
    async with open_dialog(Picker("Rows", rows), size=SIZES[0]) as page:
        shown = page.app.screen.query_one(FilteredList)
        for _ in range(10):
            await page.pilot.resize_terminal(*random.choice(SIZES))
            await page.settled()
            assert shown.row is not None
            assert shown.row.label in page.text
            await page.press(*random.choices(MOVES, k=3))
            assert shown.row.label in page.text


@pytest.mark.parametrize("seed", range(3))
async def test_the_row_above_the_prompt_stays_in_view_while_the_window_changes(seed: int) -> None:
    random = Random(seed)
    async with open_page(size=SIZES[0]) as page:
        await page.press("/")
        shown = page.pilot.app.screen.query_one(SuggestionList)
        for _ in range(10):
            await page.pilot.resize_terminal(*random.choice(SIZES))
            await page.settled()
            assert shown.suggestion is not None
            assert f" {shown.suggestion.label} " in page.text
            await page.press(*random.choices(MOVES[:5], k=3))
            assert f" {shown.suggestion.label} " in page.text
