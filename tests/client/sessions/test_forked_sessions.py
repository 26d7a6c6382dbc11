"""A forked session continues on its own from the shared conversation, live and in a replay."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import anyio
import pytest

from acp_tui.client.errors import Unsupported
from acp_tui.client.sessions.hub import open_hub
from acp_tui.client.transcript.index import without_session
from acp_tui.client.transcript.recording_plan import RecordingPlan
from acp_tui.client.transcript.replay import replayed
from acp_tui.conversation.content import Text
from acp_tui.conversation.conversation import Conversation
from acp_tui.conversation.entries import Message
from acp_tui.conversation.facts import SessionId
from acp_tui.conversation.updates import Reconnected
from support.agents import scripted
from support.waiting import LIMIT_S

FORKING = dedent("""
    handshake(agentCapabilities={"sessionCapabilities": {"fork": {}, "close": {}}})
    answer(expect("session/new"), sessionId="s1")
    prompt = expect("session/prompt")
    say("the answer")
    update("tool_call", toolCallId="c1", title="Look", status="completed")
    answer(prompt, stopReason="end_turn")
    fork = expect("session/fork")
    assert fork["params"]["sessionId"] == "s1"
    update("agent_message_chunk", session="s2", content={"type": "text", "text": "the answer, again"})
    update("tool_call", session="s2", toolCallId="c1", title="Look", status="completed")
    answer(fork, sessionId="s2", configOptions=[{
        "id": "model", "name": "Model", "type": "select", "category": "model", "currentValue": "a",
        "options": [{"value": "a", "name": "A"}]}])
    prompt = expect("session/prompt")
    assert prompt["params"]["sessionId"] == "s2"
    update("agent_message_chunk", session="s2", content={"type": "text", "text": "in the fork"})
    update("tool_call", session="s2", toolCallId="c1", title="Another", status="completed")
    answer(prompt, stopReason="end_turn")
    prompt = expect("session/prompt")
    say("still the first")
    answer(prompt, stopReason="end_turn")
    serve_until_closed()
""")


def texts(conversation: Conversation) -> list[str]:
    return [entry.text for entry in conversation.entries if isinstance(entry, Message)]


async def test_a_fork_goes_on_below_what_was_said_and_the_source_by_itself(tmp_path: Path) -> None:
    plan = RecordingPlan(tmp_path, file=tmp_path / "run.jsonl")
    with anyio.fail_after(LIMIT_S):
        async with open_hub() as hub:
            agent = await hub.start_agent(scripted(FORKING), recordings=plan)
            await agent.initialize()
            source = await agent.new_session(tmp_path)
            await source.send_prompt([Text("question")])
            fork = await agent.fork_session(source, title="The question")
            await fork.send_prompt([Text("in the fork?")])
            await source.send_prompt([Text("and here?")])
            live = {session.session_id: session.conversation for session in (source, fork)}
    assert texts(source.conversation) == ["question", "the answer", "and here?", "still the first"]
    assert texts(fork.conversation) == ["question", "the answer", "in the fork?", "in the fork"]
    [mark] = [entry for entry in fork.conversation.entries if isinstance(entry, Reconnected)]
    assert mark.forked_from == "The question"
    assert fork.conversation.options
    titles = [entry.call.title for entry in fork.conversation.entries if hasattr(entry, "call")]
    assert titles == ["Look", "Another"]
    assert replayed(tmp_path / "run.jsonl") == live
    assert live.keys() == {SessionId("s1"), SessionId("s2")}


async def test_an_agent_that_does_not_offer_it_is_not_asked(tmp_path: Path) -> None:
    script = 'handshake()\nanswer(expect("session/new"), sessionId="s1")\nserve_until_closed()'
    with anyio.fail_after(LIMIT_S):
        async with open_hub() as hub:
            agent = await hub.start_agent(scripted(script))
            await agent.initialize()
            source = await agent.new_session(tmp_path)
            with pytest.raises(Unsupported):
                await agent.fork_session(source, title="")
            assert list(agent.sessions) == ["s1"]


@pytest.mark.parametrize(
    ("deleted", "left"), [("s1", ["the answer, again", "in the fork?", "in the fork"]), ("s2", None)]
)
async def test_a_fork_and_its_source_are_deleted_from_a_recording_one_by_one(
    tmp_path: Path, deleted: str, left: list[str] | None
) -> None:
    plan = RecordingPlan(tmp_path, file=tmp_path / "run.jsonl")
    with anyio.fail_after(LIMIT_S):
        async with open_hub() as hub:
            agent = await hub.start_agent(scripted(FORKING), recordings=plan)
            await agent.initialize()
            source = await agent.new_session(tmp_path)
            await source.send_prompt([Text("question")])
            fork = await agent.fork_session(source, title="The question")
            await fork.send_prompt([Text("in the fork?")])
            await source.send_prompt([Text("and here?")])
    without_session(tmp_path / "run.jsonl", deleted)
    conversations = replayed(tmp_path / "run.jsonl")
    [(session_id, conversation)] = conversations.items()
    assert session_id != deleted
    assert texts(conversation) == (left or texts(source.conversation))
