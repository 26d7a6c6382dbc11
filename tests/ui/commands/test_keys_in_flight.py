"""A key pressed for a question that disappears at that moment does nothing in whatever gets the keyboard next."""

from __future__ import annotations

import os
from random import Random

import pytest
from textual.events import Key, Paste

from acp_tui.conversation.elicitation import (
    ChoiceField,
    Elicitation,
    FieldChoice,
    Form,
    TextField,
    UrlVisit,
)
from acp_tui.conversation.facts import RequestKey
from acp_tui.ui.commands.keymap import is_writing
from support.screens import Page, open_page

SEQUENCES = max(int(os.environ.get("ACP_TUI_KEY_SEQUENCES", "300")) // 100, 3)
KEY = RequestKey(1)
TEXT = Form(KEY, "Your token?", (TextField("a"), TextField("b")))
CHOICE = Form(KEY, "Which?", (ChoiceField("a", (FieldChoice("1", "One"), FieldChoice("2", "Two"))),))
VISIT = UrlVisit(KEY, "Log in", "1", "https://a.example/")


async def on_the_card(page: Page, asked: Elicitation) -> None:
    """The user has written a draft, then goes to the agent's question."""
    await page.write("my draft")
    await page.elicit(asked)
    await page.press_slowly("tab")
    page.clock.pass_guard()


async def taken_back(page: Page) -> None:
    page.withdraw()
    await page.until(lambda: "asks" not in page.words)


@pytest.mark.parametrize("asked", [TEXT, CHOICE, VISIT])
async def test_an_enter_for_a_question_that_was_taken_back_sends_no_prompt(asked: Elicitation) -> None:
    async with open_page() as page:
        await on_the_card(page, asked)
        await taken_back(page)
        page.clock.now_s += 0.1
        await page.press("enter")
        assert page.connection.prompts == []
        assert page.draft == "my draft"
        assert "Ignored: that key was for" in page.words
        await page.press_slowly("enter")
        assert page.connection.prompts == ["my draft"]


async def test_what_was_being_written_into_a_form_goes_on_nowhere_when_that_is_taken_back() -> None:
    async with open_page() as page:
        await on_the_card(page, TEXT)
        await page.press(*"sec")
        await taken_back(page)
        for key in (*"ret", "enter", *"and more", "enter"):
            page.clock.now_s += 0.3
            await page.press("space" if key == " " else key)
        page.pilot.app.post_message(Paste("pasted"))
        await page.settled()
        assert page.connection.prompts == []
        assert page.draft == "my draft"
        await page.press_slowly("!")
        await page.press("?")
        assert page.draft == "my draft!?"


async def test_text_beside_the_fields_goes_on_in_the_draft_but_is_not_sent() -> None:
    async with open_page() as page:
        await page.write("my ")
        await page.elicit(TEXT)
        await page.press("tab")
        await taken_back(page)
        await page.press(*"draft", "enter")
        assert page.connection.prompts == []
        assert page.draft == "my draft"


async def test_keys_that_wait_at_the_card_when_it_goes_are_not_passed_on() -> None:
    """They were meant for it, and it hasn't received them."""
    async with open_page() as page:
        await on_the_card(page, CHOICE)
        card = page.pilot.app.focused
        assert card is not None
        page.withdraw()
        await page.until(lambda: page.pilot.app.focused is not card)
        card.post_message(Key("enter", None))
        await page.settled()
        assert page.connection.prompts == []


async def test_an_enter_that_is_held_on_a_form_sends_no_prompt_behind_it() -> None:
    async with open_page() as page:
        await on_the_card(page, CHOICE)
        await page.press("down")
        page.clock.pass_guard()
        await page.press("enter")
        assert await page.gets_answer() == ("accept", {"a": "1"})
        for wait_s in (0.5, 0.03, 0.03, 0.03):
            page.clock.now_s += wait_s
            await page.press("enter")
        assert page.connection.prompts == []


async def test_an_esc_for_a_form_that_was_taken_back_does_not_cancel_the_turn() -> None:
    async with open_page() as page:
        await page.send("go")
        await on_the_card(page, TEXT)
        await taken_back(page)
        await page.press("escape")
        assert page.connection.cancels == 0


async def test_an_enter_for_a_permission_request_that_was_taken_back_sends_no_prompt() -> None:
    async with open_page() as page:
        await page.write("my draft")
        await page.ask("call", title="Edit")
        await page.press_slowly("tab")
        await page.press_slowly("down")
        page.withdraw()
        await page.until(lambda: page.prompt.has_focus)
        await page.press("enter")
        assert page.connection.prompts == []


async def test_whatever_is_typed_into_a_form_that_goes_meanwhile_no_prompt_is_sent() -> None:
    """`ACP_TUI_KEY_SEQUENCES=20000` runs two hundred of them."""
    for seed in range(SEQUENCES):
        random = Random(seed)
        async with open_page() as page:
            await on_the_card(page, random.choice((TEXT, CHOICE, VISIT)))
            written = ""
            keys = random.choices([*"ab12", "enter", "tab", "backspace", "escape"], k=14)
            goes_at = random.randrange(3, 12)
            for at, key in enumerate(keys):
                page.clock.now_s += random.choice((0.0, 0.05, 0.3, 0.39))
                if at == goes_at:
                    if page.prompt.has_focus:
                        break  # the user has left the card, so what follows is meant for the prompt
                    is_field = is_writing(page.pilot.app.focused)
                    written = page.draft
                    await taken_back(page)
                await page.press(key)
                if at >= goes_at:
                    assert page.connection.prompts == [], (seed, keys)
                    assert not is_field or page.draft == written, (seed, keys)


async def test_what_is_typed_right_after_the_key_for_the_sessions_is_searched_for() -> None:
    async with open_page() as page:
        for key in ("f3", *"parser"):
            page.pilot.app.post_message(Key(key, key if len(key) == 1 else None))
        await page.until(lambda: "Nothing matches “parser”" in page.text)
        assert page.draft == ""
