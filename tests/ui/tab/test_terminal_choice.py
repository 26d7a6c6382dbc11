"""Which terminal a key is for, and what stops the user's commands."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from shlex import join

import pytest

from acp_tui.conversation.entries import TerminalState
from acp_tui.conversation.tool_calls import TerminalId
from acp_tui.conversation.updates import SessionUpdate, TerminalExited, TerminalOpened
from support.desks import SESSION
from support.pages import INTERRUPTED, RAW, opened, waits
from support.tabs import OpenTabs, TabDesk

IDLE = "serve_until_closed()"


def printed(state: TerminalState) -> bytes:
    return state.output.read_from(0)[1]


@asynccontextmanager
async def running(
    open_tabs: OpenTabs, cwd: Path, source: str, script: str = IDLE
) -> AsyncIterator[tuple[TabDesk, TerminalState]]:
    """A tab in which the user runs this program, which is ready."""
    (cwd / "program").write_text(source)
    async with open_tabs(SESSION, script) as desk:
        await desk.has_session()
        await desk.send("!" + join([sys.executable, "-S", "program"]))
        await desk.until(lambda: desk.shown_session.conversation.terminals)
        (state,) = desk.shown_session.conversation.terminals.values()
        await desk.until(lambda: b"ready" in printed(state))
        yield desk, state


@pytest.mark.parametrize(
    ("happened", "taken"),
    [
        ([], "run third"),
        ([waits("first")], "run first"),
        ([waits("first"), waits("second")], "run second"),
        ([TerminalExited(TerminalId("third"), 0, None)], "run second"),
    ],
)
async def test_the_one_that_waits_for_input_else_the_youngest_is_taken(
    open_tabs: OpenTabs, happened: list[SessionUpdate], taken: str
) -> None:
    async with open_tabs(SESSION, IDLE) as desk:
        await desk.has_session()
        for update in (*opened("first"), *opened("second"), *opened("third"), *happened):
            desk.shown_session.apply(update)
        await desk.do("end_terminal")
        await desk.shows(f"The agent has closed: {taken}")  # as it isn't there


@pytest.mark.parametrize("command", ["take_over", "end_terminal"])
async def test_without_a_command_that_runs_the_user_is_told(open_tabs: OpenTabs, command: str) -> None:
    theirs = TerminalOpened(TerminalId("theirs"), "make", is_ours=False)
    async with open_tabs(SESSION, IDLE) as desk:
        await desk.has_session()
        for update in (theirs, *opened("first"), TerminalExited(TerminalId("first"), 0, None)):
            desk.shown_session.apply(update)
        await desk.do(command)
        assert [one.message for one in desk.notices] == ["No command is running."]
        assert desk.dialog is None


async def test_a_command_is_interrupted(open_tabs: OpenTabs, tmp_path: Path) -> None:
    async with running(open_tabs, tmp_path, INTERRUPTED) as (desk, state):
        await desk.do("end_terminal")
        (told,) = desk.notices
        assert told.message.startswith("Ctrl+C was pressed; F8 again ends: ")
        await desk.until(lambda: state.has_exited)
        assert b"interrupted" in printed(state)
        assert desk.app.notices.is_over[told.message]()


@pytest.mark.parametrize("command", ["end_terminal", "interrupt"])
async def test_a_command_that_runs_on_after_ctrl_c_is_ended_by_the_second(
    open_tabs: OpenTabs, tmp_path: Path, command: str
) -> None:
    async with running(open_tabs, tmp_path, RAW.format(first="")) as (desk, state):
        await desk.do(command)
        await desk.until(lambda: rb"b'\x03'" in printed(state))
        assert not state.has_exited
        await desk.do(command)
        await desk.until(lambda: state.signal == "SIGTERM")
        await desk.shows("You have ended: ")


async def test_ctrl_c_clears_the_draft_and_cancels_the_turn_before_your_own_command(
    open_tabs: OpenTabs, tmp_path: Path
) -> None:
    script = 'request = expect("session/prompt")\nexpect("session/cancel")\nend(request)\nserve_until_closed()'
    async with running(open_tabs, tmp_path, RAW.format(first=""), script) as (desk, state):
        await desk.give("go")
        await desk.write("a draft")
        await desk.do("interrupt")
        assert desk.draft == ""
        assert desk.sent("session/cancel") == []
        await desk.do("interrupt")
        await desk.gets("session/cancel")
        assert b"x03" not in printed(state)


@pytest.mark.parametrize("command", ["interrupt", "end_terminal"])
async def test_the_output_of_a_command_that_the_user_stops_goes_with_no_prompt(
    open_tabs: OpenTabs, command: str
) -> None:
    async with open_tabs(SESSION, IDLE) as desk:
        await desk.has_session()
        await desk.send("!echo first")
        await desk.until(lambda: desk.queue.outputs == ("echo first",))
        await desk.send("!sleep 60")
        await desk.until(lambda: desk.queue.outputs == ("echo first", "sleep 60"))
        await desk.do(command)
        await desk.until(lambda: desk.queue.outputs == ("echo first",))
