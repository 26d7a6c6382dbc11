"""What is entered before there is a session: it's queued, and done in its order once there is one."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from textual.events import Paste

from acp_tui.client.errors import AgentRefused, ClientError
from acp_tui.conversation.facts import Choice, ConfigOption, SelectOption
from acp_tui.conversation.updates import Disconnected, OptionsReplaced, PromptSent, Reconnected, TurnEnded
from acp_tui.ui.prompt.input import PromptInput
from support.pages import COMMENT, drafts_kept
from support.screens import Page, RecordedConnection, new_session, open_page, show

MODE = SelectOption("mode", "Mode", "ask", (Choice("ask", "Ask"), Choice("plan", "Plan first")), "mode")
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


async def test_comments_on_lines_are_sent_once_with_the_prompt_that_waits() -> None:
    async with open_page(is_shown=False) as page:
        page.prompt.comments.append(COMMENT)
        await page.press("enter")
        await page.send("two")
        await ready(page)
        await page.end_turn()
        assert [prompt.count("Why?") for prompt in page.connection.prompts] == [1, 0]
        assert page.connection.prompts[1] == "two"


async def test_the_first_one_is_legible_from_its_first_frame() -> None:
    async with open_page(is_shown=False) as page:
        page.tab.writing.submit(PromptInput.Submitted("the first one"))
        assert str(page.tab.screen.queue_lines.content).endswith("› the first one")


async def test_what_was_pasted_runs_nothing() -> None:
    async with open_page(is_shown=False) as page:
        page.prompt.post_message(Paste("!echo\n" * 20))
        await page.press("enter")
        await ready(page)
        assert page.connection.prompts == ["!echo\n" * 20]


async def test_one_that_is_sent_as_the_agent_dies_waits_for_the_restart() -> None:
    async with open_page() as page:
        page.tab.writing.submit(PromptInput.Submitted("two"))
        await page.apply(Disconnected("killed"))
        assert [prompt.text for prompt in page.session.queue.prompts] == ["two"]
        await page.apply(Reconnected(remembers=True))
        await page.until(lambda: page.connection.prompts == ["two"])


async def test_one_that_goes_first_while_the_session_reconnects_puts_none_on_hold() -> None:
    async with open_page() as page:
        page.tab.starter.is_reconnecting = True
        for text in ("one", "two"):
            await page.send(text)
        assert f"2 {WAITS}" in page.text
        await page.press("alt+down", "alt+enter")
        page.tab.starter.is_reconnecting = False
        await page.apply(Reconnected(remembers=True))
        assert page.connection.prompts == ["two"]
        await page.end_turn()
        assert page.connection.prompts == ["two", "one"]


async def test_another_session_need_not_wait_for_a_turn_in_the_one_before() -> None:
    async with open_page() as page:
        await page.send("one")
        other = RecordedConnection()
        later = new_session(connection=other)
        later.queue.add("two", is_early=True)
        await show(page.pilot, later)
        assert other.prompts == ["two"]
        await page.end_turn()
        assert (page.connection.prompts, other.prompts) == (["one"], ["two"])


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


class SlowToSet(RecordedConnection):
    """Its agent answers a request to set an option only once the test says so."""

    def __init__(self) -> None:
        super().__init__()
        self.may_answer = asyncio.Event()

    async def set_option(self, session_id: Any, option: ConfigOption, value: str | bool, on_update: Any) -> None:
        """Wait, then set it or refuse."""
        await self.may_answer.wait()
        await super().set_option(session_id, option, value, on_update)


@pytest.mark.parametrize("is_refused", [False, True])
async def test_a_prompt_behind_a_command_waits_until_that_is_done_and_stays_if_it_failed(is_refused: bool) -> None:
    connection = SlowToSet()
    session = new_session(OptionsReplaced((MODE,)), connection=connection)
    async with open_page(is_shown=False) as page:
        await page.send("/mode plan")
        await page.send("two")
        await show(page.pilot, session)
        assert connection.prompts == []
        connection.refusal = AgentRefused("not now", code=-1) if is_refused else None
        connection.may_answer.set()
        if is_refused:
            await page.until(lambda: "1 queued, on hold (command failed)" in page.text)
            assert connection.prompts == []
        else:
            await page.until(lambda: connection.prompts == ["two"])
            assert connection.options == [("mode", "plan")]
