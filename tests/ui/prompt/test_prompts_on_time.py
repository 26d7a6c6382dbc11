"""Prompts that the user schedules: sent in time, seen above the prompt, and taken back there."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from acp_tui.conversation.updates import Disconnected
from acp_tui.conversation.wording import clock_time
from support.desks import SESSION, OpenDesk
from support.screens import Page, open_page

NOW = 1_000_000.0


def set_clock(page: Page, now: float) -> None:
    page.session.now = lambda: now


async def test_a_prompt_waits_above_the_prompt_until_its_time() -> None:
    async with open_page() as page:
        set_clock(page, NOW)
        await page.send("/later 1s Go on")
        assert "1 queued, each at its time" in page.text
        assert ": Go on" in page.text
        assert page.connection.prompts == []
        set_clock(page, NOW + 1)
        await page.until(lambda: page.connection.prompts == ["Go on"])
        await page.until(lambda: "queued" not in page.text)


async def test_while_the_agent_works_it_joins_the_queue_in_time() -> None:
    async with open_page() as page:
        set_clock(page, NOW)
        await page.send("at work")
        await page.send("/later 1s Go on")
        set_clock(page, NOW + 1)
        await page.until(lambda: "1 queued, sent after this turn" in page.text)
        assert page.connection.prompts == ["at work"]


async def test_a_repeat_that_comes_due_leaves_the_keyboard_and_the_selection_alone() -> None:
    async with open_page() as page:
        set_clock(page, NOW)
        await page.send("/later every 1s x9 Report.")
        await page.until(lambda: page.connection.prompts == ["Report."])
        await page.end_turn()
        await page.press("alt+down")
        set_clock(page, NOW + 1)
        await page.until(lambda: page.connection.prompts == ["Report."] * 2)
        await page.until(lambda: "7 more: Report." in page.text)
        await page.press("delete")
        assert "queued" not in page.text


async def test_it_is_changed_and_removed_where_it_waits() -> None:
    async with open_page() as page:
        set_clock(page, NOW)
        await page.send("/later 20m Go on")
        await page.send("/later 30m Never")
        await page.press("alt+down", "delete")
        assert "Never" not in page.text
        await page.press("enter")
        assert page.draft == "/later 20m Go on"
        assert "queued" not in page.text


async def test_it_is_sent_now_and_taken_back_as_any_queued_prompt() -> None:
    async with open_page() as page:
        set_clock(page, NOW)
        await page.send("/later 20m Go on")
        await page.send("/later 30m Not yet")
        await page.press("alt+up")
        assert page.draft == "/later 30m Not yet"
        await page.press("alt+down", "alt+enter")
        await page.until(lambda: page.connection.prompts == ["Go on"])
        await page.until(lambda: "queued" not in page.text)


@pytest.mark.parametrize(
    ("keys", "again"),
    [
        (("ctrl+q", "ctrl+q"), "Ctrl+Q"),
        (("ctrl+d", "ctrl+d"), "Ctrl+D"),
        (("ctrl+c", "ctrl+c", "ctrl+c"), "Ctrl+C"),
    ],
)
async def test_quitting_while_a_prompt_waits_for_its_time_has_to_be_repeated(keys: tuple[str, ...], again: str) -> None:
    async with open_page() as page:
        set_clock(page, NOW)
        await page.send("/later 20m Go on")
        await page.press(*keys[:-1])
        (said,) = page.notices
        at = clock_time(NOW + 1200)
        assert said.message == f"{again} again quits: 1 prompt waits until {at}, and it comes back as a draft"
        assert page.pilot.app.return_code is None
        await page.pilot.press(keys[-1])
        assert page.pilot.app.return_code == 0


async def test_quitting_names_the_first_of_several_prompts_that_wait_and_the_agent() -> None:
    async with open_page() as page:
        set_clock(page, NOW)
        await page.send("/later 30m Later")
        await page.send("/later 20m Go on")
        await page.send("at work")
        await page.press("ctrl+q")
        (said,) = page.notices
        at = clock_time(NOW + 1200)
        assert said.message == f"Ctrl+Q again quits: an agent is working, and 2 prompts wait, the first until {at}"


async def test_a_prompt_to_be_sent_now_waits_for_an_agent_that_is_gone() -> None:
    async with open_page() as page:
        set_clock(page, NOW)
        await page.send("/later 20m Go on")
        await page.apply(Disconnected("it was killed"))
        await page.press("alt+down", "alt+enter")
        assert "now: Go on" in page.text
        await page.press("ctrl+q")
        assert "Ctrl+Q again quits: 1 prompt waits for its agent" in page.notices[-1].message


async def test_what_names_no_time_is_explained_and_stays_in_the_draft() -> None:
    async with open_page() as page:
        await page.send("/later soon Go on")
        assert "Write when: /later 20m PROMPT" in page.words
        assert page.draft == "/later soon Go on"
        await page.press("ctrl+u")
        await page.send("/later reset Go on")
        assert "The agent hasn't said when its limit resets" in page.words
        assert "Write when" not in page.words


async def test_what_was_said_of_a_mistake_goes_when_it_is_corrected() -> None:
    async with open_page() as page:
        await page.send("/later soon Go on")
        await page.press("ctrl+u")
        await page.send("/later 20m Go on")
        assert "1 queued" in page.text
        assert "Write when" not in page.words


async def test_on_a_narrow_screen_a_notice_is_read_to_its_end() -> None:
    async with open_page(size=(40, 12)) as page:
        await page.send("/later soon Go on")
        assert "(otherwise 10 times)." in page.words


async def test_a_prompt_is_repeated_until_the_users_command_succeeds(open_desk: OpenDesk, tmp_path: Path) -> None:
    script = """
        import pathlib
        for number in range(2):
            prompt = expect("session/prompt")
            say("\\n".join(block.get("text") or block["resource"]["text"] for block in prompt["params"]["prompt"]))
            if number:
                pathlib.Path("done").touch()
            end(prompt)
        serve_until_closed()
    """
    async with open_desk(SESSION, script) as desk:
        await desk.has_session()
        await desk.send("/later every 1s x9 Make the file. until ls done")
        await desk.shows("so your prompt isn't repeated")
        assert desk.text.count("▌ Make the file.") == 2
        assert "No such file" in desk.words, "the agent is told what the command printed"
        assert "queued" not in desk.text


async def test_while_the_users_command_runs_what_it_may_end_is_shown_and_removed(
    open_desk: OpenDesk, tmp_path: Path
) -> None:
    async with open_desk(SESSION, "serve_until_closed()") as desk:
        await desk.has_session()
        os.mkfifo(tmp_path / "fifo")
        await desk.send("/later every 1s x9 Make the file. until cat fifo && false")
        await desk.shows("your command runs, 9 more: Make the file. until `cat fifo && false`")
        await desk.press("alt+down", "delete")
        assert "queued" not in desk.text
        (tmp_path / "fifo").write_text("no more")
        await desk.shows("no more")
        await desk.settled()
        assert desk.sent("session/prompt") == []


async def test_what_waits_for_its_time_is_sent_after_a_restart_too(open_desk: OpenDesk) -> None:
    agent = """
        prompt = expect("session/prompt")
        say("sent")
        end(prompt)
        serve_until_closed()
    """
    async with open_desk(SESSION, agent) as desk:
        await desk.has_session()
        session = desk.tabs[0].session
        assert session is not None
        session.now = lambda: NOW
        await desk.send("/later 20m Go on.")
        await desk.shows("1 queued")
        await desk.press("alt+r", "y")
        await desk.shows("Go on.", "sent")
        assert "queued" not in desk.text


async def test_a_repeat_that_is_due_without_an_agent_goes_on_after_the_restart(open_desk: OpenDesk) -> None:
    agent = """
        prompt = expect("session/prompt")
        say("sent")
        end(prompt)
    """
    async with open_desk(SESSION, agent, "sys.exit(3)") as desk:
        await desk.has_session()
        await desk.send("/later every 1s x9 Report. until false")
        await desk.shows("sent", "gone; Alt+R restarts it")
        await desk.shows("8 more: Report. until `false`")
        await desk.press("alt+r")
        await desk.until(lambda: len(desk.sent("session/prompt")) == 2)
        await desk.shows("7 more: Report. until `false`")


async def test_what_waits_for_its_time_comes_back_as_it_was_written() -> None:
    async with open_page() as page:
        set_clock(page, NOW)
        await page.send("/later every 20m x9 Report. until false")
        await page.until(lambda: page.connection.prompts == ["Report."])
        left = "/later every 20m x8 Report. until false"
        assert [prompt.written for prompt in page.session.queue.scheduled] == [left]
        await page.press("alt+up")
        assert page.draft == left


async def test_a_repeat_ends_with_its_count_and_with_a_turn_that_is_cancelled(open_desk: OpenDesk) -> None:
    script = """
        for number in (1, 2):
            prompt = expect("session/prompt")
            say(f"number {number}")
            end(prompt)
        prompt = expect("session/prompt")
        say("at work")
        expect("session/cancel")
        end(prompt, "cancelled")
        serve_until_closed()
    """
    async with open_desk(SESSION, script) as desk:
        await desk.has_session()
        await desk.send("/later every 1s x2 Report.")
        await desk.shows("number 2")
        await desk.until(lambda: "queued" not in desk.text)
        await desk.send("/later every 1s x9 Report.")
        await desk.shows("at work")
        await desk.press("escape")
        await desk.shows("Your prompt isn't repeated any more.")
        assert "queued" not in desk.text
