"""The permission card's answers: what counts as the user's decision, and what never does."""

import asyncio
from collections.abc import Callable
from itertools import product
from typing import Any

import pytest
from textual.events import Callback as CallbackEvent
from textual.events import Key, MouseDown, MouseUp, Paste
from textual.screen import Screen

from acp_tui.client.agents.catalogue import Catalogue, EntrySource, ListedAgent
from acp_tui.client.agents.command import AgentCommand
from acp_tui.conversation.facts import BooleanOption, PermissionOption
from acp_tui.conversation.tool_calls import ToolCallId
from acp_tui.conversation.updates import PermissionAnswered
from acp_tui.protocol.roles import AgentCapabilities
from acp_tui.ui.app.app import QUIT_AGAIN_S
from acp_tui.ui.conversation.view import ConversationView
from acp_tui.ui.dialogs.agent_offers import AgentFacts, CapabilityCard, OptionsDialog
from acp_tui.ui.kit.answer_guard import GUARD_S, REPEAT_S
from acp_tui.ui.kit.pickers import Picker, ReadingScreen
from acp_tui.ui.kit.row_list import PickerRow
from acp_tui.ui.prompt.input import IDLE_S
from acp_tui.ui.tab.several import SeveralDialog
from support.folding import ALLOW, REJECT, agent, call
from support.screens import Page, open_page
from support.settling import until_so
from support.waiting import until

ALWAYS = PermissionOption("opt-3", "Allow always", "allow_always")
THREE = (ALLOW, ALWAYS, REJECT)


async def _open_card(page: Page, *options: PermissionOption) -> None:
    """A request is on the card, and the user's actions on it count."""
    await page.ask("call", *options, title="Edit a file")
    await page.enter_card()


async def yield_to_others() -> None:
    """If a widget is held, the page never settles."""
    await asyncio.sleep(0)


# What never answers


async def test_typing_in_the_prompt_never_answers() -> None:
    async with open_page() as page:
        await page.ask("call")
        page.clock.pass_guard()
        await page.press(*"12y", "enter", "space")
        assert page.decisions == {}
        assert page.connection.prompts == ["12y"]


async def test_enter_where_the_keyboard_came_by_itself_says_how_to_choose() -> None:
    async with open_page() as page:
        await page.ask("first", title="One")
        await page.ask("second", title="Two")
        await page.enter_card()
        await page.press("2")
        page.clock.now_s += REPEAT_S
        await page.until(lambda: "Two" in page.text)
        await page.press("enter", "enter")
        assert page.decisions == {"first": REJECT.option_id}
        assert "❯ 1" not in page.text
        assert "Choose with Tab, then press Enter" in page.text
        await page.press("up")
        page.clock.now_s += REPEAT_S
        await page.press("enter")
        assert page.decisions == {"first": REJECT.option_id, "second": REJECT.option_id}


async def test_the_first_tab_on_a_card_that_came_by_itself_never_marks_always() -> None:
    async with open_page() as page:
        await page.ask("call", ALWAYS, REJECT)
        page.card.guard.come_unasked()
        page.clock.pass_guard()
        await page.until(lambda: "Tab choose" in page.text)
        await page.press("tab")
        assert "❯ 2 n  Reject once" in page.text
        assert "Tab choose" not in page.text
        page.clock.pass_guard()
        await page.press("enter")
        assert page.decisions == {"call": REJECT.option_id}


async def test_tab_leads_to_the_first_answer_and_enter_gives_it_after_a_pause() -> None:
    async with open_page() as page:
        await page.ask("call", title="Edit a file")
        assert "❯ 1" not in page.text
        await page.press("tab")
        assert "❯ 1 y  Allow once" in page.text
        await page.press("enter")
        assert page.decisions == {}, "Too soon"
        page.clock.now_s += REPEAT_S
        await page.press("enter")
        assert page.decisions == {"call": ALLOW.option_id}


@pytest.mark.parametrize("key", "390")
async def test_a_number_that_is_no_answer_does_nothing_but_say_so(key: str) -> None:
    async with open_page() as page:
        await _open_card(page, ALLOW, REJECT)
        await page.press(key)
        assert "No answer has that number" in page.text
        assert (page.decisions, page.draft, page.card.has_focus) == ({}, "", True)
        page.clock.now_s += REPEAT_S
        await page.press("1")
        assert page.decisions == {"call": ALLOW.option_id}


async def test_text_that_begins_with_a_number_is_typed_whole_where_a_card_came_by_itself() -> None:
    async with open_page() as page:
        await page.ask("call")
        page.card.guard.come_unasked()
        await page.settled()
        assert page.card.has_focus
        page.clock.now_s += REPEAT_S
        await page.press("7", "z")
        assert (page.decisions, page.draft) == ({}, "7z")


async def test_a_key_that_means_nothing_is_typed_in_the_prompt() -> None:
    async with open_page() as page:
        for key in "xY":
            await _open_card(page, ALLOW, REJECT)
            await page.press(key, "1")
            assert page.decisions == {}, key
            assert page.draft == f"{key}1"
            assert page.prompt.has_focus, key
            await page.start_over()


async def test_nothing_but_a_choice_on_the_card_lets_the_agent_have_its_way() -> None:
    async with open_page() as page:
        await page.send("go")
        await _open_card(page)
        # Everything else that can be pressed, from the card, the conversation, and the prompt.
        for key in ("space", "pagedown", "pageup", "home", "end", "ctrl+o", "ctrl+t", "r"):
            await page.press(key)
        await page.press("f")
        page.clock.pass_guard()
        await page.press("space", "home", "end", "j", "k", "s", "r", "escape")
        page.clock.pass_guard()
        await page.press("f1", "1", "escape")
        await page.press("escape", "1", "enter", "tab", "enter", "tab", "x", "ctrl+c", "pageup", "ctrl+end")
        await page.click("Permission")
        await page.pilot.resize_terminal(60, 20)
        page.clock.now_s += 3600
        await page.settled()
        assert page.decisions == {}
        assert page.card.display


# Too early to be meant


async def test_keys_count_only_some_time_after_the_card_got_the_focus() -> None:
    async with open_page() as page:
        await page.ask("call")
        page.clock.pass_guard()
        await page.press("tab", "1")
        page.clock.now_s += GUARD_S - 0.01
        await page.press("1")
        assert page.decisions == {}
        page.clock.now_s += GUARD_S - 0.01
        await page.press("1")
        assert page.decisions == {}, "the key that was pressed in vain is no pause"
        page.clock.pass_guard()
        await page.press("1")
        assert page.decisions == {"call": ALLOW.option_id}


async def test_keys_count_only_some_time_after_the_request_appeared_under_the_focus() -> None:
    async with open_page() as page:
        await page.ask("first")
        await page.ask("second")
        await page.enter_card()
        await page.press("2", "1")
        assert page.decisions == {"first": REJECT.option_id}
        page.clock.pass_guard()
        await page.press("1")
        assert page.decisions == {"first": REJECT.option_id, "second": ALLOW.option_id}


async def test_a_key_that_is_held_down_answers_one_request() -> None:
    async with open_page() as page:
        for number in range(10):
            await page.ask(f"call {number}")
        await page.enter_card()
        await page.press("1")
        for pause_s in (0.66, *[0.03] * 10, *[0.5] * 4, *[0.03] * 10):  # a keyboard's repeat, and a slow one's
            page.clock.now_s += pause_s
            await page.press("1")
        assert page.decisions == {"call 0": ALLOW.option_id}


@pytest.mark.parametrize("full", [(), ("f",)], ids=["card", "full screen"])
async def test_a_key_that_does_something_elsewhere_ends_the_pause_too(full: tuple[str, ...]) -> None:
    async with open_page() as page:
        for key in ("ctrl+t", "ctrl+o"):
            await _open_card(page)
            await page.press(*full)
            page.clock.pass_guard()
            await page.press(key, "1")
            assert page.decisions == {}, key
            page.clock.pass_guard()
            await page.press("1")
            assert page.decisions == {"call": ALLOW.option_id}, key
            await page.start_over()


async def test_text_typed_on_the_card_never_answers_and_is_not_lost() -> None:
    text = "1, y n"
    async with open_page() as page:
        for before, pause_s in (*product(("w", "f", "r", "1", "", "space", "down"), (0.39,)), ("1", 0.0), ("", 0.0)):
            await page.ask("call")
            await page.press("tab", *filter(None, [before]))
            for letter in text:
                page.clock.now_s += pause_s
                await page.press("space" if letter == " " else letter)
            assert page.decisions == {}, (before, pause_s)
            assert page.draft.endswith(text), (before, pause_s)
            assert page.prompt.has_focus, (before, pause_s)
            await page.start_over()


@pytest.mark.parametrize("full", [(), ("f",)], ids=["card", "full screen"])
async def test_keys_that_come_all_at_once_are_the_reason_whole_and_in_order(full: tuple[str, ...]) -> None:
    text = "wrong: for 1 raw way y"
    async with open_page() as page:
        await page.ask("call", title="Edit")
        await page.press("tab", *full)
        for letter in f"w{text}":
            page.pilot.app.post_message(Key("space" if letter == " " else letter, letter))
        page.pilot.app.post_message(Key("enter", None))
        await page.settled()
        assert page.decisions == {"call": REJECT.option_id}
        assert page.connection.prompts == [f'About the rejected "Edit": {text}']


@pytest.mark.parametrize("opens", [("tab",), ()], ids=["card", "conversation"])
async def test_keys_that_wait_where_text_is_not_written_are_not_overtaken(opens: tuple[str, ...]) -> None:
    async with open_page() as page:
        await page.apply(agent("An answer"))
        if opens:
            await page.ask("call", title="Edit")
            await page.press(*opens)
        else:
            page.pilot.app.screen.query_one(ConversationView).focus()
            await page.settled()
        where = page.pilot.app.focused
        assert where is not None
        app, is_free = page.pilot.app, asyncio.Event()
        app.post_message(Key("s", "s"))
        app.post_message(CallbackEvent(callback=lambda: where.post_message(CallbackEvent(callback=is_free.wait))))
        for letter in "till":
            app.post_message(Key(letter, letter))
        try:
            await until(lambda: app.focused is page.prompt, yield_to_others)
            for letter in "here":
                app.post_message(Key(letter, letter))
            await until(lambda: "here" in page.draft, yield_to_others)
        finally:
            is_free.set()
        await page.until(lambda: len(page.draft) == len("stillhere"))
        assert page.draft == "stillhere"


async def test_a_paste_goes_to_the_prompt_and_ends_the_pause() -> None:
    async with open_page() as page:
        await _open_card(page)
        page.pilot.app.post_message(Paste("1\ny"))
        await page.settled()
        assert page.draft == "1\ny"
        assert page.prompt.has_focus
        assert page.decisions == {}


async def test_with_nothing_written_and_nothing_pressed_the_card_takes_the_keyboard() -> None:
    async with open_page() as page:
        page.clock.now_s += IDLE_S
        await page.ask("call")
        assert page.card.has_focus
        await page.press("tab", "1")
        assert page.card.has_focus, "the Tab was on its way to the card"
        assert page.decisions == {}
        page.clock.pass_guard()
        await page.press("1")
        assert page.decisions == {"call": ALLOW.option_id}
        assert page.prompt.has_focus


async def test_with_a_draft_or_a_key_just_now_the_card_takes_no_keyboard() -> None:
    async with open_page() as page:
        for draft in ("a draft", ""):
            await page.write(draft)
            page.clock.now_s += IDLE_S if draft else 0
            await page.press("home")
            page.clock.now_s += IDLE_S if draft else IDLE_S - 0.01
            await page.ask("call")
            assert page.prompt.has_focus, draft
            await page.start_over()


async def test_a_card_right_after_a_key_takes_the_keyboard_after_a_pause() -> None:
    async with open_page() as page:
        await page.press("home")
        await page.ask("call")
        assert page.prompt.has_focus
        page.clock.now_s += IDLE_S
        await until_so(page.pilot, lambda: page.card.has_focus)
        await page.press("y")
        assert page.decisions == {}, "the key may have been meant for the prompt"
        page.clock.pass_guard()
        await page.press("y")
        assert page.decisions == {"call": ALLOW.option_id}


async def test_a_card_that_comes_to_a_draft_takes_the_keyboard_once_it_is_gone() -> None:
    async with open_page() as page:
        await page.write("a")
        await page.ask("call")
        page.clock.now_s += IDLE_S
        await page.press("backspace")
        assert page.prompt.has_focus
        page.clock.now_s += IDLE_S
        await until_so(page.pilot, lambda: page.card.has_focus)
        await page.settled()
        page.clock.pass_guard()
        await page.press("y")
        assert page.decisions == {"call": ALLOW.option_id}


async def test_a_card_that_the_user_has_left_does_not_take_the_keyboard_again() -> None:
    async with open_page() as page:
        await page.press("home")
        await page.ask("call")
        await page.enter_card()
        await page.press("escape")
        page.clock.now_s += IDLE_S
        assert page.prompt.is_free
        assert not page.card.guard.awaits_keyboard


async def test_what_is_typed_as_the_card_takes_the_keyboard_goes_to_the_prompt_whole() -> None:
    async with open_page() as page:
        page.clock.now_s += IDLE_S
        await page.ask("call")
        await page.press(*"yes", "space", *"now")
        assert page.draft == "yes now"
        assert page.decisions == {}


async def test_a_call_that_changes_in_place_is_not_answered_before_that_was_in_view() -> None:
    async with open_page() as page:
        await _open_card(page)
        page.session.conversation.tool_call(ToolCallId("call")).call.raw_input = {"command": "rm -rf ~"}
        await page.press("1")
        assert page.decisions == {}
        assert "rm -rf ~" in page.text


async def test_a_request_that_replaces_another_under_the_pressed_mouse_is_not_answered() -> None:
    async with open_page() as page:
        await page.ask("first")
        await page.ask("second")
        await page.enter_card()
        await page.use_mouse(MouseDown, "Allow once")
        await page.apply(PermissionAnswered(next(iter(page.session.conversation.permissions)), None))
        page.clock.pass_guard()
        await page.use_mouse(MouseUp, "Allow once")
        assert page.card.display
        assert page.decisions == {}


async def test_a_letter_answers_with_its_kind_whatever_the_agents_order() -> None:
    async with open_page() as page:
        for key, option in (("y", ALLOW), ("a", ALWAYS), ("n", REJECT)):
            await _open_card(page, REJECT, ALWAYS, ALLOW)
            await page.press(key)
            assert page.decisions == {"call": option.option_id}, key
            await page.start_over()


TWICE = (PermissionOption("1", "Here", "allow_once"), PermissionOption("2", "There", "allow_once"), REJECT)


async def test_a_letter_that_could_mean_two_answers_shows_them_where_there_was_no_room() -> None:
    async with open_page(size=(40, 12)) as page:
        await _open_card(page, *TWICE)
        assert "2 " not in page.text
        await page.press("y")
        assert page.decisions == {}
        assert all(f"{number} " in page.text for number in (1, 2, 3))


async def test_a_letter_that_could_mean_two_answers_is_none_and_it_is_said() -> None:
    async with open_page() as page:
        await _open_card(page, *TWICE)
        await page.press("y")
        assert "y could mean several answers: press the number of one" in page.words
        assert (page.decisions, page.draft) == ({}, "")
        page.clock.pass_guard()
        await page.press("n")
        assert page.decisions == {"call": REJECT.option_id}


async def test_text_that_begins_with_such_a_letter_goes_to_the_prompt_whole() -> None:
    async with open_page() as page:
        await _open_card(page, *TWICE)
        await page.press(*"yes")
        assert (page.decisions, page.draft) == ({}, "yes")


async def _come_to_card(page: Page, comes: str) -> None:
    """A request whose card has the keyboard, by itself or with Tab, and takes the next key."""
    await page.ask("call", ALLOW, REJECT)
    if comes == "by itself":
        page.card.guard.come_unasked()
    else:
        await page.press("tab")
    await page.settled()
    page.clock.now_s += REPEAT_S


@pytest.mark.parametrize("comes", ["by itself", "with Tab"])
async def test_a_letter_that_no_answer_has_stays_on_the_card_and_it_is_said(comes: str) -> None:
    async with open_page() as page:
        await _come_to_card(page, comes)
        await page.press("a")
        assert "No answer has that letter; these keys answer: 1-2 y n" in page.text
        assert (page.decisions, page.draft, page.card.has_focus) == ({}, "", True)
        page.clock.now_s += REPEAT_S
        await page.press("n")
        await page.until(lambda: page.decisions == {"call": REJECT.option_id})


@pytest.mark.parametrize("comes", ["by itself", "with Tab"])
async def test_text_that_begins_with_a_letter_that_no_answer_has_is_typed_whole(comes: str) -> None:
    async with open_page() as page:
        await _come_to_card(page, comes)
        await page.press(*"and", "space", "1")
        assert (page.decisions, page.draft) == ({}, "and 1")


async def test_a_choice_made_for_one_request_is_not_the_choice_for_the_next() -> None:
    async with open_page() as page:
        await page.ask("first")
        await page.ask("second")
        await page.enter_card()
        await page.press("down")
        page.clock.pass_guard()
        await page.press("enter")
        page.clock.now_s += REPEAT_S
        await page.press("enter")
        assert page.decisions == {"first": REJECT.option_id}


async def test_an_enter_that_comes_too_early_does_nothing() -> None:
    async with open_page() as page:
        await page.ask("call")
        await page.press("tab", "down", "enter")
        assert page.decisions == {}


async def test_the_click_that_brings_the_focus_to_the_card_does_not_answer() -> None:
    async with open_page() as page:
        await page.ask("call")
        page.clock.pass_guard()
        await page.click("Allow once")
        assert page.card.has_focus
        assert page.decisions == {}
        page.clock.pass_guard()
        await page.click("Allow once")
        assert page.decisions == {"call": ALLOW.option_id}


async def test_a_key_or_click_that_came_too_early_is_answered_by_what_to_do() -> None:
    async with open_page() as page:
        await page.ask("call")
        await page.click("Allow once")
        assert "Too soon: pause 1 s, then click again" in page.text
        await page.press("2")
        assert "Too soon: pause 1 s, then press 2 again" in page.text
        await page.press("down", "enter")
        assert "Too soon: pause 1 s, then press Enter again" in page.text
        await page.press("down")
        assert "Too soon" not in page.text
        assert page.decisions == {}


async def test_a_key_right_behind_tab_gets_to_the_card_and_is_too_soon() -> None:
    async with open_page() as page:
        await page.write("my draft")
        await page.ask("call")
        await page.press_at_once("tab", "1")
        assert page.draft == "my draft"
        assert page.decisions == {}
        assert "Too soon: pause 1 s, then press 1 again" in page.text


AGENT = AgentCommand("one", ("/bin/one",))


@pytest.mark.parametrize(("key", "place"), [("tab", "card"), ("f3", "sessions")])
@pytest.mark.parametrize(
    "dialog",
    [
        lambda: Picker("Which?", [PickerRow(1, "This")], search=False),
        lambda: OptionsDialog([BooleanOption("b", "Which?", False)]),
        lambda: SeveralDialog(ListedAgent(AGENT, EntrySource.USER, "Which?"), Catalogue),
        lambda: ReadingScreen("Which?", "A text"),
        lambda: CapabilityCard(AgentFacts("Which?", "a", "1", "v1", ("a",), AgentCapabilities())),
    ],
)
async def test_from_a_list_or_a_text_above_a_card_the_usual_keys_lead_to_it(
    dialog: Callable[[], Screen[Any]], key: str, place: str
) -> None:
    async with open_page() as page:
        await page.ask("call")
        app = page.pilot.app
        app.push_screen(dialog())
        await page.until(lambda: "Which?" in page.text)
        await page.press(key)
        await page.until(lambda: place in {getattr(each, "PLACE", "") for each in (app.focused, app.screen)})
        assert "Which?" not in page.text
        assert page.draft == ""


@pytest.mark.parametrize("place", ["card", "full screen"])
async def test_that_a_key_came_too_soon_gives_way_to_the_keys_with_the_next_one(place: str) -> None:
    async with open_page() as page:
        await page.ask("call")
        await page.press("tab", *(["f"] if place == "full screen" else []), "1")
        assert "Too soon: pause 1 s, then press 1 again" in page.text
        page.clock.pass_guard()
        await page.press("down")
        assert "Too soon" not in page.text
        assert page.decisions == {}


@pytest.mark.usefixtures("far_screen")
@pytest.mark.parametrize("place", ["card", "full screen"])
async def test_what_is_not_on_the_users_screen_yet_can_be_rejected_and_not_allowed(place: str) -> None:
    async with open_page() as page:
        await _open_card(page)
        if place == "full screen":
            await page.press("f")
        for key in ("y", "1", "enter"):
            await page.press_slowly(key)
            assert "Too soon" in page.text
            assert page.decisions == {}
        await page.press_slowly("n")
        assert page.decisions == {"call": REJECT.option_id}


@pytest.mark.usefixtures("far_screen")
async def test_what_is_not_on_the_users_screen_yet_can_be_rejected_with_a_reason() -> None:
    async with open_page() as page:
        await page.ask("call")
        page.card.guard.come_unasked()
        page.clock.pass_guard()
        await page.press("w", *"no")
        await page.press_slowly("enter")
        assert page.decisions == {"call": REJECT.option_id}


@pytest.mark.usefixtures("far_screen")
async def test_what_is_not_on_the_users_screen_yet_can_be_rejected_by_a_click() -> None:
    async with open_page() as page:
        await page.ask("call")
        await page.press_slowly("tab")
        for words, decided in (("Allow once", None), ("Reject once", REJECT.option_id)):
            page.clock.pass_guard()
            await page.click(words)
            assert page.decisions.get("call") == decided


async def test_keys_count_only_some_time_after_the_help_above_the_card_was_closed() -> None:
    async with open_page() as page:
        await _open_card(page)
        await page.press("f1", "escape", "1")
        assert page.decisions == {}
        page.clock.pass_guard()
        await page.press("1")
        assert page.decisions == {"call": ALLOW.option_id}


@pytest.mark.parametrize(("leaves", "comes_back"), [("f1", "escape"), ("escape", "tab"), ("f", "escape")])
async def test_a_request_that_was_read_is_rejected_at_once_after_a_look_away(leaves: str, comes_back: str) -> None:
    async with open_page() as page:
        for key, decisions in (("y", {}), ("n", {"call": REJECT.option_id})):
            await _open_card(page)
            await page.press(leaves)
            page.clock.now_s += GUARD_S
            await page.press(comes_back, key)
            assert page.decisions == decisions, key
            await page.start_over()


async def test_a_request_that_changed_while_the_user_looked_elsewhere_cannot() -> None:
    async with open_page() as page:
        await _open_card(page)
        await page.press("f1")
        await page.apply(call("call", title="Delete a file"))
        await page.press("escape", "n")
        assert page.decisions == {}
        assert "Too soon: pause 1 s, then press n again" in page.text


async def test_on_the_full_screen_too_what_was_read_can_be_rejected_at_once() -> None:
    async with open_page() as page:
        await _open_card(page)
        await page.press("f")
        page.clock.now_s += GUARD_S / 2
        await page.press("f1", "escape", "n")
        assert page.decisions == {}, "f and n may be the beginning of a word"
        page.clock.now_s += GUARD_S
        await page.press("f1", "escape", "n")
        assert page.decisions == {"call": REJECT.option_id}


# A key that came too soon for the card


async def test_a_letter_that_goes_into_the_prompt_is_told_with_the_way_to_answer() -> None:
    async with open_page() as page:
        await page.ask("call", *THREE)
        await page.press("y")
        assert (page.draft, page.decisions) == ("y", {})
        assert "y went into your prompt; press Tab, then y" in page.text
        await page.press("e", "s")
        assert "went into your prompt" not in page.text
        assert "Tab to answer" in page.text


async def test_the_letter_that_went_astray_leaves_the_prompt_with_the_answer() -> None:
    async with open_page() as page:
        await page.ask("call", *THREE)
        await page.press("n", "tab")
        assert "went into your prompt" not in page.text
        assert (page.draft, page.decisions) == ("n", {})
        page.clock.pass_guard()
        await page.press("n")
        assert (page.draft, page.decisions) == ("", {"call": REJECT.option_id})


async def test_a_letter_typed_just_before_a_card_comes_is_told_too_and_others_are_not() -> None:
    async with open_page() as page:
        await page.press("y")
        await page.ask("call", *THREE)
        assert "y went into your prompt; press Tab, then y" in page.text
        await page.start_over()
        for draft in ("4", "x", "12", "yes"):
            await page.write(draft)
            await page.ask("call", *THREE)
            assert "went into your prompt" not in page.text, draft
            await page.start_over()


async def test_a_letter_that_was_pressed_as_the_card_took_the_keyboard_is_told() -> None:
    async with open_page() as page:
        await page.ask("call", *THREE)
        page.card.guard.come_unasked()
        await page.press("y")
        await page.press("z")
        await page.press("backspace")
        assert (page.draft, page.decisions) == ("y", {})
        assert "y went into your prompt; press Tab, then y" in page.text


async def test_each_key_of_the_card_that_goes_into_the_prompt_is_told_but_no_word() -> None:
    async with open_page() as page:
        await page.ask("call", *THREE)
        await page.ask("another", *THREE)
        for keys, told in {"w": "w", "f": "f", "r": "r", "3": "3", "]": "]", "yyy": "y", "]y": "] y"}.items():
            await page.press(*keys)
            assert f"{told} went into your prompt; press Tab, then {told}" in page.text, keys
            await page.press("tab", "escape")
            assert f"{told} went into your prompt; press Tab, then {told}" in page.text, keys
            page.prompt.clear()
            await page.settled()
        for draft in ("raw", "any", "12", "]x", "y" * 9):
            await page.write(draft)
            assert "Tab to answer" in page.text, draft
            page.prompt.clear()


async def test_what_is_told_of_a_key_fits_the_request_that_comes_next() -> None:
    async with open_page() as page:
        await page.ask("first", *THREE)
        await page.ask("second", ALLOW)
        for key, is_told in (("y", True), ("n", False)):
            await page.press(key)
            await page.apply(PermissionAnswered(next(iter(page.session.conversation.permissions)), None))
            assert ("went into your prompt" in page.text) is is_told, key
            page.prompt.clear()
            await page.ask("third", ALLOW)


# What answers


async def test_a_number_and_a_click_answer_with_their_option() -> None:
    async with open_page() as page:
        for number, option in enumerate(THREE, 1):
            await _open_card(page, *THREE)
            await page.press(str(number))
            assert page.decisions == {"call": option.option_id}, number
            await page.start_over()
            await _open_card(page, *THREE)
            await page.click(f"{number} {'yan'[number - 1]}  ")
            assert page.decisions == {"call": option.option_id}, option.name
            await page.start_over()


async def test_arrows_choose_and_enter_answers() -> None:
    async with open_page() as page:
        for keys, number in (("down", 2), ("down tab", 3), ("down down down", 1), ("up", 3), ("up up down", 3)):
            await _open_card(page, *THREE)
            await page.press(*keys.split())
            assert f"❯ {number} " in page.text, keys
            page.clock.pass_guard()
            await page.press("enter")
            assert page.decisions == {"call": THREE[number - 1].option_id}, keys
            await page.start_over()


async def test_a_click_on_the_second_line_of_a_long_option_answers_with_it() -> None:
    long = PermissionOption("long", "Allow " + "and so on " * 8 + "for ever", "allow_always")
    async with open_page() as page:
        await _open_card(page, long, REJECT)
        await page.click("for ever")
        assert page.decisions == {"call": "long"}


async def test_cancelling_the_turn_answers_every_request_cancelled() -> None:
    async with open_page() as page:
        await page.send("go")
        await page.ask("first")
        await page.ask("second")
        await page.press("escape")
        assert page.decisions == {"first": None, "second": None}


async def test_while_something_else_was_just_asked_the_card_takes_no_answer() -> None:
    async with open_page() as page:
        await page.send("go")
        await _open_card(page)
        await page.press("ctrl+q")
        assert "again quits" in page.words
        page.clock.pass_guard()
        await page.press("y")
        assert page.decisions == {}
        assert "acp-tui has just asked something else" in page.words
        page.clock.now_s += QUIT_AGAIN_S
        await page.press("y")
        assert page.decisions == {"call": ALLOW.option_id}


# Several requests wait


async def test_the_requests_that_wait_can_be_seen_and_answered_out_of_turn() -> None:
    async with open_page() as page:
        for call in ("first", "second", "third"):
            await page.ask(call, title=f"Edit the {call}")
        await page.enter_card()
        assert "1 of 3  Edit the first" in page.text
        assert "[ ] other requests" in page.text
        await page.press("right_square_bracket")
        assert "2 of 3  Edit the second" in page.text
        await page.press("y")
        assert page.decisions == {}, "It was shown just now"
        page.clock.now_s += REPEAT_S
        await page.press("y")
        assert page.decisions == {"second": ALLOW.option_id}
        assert "2 of 2  Edit the third" in page.text, "The next one"
        await page.press("left_square_bracket")
        assert "1 of 2  Edit the first" in page.text
        await page.press("left_square_bracket")
        assert "2 of 2  Edit the third" in page.text
        page.clock.now_s += REPEAT_S
        await page.press("n")
        assert "Edit the first" in page.text, "There is no other"


@pytest.mark.usefixtures("keys_are_held")
async def test_a_reason_right_behind_another_request_is_its_reason() -> None:
    async with open_page() as page:
        for call in ("first", "second"):
            await page.ask(call, title=f"Edit the {call}")
        page.card.guard.come_unasked()
        await page.settled()
        page.clock.pass_guard()
        await page.press("right_square_bracket", *"wno")
        assert "Why not?" in page.text
        assert page.draft == "no"
        await page.press("enter")
        assert page.decisions == {"second": REJECT.option_id}


@pytest.mark.usefixtures("keys_are_held")
async def test_a_bracket_begins_a_text_where_it_leads_nowhere() -> None:
    async with open_page() as page:
        await page.ask("call")
        page.card.guard.come_unasked()
        await page.settled()
        page.clock.pass_guard()
        await page.press("left_square_bracket", "x")
        assert (page.draft, page.decisions) == ("[x", {})


async def test_a_request_that_the_user_has_turned_to_stays_until_it_is_gone() -> None:
    async with open_page() as page:
        for call in ("first", "second"):
            await page.ask(call, title=f"Edit the {call}")
        await page.enter_card()
        await page.press("right_square_bracket")
        await page.ask("third", title="Edit the third")
        assert "2 of 3  Edit the second" in page.text
        page.clock.now_s += REPEAT_S
        await page.press("n")
        assert "2 of 2  Edit the third" in page.text


async def test_the_full_screen_leads_to_the_other_requests_too() -> None:
    async with open_page() as page:
        for call in ("first", "second"):
            await page.ask(call, title=f"Edit the {call}")
        await page.enter_card()
        await page.press("f", "right_square_bracket")
        assert "2 of 2  Edit the second" in page.text
        assert "[ ] other requests" in page.text
        page.clock.now_s += REPEAT_S
        await page.press("n")
        assert page.decisions == {"second": REJECT.option_id}
        assert page.card.has_focus
        assert "Edit the first" in page.text
