"""Logging in: choosing a method, waiting for the agent, canceling; also with a real agent, to its session."""

from __future__ import annotations

import anyio
import pytest

from acp_tui.client.errors import ClientError
from acp_tui.conversation.facts import AuthMethod
from acp_tui.ui.dialogs.agent_offers import LoginDialog
from acp_tui.ui.kit.pickers import ReadingScreen
from acp_tui.ui.kit.question_screen import QuestionScreen
from support.desks import OpenDesk
from support.dialogs import NOTHING, open_dialog
from support.screens import Clock

BROWSER = AuthMethod("b", "Browser", "Your subscription")
TERMINAL = AuthMethod("t", "Own login", None, "terminal")


class Agent:
    """Logs in when told to; records what it was asked for."""

    def __init__(self, error: ClientError | None = None) -> None:
        self.error = error
        self.asked: list[AuthMethod] = []
        self.done = anyio.Event()

    async def authenticate(self, method: AuthMethod) -> None:
        self.asked.append(method)
        if self.error is not None:
            raise self.error
        await self.done.wait()


def dialog(agent: Agent) -> LoginDialog:
    return LoginDialog("Agent", [BROWSER, TERMINAL], agent.authenticate, reason="Log in first")


async def test_it_waits_for_the_agent_and_gives_the_method_that_worked() -> None:
    agent = Agent()
    async with open_dialog(dialog(agent)) as page:
        assert "Log in first" in page.words
        rows = [line for line in page.lines if "Browser " in line or "Own login" in line]
        assert rows[0].index("Your subscription") == rows[1].index("in its own terminal")
        assert page.words.count("in its own terminal") == 1
        assert "done by the agent" not in page.words, "which is usual"
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


async def test_an_enter_right_behind_what_opened_it_counts_where_the_user_wants_to_log_in(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(QuestionScreen, "clock", staticmethod(Clock()))
    agent = Agent()
    async with open_dialog(LoginDialog("Agent", [BROWSER, TERMINAL], agent.authenticate)) as page:
        await page.press("e", "enter")
        assert agent.asked == [], "it ends what was typed for the draft"
    async with open_dialog(LoginDialog("Agent", [BROWSER, TERMINAL], agent.authenticate)) as page:
        await page.press("down", "enter")
        assert page.result == TERMINAL


# With an agent


BY_AGENT = """
handshake(authMethods=[{"id": "browser", "name": "In the browser", "description": "opens a page"}])
refuse(expect("session/new"), -32000, "who are you?")
"""


async def test_a_login_by_the_agent_leads_to_the_session_that_was_asked_for_once_more(open_desk: OpenDesk) -> None:
    """R-AUTH-3, R-AUTH-4."""
    script = """
    answer(expect("authenticate"))
    answer(expect("session/new"), sessionId="s1")
    say("welcome")
    serve_until_closed()
    """
    async with open_desk(BY_AGENT, script) as desk:
        await desk.shows("Log in to scripted", "who are you?", "In the browser", "opens a page")
        await desk.press("enter")
        await desk.shows("welcome")
        assert desk.sent("authenticate") == [{"methodId": "browser"}]
        assert len(desk.sent("session/new")) == 2


async def test_a_login_that_was_not_enough_is_named_and_the_cursor_stays_on_it(open_desk: OpenDesk) -> None:
    script = """
    handshake(authMethods=[{"id": "account", "name": "Account"}, {"id": "key", "name": "API key"}])
    refuse(expect("session/new"), -32000, "who are you?")
    answer(expect("authenticate"))
    refuse(expect("session/new"), -32000, "no key")
    serve_until_closed()
    """
    async with open_desk(script) as desk:
        await desk.shows("Account", "who are you?")
        await desk.press("down", "enter")
        await desk.shows("no key", "The agent accepted “API key”, but still needs a login", "◉ API key")


@pytest.mark.parametrize("key", ["escape", "ctrl+c"])
async def test_esc_stops_waiting_for_a_login_and_another_try_may_work(open_desk: OpenDesk, key: str) -> None:
    script = """
    expect("authenticate")
    expect("$/cancel_request")
    answer(expect("authenticate"))
    answer(expect("session/new"), sessionId="s1")
    say("welcome")
    serve_until_closed()
    """
    async with open_desk(BY_AGENT, script) as desk:
        await desk.shows("In the browser")
        await desk.press("enter")
        await desk.shows("Waiting for the agent")
        await desk.press(key)
        await desk.shows("Canceled. Choose again")
        await desk.gets("$/cancel_request")
        await desk.press("enter")
        await desk.shows("welcome")
        assert len(desk.sent("authenticate")) == 2


async def test_text_that_is_typed_while_the_login_is_asked_for_goes_to_the_draft(open_desk: OpenDesk) -> None:
    async with open_desk(BY_AGENT, "serve_until_closed()") as desk:
        await desk.shows("In the browser")
        await desk.press(*"fix", "ctrl+j", *"it")
        await desk.press("escape")
        await desk.shows("scripted needs you to log in first")
        assert desk.draft == "fix\nit"


async def test_a_session_begun_after_a_logout_leads_to_the_login_again(open_desk: OpenDesk) -> None:
    """R-AUTH-3, R-AUTH-9."""
    script = """
    handshake(agentCapabilities={"auth": {"logout": {}}}, authMethods=[{"id": "key", "name": "With a key"}])
    answer(expect("session/new"), sessionId="s1")
    answer(expect("logout"))
    refuse(expect("session/new"), -32000, "who are you?")
    answer(expect("authenticate"))
    answer(expect("session/new"), sessionId="s2")
    update("agent_message_chunk", session="s2", content={"type": "text", "text": "welcome back"})
    serve_until_closed()
    """
    async with open_desk(script) as desk:
        await desk.has_session()
        await desk.choose("Log out of the agent")
        await desk.shows("Logged out.")
        await desk.press("ctrl+n")
        await desk.shows("With a key")
        await desk.press("enter")
        await desk.shows("welcome back")


REFUSED = """
handshake(authMethods=[{"id": "key", "name": "With a key"}])
answer(expect("session/new"), sessionId="s1")
refuse(expect("session/prompt"), 400, "API key not valid")
"""


async def test_a_login_that_turns_out_to_be_wrong_is_changed_where_the_error_says_so(
    open_desk: OpenDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock()
    monkeypatch.setattr(QuestionScreen, "clock", staticmethod(clock))
    script = """
    answer(expect("authenticate"))
    prompt = expect("session/prompt")
    say("welcome"); end(prompt)
    serve_until_closed()
    """
    async with open_desk(REFUSED, script) as desk:
        await desk.has_session()
        await desk.send("go")
        await desk.shows("API key not valid", "Alt+G sends your prompt again · /login logs in otherwise")
        await desk.send("/login")
        await desk.shows("With a key")
        await desk.press("down")  # otherwise, the Enter may be held since before
        clock.pass_guard()
        await desk.press("enter")
        await desk.shows("Logged in with “With a key”.")
        await desk.press("alt+g")
        await desk.shows("welcome")


async def test_an_error_about_something_else_offers_no_login(open_desk: OpenDesk) -> None:
    async with open_desk(REFUSED.replace("API key not valid", "overloaded"), "serve_until_closed()") as desk:
        await desk.has_session()
        await desk.send("go")
        await desk.shows("overloaded", "Alt+G sends your prompt again")
        assert "/login" not in desk.text
