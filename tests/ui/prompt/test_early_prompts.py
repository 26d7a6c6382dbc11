"""What is entered before there is a session: it's queued, and done in its order once there is one."""

from __future__ import annotations

import pytest

from acp_tui.client.errors import ClientError
from acp_tui.conversation.updates import PromptSent, TurnEnded
from support.pages import drafts_kept
from support.screens import Page, open_page, show

WAITS = "queued, sent once the session is ready"


async def ready(page: Page) -> None:
    await show(page.pilot, page.session)


async def test_prompts_are_queued_and_sent_in_their_order_once_there_is_a_session() -> None:
    async with open_page(is_shown=False) as page:
        await page.press_at_once(*"one", "enter", *"two", "enter", *"rest")
        await page.write(" of it\nand more")
        assert f"2 {WAITS}" in page.text
        assert page.text.index("› one") < page.text.index("› two")
        assert page.draft == "rest of it\nand more"
        await ready(page)
        assert page.connection.prompts == ["one"]
        assert "1 queued, sent after this turn" in page.text
        await page.end_turn()
        assert page.connection.prompts == ["one", "two"]
        assert "queued" not in page.text
        assert page.draft == "rest of it\nand more"


async def test_what_is_entered_as_the_session_comes_follows_what_waited_for_it() -> None:
    async with open_page(is_shown=False) as page:
        await page.send("one")
        await page.tab.show(page.session, "Agent")
        await page.press_at_once(*"two", "enter")
        await page.end_turn()
        assert page.connection.prompts == ["one", "two"]


async def test_they_are_taken_back_edited_moved_and_removed_as_during_a_turn() -> None:
    async with open_page(is_shown=False) as page:
        for text in ("one", "two", "three", "four"):
            await page.send(text)
        await page.press("alt+down", "delete", "alt+up", "escape", "alt+up")
        assert page.draft == "two", "the last one now"
        await page.press("alt+down", "alt+enter", "enter")
        assert page.draft == "three\ntwo"
        await ready(page)
        assert page.connection.prompts == ["one"]
        assert "queued" not in page.text


@pytest.mark.parametrize("key", ["escape", "ctrl+c"])
async def test_a_key_that_clears_or_stops_something_else_leaves_them_queued(key: str) -> None:
    async with open_page(is_shown=False) as page:
        await page.send("one")
        await page.write("a draft")
        await page.press(key)
        assert f"1 {WAITS}" in page.text
        await ready(page)
        assert page.connection.prompts == ["one"]


async def test_where_there_is_no_session_they_stay_until_a_restart_brings_one() -> None:
    async with open_page(is_shown=False) as page:
        await page.send("one")
        await page.tab.show_failure(ClientError("it can't start"))
        await page.settled()
        assert f"1 {WAITS}" in page.text
        await page.press("alt+up", "enter")
        assert page.draft == "one", "there is no telling whether a session will come"
        await page.press("ctrl+c")
        assert "queued" not in page.text
    async with open_page(is_shown=False) as page:
        await page.send("one")
        await page.tab.show_failure(ClientError("it can't start"))
        await ready(page)
        assert page.connection.prompts == ["one"]


async def test_in_a_session_at_work_they_wait_for_the_end_of_its_turn() -> None:
    async with open_page(is_shown=False) as page:
        await page.send("one")
        page.session.apply(PromptSent(("asked elsewhere",)))
        await ready(page)
        assert "1 queued, sent after this turn" in page.text
        assert page.connection.prompts == []
        await page.apply(TurnEnded("end_turn"))
        assert page.connection.prompts == ["one"]


async def test_they_are_kept_with_the_draft() -> None:
    async with open_page(is_shown=False) as page:
        await page.send("one")
        await page.write("a draft")
    assert list(drafts_kept().values()) == ["one\n\na draft"]


# Commands


async def test_a_command_that_needs_a_session_is_done_in_its_place() -> None:
    async with open_page(is_shown=False) as page:
        for text in ("one", "/rename zebras", "two"):
            await page.send(text)
        assert f"3 {WAITS}" in page.text
        await ready(page)
        assert page.session.conversation.title != "zebras"
        await page.end_turn()
        await page.until(lambda: page.session.conversation.title == "zebras")
        assert page.connection.prompts == ["one", "two"]
        assert page.draft == ""


@pytest.mark.parametrize("typed", ["/mode plan", "/export a.md", "/find it", "/later in 1h go", "/fork", "/copy"])
async def test_no_command_that_needs_a_session_is_thrown_away_without_one(typed: str) -> None:
    async with open_page(is_shown=False) as page:
        await page.send(typed)
        assert f"› {typed}" in page.text


async def test_a_command_that_needs_no_session_is_done_at_once() -> None:
    async with open_page(is_shown=False) as page:
        await page.send("/help")
        assert WAITS not in page.text
        assert page.draft == ""


async def test_a_command_that_no_one_has_holds_what_follows_and_leaves_the_draft_alone() -> None:
    async with open_page(is_shown=False) as page:
        await page.send("/tset the parser")
        await page.send("two")
        await page.write("a draft")
        await ready(page)
        await page.until(lambda: "Neither Agent nor acp-tui has /tset" in page.words)
        assert "2 queued, on hold: Enter in an empty prompt sends the next" in page.text
        assert page.connection.prompts == []
        assert page.draft == "a draft"
        await page.press("ctrl+c", "enter")
        assert page.connection.prompts == ["/tset the parser"]
