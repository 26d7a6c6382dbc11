"""Logging in: choosing a method, waiting for the agent, canceling."""

import anyio
import pytest

from acp_tui.client.errors import ClientError
from acp_tui.conversation.facts import AuthMethod
from acp_tui.ui.dialogs.agent_offers import LoginDialog
from acp_tui.ui.kit.pickers import ReadingScreen
from acp_tui.ui.kit.question_screen import QuestionScreen
from support.dialogs import NOTHING, open_dialog
from support.screens import Clock

BROWSER = AuthMethod("b", "Browser", "Your subscription")
TERMINAL = AuthMethod("t", "Own login", None, "terminal")


class Agent:
    """Logs in when told to; records what it was asked for."""

    def __init__(self, error: ClientError | None = None) -> None:
        self.error = error
        self.asked: list[AuthMethod] = []
        self.was_cancelled = False
        self.done = anyio.Event()

    async def authenticate(self, method: AuthMethod) -> None:
        self.asked.append(method)
        if self.error is not None:
            raise self.error
        try:
            await self.done.wait()
        except anyio.get_cancelled_exc_class():
            self.was_cancelled = True
            raise


def dialog(agent: Agent) -> LoginDialog:
    return LoginDialog("Agent", [BROWSER, TERMINAL], agent.authenticate, reason="Log in first")


async def test_it_waits_for_the_agent_and_gives_the_method_that_worked() -> None:
    agent = Agent()
    async with open_dialog(dialog(agent)) as page:
        assert "Log in first" in page.words
        await page.press("enter", "enter")
        assert "Waiting for the agent" in page.words
        assert page.result is NOTHING
        agent.done.set()
        await page.until(lambda: page.result is not NOTHING)
        assert page.result == BROWSER
        assert agent.asked == [BROWSER]


async def test_a_login_that_ends_below_the_help_closes_the_dialog_behind_it() -> None:
    agent = Agent()
    async with open_dialog(dialog(agent)) as page:
        await page.press("enter")
        page.app.push_screen(ReadingScreen("Help", "What the keys do"))
        await page.settled()
        agent.done.set()
        await page.settled()
        assert "What the keys do" in page.words
        assert page.result is NOTHING
        await page.press("escape")
        assert page.result == BROWSER
        assert "Log in first" not in page.words


async def test_esc_stops_waiting_and_then_leaves() -> None:
    agent = Agent()
    async with open_dialog(dialog(agent)) as page:
        await page.press("enter", "escape")
        await page.until(lambda: agent.was_cancelled)
        assert page.result is NOTHING
        assert "Canceled" in page.words
        await page.press("escape")
        assert page.result is None


async def test_an_error_stands_in_its_place_and_one_can_try_again() -> None:
    agent = Agent(ClientError("the agent refused", detail="no such account"))
    async with open_dialog(dialog(agent)) as page:
        await page.press("enter")
        await page.until(lambda: "no such account" in page.words)
        await page.press("enter")
        assert agent.asked == [BROWSER, BROWSER]


async def test_a_login_in_a_terminal_is_the_callers() -> None:
    agent = Agent()
    async with open_dialog(dialog(agent)) as page:
        await page.press("down", "enter")
        assert page.result == TERMINAL
        assert agent.asked == []


async def test_an_agent_without_methods_is_said_to_have_none() -> None:
    async with open_dialog(LoginDialog("Agent", [], Agent().authenticate)) as page:
        assert "lists no login methods" in page.words


async def test_an_enter_that_was_meant_for_the_prompt_logs_nobody_in(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    monkeypatch.setattr(QuestionScreen, "clock", staticmethod(clock))
    agent = Agent()
    async with open_dialog(dialog(agent)) as page:
        await page.press("e", "r", "enter")
        assert "Too soon" in page.words
        clock.pass_guard()
        await page.press("e")
        clock.pass_guard()
        await page.press("enter")  # ends a slowly typed text
        assert agent.asked == []
        clock.pass_guard()
        await page.press("enter")
        assert agent.asked == [BROWSER]
