"""The search for earlier prompts: what it lists, what its keys do, and that the draft survives it."""

from __future__ import annotations

import pytest

from acp_tui.client.prompts.history import Query
from acp_tui.ui.prompt.recall import HistorySearch, shown_line
from support.pages import ELSEWHERE, kept, open_recalling_page
from support.screens import Page


def listed(page: Page) -> list[str]:
    """The rows of the search, from its head to its last prompt."""
    rows = [line.strip() for line in page.lines]
    head = next(index for index, row in enumerate(rows) if "found" in row and "Shift+Tab" in row)
    end = next(index for index, row in enumerate(rows) if row.startswith("Search"))
    return rows[head:end]


async def test_ctrl_r_lists_the_prompts_of_this_project_the_latest_next_to_the_prompt() -> None:
    kept("one", "two\nand more\nof it")
    kept("another project's", folder=ELSEWHERE)
    async with open_recalling_page() as page:
        await page.press("ctrl+r")
        head, one, two = listed(page)
        assert head.startswith("2 found in this project")
        assert one.startswith("one")
        assert two.startswith("❯ two + 2 lines")


async def test_words_narrow_it_and_enter_puts_the_prompt_into_the_draft_unsent() -> None:
    kept("Fix the parser", "Run the tests", "Fix the failing tests")
    async with open_recalling_page() as page:
        await page.press("ctrl+r", *"tes", "space", *"fix")
        assert [row.split("   ")[0] for row in listed(page)[1:]] == ["❯ Fix the failing tests"]
        await page.press("enter")
        assert page.draft == "Fix the failing tests"
        assert page.prompt.has_focus
        assert page.connection.prompts == []
        assert "Search" not in page.text


async def test_ctrl_r_again_and_the_arrows_move_to_older_and_newer_ones() -> None:
    kept("one", "two", "three")
    async with open_recalling_page() as page:
        for keys, chosen in (
            (("ctrl+r",), "two"),
            (("up", "up"), "one"),
            (("up", "down"), "three"),
            (("home",), "one"),
            (("home", "end"), "three"),
        ):
            page.prompt.clear_draft()
            await page.press("ctrl+r", *keys, "tab")
            assert page.draft == chosen, keys


async def test_enter_takes_what_was_found_for_all_that_was_typed_before_it() -> None:
    kept("one", "two", "three")
    async with open_recalling_page() as page:
        await page.press_at_once("ctrl+r", *"one", "enter")
        assert page.draft == "one"


async def test_what_is_read_from_the_disk_meanwhile_does_not_move_the_choice() -> None:
    kept("one", "two", "three")
    async with open_recalling_page() as page:
        await page.press("ctrl+r", "up", "up")
        page.pilot.app.query_one(HistorySearch).search()
        await page.settled()
        await page.press("tab")
        assert page.draft == "one"


async def test_shift_tab_searches_all_projects_and_names_the_others() -> None:
    kept("here")
    kept("there", folder=ELSEWHERE)
    async with open_recalling_page() as page:
        await page.press("ctrl+r", "shift+tab")
        head, here, there = listed(page)
        assert head.startswith("2 found in all projects")
        assert "project" not in here
        assert "other-project" in there
        await page.press("shift+tab")
        assert listed(page)[0].startswith("1 found in this project")


async def test_esc_leaves_the_draft_as_it_was_and_cancels_nothing() -> None:
    kept("one")
    async with open_recalling_page() as page:
        await page.send("at work")
        await page.write("being written")
        await page.press("ctrl+r", *"on", "escape")
        assert page.draft == "being written"
        assert page.prompt.has_focus
        assert page.connection.cancels == 0


async def test_what_was_being_written_is_one_step_below_the_chosen_prompt() -> None:
    kept("one", "two", "three")
    async with open_recalling_page() as page:
        await page.write("being written")
        await page.press("ctrl+r", *"two", "enter", "down", "down")
        assert page.draft == "being written"
        await page.press("up", "up", "up")
        assert page.draft == "one"


async def test_a_prompt_of_another_project_is_one_step_above_what_was_being_written() -> None:
    kept("there", folder=ELSEWHERE)
    async with open_recalling_page() as page:
        await page.write("being written")
        await page.press("ctrl+r", "shift+tab", "enter")
        assert page.draft == "there"
        await page.press("down")
        assert page.draft == "being written"


async def test_where_nothing_matches_enter_does_nothing_and_it_says_so() -> None:
    kept("one")
    async with open_recalling_page() as page:
        await page.press("ctrl+r", *"xyz", "enter")
        assert listed(page)[0].startswith("nothing found in this project")
        await page.press("escape")
        assert page.draft == ""


async def test_a_click_chooses() -> None:
    kept("one", "two")
    async with open_recalling_page() as page:
        await page.press("ctrl+r")
        await page.click("one")
        assert page.draft == "one"


async def test_typing_leaves_the_search() -> None:
    kept("one")
    async with open_recalling_page() as page:
        await page.press("ctrl+r")
        page.prompt.focus()
        await page.press("a")
        assert page.draft == "a"
        assert "Search" not in page.text


async def test_it_closes_on_a_screen_that_is_going_and_has_lost_its_prompt() -> None:
    async with open_recalling_page() as page:
        await page.press("ctrl+r")
        await page.prompt.remove()
        await page.press("escape")
        assert not page.tab.screen.query(HistorySearch)


async def test_it_works_on_a_narrow_screen() -> None:
    kept("a prompt with more words than such a narrow screen has room for\nand a line")
    async with open_recalling_page(size=(40, 12)) as page:
        await page.press("ctrl+r")
        head, row = listed(page)
        assert head == "1 found · Shift+Tab all projects"
        assert row.startswith("❯ a prompt with more")
        assert "+ 1 line" in row


async def test_a_prompt_shows_no_control_characters() -> None:
    kept("red \x1b[31m text \u202e turned")
    async with open_recalling_page() as page:
        await page.press("ctrl+r")
        assert "\x1b" not in page.text
        assert "\u202e" not in page.text


@pytest.mark.parametrize(
    ("text", "query", "shown"),
    [
        ("Fix the parser\nin durations.py", "fix", "Fix the parser"),
        ("Fix the parser\nin durations.py please", "please", "Fix t… py please"),
        ("A first line that is far longer than the row", "row", "A fir… he row"),
        ("words", "", "words"),
    ],
)
def test_a_match_is_in_sight_wherever_it_stands(text: str, query: str, shown: str) -> None:
    assert shown_line(text, Query(query).pattern, 20) == shown
