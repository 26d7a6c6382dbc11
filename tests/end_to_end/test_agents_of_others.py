"""Turns with small agents by other authors on the official SDKs, run by the programs they came with."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import anyio
import pytest

from acp_tui.client.agents.command import AgentCommand
from acp_tui.client.sessions.consent import ALLOW
from acp_tui.client.sessions.session import Session
from acp_tui.conversation.content import Text
from acp_tui.conversation.entries import Message
from support.agents import running, until
from support.schema import AGENTS

NODE_SDK = Path(os.environ.get("AGENTS_PREFIX", Path.home() / ".cache/acp-agents")) / (
    "npm/sdk/node_modules/@agentclientprotocol/sdk"
)


def _python() -> AgentCommand:
    pytest.importorskip("acp")
    return AgentCommand("pysdk", (sys.executable, str(AGENTS / "py_sdk_agent.py")))


def _typescript() -> AgentCommand:
    node = shutil.which("node")
    if node is None or not NODE_SDK.exists():
        pytest.skip(f"the TypeScript SDK isn't in {NODE_SDK}, or there is no node")
    return AgentCommand("tssdk", (node, str(AGENTS / "ts_sdk_agent.mjs")), {"ACP_SDK": str(NODE_SDK)})


@pytest.fixture(params=[_python, _typescript], ids=["python", "typescript"])
def command(request: pytest.FixtureRequest) -> AgentCommand:
    if not AGENTS.is_dir():
        pytest.skip(f"there are no agents in {AGENTS}")
    return request.param()


async def answer(session: Session, option_id: str) -> None:
    """Answer the only question."""
    await until(session, lambda: bool(session.conversation.permissions))
    [key] = session.conversation.permissions
    session.answer_permission(key, option_id)


async def test_an_edit_and_a_command_are_done_when_the_user_allows_them(command: AgentCommand, tmp_path: Path) -> None:
    async with running(command) as agent:
        await agent.initialize()
        session = await agent.new_session(tmp_path)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(session.send_prompt, [Text("WRITE")])
            await until(session, lambda: bool(session.conversation.permissions))
            assert not (tmp_path / "fake_out.txt").exists()
            await answer(session, "y")
        async with anyio.create_task_group() as tasks:  # it asks before it writes, but not before it runs a command
            tasks.start_soon(session.send_prompt, [Text("RUN")])
            await answer(session, ALLOW.option_id)

    assert (tmp_path / "fake_out.txt").read_text() == "written by fake llm\n"
    [terminal] = session.conversation.terminals.values()
    assert (terminal.output.read(), terminal.exit_code) == (b"hi-from-shell\r\n", 0)
    said = [entry.text for entry in session.conversation.entries if isinstance(entry, Message)]
    assert any("terminal said: hi-from-shell" in text for text in said)


async def test_a_long_turn_is_cancelled_and_the_next_one_works(command: AgentCommand, tmp_path: Path) -> None:
    async with running(command) as agent:
        await agent.initialize()
        session = await agent.new_session(tmp_path)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(session.send_prompt, [Text("LONG")])
            await until(session, lambda: len(session.conversation.entries) > 1)
            session.cancel()
        # An agent may have finished before it was told; either way, it ended the turn itself.
        assert session.conversation.last_stop_reason in ("cancelled", "end_turn")
        await session.send_prompt([Text("PLAN")])

    assert session.conversation.last_stop_reason == "end_turn"
    assert session.conversation.plan is not None
