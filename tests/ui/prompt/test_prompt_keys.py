"""The prompt's keys, and what happens to a draft that can't be sent."""

import pytest

from acp_tui.client.sessions.session import Session
from acp_tui.conversation.updates import Disconnected, Reconnected
from acp_tui.ui.prompt.input import MAX_LINES
from support.folding import agent
from support.screens import open_page

BORDER = 2


async def test_enter_sends_the_draft_and_clears_it_and_the_next_one_after_the_turn() -> None:
    async with open_page() as page:
        await page.send("hello")
        assert page.connection.prompts == ["hello"]
        assert page.draft == ""
        assert "▌ hello" in page.text
        await page.end_turn()
        await page.send(" \n ")
        assert page.connection.prompts == ["hello"], "a blank draft isn't sent"
        page.prompt.clear_draft()
        await page.send("two")
        assert page.connection.prompts == ["hello", "two"]


async def test_when_the_agent_is_gone_the_draft_stays() -> None:
    async with open_page(Disconnected("it exited with 3")) as page:
        await page.send("anyone?")
        assert page.connection.prompts == []
        assert page.draft == "anyone?"
        assert "The agent is gone; Alt+R restarts it. Your draft stays." in page.words


# What Shift+Enter and Alt+Enter send if a terminal distinguishes them, and what every terminal sends for Ctrl+J.
async def test_a_key_of_its_own_makes_a_new_line() -> None:
    async with open_page() as page:
        for key in ("ctrl+j", "shift+enter", "alt+enter"):
            page.prompt.clear_draft()
            await page.press("a", key, "b")
            assert page.draft == "a\nb", key
        assert page.connection.prompts == []


async def test_the_prompt_grows_by_lines_up_to_a_maximum_and_shrinks_again() -> None:
    async with open_page() as page:
        heights = []
        for _ in range(MAX_LINES + 2):
            heights.append(page.prompt.outer_size.height - BORDER)
            await page.write("\n")
        assert heights == [*range(1, MAX_LINES + 1), MAX_LINES, MAX_LINES]
        await page.press("ctrl+c")
        assert page.prompt.outer_size.height - BORDER == 1


async def test_a_long_line_wraps_and_makes_the_prompt_grow() -> None:
    async with open_page(size=(40, 20)) as page:
        await page.write("word " * 12)
        assert page.prompt.outer_size.height - BORDER == 2


async def test_the_prompt_has_room_for_a_draft_that_wraps_anew_after_a_resize() -> None:
    async with open_page(size=(100, 20)) as page:
        await page.write("word " * 12)
        await page.pilot.resize_terminal(40, 20)
        await page.settled()
        assert page.prompt.outer_size.height - BORDER == 2


# Esc


async def test_escape_cancels_the_turn_and_the_conversation_says_so() -> None:
    async with open_page() as page:
        await page.send("go")
        await page.write("a draft")
        await page.press("escape")
        assert page.connection.cancels == 1
        assert "canceling" in page.status
        await page.end_turn("cancelled")
        assert "■ canceled" in page.text
        assert page.draft == "a draft"


@pytest.mark.parametrize("key", ["escape", "ctrl+c"])
async def test_what_waits_without_a_turn_is_canceled_as_the_status_says(key: str) -> None:
    async with open_page() as page:
        await page.ask("call")
        assert "needs your decision; Tab answers · Esc cancels" in page.status
        await page.press(key)
        assert page.decisions == {"call": None}
        assert "needs your decision" not in page.text


async def test_escape_without_a_turn_does_nothing() -> None:
    async with open_page() as page:
        await page.press("escape")
        assert page.connection.cancels == 0


async def test_an_agent_that_does_not_stop_soon_is_told_of_with_what_else_there_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Session, "cancel_patience_s", 0.01)
    async with open_page() as page:
        await page.send("go")
        await page.press("escape")
        await page.until(lambda: "The agent hasn't stopped yet; Alt+R ends and" in page.text)
        assert page.connection.cancels == 1
        await page.end_turn("cancelled")
        assert "hasn't stopped yet" not in page.text, "now it has"


async def test_a_second_escape_says_what_else_there_is() -> None:
    async with open_page() as page:
        await page.send("go")
        await page.press("escape", "escape")
        assert page.connection.cancels == 1
        assert "Alt+R ends and" in page.text


async def test_escape_in_the_conversation_leads_to_the_prompt_and_cancels_nothing() -> None:
    async with open_page(agent("hello")) as page:
        await page.send("go")
        await page.press("tab")
        assert page.view.has_focus_within
        await page.press("escape")
        assert page.prompt.has_focus
        assert page.connection.cancels == 0


async def test_escape_on_the_card_leads_to_the_prompt_and_the_request_waits() -> None:
    async with open_page() as page:
        await page.send("go")
        await page.ask("call")
        await page.press("tab")
        assert page.card.has_focus
        await page.press("escape")
        await page.until(lambda: page.prompt.has_focus)  # through two messages
        assert page.connection.cancels == 0
        assert page.decisions == {}
        assert page.card.display


async def test_escape_closes_the_help_and_cancels_nothing() -> None:
    async with open_page() as page:
        await page.send("go")
        await page.press("f1")
        assert "Send the prompt" in page.text
        await page.press("escape")
        assert "Unfold or fold everything" not in page.text
        assert page.prompt.has_focus
        assert page.connection.cancels == 0


# Tab and Ctrl+C


async def test_tab_leads_to_the_card_and_stays_there_and_esc_leads_back_to_the_draft() -> None:
    async with open_page() as page:
        await page.write("a draft")
        await page.ask("call")
        assert page.prompt.has_focus
        for _ in range(3):
            await page.press_slowly("tab")
            assert page.card.has_focus
        await page.press("escape")
        await page.until(lambda: page.prompt.has_focus)  # by way of two messages
        await page.press("2")
        assert page.draft == "a draft2"


async def test_tab_leads_to_the_conversation_and_back_where_nothing_is_asked() -> None:
    async with open_page(agent("hello")) as page:
        await page.press("tab")
        assert page.view.has_focus_within
        await page.press("tab")
        assert page.prompt.has_focus


async def test_ctrl_c_clears_the_draft_then_cancels_the_turn() -> None:
    async with open_page() as page:
        await page.send("go")
        await page.write("a draft")
        await page.press("ctrl+c")
        assert (page.draft, page.connection.cancels) == ("", 0)
        await page.press("ctrl+c")
        assert page.connection.cancels == 1


async def test_ctrl_q_quits_wherever_the_focus_is() -> None:
    for keys in ((), ("tab",), ("f1",)):
        async with open_page(agent("hello")) as page:
            await page.press(*keys)
            await page.pilot.press("ctrl+q")
            assert page.pilot.app.return_code == 0


async def test_what_is_typed_in_the_conversation_goes_to_the_prompt() -> None:
    async with open_page(agent("an answer")) as page:
        await page.press("tab")
        await page.press("h", "i")
        assert page.draft == "hi"


async def test_what_is_typed_right_behind_enter_belongs_to_the_next_prompt() -> None:
    async with open_page() as page:
        await page.pilot.press(*"one", "enter", *"two")
        await page.settled()
        assert page.connection.prompts == ["one"]
        assert page.draft == "two"


async def test_quitting_while_the_agent_works_wants_to_be_said_twice() -> None:
    async with open_page() as page:
        await page.send("go")
        await page.press("ctrl+q")
        assert "Ctrl+Q again" in page.text
        assert page.pilot.app.return_code is None
        await page.pilot.press("ctrl+q")
        assert page.pilot.app.return_code == 0


async def test_the_ctrl_c_that_ends_a_turn_does_not_quit() -> None:
    async with open_page() as page:
        await page.send("go")
        await page.press("ctrl+c")
        await page.end_turn()
        await page.press("ctrl+c")
        assert "Ctrl+C again quits" in page.text
        assert page.pilot.app.return_code is None


@pytest.mark.parametrize("keys", [("f1",), ("ctrl+p",), ("f12",), ("f3",)])
async def test_ctrl_c_closes_a_dialog_and_neither_quits_nor_cancels(keys: tuple[str, ...]) -> None:
    async with open_page() as page:
        await page.send("go")
        await page.press(*keys)
        await page.until(lambda: len(page.pilot.app.screen_stack) == 2)
        await page.press("ctrl+c")
        await page.until(lambda: len(page.pilot.app.screen_stack) == 1)
        assert page.connection.cancels == 0
        assert "Ctrl+C again quits" not in page.text


async def test_with_the_agent_gone_one_place_says_how_to_start_it_again() -> None:
    async with open_page() as page:
        assert "Enter sends it" in page.text
        await page.apply(Disconnected("it exited with 1"))
        assert page.text.count("gone") == page.text.count("Alt+R restarts it") == 1
        assert "Enter sends it" not in page.text
        await page.apply(Reconnected(remembers=True))
        assert "Enter sends it" in page.text
