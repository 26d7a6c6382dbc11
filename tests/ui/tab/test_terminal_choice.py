"""Which terminal gets the keyboard, and what a command's card lets the user do."""

from __future__ import annotations

from pathlib import Path

import pytest

from acp_tui.conversation.tool_calls import TerminalContent, TerminalId
from acp_tui.conversation.updates import (
    PromptSent,
    SessionUpdate,
    TerminalExited,
    TerminalOpened,
    TerminalWaiting,
)
from acp_tui.ui.tab.screen import SessionScreen
from support.desks import SESSION, OpenDesk
from support.folding import call
from support.pages import RAW, opened, running, showing

pytest.importorskip("pyghostty")

INTERRUPTED = """
import time
print('ready', flush=True)
try: time.sleep(60)
except KeyboardInterrupt: print('interrupted')
"""


def _waits(name: str) -> TerminalWaiting:
    return TerminalWaiting(TerminalId(name), True)


@pytest.mark.parametrize(
    ("happened", "taken"),
    [
        ([], "run third"),
        ([_waits("first")], "run first"),
        ([_waits("first"), _waits("second")], "run second"),
        ([TerminalExited(TerminalId("third"), 0, None)], "run second"),
    ],
)
async def test_the_one_that_waits_for_input_else_the_youngest_is_taken(
    happened: list[SessionUpdate], taken: str
) -> None:
    async with showing(*opened("first"), *opened("second"), *opened("third"), *happened) as page:
        await page.press("f6")
        await page.shows(f"keyboard is in {taken}")


async def test_the_terminal_under_the_cursor_comes_first() -> None:
    report = call("run", kind="execute", content=(TerminalContent(TerminalId("agents")),))
    agents = [TerminalOpened(TerminalId("agents"), "run agents"), report]
    async with showing(*agents, *opened("second"), _waits("second")) as page:
        await page.press("tab", "up", "f6")
        await page.shows("keyboard is in run agents")


@pytest.mark.parametrize(
    ("title", "head"),
    [("Update the packages", "Update the packages  $ apt update "), ("Run apt update", "Run apt update  ")],
)
async def test_what_has_the_keyboard_is_named_as_its_call(title: str, head: str) -> None:
    report = call("run", kind="execute", title=title, content=(TerminalContent(TerminalId("t")),))
    async with showing(TerminalOpened(TerminalId("t"), "apt update"), report) as page:
        await page.press("f6")
        await page.shows(f"keyboard is in {head}")


async def test_where_the_command_under_the_cursor_has_ended_no_other_is_touched() -> None:
    ended = TerminalExited(TerminalId("first"), 0, None)
    async with showing(*opened("first"), *opened("second"), ended) as page:
        await page.press("tab", "up", "f8")
        assert page.said == "The command is no longer running."


@pytest.mark.parametrize("key", ["f6", "f8"])
async def test_without_a_command_that_runs_the_user_is_told(key: str) -> None:
    theirs = TerminalOpened(TerminalId("theirs"), "make", is_ours=False)
    async with showing(theirs, *opened("first"), TerminalExited(TerminalId("first"), 0, None)) as page:
        await page.press(key)
        assert page.said == "No command is running."
        assert isinstance(page.pilot.app.screen, SessionScreen)


async def test_a_command_is_interrupted_from_its_card(tmp_path: Path) -> None:
    async with running(tmp_path, INTERRUPTED) as page:
        await page.shows("ready")
        await page.press("f8")
        await page.shows("│ ^Cinterrupted")
        await page.until(lambda: page.said == "")


async def test_a_command_is_ended_from_its_card(tmp_path: Path) -> None:
    async with running(tmp_path, RAW.format(first="")) as page:
        await page.shows("ready")
        await page.press("f8")
        assert page.said.startswith("Ctrl+C was pressed; F8 again ends: ")
        await page.press("f8")
        await page.shows("│ ended by SIGTERM")
        await page.until(lambda: page.said.startswith("You have ended: "))


async def test_a_command_that_waits_says_how_to_type_there() -> None:
    async with showing(*opened("first"), _waits("first")) as page:
        await page.emulator_loaded()
        await page.until(lambda: "waiting for input · F6: type there" in page.text)


async def test_ctrl_c_in_an_empty_prompt_stops_your_own_command(tmp_path: Path) -> None:
    async with running(tmp_path, INTERRUPTED) as page:
        await page.shows("ready")
        assert "│ ◐ running" in page.text
        assert "your command runs; Ctrl+C stops it · F6 types into it" in page.status
        await page.press("ctrl+c")
        await page.shows("│ ^Cinterrupted")
        await page.until(lambda: "your command" not in page.status)
        assert "running" not in page.text


async def test_ctrl_c_ends_your_own_command_if_it_runs_on_after_the_first(tmp_path: Path) -> None:
    async with running(tmp_path, RAW.format(first="")) as page:
        await page.shows("ready")
        await page.press("ctrl+c")
        await page.shows(r"b'\x03'")
        await page.press("ctrl+c")
        await page.shows("│ ended by SIGTERM")


async def test_ctrl_c_clears_the_draft_and_cancels_the_turn_before_your_own_command(tmp_path: Path) -> None:
    async with running(tmp_path, RAW.format(first="")) as page:
        await page.shows("ready")
        await page.write("a draft")
        await page.press("ctrl+c")
        assert page.draft == ""
        await page.apply(PromptSent(()))
        await page.press("ctrl+c")
        await page.until(lambda: page.connection.cancels == 1)
        assert "x03" not in page.text


@pytest.mark.parametrize("key", ["ctrl+c", "f8"])
async def test_the_output_of_a_command_that_the_user_stops_goes_with_no_prompt(open_desk: OpenDesk, key: str) -> None:
    async with open_desk(SESSION, "serve_until_closed()") as desk:
        await desk.has_session()
        await desk.send("!echo first")
        await desk.shows("output of `echo first`")
        await desk.send("!sleep 60")
        await desk.shows("output of 2 commands")
        await desk.press(key)
        await desk.shows("output of `echo first`")
