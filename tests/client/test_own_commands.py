"""The user's own commands: they run beside the agent, and what they print goes with the next prompt if wanted."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from acp_tui.client.errors import CommandFailed
from acp_tui.client.sessions.policy import Grant, Policy
from acp_tui.client.sessions.session import Session
from acp_tui.conversation.entries import OwnCommand
from support.agents import in_session, until

HELLO = f"{sys.executable} -S -c \"print('hello')\""


async def ended(session: Session) -> None:
    await until(session, lambda: all(state.has_exited for state in session.conversation.terminals.values()))


async def test_a_command_runs_in_the_workspace_and_its_output_goes_with_the_next_prompt(tmp_path: Path):
    async with in_session(tmp_path) as (session, _):
        await session.commands.run(f"pwd; {HELLO}; exit 3")
        await ended(session)
        [entry] = session.conversation.entries
        assert isinstance(entry, OwnCommand)
        [resource] = session.commands.take()
        assert resource.text == f"$ pwd; {HELLO}; exit 3\n{tmp_path}\nhello\n(exit 3)\n"
        assert session.commands.take() == ()


async def test_an_output_that_is_dropped_goes_nowhere(tmp_path: Path):
    async with in_session(tmp_path) as (session, _):
        await session.commands.run(f"{HELLO} one")
        await session.commands.run(f"{HELLO} two")
        dropped = session.commands.drop_last()
        assert dropped is not None
        assert dropped.line.endswith("two")
        assert [one.line for one in session.commands.offered] == [f"{HELLO} one"]
        await ended(session)


async def test_the_users_own_commands_are_nobodys_to_allow(tmp_path: Path):
    async with in_session(tmp_path, policy=Policy(terminals=Grant.OFF)) as (session, _):
        await session.commands.run(HELLO)
        await ended(session)
        assert session.conversation.permissions == {}


async def test_a_command_that_cannot_be_run_is_told(tmp_path: Path):
    async with in_session(tmp_path) as (session, _):
        with pytest.raises(CommandFailed, match="no-such-program"):
            await session.commands.run("no-such-program")
        assert session.commands.offered == ()


async def test_a_command_that_still_runs_is_offered_with_what_it_has_printed(tmp_path: Path):
    async with in_session(tmp_path) as (session, _):
        await session.commands.run(f"{HELLO}; sleep 60")
        await until(
            session, lambda: any(b"hello" in s.output.read() for s in session.conversation.terminals.values())
        )
        [resource] = session.commands.take()
        assert resource.text.endswith("hello\n(still running)\n")
