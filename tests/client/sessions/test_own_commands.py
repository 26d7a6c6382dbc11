"""The user's own commands run beside the agent, and their output can go with the next prompt."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from acp_tui.client.errors import ClientError
from acp_tui.client.sessions.consent import Grant, Policy
from acp_tui.client.sessions.session import Session
from acp_tui.conversation.entries import OwnCommand
from support.agents import SERVING, in_session, notification, settle, until

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
        session.commands.drop(session.commands.offered[-1].terminal_id)
        assert [one.line for one in session.commands.offered] == [f"{HELLO} one"]
        await ended(session)


async def test_the_users_own_commands_are_nobodys_to_allow(tmp_path: Path):
    async with in_session(tmp_path, policy=Policy(terminals=Grant.OFF)) as (session, _):
        await session.commands.run(HELLO)
        await ended(session)
        assert session.conversation.permissions == {}


async def test_a_command_that_cannot_be_run_is_told(tmp_path: Path):
    async with in_session(tmp_path) as (session, _):
        with pytest.raises(ClientError, match="no-such-program"):
            await session.commands.run("no-such-program")
        assert session.commands.offered == ()


async def test_a_command_that_still_runs_is_offered_with_what_it_has_printed(tmp_path: Path):
    async with in_session(tmp_path) as (session, _):
        await session.commands.run(f"{HELLO}; sleep 60")
        await until(session, lambda: any(b"hello" in s.output.read() for s in session.conversation.terminals.values()))
        [resource] = session.commands.take()
        assert resource.text.endswith("hello\n(still running)\n")


async def test_what_a_command_of_the_users_prints_later_is_none_of_the_agents_business(tmp_path: Path):
    async with in_session(tmp_path, policy=SERVING) as (session, wire):
        await session.commands.run(f"{HELLO}; sleep 60")
        [terminal_id] = session.conversation.terminals
        [resource] = session.commands.take()
        assert resource.uri == "terminal:1"
        for method in ("output", "kill", "release", "wait_for_exit"):
            params = {"sessionId": "s1", "terminalId": terminal_id}
            await wire.send({"jsonrpc": "2.0", "id": 1, "method": f"terminal/{method}", "params": params})
            assert (await wire.receive())["error"]["code"] == -32602


async def test_an_agent_cannot_speak_for_a_terminal_that_runs_here(tmp_path: Path):
    async with in_session(tmp_path, policy=SERVING) as (session, wire):
        await session.commands.run("sleep 60")
        [terminal_id] = session.conversation.terminals
        ended = {"terminal_exit": {"terminal_id": terminal_id, "exit_code": 0, "signal": None}}
        forged = {"terminal_output": {"terminal_id": terminal_id, "data": "Password:"}}
        for meta in (forged, ended):
            update = {"sessionUpdate": "tool_call_update", "toolCallId": "t", "_meta": meta}
            await wire.send(notification("session/update", {"sessionId": "s1", "update": update}))
        await settle()
        state = session.conversation.terminals[terminal_id]
        assert (state.is_ours, state.has_exited, state.output.read()) == (True, False, b"")


async def test_nothing_is_started_in_a_session_that_is_closed(tmp_path: Path):
    async with in_session(tmp_path, policy=SERVING) as (session, wire):
        session.close()
        with pytest.raises(ClientError, match="Can't start"):
            await session.commands.run(HELLO)
        params = {"sessionId": "s1", "command": "true"}
        await wire.send({"jsonrpc": "2.0", "id": 1, "method": "terminal/create", "params": params})
        assert "closed" in (await wire.receive())["error"]["message"]
        assert session.conversation.terminals == {}
