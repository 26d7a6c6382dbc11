"""Prompts that the user schedules: sent in time, seen above the prompt, and taken back there."""

from __future__ import annotations

from pathlib import Path

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


async def test_what_names_no_time_is_explained() -> None:
    async with open_page() as page:
        await page.send("/later soon Go on")
        assert "Write when: /later 20m PROMPT" in page.words
        await page.send("/later reset Go on")
        assert "The agent hasn't said when its limit resets" in page.words


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
        await desk.send("/repeat 1s 9 Make the file. until ls done")
        await desk.shows("so your prompt isn't repeated")
        assert desk.text.count("▌ Make the file.") == 2
        assert "No such file" in desk.words, "the agent is told what the command printed"
        assert "queued" not in desk.text


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
        await desk.send("/repeat 1s 2 Report.")
        await desk.shows("number 2")
        await desk.until(lambda: "queued" not in desk.text)
        await desk.send("/repeat 1s 9 Report.")
        await desk.shows("at work")
        await desk.press("escape")
        await desk.shows("Your prompt isn't repeated any more.")
        assert "queued" not in desk.text
