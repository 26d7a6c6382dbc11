"""What a user can do with queued prompts: select, edit, remove, and reorder them, by key or mouse."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from acp_tui.ui.tab.queue_lines import QueueLines, QueueSummary
from support.screens import SIZE, Page, new_session, open_page, show


@asynccontextmanager
async def queued(*texts: str, size: tuple[int, int] = SIZE) -> AsyncIterator[Page]:
    """A page with a busy agent and these prompts in the queue."""
    async with open_page(size=size) as page:
        await page.send("at work")
        for text in texts:
            await page.send(text)
        yield page


def waiting(page: Page) -> list[str]:
    return [prompt.text for prompt in page.session.queue.prompts]


def selected(page: Page) -> str:
    """The text in the selected prompt's row."""
    (row,) = (line for line in page.lines if line.strip().startswith("❯"))
    return row.strip().removeprefix("❯ ")


async def test_alt_down_selects_the_last_prompt_and_enter_brings_it_into_the_draft() -> None:
    async with queued("one", "two", "three") as page:
        await page.write("draft")
        await page.press("alt+down")
        assert selected(page) == "three"
        await page.press("up", "enter")
        assert page.draft == "two\ndraft"
        assert page.prompt.has_focus
        assert waiting(page) == ["one", "three"]


async def test_delete_and_backspace_remove_the_selected_prompt_and_go_on_with_the_next() -> None:
    async with queued("one", "two", "three") as page:
        await page.press("alt+down", "up", "delete")
        assert (waiting(page), selected(page)) == (["one", "three"], "three")
        await page.press("backspace")
        assert (waiting(page), selected(page)) == (["one"], "one")
        await page.press("delete")
        assert page.prompt.has_focus
        assert "queued" not in page.text


async def test_a_prompt_is_moved_and_sent_in_its_new_place() -> None:
    async with queued("one", "two", "three") as page:
        await page.press("alt+down", "alt+up", "alt+up", "alt+down")
        assert selected(page) == "three"
        await page.press("escape")
        assert page.prompt.has_focus
        for _ in range(3):
            await page.end_turn()
        assert page.connection.prompts == ["at work", "one", "three", "two"]


async def test_the_selection_stays_on_its_prompt_when_the_one_before_is_sent() -> None:
    async with queued("one", "two", "three") as page:
        await page.press("alt+down", "up")
        await page.end_turn()
        assert selected(page) == "two"
        await page.press("delete")
        assert waiting(page) == ["three"]


async def test_when_the_last_queued_prompt_is_sent_the_prompt_has_the_focus_again() -> None:
    async with queued("one") as page:
        await page.press("alt+down")
        await page.end_turn()
        assert page.prompt.has_focus


async def test_a_click_selects() -> None:
    async with queued("one", "two", "three") as page:
        await page.click("› one")
        assert selected(page) == "one"
        await page.press("delete")
        assert waiting(page) == ["two", "three"]


async def test_a_long_queue_shows_prompts_around_the_selected_one() -> None:
    async with queued("one", "two", "three", "four", "five") as page:
        assert "› one" in page.text
        assert "and 2 more" in page.text
        await page.press("alt+down")
        assert selected(page) == "five"
        assert "and 2 more, 2 above" in page.text
        await page.click("› four")
        assert selected(page) == "four"


async def test_a_prompt_of_several_lines_is_shown_by_its_first_one() -> None:
    async with queued("first\nsecond\nthird", "a\nb") as page:
        assert "› first + 2 lines" in page.text
        assert "› a + 1 line" in page.text


async def test_without_a_queue_alt_down_says_how_to_get_one() -> None:
    async with open_page() as page:
        await page.press("alt+down")
        assert "No prompt is queued." in page.text
        assert page.prompt.has_focus


async def test_each_session_has_its_own_queue() -> None:
    async with queued("one") as page:
        other = new_session()
        await show(page.pilot, other)
        assert "queued" not in page.text
        await page.end_turn()
        assert page.connection.prompts == ["at work", "one"]
        assert "queued" not in page.text


async def test_on_a_narrow_screen_the_line_says_that_prompts_are_held_back() -> None:
    async with queued("one", "two", size=(40, 20)) as page:
        await page.press("escape")
        await page.end_turn("cancelled")
        assert "2 queued, on hold: Enter sends" in page.text
        await page.press("alt+down")
        assert "2 queued · Enter edits" in page.text


async def test_on_a_low_screen_the_draft_keeps_its_rows_and_what_waits_is_cut() -> None:
    async with queued(*"abcde", size=(40, 12)) as page:
        assert "5 queued" in page.text
        page.pilot.app.notify("A notice that has " + "so many words that it takes more than one row " * 3)
        await page.write("first\nsecond\nthird\nlast")
        await page.until(lambda: "last" in page.text)
        assert "A notice" in page.text
        assert "Agent" in page.lines[-1]


async def test_a_long_command_does_not_hide_how_to_keep_its_output_back() -> None:
    async with open_page(size=(80, 24)) as page:
        page.pilot.app.screen.query_one(QueueLines).show(QueueSummary(outputs=(f"echo {'word ' * 12}",)))
        await page.press("a")
        assert "+ output of `echo word word … with your next prompt (Backspace removes it)" in page.text
        await page.pilot.resize_terminal(40, 12)
        await page.until(lambda: "+ output of `echo wor… with" in page.text)


async def test_a_queued_prompt_is_sent_now_and_the_others_follow_in_order() -> None:
    async with queued("one", "two", "three") as page:
        await page.press("alt+down", "up", "alt+enter")
        assert page.connection.cancels == 1
        for _ in range(3):
            await page.end_turn()
        assert page.connection.prompts == ["at work", "two", "one", "three"]
