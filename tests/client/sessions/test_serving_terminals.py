"""`terminal/*` as an agent sees it on the wire, and what the session shows. PTYs have their own tests."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from acp_tui.conversation.tool_calls import TerminalId
from support.agents import SERVING, Counterpart, in_memory, in_session, open_session, our_children, settle, shake_hands

SLEEP = ("-S", "-c", "import signal; print('up', flush=True); signal.pause()")


async def call(wire: Counterpart, method: str, terminal: str | None = None, **params: Any) -> Any:
    """The response's result or error, without its frame."""
    about = {} if terminal is None else {"terminalId": terminal}
    request = {"sessionId": "s1", **about, **params}
    await wire.send({"jsonrpc": "2.0", "id": 1, "method": f"terminal/{method}", "params": request})
    answer = await wire.receive()
    return answer.get("result", answer.get("error"))


async def create(wire: Counterpart, *args: str, **params: Any) -> str:
    created = await call(wire, "create", command=sys.executable, args=list(args), **params)
    assert list(created) == ["terminalId"], created
    return str(created["terminalId"])


async def test_a_command_runs_to_its_end(tmp_path: Path):
    """R-TERM-1, R-TERM-2, R-TERM-7."""
    code = "import os; print(os.getcwd(), os.environ['A']); raise SystemExit(3)"
    async with in_session(tmp_path, policy=SERVING) as (session, wire):
        terminal = await create(wire, "-S", "-c", code, env=[{"name": "A", "value": "b"}])
        assert await call(wire, "wait_for_exit", terminal) == {"exitCode": 3, "signal": None}
        output = await call(wire, "output", terminal)
        state = session.conversation.terminals[TerminalId(terminal)]
    assert output == {
        "output": f"{tmp_path} b\n",
        "truncated": False,
        "exitStatus": {"exitCode": 3, "signal": None},
    }
    assert (state.output.read(), state.exit_code) == (f"{tmp_path} b\r\n".encode(), 3)
    assert state.command is not None
    assert state.command.startswith(sys.executable)


async def test_a_running_command_has_no_exit_status_until_it_is_killed(tmp_path: Path):
    """R-TERM-4, R-TERM-9."""
    async with in_session(tmp_path, policy=SERVING) as (_, wire):
        terminal = await create(wire, *SLEEP)
        assert (await call(wire, "output", terminal)).keys() == {"output", "truncated"}
        assert await call(wire, "kill", terminal) == {}
        ended = await call(wire, "wait_for_exit", terminal)
        assert ended == {"exitCode": None, "signal": "SIGTERM"}
        assert (await call(wire, "output", terminal))["exitStatus"] == ended
        assert await call(wire, "kill", terminal) == {}


async def test_a_released_terminal_is_unknown_and_stays_in_the_conversation(tmp_path: Path):
    """R-TERM-10, R-TERM-11, R-TERM-12."""
    async with in_session(tmp_path, policy=SERVING) as (session, wire):
        terminal = await create(wire, "-S", "-c", "print('kept')")
        await call(wire, "wait_for_exit", terminal)
        assert await call(wire, "release", terminal) == {}
        for method in ("output", "wait_for_exit", "kill", "release"):
            assert (await call(wire, method, terminal))["code"] == -32602
        assert session.conversation.terminals[TerminalId(terminal)].output.read() == b"kept\r\n"


async def test_a_waiting_agent_is_not_in_the_way_of_a_kill(tmp_path: Path):
    """R-RPC-7."""
    async with in_session(tmp_path, policy=SERVING) as (_, wire):
        terminal = await create(wire, *SLEEP)
        params = {"sessionId": "s1", "terminalId": terminal}
        await wire.send({"jsonrpc": "2.0", "id": "w", "method": "terminal/wait_for_exit", "params": params})
        await wire.send({"jsonrpc": "2.0", "id": "k", "method": "terminal/kill", "params": params})
        answers = [await wire.receive(), await wire.receive()]
        assert {answer["id"] for answer in answers} == {"w", "k"}


async def test_a_terminal_of_another_session_is_unknown(tmp_path: Path):
    """R-TERM-12."""
    async with in_memory(policy=SERVING) as (agent, wire):
        await shake_hands(agent, wire)
        await open_session(agent, wire, tmp_path, "s1")
        await open_session(agent, wire, tmp_path, "s2")
        terminal = await create(wire, *SLEEP)
        assert (await call(wire, "output", terminal, sessionId="s2"))["code"] == -32602


@pytest.mark.parametrize(
    ("params", "code"),
    [
        ({"command": "no-such-command-here", "args": ["x"]}, -32603),
        ({}, -32602),
        ({"command": "true", "args": "x"}, -32602),
        ({"command": "true", "env": {"A": "b"}}, -32602),
    ],
)
async def test_a_command_that_cannot_run_is_refused(tmp_path: Path, params: dict[str, Any], code: int):
    """R-TERM-1, R-LEN-5."""
    async with in_session(tmp_path, policy=SERVING) as (_, wire):
        assert (await call(wire, "create", **params))["code"] == code


async def test_what_still_runs_ends_with_the_agent(tmp_path: Path):
    """R-TERM-13."""
    async with in_session(tmp_path, policy=SERVING) as (_, wire):
        await create(wire, *SLEEP)
        await settle()
        assert len(our_children()) == 1
    assert our_children() == []
