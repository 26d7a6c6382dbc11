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
        await desk.shows("In the list of agents", "Read it again F5", "Clear the search, or close it Esc Ctrl+C")
        await desk.press("f", "5")
        await desk.hides("Clear the search")
        await desk.shows("Read it again F5")
        await desk.press("f1")
        await desk.hides("Read it again")
        assert "Start an agent" in desk.text


async def test_f1_in_a_dialog_tells_what_can_be_done_with_a_row_in_it(open_desk: OpenDesk) -> None:
    async with open_desk(SESSION, "serve_until_closed()") as desk:
        await desk.has_session()
        await desk.has_read_files()
        await desk.press("f5")
        await desk.shows("Nothing has changed")
        await desk.press("f1")
        await desk.shows("In the list of changes", "Revert the hunk or file; undo that x X u")


async def test_a_list_gives_way_to_a_function_key_that_it_has_no_use_for(open_desk: OpenDesk) -> None:
    async with open_desk(SESSION, "serve_until_closed()") as desk:
        await desk.has_session()
        await desk.press("f1")
        await desk.shows("Earlier prompts of this project")
        await desk.press("f12")
        await desk.shows("Settings", "Esc close")
        await desk.hides("Earlier prompts of this project")
        await desk.press("f3")
        await desk.shows("Sessions", "Esc close")


async def test_where_a_screen_has_a_help_of_its_own_f1_gives_that() -> None:
    async with open_page() as page:
        await page.press("f1")
        assert "In the prompt" in page.text
        await page.press("f1")
        assert "In the prompt" not in page.text
