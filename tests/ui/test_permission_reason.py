"""Rejecting and saying why: what the agent gets, how the prompt asks for the reason, and that no draft is lost."""

import pytest

from acp_tui.conversation.facts import PermissionOption
from acp_tui.ui.rejection_reason import MAX_TITLE, reason_prompt
from support.folding import ALLOW, REJECT
from support.screens import Page, open_page

NEVER = PermissionOption("never", "Never", "reject_always")
WHY_NOT = "Why not? Enter sends it as your next prompt"


async def _reject(page: Page, *options: PermissionOption) -> None:
    await page.ask("call", *options, title="Edit a file")
    await page.enter_card()
    await page.press("w")


# The words


def test_the_reason_is_labelled_with_what_was_rejected() -> None:
    assert reason_prompt("Edit a\nfile", "too big") == 'About the rejected "Edit a file": too big'


def test_of_a_long_title_the_beginning_is_named() -> None:
    assert reason_prompt("x" * 1000, "no") == f'About the rejected "{"x" * (MAX_TITLE - 1)}…": no'


# The answer


@pytest.mark.parametrize(
    ("options", "answer"),
    [((ALLOW, NEVER, REJECT), REJECT), ((ALLOW, NEVER), NEVER)],
    ids=["once before always", "always where it is the only one"],
)
async def test_it_answers_with_the_agents_own_rejection(
    options: tuple[PermissionOption, ...], answer: PermissionOption
) -> None:
    async with open_page() as page:
        await _reject(page, *options)
        assert page.decisions == {"call": answer.option_id}
        assert WHY_NOT in page.text
        assert page.prompt.has_focus


async def test_without_an_option_that_rejects_the_key_does_nothing_and_is_not_named() -> None:
    async with open_page() as page:
        await _reject(page, ALLOW)
        assert page.decisions == {}
        assert page.card.has_focus
        assert "say why" not in page.text


async def test_a_key_that_came_too_early_rejects_nothing() -> None:
    async with open_page() as page:
        await page.ask("call")
        await page.press("tab", "w")
        assert page.decisions == {}
        assert "Too soon to count: press w again to answer" in page.text


async def test_it_can_be_done_from_the_full_screen() -> None:
    async with open_page() as page:
        await page.ask("call", title="Edit a file")
        await page.enter_card()
        await page.press("f")
        page.clock.pass_guard()
        await page.press("w")
        assert page.decisions == {"call": REJECT.option_id}
        assert WHY_NOT in page.text
        assert page.prompt.has_focus


# The reason


async def test_the_reason_is_sent_labelled_and_then_the_draft_is_back() -> None:
    async with open_page() as page:
        await page.write("a draft")
        await _reject(page)
        assert page.draft == ""
        await page.send("too big")
        assert page.connection.prompts == ['About the rejected "Edit a file": too big']
        assert page.draft == "a draft"
        assert WHY_NOT not in page.text


@pytest.mark.parametrize("keys", [("escape",), ("enter",)])
async def test_without_a_reason_the_draft_is_back_and_the_turn_goes_on(keys: tuple[str, ...]) -> None:
    async with open_page() as page:
        await page.send("go")
        await page.write("a draft")
        await _reject(page)
        await page.press(*keys)
        assert page.draft == "a draft"
        assert WHY_NOT not in page.text
        assert page.connection.prompts == ["go"]
        assert page.connection.cancels == 0


async def test_a_reason_that_is_left_unsent_is_not_lost() -> None:
    async with open_page() as page:
        await page.write("a draft")
        await _reject(page)
        await page.write("too big")
        await page.press("escape")
        assert page.draft == "a draft\ntoo big"


async def test_one_reason_can_be_given_for_several_rejections() -> None:
    async with open_page() as page:
        await page.write("a draft")
        await page.ask("first", title="One")
        await page.ask("second", title="Two")
        await page.enter_card()
        await page.press("w")
        await page.write("both are ")
        await page.enter_card()
        await page.press("w")
        await page.send("wrong")
        assert page.connection.prompts == ['About the rejected "One" and "Two": both are wrong']
        assert page.draft == "a draft"
