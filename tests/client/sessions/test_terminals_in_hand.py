"""What the user does with a session's terminals: type, resize, interrupt, end. The screen handles the keys."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from acp_tui.client.sessions.session import Session
from acp_tui.conversation.entries import TerminalState
from acp_tui.conversation.tool_calls import TerminalId
from acp_tui.conversation.updates import TerminalOpened
from support.agents import SERVING, in_session, until

READS = "print('ready', flush=True); print('got', input())"
WAITS = "import signal; print('ready', flush=True); signal.pause()"
TELLS_ITS_SIZE = """
import os, signal
signal.signal(signal.SIGWINCH, lambda *_: print(tuple(os.get_terminal_size()), flush=True))
print('ready', flush=True)
while True: signal.pause()
"""
NOBODYS = TerminalId("nobody's")


@asynccontextmanager
async def running(cwd: Path, source: str) -> AsyncIterator[tuple[Session, TerminalState]]:
    """A session in which this command runs and is ready."""
    async with in_session(cwd, policy=SERVING) as (session, _):
        await session.client_tools.create_terminal(sys.executable, ["-S", "-c", source], (), None, None)
        [state] = session.conversation.terminals.values()
        await prints(session, state, "ready")
        yield session, state


async def prints(session: Session, state: TerminalState, text: str) -> None:
    await until(session, lambda: text in state.output.tail_text())


async def test_what_is_typed_reaches_the_command(tmp_path: Path) -> None:
    async with running(tmp_path, READS) as (session, state):
        assert session.client_tools.type_into(state.terminal_id, b"a word\r")
        await prints(session, state, "got a word")


async def test_ctrl_c_interrupts_the_foreground_process(tmp_path: Path) -> None:
    async with running(tmp_path, WAITS) as (session, state):
        assert session.client_tools.interrupt(state.terminal_id)
        await until(session, lambda: state.has_exited)
        assert "KeyboardInterrupt" in state.output.tail_text()


async def test_an_ended_command_has_a_signal_and_its_terminal_stays(tmp_path: Path) -> None:
    async with running(tmp_path, WAITS) as (session, state):
        assert await session.client_tools.end_terminal(state.terminal_id)
        assert state.signal == "SIGTERM"
        assert session.client_tools.terminal_output(state.terminal_id).output.startswith("ready")


async def test_a_new_size_is_told_to_the_command_and_kept_in_the_conversation(tmp_path: Path) -> None:
    async with running(tmp_path, TELLS_ITS_SIZE) as (session, state):
        assert session.client_tools.resize_terminal(state.terminal_id, 91, 17)
        await prints(session, state, "(91, 17)")
        assert (state.columns, state.rows) == (91, 17)


async def test_a_released_terminal_takes_nothing_but_a_size_to_be_shown_in(tmp_path: Path) -> None:
    async with running(tmp_path, WAITS) as (session, state):
        await session.client_tools.release_terminal(state.terminal_id)
        assert await _takes_nothing(session, state.terminal_id)
        assert (state.columns, state.rows) == (91, 17)


async def test_a_terminal_of_the_agents_and_one_of_nobodys_take_nothing(tmp_path: Path) -> None:
    async with in_session(tmp_path) as (session, _):
        theirs = TerminalId("theirs")
        session.apply(TerminalOpened(theirs, "make", is_ours=False))
        assert await _takes_nothing(session, theirs)
        assert await _takes_nothing(session, NOBODYS)
        assert session.conversation.terminals.keys() == {theirs}
        assert session.conversation.terminals[theirs].columns == 120


async def _takes_nothing(session: Session, terminal_id: TerminalId) -> bool:
    tools = session.client_tools
    return not (
        tools.type_into(terminal_id, b"x")
        or tools.interrupt(terminal_id)
        or tools.resize_terminal(terminal_id, 91, 17)
        or await tools.end_terminal(terminal_id)
    )
