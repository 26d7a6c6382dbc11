"""A whole turn with an agent on the protocol's official Python SDK."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import anyio
import pytest

from acp_tui.client.agents.command import AgentCommand
from acp_tui.client.sessions.consent import Grant, Policy
from acp_tui.conversation.entries import Message, ToolCallEntry
from support.agents import REPLY, SDK_AGENT, agent_texts, running, until
from support.command_line import lines_of
from support.waiting import LIMIT_S

COMMAND = AgentCommand("sdk", SDK_AGENT)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    pytest.importorskip("acp")
    (tmp_path / "notes.txt").write_text("a note\n")
    return tmp_path


async def test_a_turn_with_an_edit_that_the_user_allows(project: Path):
    # It asks before it edits, but not before it runs a command.
    async with running(COMMAND, policy=Policy(terminals=Grant.ON)) as agent:
        await agent.initialize()
        session = await agent.new_session(project)
        conversation = session.conversation
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(session.send_prompt, REPLY)
            await until(session, lambda: bool(conversation.permissions))
            assert (project / "notes.txt").read_text() == "a note\n"
            session.answer_permission(next(iter(conversation.permissions)), "yes")

    assert agent.title == "SDK agent"
    assert (project / "notes.txt").read_text() == "A NOTE\n"
    assert agent_texts(session) == ["edit: yes\ncommand: from the shell (0)"]
    assert [entry.text for entry in conversation.entries if isinstance(entry, Message)][1] == "a thought"
    assert conversation.plan is not None
    calls = [entry.call for entry in conversation.entries if isinstance(entry, ToolCallEntry)]
    assert [(call.title, call.status) for call in calls] == [
        ("Edit notes.txt", "completed"),
        ("Run it", "completed"),
    ]
    [terminal] = conversation.terminals.values()
    assert (terminal.output.read(), terminal.exit_code) == (b"from the shell\r\n", 0)


@pytest.mark.parametrize("output_format", ["text", "ndjson"])
def test_exec_takes_the_turn_and_allows_nothing_unasked(project: Path, output_format: str):
    options = ["--cwd", str(project), "--prompt", "go", "--format", output_format, "--allow-unasked", "run"]
    done = subprocess.run(
        [sys.executable, "-m", "acp_tui", "exec", *options, "--", *SDK_AGENT],
        cwd=Path(__file__).parents[2],
        env={**os.environ, "NO_COLOR": "1"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        start_new_session=True,
        timeout=LIMIT_S,
    )
    assert done.returncode == 5, done.stderr
    assert (project / "notes.txt").read_text() == "a note\n"
    if output_format == "text":
        assert done.stdout == "edit: no\ncommand: from the shell (0)\n"
        return
    *lines, result = lines_of(done.stdout.splitlines())
    assert [line["type"] for line in lines][:5] == ["session", "message", "message", "plan", "tool_call"]
    assert (result["stop_reason"], result["exit_code"]) == ("end_turn", 5)
