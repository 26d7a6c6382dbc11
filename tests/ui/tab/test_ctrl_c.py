"""Ctrl+C and Shift+Tab in every place of a session's screen, and when a second Ctrl+C quits."""

from __future__ import annotations

import pytest
from textual.events import Paste

from acp_tui.conversation.facts import Choice, PlanStep, SelectOption
from acp_tui.conversation.updates import OptionsReplaced, PlanReplaced
from acp_tui.ui.app import app
from acp_tui.ui.tab import actions
from support.pages import open_recalling_page
from support.screens import TEST_LIMIT_S, Page, open_page

PLAN = PlanReplaced((PlanStep("Read the parser"),))
MODE = SelectOption("mode", "Mode", "ask", (Choice("ask", "Ask"), Choice("plan", "Plan first")), "mode")
AGAIN = "Ctrl+C again quits"
CLOSED_BY_IT = {"QueueLines", "FindBar", "HistorySearch"}


def _place_in(page: Page) -> str:
    """The widget with a place of its own that has the focus."""
    focused = page.tab.screen.focused
    assert focused is not None
    return next(type(node).__name__ for node in focused.ancestors_with_self if hasattr(node, "PLACE"))


in_every_place = pytest.mark.parametrize(
    ("keys", "place"),
    [
        ((), "PromptInput"),
        (("tab",), "ConversationView"),
        (("alt+s",), "Sidebar"),
        (("alt+down",), "QueueLines"),
        (("f9",), "FindBar"),
        (("f9", *"work"), "FindBar"),
        (("ctrl+r",), "HistorySearch"),
        (("ctrl+r", *"wo"), "HistorySearch"),
    ],
)


@in_every_place
async def test_ctrl_c_closes_a_list_or_a_search_and_else_cancels_the_turn(keys: tuple[str, ...], place: str) -> None:
    async with open_recalling_page(size=(160, 40)) as page:
        await page.send("at work")
        await page.send("queued")
        await page.apply(PLAN)
        await page.press(*keys)
        assert _place_in(page) == place
        await page.press("ctrl+c")
        assert page.connection.cancels == (place not in CLOSED_BY_IT)
        if place in CLOSED_BY_IT:
            assert page.prompt.has_focus
            assert not page.tab.screen.query("FindBar, HistorySearch")


@in_every_place
async def test_shift_tab_changes_the_mode_in_the_prompt_only(keys: tuple[str, ...], place: str) -> None:
    async with open_recalling_page(size=(160, 40)) as page:
        await page.send("at work")
        await page.send("queued")
        await page.apply(PLAN, OptionsReplaced((MODE,)))
        await page.press(*keys, "shift+tab")
        assert _place_in(page) == place
        assert page.connection.options == [("mode", "plan")] * (place == "PromptInput")


async def test_ctrl_c_again_quits_unless_anything_else_was_pressed_wherever_that_went(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(actions, "QUIT_AGAIN_S", TEST_LIMIT_S)
    async with open_page(PLAN) as page:
        for between in (("a", "backspace"), ("f9",), ("tab", "up"), ("ctrl+p", "escape"), ("f3", "escape"), ("alt+s",)):
            await page.press("ctrl+c")
            assert AGAIN in page.text
            await page.press(*between)
            assert AGAIN not in page.text, between
            await page.press("escape", "ctrl+c")
            assert AGAIN in page.text, between
            await page.press("escape")
        await page.press("ctrl+c", "f9", "ctrl+c", "ctrl+c")
        assert AGAIN in page.text
        page.pilot.app.post_message(Paste("a"))
        await page.settled()
        assert AGAIN not in page.text
        await page.press("ctrl+c", "ctrl+c")  # the first clears the draft
        assert page.pilot.app.return_code is None
        await page.pilot.press("ctrl+c")
        assert page.pilot.app.return_code == 0


async def test_ctrl_c_quits_only_as_long_as_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(actions, "QUIT_AGAIN_S", 0.01)
    async with open_page() as page:
        for _ in range(2):
            await page.press("ctrl+c")
            await page.until(lambda: AGAIN not in page.text)
            assert page.pilot.app.return_code is None


async def test_ctrl_q_again_quits_only_as_long_as_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app, "QUIT_AGAIN_S", TEST_LIMIT_S)
    async with open_page() as page:
        await page.send("go")
        for _ in range(2):
            await page.press("ctrl+q")
            assert "Ctrl+Q again quits: an agent is working" in page.text
            await page.press("a")
            assert "Ctrl+Q again" not in page.text
        assert page.pilot.app.return_code is None


async def test_ctrl_q_says_that_an_agent_waits_for_the_user() -> None:
    async with open_page() as page:
        await page.send("go")
        await page.ask("call")
        await page.press("ctrl+q")
        assert "Ctrl+Q again quits: an agent waits for your answer" in page.text


async def test_the_key_that_quits_is_told_where_a_card_leaves_half_a_line() -> None:
    async with open_page(size=(40, 12)) as page:
        await page.send("go")
        await page.ask("call")
        await page.press("ctrl+q")
        await page.until(lambda: "Ctrl+Q again quits: an" in page.text)
