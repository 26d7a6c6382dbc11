"""A prompt whose turn failed is sent again by the user's key, when the agent says that another try makes sense."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import pytest

from acp_tui.client.sessions.prompt_queue import PastedImage
from acp_tui.conversation.updates import Disconnected, Reconnected
from support.scenes import encoded, quarters
from support.screens import Page, open_page

NOW = 1_000_000.0
OFFER = "Alt+G sends your prompt again"


@asynccontextmanager
async def refused(retry_after: float | str | None = 30, *, prompt: str = "go") -> AsyncIterator[Page]:
    """A page on which a prompt was sent and answered with an error at `NOW`, where the time stands still."""
    async with open_page() as page:
        stop_clocks(page, NOW)
        await page.send(prompt)
        page.connection.fail_turn("Rate limited", retryAfter=retry_after, scope="team", correlationId="req_42")
        await page.settled()
        yield page


def stop_clocks(page: Page, now: float) -> None:
    page.session.now = page.view.wall_clock = lambda: now  # type: ignore[method-assign]


async def test_the_error_says_what_the_agent_said_and_counts_down_in_view() -> None:
    async with refused() as page:
        assert "scope: team · correlation ID: req_42" in page.text
        assert f"try again in 30 s · {OFFER} then" in page.text
        stop_clocks(page, NOW + 1.5)
        await page.until(lambda: f"try again in 29 s · {OFFER} then" in page.text)
        stop_clocks(page, NOW + 30)
        await page.until(lambda: f"you can try again now · {OFFER}\n" in page.text)


async def test_until_then_the_prompt_waits_in_the_queue_and_is_sent_in_time() -> None:
    async with refused(0.3) as page:
        await page.press("alt+g")
        assert "1 queued, each at its time" in page.text
        assert page.connection.prompts == ["go"]
        stop_clocks(page, NOW + 0.3)
        await page.until(lambda: page.connection.prompts == ["go", "go"])
        await page.settled()
        assert "queued" not in page.text
        assert OFFER not in page.text


async def test_once_the_time_has_come_the_key_sends_at_once() -> None:
    async with refused() as page:
        stop_clocks(page, NOW + 60)
        await page.press("alt+g")
        assert page.connection.prompts == ["go", "go"]


async def test_without_a_time_the_key_sends_at_once() -> None:
    async with refused(None) as page:
        assert "try again" not in page.text
        assert OFFER in page.text
        await page.press("alt+g")
        assert page.connection.prompts == ["go", "go"]


async def test_the_waiting_prompt_is_queued_once_and_sent_earlier_from_there() -> None:
    async with refused() as page:
        await page.press("alt+g", "alt+g")
        assert "Your prompt is queued already." in page.text
        await page.press("alt+down", "alt+enter")
        await page.until(lambda: page.connection.prompts == ["go", "go"])


async def test_the_palette_leads_to_a_prompt_that_only_waits_for_its_time() -> None:
    async with refused() as page:
        await page.press("alt+g", "ctrl+p")
        assert "Go to the queued prompts" in page.text


async def test_a_waiting_prompt_that_is_removed_is_not_sent() -> None:
    async with refused(0.3) as page:
        await page.press("alt+g", "alt+down", "delete")
        stop_clocks(page, NOW + 1)
        await page.send("something else")
        await page.end_turn()
        assert page.connection.prompts == ["go", "something else"]


async def test_a_prompt_that_is_sent_meanwhile_goes_first() -> None:
    async with refused(0.3) as page:
        await page.press("alt+g")
        await page.send("meanwhile")
        stop_clocks(page, NOW + 1)
        await page.until(lambda: "sent after this turn" in page.text)
        await page.end_turn()
        assert page.connection.prompts == ["go", "meanwhile", "go"]


async def test_a_turn_that_is_canceled_meanwhile_does_not_hold_it_back() -> None:
    async with refused() as page:
        await page.press("alt+g")
        await page.send("meanwhile")
        await page.press("escape")
        await page.end_turn("cancelled")
        assert "1 queued, each at its time" in page.text


async def test_once_it_is_sent_again_what_was_held_follows() -> None:
    async with refused(None) as page:
        page.session.queue.add("after it")
        page.session.queue.hold()
        await page.press("alt+g")
        await page.end_turn()
        assert page.connection.prompts == ["go", "go", "after it"]


@pytest.mark.parametrize(("keys", "is_back"), [(("alt+up",), True), (("alt+down", "delete"), False)])
async def test_a_waiting_prompt_is_taken_back_or_removed_with_its_pictures(keys: Sequence[str], is_back: bool) -> None:
    picture = PastedImage("a.png", b64decode(encoded(quarters())))
    async with open_page() as page:
        stop_clocks(page, NOW)
        page.prompt.attach(picture)
        await page.send("look")
        page.connection.fail_turn("Overloaded", retryAfter=30)
        await page.settled()
        await page.press("alt+g", *keys)
        assert (page.draft, page.prompt.images) == (("look", (picture,)) if is_back else ("", ()))
        assert "queued" not in page.text


async def test_after_the_loss_of_the_agent_it_is_offered_once_there_is_one_again() -> None:
    async with open_page() as page:
        await page.send("go")
        await page.ask("call")
        await page.apply(Disconnected("it was killed"))
        assert OFFER not in page.text
        await page.apply(Reconnected(remembers=True))
        assert OFFER in page.text


async def test_only_the_last_error_offers_it() -> None:
    async with refused() as page:
        await page.send("more")
        assert OFFER not in page.text
        assert "try again at " in page.text
        await page.end_turn()
        await page.press("alt+g")
        assert "The last turn didn't fail" in page.text
        assert page.connection.prompts == ["go", "more"]
