"""A prompt sent into the running turn, if the agent offers that, with its outcome in the conversation."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import anyio
import pytest

from acp_tui.client.errors import AgentRefused, Unsupported
from acp_tui.client.sessions.hub import open_hub
from acp_tui.client.transcript.recording_plan import RecordingPlan
from acp_tui.client.transcript.replay import replayed
from acp_tui.conversation.content import Text
from acp_tui.conversation.entries import Message
from acp_tui.conversation.facts import SessionId
from support.agents import scripted, until
from support.waiting import LIMIT_S

BEFORE = dedent("""
    handshake(_meta={"steering": {"supported": True}})
    answer(expect("session/new"), sessionId="s1")
    prompt = expect("session/prompt")
    say("so far")
    steering = expect("_session/steering")
    assert steering["params"]["_meta"]["steering"] == {"idleBehavior": "promptRequired"}
    assert steering["params"]["prompt"] == [{"type": "text", "text": "turn left"}]
""")
AFTER = 'say("as you say")\nanswer(prompt, stopReason="end_turn")\nserve_until_closed()\n'


async def steered(outcome: str, tmp_path: Path) -> tuple[bool, list[str]]:
    """Whether the turn accepted it, and everything that was said. The replay says the same."""
    plan = RecordingPlan(tmp_path, file=tmp_path / "run.jsonl")
    with anyio.fail_after(LIMIT_S):
        async with open_hub() as hub:
            agent = await hub.start_agent(scripted(BEFORE + outcome + AFTER), recordings=plan)
            await agent.initialize()
            session = await agent.new_session(tmp_path)
            taken = False
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(session.send_prompt, [Text("walk")])
                await until(session, lambda: len(session.conversation.entries) >= 2)
                taken = await session.steer([Text("turn left")])
    assert replayed(tmp_path / "run.jsonl") == {SessionId("s1"): session.conversation}
    return taken, [entry.text for entry in session.conversation.entries if isinstance(entry, Message)]


async def test_a_prompt_that_joined_the_turn_stands_where_it_did(tmp_path: Path) -> None:
    taken, said = await steered('answer(steering, outcome="injected")\n', tmp_path)
    assert taken
    assert said == ["walk", "so far", "turn left", "as you say"]


@pytest.mark.parametrize("outcome", ['outcome="promptRequired"', 'outcome="failed"', ""])
async def test_a_prompt_that_no_turn_took_is_still_to_be_sent(tmp_path: Path, outcome: str) -> None:
    taken, said = await steered(f"answer(steering, {outcome})\n", tmp_path)
    assert not taken
    assert said == ["walk", "so faras you say"]


async def test_an_agent_that_refuses_says_why(tmp_path: Path) -> None:
    with pytest.raises(ExceptionGroup) as raised:
        await steered('refuse(steering, -32600, "no pictures")\n', tmp_path)
    assert raised.group_contains(AgentRefused, match="no pictures")


async def test_an_agent_that_does_not_offer_it_is_not_asked(tmp_path: Path) -> None:
    script = 'handshake()\nanswer(expect("session/new"), sessionId="s1")\nserve_until_closed()'
    with anyio.fail_after(LIMIT_S):
        async with open_hub() as hub:
            agent = await hub.start_agent(scripted(script))
            await agent.initialize()
            session = await agent.new_session(tmp_path)
            with pytest.raises(Unsupported):
                await session.steer([Text("turn left")])
