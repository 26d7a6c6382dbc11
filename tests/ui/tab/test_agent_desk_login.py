"""Logging in to an agent, by its own means or in the terminal, and out; without a login, an error in place."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from acp_tui.ui.dialogs.agent_offers import LoginDialog
from support.desks import SESSION
from support.tabs import OpenTabs, TabDesk, UnseenApp

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
    monkeypatch.setattr(UnseenApp, "suspend", lambda _: terminal.suspend())
    return terminal


async def test_the_agent_is_told_that_a_person_sits_at_the_screen(open_tabs: OpenTabs) -> None:
    """R-ELIC-2, R-AUTH-5."""
    async with open_tabs(SESSION, "serve_until_closed()") as desk:
        [params] = await desk.gets("initialize")
        offered = params["clientCapabilities"]
        assert set(offered["elicitation"]) == {"form", "url"}
        assert offered["auth"] == {"terminal": True}


async def test_without_a_login_the_screen_says_that_the_agent_wants_one(open_tabs: OpenTabs) -> None:
    async with open_tabs(BY_AGENT, "serve_until_closed()") as desk:
        await desk.asks(LoginDialog)
        await desk.answer(None)
        await desk.shows("scripted needs you to log in first", "In the browser", "Alt+R tries again")
        assert desk.sent("authenticate") == []


async def test_an_agent_that_names_no_way_to_log_in_is_told_in_place(open_tabs: OpenTabs) -> None:
    script = """
    handshake()
    refuse(expect("session/new"), -32000, "who are you?")
    serve_until_closed()
    """
    async with open_tabs(script) as desk:
        await desk.shows("scripted needs you to log in first", "who are you?")


# In the terminal


async def log_in(desk: TabDesk) -> None:
    """Choose the way in the terminal."""
    await desk.asks(LoginDialog)
    agent = desk.tab.link.agent
    assert agent is not None
    await desk.answer(agent.auth_methods[1])


async def test_a_login_in_the_terminal_restarts_the_agent_and_asks_for_the_session_again(
    open_tabs: OpenTabs, terminal: Terminal
) -> None:
    """R-AUTH-5, R-AUTH-6, R-AUTH-7."""
    async with open_tabs(terminal.script, IN_TERMINAL) as desk:
        await log_in(desk)
        await desk.shows("welcome")
        assert terminal.ran == [("--login", "kindly")]
        assert [len(desk.sent(method)) for method in ("initialize", "session/new")] == [2, 2]
        assert desk.sent("authenticate") == []


async def test_a_login_in_the_terminal_that_failed_is_told_and_asked_for_again(
    open_tabs: OpenTabs, terminal: Terminal
) -> None:
    """R-AUTH-6."""
    terminal.statuses = [3]
    async with open_tabs(terminal.script, IN_TERMINAL) as desk:
        await log_in(desk)
        await desk.shows("The login failed with status 3", "Log in to scripted")
        await log_in(desk)
        await desk.shows("welcome")
        assert len(terminal.ran) == 2


async def test_a_login_in_the_terminal_tells_the_agents_other_tabs_that_it_was_stopped(
    open_tabs: OpenTabs, terminal: Terminal
) -> None:
    in_second_tab = IN_TERMINAL.replace("else:", 'else:\n    answer(expect("session/new"), sessionId="s1")')
    async with open_tabs(terminal.script, in_second_tab) as desk:
        await desk.has_session()
        await desk.do("begin_session")
        await log_in(desk)
        await desk.shows("welcome")
        await desk.go_to(1)
        await desk.shows("stopped so that you could log in", "The session is closed; Alt+R opens it again")


async def test_a_program_that_cannot_be_run_in_the_terminal_counts_as_a_failed_login(
    open_tabs: OpenTabs, terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(*_: Any, **__: Any) -> int:
        raise FileNotFoundError(2, "No such file")

    monkeypatch.setattr(subprocess, "call", missing)
    async with open_tabs(terminal.script, IN_TERMINAL) as desk:
        await log_in(desk)
        await desk.shows("The login failed with status 2", "Log in to scripted")


async def test_ctrl_c_is_for_the_program_in_the_terminal(open_tabs: OpenTabs) -> None:
    """A program started with the signal ignored would keep ignoring it."""
    script = """
    import signal
    if sys.argv[-1] == "--login":
        sys.exit(3 if signal.getsignal(signal.SIGINT) is signal.default_int_handler else 4)
    """
    before = signal.getsignal(signal.SIGINT)
    async with open_tabs(script, "credentials = ''", IN_TERMINAL) as desk:
        await log_in(desk)
        await desk.shows("The login failed with status 3", "Log in to scripted")
        assert signal.getsignal(signal.SIGINT) is before


# Otherwise, in a session


async def test_an_agent_without_ways_to_log_in_offers_none(open_tabs: OpenTabs) -> None:
    async with open_tabs(SESSION, "serve_until_closed()") as desk:
        await desk.has_session()
        assert not desk.offers("log_in")


async def test_a_login_in_the_terminal_continues_the_session_with_the_new_process(
    open_tabs: OpenTabs, terminal: Terminal
) -> None:
    terminal.credentials.touch()
    async with open_tabs(terminal.script, IN_TERMINAL) as desk:
        await desk.shows("welcome")
        await desk.send("/login")
        await log_in(desk)
        await desk.shows("Restart the agent?")
        await desk.answer(True)
        await desk.shows("The agent was stopped so that you could log in", "welcome")
        await desk.gets("session/new", 2)
        assert terminal.ran == [("--login", "kindly")]


# And out


LOGOUT = """
handshake(agentCapabilities={"auth": {"logout": {}}})
answer(expect("session/new"), sessionId="s1")
"""


async def test_the_palette_logs_out_and_says_so(open_tabs: OpenTabs) -> None:
    """R-AUTH-9."""
    script = """
    answer(expect("logout"))
    serve_until_closed()
    """
    async with open_tabs(LOGOUT, script) as desk:
        await desk.has_session()
        assert desk.offers("log_out")
        await desk.do("log_out")
        await desk.shows("Logged out.")
        assert len(desk.sent("logout")) == 1


async def test_an_agent_that_offers_no_logout_is_not_asked_for_it(open_tabs: OpenTabs) -> None:
    """R-AUTH-9."""
    async with open_tabs(SESSION, "serve_until_closed()") as desk:
        await desk.has_session()
        assert not desk.offers("log_out")
        await desk.do("log_out")
        await desk.shows("doesn't offer logging out")
        assert desk.sent("logout") == []
