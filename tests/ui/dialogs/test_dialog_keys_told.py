"""F1 in a dialog shows its keys."""

from __future__ import annotations

from support.desks import SESSION, OpenDesk
from support.screens import open_page


async def test_f1_in_a_dialog_tells_its_keys_and_leads_back(open_desk: OpenDesk) -> None:
    async with open_desk(SESSION, "serve_until_closed()") as desk:
        await desk.has_session()
        await desk.press("alt+a")
        await desk.shows("Start an agent")
        await desk.press("f1")
        await desk.shows("Read it again", "Row down", "Esc Ctrl+C Clear the search, or close it")
        await desk.press("f1")
        await desk.hides("Row down")
        assert "Start an agent" in desk.text


async def test_where_a_screen_has_a_help_of_its_own_f1_gives_that() -> None:
    async with open_page() as page:
        await page.press("f1")
        assert "In the prompt" in page.text
        await page.press("f1")
        assert "In the prompt" not in page.text
