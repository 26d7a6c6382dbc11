"""What real agents offer beyond a turn, with a stand-in for their model: subagents, forks, and steering.

They take seconds to start, so this runs only with LONG_TOURS=1.
"""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest

from acp_tui.conversation.content import Text
from acp_tui.conversation.entries import Message, Subagent, ToolCallEntry
from support.agents import running, until
from support.real_agents import LONG_TOURS, command, why_not

pytestmark = pytest.mark.skipif(not LONG_TOURS, reason="LONG_TOURS=1 runs the large agents")
LIMIT_S = 120.0


def _needs(name: str) -> None:
    if reason := why_not(name):
        pytest.skip(reason)


async def test_a_task_of_claudes_is_a_subagent_with_a_conversation_of_its_own(tmp_path: Path) -> None:
    _needs("claude")
    async with running(command("claude", "--delegates")) as agent:
        await agent.initialize()
        session = await agent.new_session(tmp_path)
        with anyio.fail_after(LIMIT_S):
            await session.send_prompt([Text("DELEGATE it")])

    conversation = session.conversation
    [subagent] = conversation.subagents.values()
    assert isinstance(conversation.entries[subagent.entry], Subagent)
    assert "Say hi" in (subagent.conversation.title or "", subagent.description or "")
    assert subagent.conversation.is_idle
    calls = [entry.call for entry in subagent.conversation.entries if isinstance(entry, ToolCallEntry)]
    assert [(call.kind, call.status) for call in calls] == [("execute", "completed")]
    # What the subagent did isn't among the agent's own calls.
    assert not any(isinstance(entry, ToolCallEntry) and entry.call in calls for entry in conversation.entries)
    assert any(isinstance(entry, Message) and "All done" in entry.text for entry in conversation.entries)


@pytest.mark.parametrize("name", ["claude", "claude-code", "codex", "opencode"])
async def test_a_fork_shows_what_was_said_and_goes_on_by_itself(name: str, tmp_path: Path) -> None:
    _needs(name)
    async with running(command(name)) as agent:
        await agent.initialize()
        session = await agent.new_session(tmp_path)
        assert agent.capabilities.fork_session
        with anyio.fail_after(LIMIT_S):
            await session.send_prompt([Text("HELLO")])
            fork = await agent.fork_session(session, title="the first")
            before = len(session.conversation.entries)
            await fork.send_prompt([Text("HELLO again")])

    assert fork.session_id != session.session_id
    assert len(session.conversation.entries) == before
    prompts = [entry.text for entry in fork.conversation.entries if isinstance(entry, Message) and entry.role == "user"]
    assert prompts[-1] == "HELLO again"
    assert fork.conversation.last_stop_reason == "end_turn"


async def test_codex_takes_a_prompt_into_the_running_turn(tmp_path: Path) -> None:
    _needs("codex")
    async with running(command("codex")) as agent:
        await agent.initialize()
        session = await agent.new_session(tmp_path)
        with anyio.fail_after(LIMIT_S):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(session.send_prompt, [Text("LONG")])
                await until(session, lambda: len(session.conversation.entries) > 1)
                assert await session.steer([Text("HELLO")])

    said = [entry.text for entry in session.conversation.entries if isinstance(entry, Message) and entry.role == "user"]
    assert said == ["LONG", "HELLO"]
    assert session.conversation.is_idle
