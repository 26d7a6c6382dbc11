"""Prompts written while the agent works: queued in view, sent after the turn, held back after a failure."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

import anyio

from acp_tui.conversation.wording import reason_prompt
from acp_tui.ui.changes.follower import TurnMoments
from support.screens import open_page


async def test_a_prompt_written_during_a_turn_is_queued_in_sight_and_sent_after_it() -> None:
    async with open_page() as page:
        await page.send("one")
        await page.send("two")
        await page.send("three")
        assert page.connection.prompts == ["one"]
        assert page.draft == ""
        assert "2 queued, sent after this turn" in page.text
        assert "› two" in page.text
        await page.end_turn()
        assert page.connection.prompts == ["one", "two"]
        assert "1 queued" in page.text
        await page.end_turn()
        assert page.connection.prompts == ["one", "two", "three"]
        assert "queued" not in page.text


async def test_a_prompt_stays_in_its_row_until_the_conversation_has_it() -> None:
    async with open_page() as page:
        for text in ("one", "two", "three"):
            await page.send(text)
        files_are_read = anyio.Event()
        page.tab.moments = cast("TurnMoments", SimpleNamespace(remember=files_are_read.wait))
        await page.end_turn()
        assert "2 queued, sending" in page.text
        assert "› two\n" in "\n".join(map(str.rstrip, page.lines))
        assert page.connection.prompts == ["one"]
        files_are_read.set()
        await page.until(lambda: page.connection.prompts == ["one", "two"])
        await page.until(lambda: "1 queued, sent after this turn" in page.text and "› two" not in page.text)


async def test_prompts_that_come_at_once_are_all_sent_in_their_order() -> None:
    async with open_page() as page:
        await page.press_at_once(*"a", "enter", *"b", "enter", *"c", "enter", *"rest")
        await page.until(lambda: "2 queued, sent after this turn" in page.text)
        assert page.connection.prompts == ["a"]
        assert page.draft == "rest"
        await page.end_turn()
        await page.end_turn()
        await page.until(lambda: page.connection.prompts == ["a", "b", "c"])


async def test_alt_up_takes_the_last_queued_prompt_back_before_the_draft() -> None:
    async with open_page() as page:
        for text in ("one", "two", "three"):
            await page.send(text)
        await page.write("draft")
        await page.press("alt+up")
        assert page.draft == "three\ndraft"
        await page.press("alt+up", "alt+up")
        assert page.draft == "two\nthree\ndraft"
        await page.end_turn()
        assert page.connection.prompts == ["one"]


async def test_after_a_cancel_each_enter_sends_one() -> None:
    async with open_page() as page:
        for text in ("one", "two", "three"):
            await page.send(text)
        await page.press("escape")
        await page.end_turn("cancelled")
        assert page.connection.prompts == ["one"]
        assert "2 queued, on hold (turn canceled): Enter in an empty prompt sends the next" in page.text
        await page.press("enter")
        assert page.connection.prompts == ["one", "two"]
        await page.press("enter")
        assert "1 queued, on hold ·" in page.text
        await page.end_turn()
        # What an agent asks right after the end of a silent turn behind a canceled one counts as that turn's.
        await page.until(
            lambda: "1 queued, on hold (turn canceled): Enter in an empty prompt sends the next" in page.text
        )
        await page.press("enter")
        await page.until(lambda: page.connection.prompts == ["one", "two", "three"])
        assert "queued" not in page.text


async def test_while_the_queue_is_held_back_a_new_prompt_goes_first() -> None:
    async with open_page() as page:
        await page.send("one")
        await page.send("two")
        await page.press("escape")
        await page.end_turn("cancelled")
        await page.send("instead")
        assert page.connection.prompts == ["one", "instead"]
        await page.end_turn()
        assert page.connection.prompts == ["one", "instead"]
        assert "on hold" in page.text


async def test_an_enter_in_an_empty_prompt_sends_nothing_while_the_agent_works() -> None:
    async with open_page() as page:
        await page.send("one")
        await page.send("two")
        await page.press("escape", "enter")
        assert page.connection.prompts == ["one"]


async def test_the_reason_for_a_rejection_is_the_next_prompt_however_the_turn_ends() -> None:
    async with open_page() as page:
        for stop_reason in ("refusal", "cancelled"):
            await page.send("one")
            await page.ask(stop_reason, title="Delete it")
            await page.enter_card()
            await page.press("w")
            await page.send("I need it")
            assert page.connection.prompts[-1] == "one"
            await page.end_turn(stop_reason)
            assert page.connection.prompts[-1] == reason_prompt("Delete it", "I need it"), stop_reason
            await page.end_turn()


async def test_the_reason_for_a_rejection_goes_before_what_is_queued() -> None:
    async with open_page() as page:
        await page.send("one")
        await page.send("two")
        await page.ask("call", title="Delete it")
        await page.enter_card()
        await page.press("w")
        await page.send("I need it")
        assert page.connection.prompts == ["one"]
        await page.end_turn()
        assert page.connection.prompts == ["one", reason_prompt("Delete it", "I need it")]
        await page.end_turn()
        assert page.connection.prompts[2:] == ["two"]


async def test_a_prompt_written_while_a_permission_request_waits_answers_nothing() -> None:
    async with open_page() as page:
        await page.send("one")
        await page.ask("call")
        await page.send("1")
        assert page.decisions == {}
        assert "› 1" in page.text
