"""On a small screen, every list has rows, and shows the keys that close it."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from textual.screen import ModalScreen

from acp_tui.conversation.facts import Choice, SelectOption
from acp_tui.conversation.updates import OptionsReplaced
from acp_tui.ui.kit.row_list import RowList
from support.screens import open_page

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
