"""Typing into a terminal, with real programs: what they get, what acp-tui keeps, and what shows meanwhile."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from textual import events
from textual.pilot import Pilot

from acp_tui.client.sessions.session import Listener
from acp_tui.client.terminals.pty import TerminalInputFull
from acp_tui.conversation.elicitation import Form
from acp_tui.conversation.facts import RequestKey
from acp_tui.conversation.tool_calls import TerminalContent, TerminalId
from acp_tui.conversation.updates import (
    ClientRemark,
    ElicitationAsked,
    SessionUpdate,
    TerminalExited,
    TerminalOpened,
    TerminalOutput,
)
from acp_tui.ui.dialogs.take_over import LEAVE_KEY, TakenTerminal
from acp_tui.ui.kit.frame_loop import Frames
from acp_tui.ui.kit.themes import DARK, LIGHT
from acp_tui.ui.permission.form_card import FormCard
from acp_tui.ui.session.panel import BESIDE_TERMINALS
from acp_tui.ui.tab.screen import SessionScreen
from support.folding import ask, call
from support.pages import INTERRUPTED, RAW, TakenOver, opened, running, showing, waits
from support.screens import Clock, Page, RecordedConnection, ScreenApp, new_session, show
from support.settling import settle

pytest.importorskip("pyghostty")

SECRET = "import getpass; print('got', getpass.getpass('Password: '))"
TELLS_ITS_SIZE = """
import os, signal
signal.signal(signal.SIGWINCH, lambda *_: print(tuple(os.get_terminal_size()), flush=True))
print('ready', flush=True)
while True: signal.pause()
"""


# Keys, pastes, the wheel


async def test_a_password_is_typed_into_the_program_and_nobody_sees_it(tmp_path: Path) -> None:
    async with running(tmp_path, SECRET) as page:
        await page.takes_over()
        assert page.lines[0].startswith(" keyboard is in ")
        assert page.lines[0].endswith("Ctrl+] takes the keyboard back")
        await page.shows("Password:")
        await page.press(*"secret")
        assert "secret" not in page.text
        await page.press("enter")
        await page.shows("got secret")
        assert page.draft == ""


async def test_no_key_but_one_is_ours_while_a_program_has_the_keyboard(tmp_path: Path) -> None:
    keys = {
        "ctrl+c": b"\x03",
        "ctrl+q": b"\x11",
        "ctrl+p": b"\x10",
        "ctrl+n": b"\x0e",
        "escape": b"\x1b",
        "tab": b"\t",
        "shift+tab": b"\x1b[Z",
        "f1": b"\x1bOP",
        "f6": b"\x1b[17~",
        "f8": b"\x1b[19~",
        "ctrl+end": b"\x1b[1;5F",
        "alt+x": b"\x1bx",
    }
    async with running(tmp_path, RAW.format(first="")) as page:
        await page.takes_over()
        await page.shows("ready")
        for key, typed in keys.items():
            await page.press(key)
            await page.shows(repr(typed))
        assert page.is_taken_over


async def test_ctrl_c_interrupts_the_program(tmp_path: Path) -> None:
    async with running(tmp_path, INTERRUPTED) as page:
        await page.takes_over()
        await page.shows("ready")
        await page.press("ctrl+c")
        await page.shows("interrupted")


async def test_what_a_program_that_reads_nothing_does_not_take_is_said_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running(tmp_path, RAW.format(first="")) as page:
        await page.pilot.press("f6")
        await settle(page.pilot)

        def refuse(*_: object) -> None:
            raise TerminalInputFull(5_000_000)

        monkeypatch.setattr(page.session.client_tools, "type_into", refuse)
        await page.pilot.press("a", "b", "c")
        (notice,) = page.notices
        assert notice.message.endswith("5,000,000 typed bytes are waiting for it. What you type now is lost.")


async def test_a_paste_is_told_to_be_one_and_cannot_end_itself(tmp_path: Path) -> None:
    async with running(tmp_path, RAW.format(first="\x1b[?2004h")) as page:
        await page.takes_over()
        await page.shows("ready")
        page.pilot.app.post_message(events.Paste("one\ntwo\x1b[201~"))
        await page.shows(repr(b"\x1b[200~one\rtwo[201~\x1b[201~"))


async def test_the_wheel_is_arrow_keys_for_a_program_that_fills_the_screen(tmp_path: Path) -> None:
    async with running(tmp_path, RAW.format(first="\x1b[?1049h")) as page:
        await page.takes_over()
        await page.shows("ready")
        await page.mouse(events.MouseScrollUp, 4, 2)
        await page.shows(repr(b"\x1b[A" * 3))


async def test_the_wheel_scrolls_and_a_key_leads_back(tmp_path: Path) -> None:
    many = "print(*range(100), sep='\\n', flush=True); input(); input()"
    async with running(tmp_path, many) as page:
        await page.takes_over()
        await page.shows("99")
        await page.mouse(events.MouseScrollUp, 4, 2)
        await page.shows("3 more below")
        await page.until(lambda: "99" not in page.text)
        await page.press("x")
        await page.until(lambda: "99\nx" in page.text)
        await page.mouse(events.MouseScrollUp, 4, 2)
        await page.shows("more below")
        await page.mouse(events.MouseScrollDown, 4, 2)
        await page.until(lambda: "more below" not in page.text)


async def test_a_program_that_asks_hears_of_the_focus(tmp_path: Path) -> None:
    async with running(tmp_path, RAW.format(first="\x1b[?1004h")) as page:
        await page.takes_over()
        await page.shows("ready")
        page.pilot.app.post_message(events.AppBlur())
        await page.shows(repr(b"\x1b[O"))
        page.pilot.app.post_message(events.AppFocus())
        await page.shows(repr(b"\x1b[I"))


# Size, cursor, end


async def test_the_program_gets_the_size_of_the_window_and_then_that_of_its_card(tmp_path: Path) -> None:
    async with running(tmp_path, TELLS_ITS_SIZE) as page:
        await page.shows("ready")
        await page.takes_over()
        await page.shows("(100, 29)")
        await page.pilot.resize_terminal(70, 20)
        await page.shows("(70, 19)")
        await page.press(LEAVE_KEY)
        columns, rows = page.session.client_tools.terminal_size
        await page.shows(f"({columns}, {rows})")
        assert not page.is_taken_over


async def test_a_running_program_gets_the_width_of_its_card_when_that_changes(tmp_path: Path) -> None:
    async with running(tmp_path, TELLS_ITS_SIZE) as page:
        await page.shows("ready")
        await page.pilot.resize_terminal(60, 30)

        def knows_the_width() -> bool:
            columns, rows = page.session.client_tools.terminal_size
            return columns == page.view.size.width - BESIDE_TERMINALS and f"({columns}, {rows})" in page.text

        await page.until(knows_the_width)


async def test_the_cursor_is_drawn_where_the_program_has_it(tmp_path: Path) -> None:
    async with running(tmp_path, "input('name: ')") as page:
        await page.takes_over()
        await page.shows("name:")
        assert _reversed_cell(page, 1) == 6
        assert page.pilot.app.cursor_position == (6, 1)
        await page.press("x")
        await page.until(lambda: _reversed_cell(page, 1) == 7)


def _reversed_cell(page: Page, y: int) -> int | None:
    at = 0
    for text, style, _ in page.pilot.app.screen._compositor.render_strips()[y]:
        if style is not None and style.reverse:
            return at
        at += len(text)
    return None


async def test_what_is_typed_after_leaving_goes_to_the_prompt(tmp_path: Path) -> None:
    async with running(tmp_path, RAW.format(first="")) as page:
        await page.takes_over()
        await page.press(LEAVE_KEY)
        await page.until(lambda: not page.is_taken_over)
        await page.press("o", "k")
        assert page.draft == "ok"


async def test_a_click_on_the_line_takes_the_keyboard_back(tmp_path: Path) -> None:
    async with running(tmp_path, RAW.format(first="")) as page:
        await page.takes_over()
        await page.click("ready")
        assert page.is_taken_over
        await page.click("takes the keyboard back")
        await page.until(lambda: not page.is_taken_over)


async def test_an_end_is_told_and_what_is_typed_too_late_does_not_leave(tmp_path: Path) -> None:
    async with running(tmp_path, "input('go? ')") as page:
        await page.takes_over()
        await page.shows("go?")
        await page.press("y", "enter")
        await page.shows("exit 0")
        assert page.lines[0].endswith("Enter or Ctrl+] leaves")
        await page.press("enter", "z")
        assert page.is_taken_over
        page.clock.pass_guard()
        await page.press("enter")
        await page.until(lambda: not page.is_taken_over)
        assert page.draft == ""


async def test_an_end_between_two_frames_is_told_when_it_is_drawn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: set[Frames] = set()
    schedule = Frames.schedule

    def note(frames: Frames, pause_s: float = 0) -> None:
        seen.add(frames)
        schedule(frames, pause_s)

    monkeypatch.setattr(Frames, "schedule", note)
    async with running(tmp_path, RAW.format(first="")) as page:
        await page.takes_over()
        await page.shows("ready")
        await page.until(lambda: not any(frames.is_scheduled for frames in seen))
        with monkeypatch.context() as between:
            between.setattr(Frames, "schedule", lambda *_: None)
            page.session.apply(TerminalExited(page.state.terminal_id, 0, None))
            page.pilot.app.screen.post_message(TakenTerminal.Drawn())  # of the frame before
            await page.settled()
            assert page.lines[0].endswith("Ctrl+] takes the keyboard back")
        page.terminal.mark()
        await page.shows("exit 0")
        assert page.lines[0].endswith("Enter or Ctrl+] leaves")


async def test_a_program_killed_from_outside_is_reported_as_ended(tmp_path: Path) -> None:
    async with running(tmp_path, RAW.format(first="")) as page:
        await page.takes_over()
        await page.session.client_tools.end_terminal(page.state.terminal_id)
        await page.shows("ended by SIGTERM")
        await page.press(LEAVE_KEY)
        await page.until(lambda: not page.is_taken_over)
        assert (page.state.columns, page.state.rows) == page.session.client_tools.terminal_size


# The agent meanwhile


async def test_a_terminal_that_was_taken_over_leaves_no_listener_behind(
    subscriptions: list[Listener], tmp_path: Path
) -> None:
    async with running(tmp_path, RAW.format(first=""), size=(160, 40)) as page:
        [panel] = subscriptions
        await page.press("alt+s")
        await page.takes_over()
        assert len(subscriptions) == 2
        below = page.pilot.app.screen_stack[0]
        assert isinstance(below, SessionScreen)
        await below.action_do("sidebar")
        await page.press(LEAVE_KEY)
        await page.until(lambda: not page.is_taken_over)
        assert subscriptions == [panel]
        page.session.apply(ClientRemark("still told of changes"))
        await page.shows("still told of changes")


async def test_a_permission_request_takes_no_key_and_is_said(tmp_path: Path) -> None:
    async with running(tmp_path, "print(input('name: '))") as page:
        await page.takes_over()
        await page.ask("delete", title="Delete everything")
        await page.shows("the agent needs your decision: Ctrl+]")
        page.clock.pass_guard()
        await page.press("1", "enter")
        await page.until(lambda: page.text.count("1") >= 2)
        assert page.decisions == {}
        await page.press(LEAVE_KEY)
        await page.shows("Delete everything")


async def test_a_form_opens_when_the_keyboard_is_taken_back(tmp_path: Path) -> None:
    async with running(tmp_path, RAW.format(first="")) as page:
        await page.takes_over()
        await page.apply(ElicitationAsked(Form(RequestKey(1), "Who are you?", ())))
        await page.shows("the agent needs your decision: Ctrl+]")
        assert page.is_taken_over
        await page.press(LEAVE_KEY)
        await page.until(lambda: bool(page.pilot.app.screen_stack[0].query(FormCard)))
        await page.shows("Who are you?")


ASKS = """
import os, sys, tty
tty.setraw(0)
print('ab\\x1b[6n', end='', flush=True)
while True: print(repr(os.read(0, 1000)), end='\\r\\n', flush=True)
"""


async def test_a_program_is_told_what_it_asks_its_terminal_and_once(tmp_path: Path) -> None:
    async with running(tmp_path, ASKS) as page:
        await page.shows(repr(b"\x1b[1;3R"))
        # Another view of the same conversation creates its own emulators, which see the query again.
        await show(page.pilot, page.session)
        await page.takes_over()
        await page.press("x")
        await page.shows(repr(b"x"))
        assert page.text.count("R'") == 1


# Appearance


# Which one, and how it's told


async def test_the_terminal_under_the_cursor_comes_first() -> None:
    report = call("run", kind="execute", content=(TerminalContent(TerminalId("agents")),))
    agents = [TerminalOpened(TerminalId("agents"), "run agents"), report]
    async with showing(*agents, *opened("second"), waits("second")) as page:
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


async def test_a_command_that_waits_says_how_to_type_there() -> None:
    async with showing(*opened("first"), waits("first")) as page:
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


# Pictures


PICTURED = (
    "\x1b[1mtop\x1b[0m - 12:00\r\n"
    + "".join(f"\x1b[48;5;{number}m  \x1b[0m" for number in range(16, 52))
    + "\r\n\x1b[32mok\x1b[0m 日本語\r\nName? "
)


@pytest.mark.parametrize(
    ("theme", "then", "words"),
    [
        (DARK.name, None, "takes the keyboard back"),
        (DARK.name, TerminalExited(TerminalId("first"), 3, None, 1.5), "exit 3"),
        (LIGHT.name, ask(1, "t"), "needs your decision"),
    ],
    ids=["running", "ended", "asked"],
)
def test_it_looks_as_it_did(
    theme: str,
    then: SessionUpdate | None,
    words: str,
    snap_compare: Callable[..., bool],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)

    async def show_it(pilot: Pilot[Any]) -> None:
        session = new_session(*opened("first"), TerminalOutput(TerminalId("first"), PICTURED.encode()))
        await show(pilot, session)
        page = TakenOver(pilot, session, RecordedConnection(), Clock())
        await page.press("f6")
        await page.shows("Name?")
        await page.apply(*([] if then is None else [then]))
        await page.shows(words)

    assert snap_compare(ScreenApp(theme=theme), terminal_size=(80, 24), run_before=show_it)
