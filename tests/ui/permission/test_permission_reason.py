"""Rejecting and saying why: what the agent gets, how the prompt asks for the reason, and that no draft is lost."""

import pytest

from acp_tui.conversation.facts import PermissionOption
from acp_tui.conversation.updates import PermissionAnswered
from acp_tui.conversation.wording import MAX_TITLE, reason_prompt
from acp_tui.ui.prompt.input import IDLE_S
from support.folding import ALLOW, REJECT
from support.screens import Page, open_page

ALWAYS = PermissionOption("always", "Always", "allow_always")
NEVER = PermissionOption("never", "Never", "reject_always")
WHY_NOT = "Why not? Enter rejects it and sends this as your next prompt"


async def _reject(page: Page, *options: PermissionOption) -> None:
    await page.ask("call", *options, title="Edit a file")
    await page.enter_card()
    await page.press("w")


# The words


def test_the_reason_is_labelled_with_what_was_rejected() -> None:
    assert reason_prompt("Edit a\nfile", "too big") == 'About the rejected "Edit a file": too big'
    hostile = reason_prompt("Edit \u202etxt\x1b[2J", "no")
    assert hostile.isprintable(), "what hides on the card doesn't hide in the prompt either"


def test_a_long_title_is_cut_at_its_end() -> None:
    assert reason_prompt("x" * 1000, "no") == f'About the rejected "{"x" * (MAX_TITLE - 1)}…": no'


# The answer


async def test_sending_the_reason_answers_with_the_agents_own_rejection() -> None:
    async with open_page() as page:
        for options, answer in (((ALLOW, NEVER, REJECT), REJECT), ((ALLOW, NEVER), NEVER)):
            await _reject(page, *options)
            assert WHY_NOT in page.text, answer
            assert page.prompt.has_focus, answer
            assert page.decisions == {}
            assert page.card.display, answer
            await page.send("too big")
            assert page.decisions == {"call": answer.option_id}
            await page.end_turn()
            await page.start_over()


async def test_after_a_reason_the_next_request_takes_the_keyboard_by_itself_again() -> None:
    async with open_page() as page:
        await page.send("go")
        for call in ("first", "second"):
            await page.ask(call, title=f"Edit the {call}")
        await page.enter_card()
        await page.press("w")
        await page.write("too big")
        await page.press_slowly("enter")
        assert page.decisions == {"first": REJECT.option_id}
        assert page.prompt.has_focus
        page.clock.now_s += IDLE_S
        await page.until(lambda: page.card.has_focus)
        assert "Edit the second" in page.text


async def test_a_rejection_whose_id_allows_as_well_is_none() -> None:
    async with open_page() as page:
        await _reject(page, ALLOW, PermissionOption(ALLOW.option_id, "No", "reject_once"))
        assert WHY_NOT not in page.text
        assert page.draft == "w"


async def test_without_an_option_that_rejects_the_key_is_text_and_is_not_named() -> None:
    async with open_page() as page:
        await page.ask("call", ALLOW)
        await page.enter_card()
        assert "say why" not in page.text
        await page.press("w")
        assert page.decisions == {}
        assert page.draft == "w"


async def test_a_key_that_came_early_opens_the_reason_all_the_same() -> None:
    async with open_page() as page:
        for before in ("", "1", "na"):
            await page.ask("call", ALLOW, ALWAYS, REJECT)
            await page.press("tab", *before, "w", *"1 y", "enter")
            assert page.decisions == {"call": REJECT.option_id}, before
            assert page.connection.prompts == [reason_prompt("call", f"{before}1 y")]
            await page.end_turn()
            await page.start_over()


@pytest.mark.usefixtures("keys_are_held")
async def test_on_a_card_that_was_shown_just_now_the_key_opens_the_reason() -> None:
    async with open_page() as page:
        await page.ask("call", title="Edit a file")
        page.card.guard.come_unasked()
        await page.settled()
        page.card.guard.arm()  # as if it was shown only now

        await page.press("w")
        assert "Too soon" not in page.text
        await page.until(lambda: WHY_NOT in page.text)
        await page.press(*"too big", "enter")

        assert page.decisions == {"call": REJECT.option_id}
        assert page.connection.prompts == [reason_prompt("Edit a file", "too big")]


@pytest.mark.usefixtures("keys_are_held")
async def test_a_reason_that_went_into_the_prompt_with_its_key_is_still_the_reason() -> None:
    async with open_page() as page:
        for press, keys in ((page.press, "w"), (page.press_slowly, "w"), (page.press_slowly, "fw")):
            await page.ask("call", title="Edit a file")
            page.card.guard.come_unasked()
            await press(*keys)
            await page.press(*"too big")
            assert page.draft == "wtoo big"
            assert "w went into your prompt; press Tab, then w: the rest is your reason" in page.text
            await page.press("tab", "w")
            assert WHY_NOT in page.text
            assert (page.draft, page.decisions) == ("too big", {})
            await page.press("enter")
            assert page.decisions == {"call": REJECT.option_id}
            assert page.draft == ""
            await page.end_turn()
            await page.start_over()


@pytest.mark.usefixtures("keys_are_held")
@pytest.mark.parametrize("key", "wn1")
async def test_text_that_begins_with_a_key_of_the_card_is_sent_by_a_second_enter(key: str) -> None:
    async with open_page() as page:
        await page.ask("call", title="Edit a file")
        page.card.guard.come_unasked()
        await page.press(key, *"use printf", "enter")
        assert (page.connection.prompts, page.decisions, page.draft) == ([], {}, f"{key}use printf")
        assert f"Not sent: {key} can answer the request (Tab). Enter sends it anyway." in page.words
        await page.press("enter")
        assert (page.connection.prompts, page.decisions) == ([f"{key}use printf"], {})


@pytest.mark.usefixtures("keys_are_held")
async def test_after_enter_such_a_text_can_still_be_made_the_reason() -> None:
    async with open_page() as page:
        await page.ask("call", title="Edit a file")
        page.card.guard.come_unasked()
        await page.press(*"wuse printf", "enter", "tab", "w", "enter")
        assert page.decisions == {"call": REJECT.option_id}
        assert page.connection.prompts == [reason_prompt("Edit a file", "use printf")]


@pytest.mark.usefixtures("keys_are_held")
async def test_what_was_begun_before_the_card_or_with_another_letter_is_sent_at_once() -> None:
    async with open_page() as page:
        await page.press("w")
        await page.ask("call", title="Edit a file")
        await page.press(*"ith care", "enter")
        assert page.connection.prompts == ["with care"]
        await page.end_turn()
        page.card.guard.come_unasked()
        await page.press(*"later", "enter")
        assert page.connection.prompts[1:] == ["later"]


async def test_meanwhile_the_card_says_what_sending_the_reason_does() -> None:
    said = "Sending the reason rejects this; Tab to answer otherwise"
    async with open_page() as page:
        await _reject(page)
        for reason in ("", "too big"):
            await page.press(*reason)
            assert said in page.text, reason
            await page.press_slowly("escape")
            assert page.card.has_focus, reason
            assert said not in page.text, reason
            await page.press_slowly("escape")
            assert "Tab to answer" in page.text, reason
            assert said not in page.text, reason
            await page.press_slowly("tab", "w")
        await page.press_slowly("tab")
        assert (page.card.has_focus, page.decisions) == (True, {})


async def test_a_draft_that_only_begins_like_that_stays_a_draft() -> None:
    async with open_page() as page:
        await page.ask("call", title="Edit a file")
        await page.press(*"what now")
        assert "Tab to answer" in page.text
        await page.press("tab", "w", "escape")
        assert page.draft == "what now"


async def test_it_can_be_done_from_the_full_screen() -> None:
    async with open_page() as page:
        await page.ask("call", title="Edit a file")
        await page.enter_card()
        await page.press("f", "w")
        assert WHY_NOT in page.text
        assert page.prompt.has_focus
        await page.press("enter")
        assert page.decisions == {"call": REJECT.option_id}


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


@pytest.mark.parametrize(("key", "decisions"), [("escape", {}), ("enter", {"call": REJECT.option_id})])
async def test_without_a_reason_the_draft_is_back_and_the_turn_goes_on(key: str, decisions: dict[str, str]) -> None:
    async with open_page() as page:
        await page.send("go")
        await page.write("a draft")
        await _reject(page)
        await page.press(key)
        assert page.decisions == decisions
        assert page.draft == "a draft"
        assert WHY_NOT not in page.text
        assert page.connection.prompts == ["go"]
        assert page.connection.cancels == 0


async def test_esc_leads_from_the_reason_back_to_the_card() -> None:
    async with open_page() as page:
        await _reject(page)
        await page.press("escape")
        assert page.card.has_focus
        await page.press("w")
        assert WHY_NOT in page.text
        assert (page.draft, page.decisions) == ("", {})


@pytest.mark.parametrize("is_withdrawn", [False, True])
@pytest.mark.parametrize(("other_key", "cancels"), [("", 0), ("a", 1)])
async def test_esc_cancels_nothing_once_the_reason_that_it_may_be_for_is_gone(
    is_withdrawn: bool, other_key: str, cancels: int
) -> None:
    async with open_page() as page:
        await page.send("go")
        await _reject(page)
        await page.write("too big")
        if is_withdrawn:
            await page.apply(PermissionAnswered(next(iter(page.session.conversation.permissions)), None))
        else:
            await page.press("ctrl+c")
        assert WHY_NOT not in page.text
        page.clock.now_s += 5
        await page.press(*other_key, "escape")
        assert page.connection.cancels == cancels
        assert ("Esc again cancels the turn" in page.text) is (not cancels)
        await page.press("escape")
        assert page.connection.cancels == 1


@pytest.mark.parametrize("way_back", ["escape", "tab"])
async def test_a_reason_that_is_left_unsent_stays_with_its_card(way_back: str) -> None:
    async with open_page() as page:
        await page.write("a draft")
        await _reject(page)
        await page.press(*"too big", way_back)
        assert page.card.has_focus
        assert (page.draft, WHY_NOT in page.text) == ("a draft", False)
        await page.press("w", *"!", "enter")
        assert page.connection.prompts == ['About the rejected "Edit a file": too big!']
        assert page.draft == "a draft"


async def test_a_reason_that_is_left_unsent_goes_with_its_card_but_undo_brings_it_back() -> None:
    async with open_page() as page:
        await _reject(page)
        await page.press(*"too big", "escape")
        await page.press_slowly("n")
        assert page.decisions == {"call": REJECT.option_id}
        assert page.draft == ""
        await page.press("ctrl+z")
        assert page.draft == "too big"


async def test_a_reason_is_not_kept_for_a_request_of_another_session() -> None:
    async with open_page() as page:
        await _reject(page)
        await page.press(*"too big", "escape")
        await page.start_over()
        await _reject(page)
        assert (page.draft, WHY_NOT in page.text) == ("", True)


async def test_what_was_written_against_a_request_that_is_withdrawn_stays_in_the_draft() -> None:
    async with open_page() as page:
        await page.write("a draft")
        await _reject(page)
        await page.write("too big")
        await page.apply(PermissionAnswered(next(iter(page.session.conversation.permissions)), None))
        assert page.draft == "a draft\ntoo big"
        assert WHY_NOT not in page.text
        assert page.connection.prompts == []
