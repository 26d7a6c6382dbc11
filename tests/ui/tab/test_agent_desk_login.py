"""Logging in to an agent, by its own means or in the terminal, and out; without a login, an error in place."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from textual.app import App

from support.desks import SESSION, OpenDesk

BY_AGENT = """
handshake(authMethods=[{"id": "browser", "name": "In the browser", "description": "opens a page"}])
refuse(expect("session/new"), -32000, "who are you?")
"""
IN_TERMINAL = """
import os
handshake(authMethods=[
    {"id": "key", "name": "With a key"},
    {"id": "tty", "name": "In here", "type": "terminal", "args": ["--login"], "env": {"HOW": "kindly"}},
])
if os.path.exists(credentials):
    answer(expect("session/new"), sessionId="s1")
    say("welcome")
else:
    refuse(expect("session/new"), -32000, "who are you?")
serve_until_closed()
"""
WAITING = "Waiting for the agent"


@dataclass
class Terminal:
    """Replaces the terminal that an agent's login program gets."""

    credentials: Path
    """Exists once a login has worked."""
    statuses: list[int] = field(default_factory=list)
    """How the next programs end; after them, they end well."""
    ran: list[tuple[str, str]] = field(default_factory=list)
    """Each program's last argument, and the value of HOW in its environment."""
    is_free: bool = False
    """The app doesn't draw on it."""

    @property
    def script(self) -> str:
        """Tells an agent where to look."""
        return f"credentials = {str(self.credentials)!r}\n"

    def call(self, argv: Sequence[str], *, env: Mapping[str, str]) -> int:
        """Run a program."""
        assert self.is_free
        self.ran.append((argv[-1], env["HOW"]))
        status = self.statuses.pop(0) if self.statuses else 0
        if status == 0:
            self.credentials.touch()
        return status

    @contextmanager
    def suspend(self) -> Iterator[None]:
        """The app leaves it for a while."""
        self.is_free = True
        yield
        self.is_free = False


@pytest.fixture
def terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Terminal:
    terminal = Terminal(tmp_path / "credentials")
    monkeypatch.setattr(subprocess, "call", terminal.call)
    monkeypatch.setattr(App, "suspend", lambda _: terminal.suspend())
    return terminal


async def test_the_agent_is_told_that_a_person_sits_at_the_screen(open_desk: OpenDesk) -> None:
    """R-ELIC-2, R-AUTH-5."""
    async with open_desk(SESSION, "serve_until_closed()") as desk:
        [params] = await desk.gets("initialize")
        offered = params["clientCapabilities"]
        assert set(offered["elicitation"]) == {"form", "url"}
        assert offered["auth"] == {"terminal": True}


# By the agent


async def test_a_login_by_the_agent_leads_to_the_session_that_was_asked_for_once_more(
    open_desk: OpenDesk,
) -> None:
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
        await desk.shows(WAITING)
        await desk.press(key)
        await desk.shows("Canceled. Choose again")
        await desk.gets("$/cancel_request")
        await desk.press("enter")
        await desk.shows("welcome")
        assert len(desk.sent("authenticate")) == 2


async def test_a_login_that_failed_is_told_in_its_dialog(open_desk: OpenDesk) -> None:
    script = """
    refuse(expect("authenticate"), -32603, "The page was closed")
    serve_until_closed()
    """
    async with open_desk(BY_AGENT, script) as desk:
        await desk.shows("In the browser")
        await desk.press("enter")
        await desk.shows("The page was closed", "Log in to scripted")
        assert WAITING not in desk.words


async def test_text_that_is_typed_while_the_login_is_asked_for_goes_to_the_draft(open_desk: OpenDesk) -> None:
    async with open_desk(BY_AGENT, "serve_until_closed()") as desk:
        await desk.shows("In the browser")
        await desk.press(*"fix it")
        await desk.press("escape")
        await desk.shows("scripted needs you to log in first")
        assert desk.draft == "fix it"


async def test_without_a_login_the_screen_says_that_the_agent_wants_one(open_desk: OpenDesk) -> None:
    async with open_desk(BY_AGENT, "serve_until_closed()") as desk:
        await desk.shows("In the browser")
        await desk.press("escape")
        await desk.shows("✗ scripted needs you to log in first", "In the browser")
        assert desk.status.startswith("○ no session; Alt+R tries again")
        assert desk.sent("authenticate") == []


async def test_an_agent_that_names_no_way_to_log_in_is_told_in_place(open_desk: OpenDesk) -> None:
    script = """
    handshake()
    refuse(expect("session/new"), -32000, "who are you?")
    serve_until_closed()
    """
    async with open_desk(script) as desk:
        await desk.shows("✗ scripted needs you to log in first", "who are you?")


# In the terminal


async def test_a_login_in_the_terminal_restarts_the_agent_and_asks_for_the_session_again(
    open_desk: OpenDesk, terminal: Terminal
) -> None:
    """R-AUTH-5, R-AUTH-6, R-AUTH-7."""
    async with open_desk(terminal.script, IN_TERMINAL) as desk:
        await desk.shows("In here", "in its own terminal")
        await desk.press("down", "enter")
        await desk.shows("welcome")
        assert terminal.ran == [("--login", "kindly")]
        assert [len(desk.sent(method)) for method in ("initialize", "session/new")] == [2, 2]
        assert desk.sent("authenticate") == []


async def test_a_login_in_the_terminal_that_failed_is_told_and_asked_for_again(
    open_desk: OpenDesk, terminal: Terminal
) -> None:
    """R-AUTH-6."""
    terminal.statuses = [3]
    async with open_desk(terminal.script, IN_TERMINAL) as desk:
        await desk.shows("In here")
        await desk.press("down", "enter")
        await desk.shows("The login failed with status 3", "Log in to scripted")
        await desk.press("down", "enter")
        await desk.shows("welcome")
        assert len(terminal.ran) == 2


async def test_a_login_in_the_terminal_tells_the_agents_other_tabs_that_it_was_stopped(
    open_desk: OpenDesk, terminal: Terminal
) -> None:
    in_second_tab = IN_TERMINAL.replace("else:", 'else:\n    answer(expect("session/new"), sessionId="s1")')
    async with open_desk(terminal.script, in_second_tab) as desk:
        await desk.has_session()
        await desk.press("ctrl+n")
        await desk.shows("In here")
        await desk.press("down", "enter")
        await desk.shows("welcome")
        await desk.press("alt+1")
        await desk.shows("stopped so that you could log in", "session closed; Alt+R opens it again")


async def test_a_program_that_cannot_be_run_in_the_terminal_counts_as_a_failed_login(
    open_desk: OpenDesk, terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(*_: Any, **__: Any) -> int:
        raise FileNotFoundError(2, "No such file")

    monkeypatch.setattr(subprocess, "call", missing)
    async with open_desk(terminal.script, IN_TERMINAL) as desk:
        await desk.shows("In here")
        await desk.press("down", "enter")
        await desk.shows("The login failed with status 2", "Log in to scripted")


async def test_ctrl_c_is_for_the_program_in_the_terminal(open_desk: OpenDesk, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program started with the signal ignored would keep ignoring it."""
    script = """
    import signal
    if sys.argv[-1] == "--login":
        sys.exit(3 if signal.getsignal(signal.SIGINT) is signal.default_int_handler else 4)
    """
    monkeypatch.setattr(App, "suspend", lambda _: nullcontext())
    before = signal.getsignal(signal.SIGINT)
    async with open_desk(script, "credentials = ''", IN_TERMINAL) as desk:
        await desk.shows("In here")
        await desk.press("down", "enter")
        await desk.shows("The login failed with status 3", "Log in to scripted")
        assert signal.getsignal(signal.SIGINT) is before


# And out


LOGOUT = """
handshake(agentCapabilities={"auth": {"logout": {}}})
answer(expect("session/new"), sessionId="s1")
"""


async def test_the_palette_logs_out_and_says_so(open_desk: OpenDesk) -> None:
    """R-AUTH-9."""
    script = """
    answer(expect("logout"))
    serve_until_closed()
    """
    async with open_desk(LOGOUT, script) as desk:
        await desk.has_session()
        await desk.choose("Log out of the agent")
        await desk.shows("Logged out.")
        assert len(desk.sent("logout")) == 1


async def test_an_agent_that_offers_no_logout_is_not_asked_for_it(open_desk: OpenDesk) -> None:
    """R-AUTH-9."""
    async with open_desk(SESSION, "serve_until_closed()") as desk:
        await desk.has_session()
        assert "Log out of the agent" not in await desk.offers()
        await desk.do("log_out")
        await desk.shows("doesn't offer logging out")
        assert desk.sent("logout") == []


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
