"""What subagents say reaches the session they work for, in both versions and in a replay."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from acp_tui.client.errors import Unsupported
from acp_tui.client.sessions.hub import open_hub
from acp_tui.client.sessions.session import Session
from acp_tui.client.subagents import MAX_DEPTH, Subagents
from acp_tui.client.transcript.recording_plan import RecordingPlan
from acp_tui.client.transcript.replay import replayed
from acp_tui.conversation.content import Text
from acp_tui.conversation.facts import SessionId
from acp_tui.conversation.tool_calls import ToolCallId
from acp_tui.conversation.updates import SessionUpdate, SubagentReported, SubagentSaid
from acp_tui.conversation.wording import subagent_state
from acp_tui.protocol.v1.inbound import read_update as read_v1
from acp_tui.protocol.v2.inbound import read_update as read_v2
from support.agents import scripted
from support.folding import agent, texts
from support.waiting import LIMIT_S, until

REPORT = {
    "sessionUpdate": "subagent_update",
    "sessionId": "child",
    "title": "Look",
    "description": None,
    "state": {
        "state": "idle",
        "stopReason": "end_turn",
        "usage": {"totalTokens": 7, "inputTokens": 5, "outputTokens": 2},
    },
    "capabilities": {"cancel": {}},
}


@pytest.mark.parametrize(
    "update",
    [
        REPORT,
        {"sessionUpdate": "subagent_update", "sessionId": "child"},
        {"sessionUpdate": "subagent_update", "sessionId": "child", "state": None, "capabilities": None},
        {
            "sessionUpdate": "session_message",
            "messageId": "m",
            "senderSessionId": "child",
            "content": [{"type": "text", "text": "hello"}],
        },
        {
            "sessionUpdate": "session_message_chunk",
            "messageId": "m",
            "content": {"type": "text", "text": "x"},
        },
        {
            "sessionUpdate": "agent_message_chunk",
            "content": {"type": "text", "text": "x"},
            "_meta": {"claudeCode": {"parentToolUseId": "toolu_1"}},
        },
    ],
)
def test_both_versions_say_it_alike(update: dict[str, Any]) -> None:
    params = {"sessionId": "s", "update": update}
    assert read_v1(params) == read_v2(params)


def test_the_work_of_a_tool_call_is_known_by_its_meta() -> None:
    chunk = {
        "sessionUpdate": "agent_message_chunk",
        "content": {"type": "text", "text": "x"},
        "_meta": {"claudeCode": {"parentToolUseId": "toolu_1"}},
    }
    _, (update,) = read_v1({"sessionId": "s", "update": chunk})
    assert isinstance(update, SubagentSaid)
    assert (update.session_id, update.is_of_call) == ("toolu_1", True)
    chunk["_meta"] = {"claudeCode": {"parentToolUseId": None}}
    _, (update,) = read_v1({"sessionId": "s", "update": chunk})
    assert not isinstance(update, SubagentSaid)


# Which session belongs to which


def _reported(name: str) -> SubagentReported:
    return SubagentReported(SessionId(name), name)


def test_subagents_of_subagents_lead_to_the_session_of_the_user() -> None:
    subagents = Subagents({SessionId("root")})
    subagents.lead(SessionId("root"), _reported("a"))
    assert subagents.lead(SessionId("a"), _reported("b")) == (
        "root",
        SubagentSaid(SessionId("a"), _reported("b")),
    )
    expected: SessionUpdate = SubagentSaid(SessionId("a"), SubagentSaid(SessionId("b"), agent("x")))
    assert subagents.lead(SessionId("b"), agent("x")) == ("root", expected)
    assert subagents.root(SessionId("b")) == "root"


def test_no_session_is_its_own_subagent_and_none_of_the_user_is_anybodys() -> None:
    subagents = Subagents({SessionId("root"), SessionId("other")})
    assert subagents.lead(SessionId("root"), _reported("root")) is None
    assert subagents.lead(SessionId("root"), _reported("other")) is None
    subagents.lead(SessionId("x"), _reported("y"))
    assert subagents.lead(SessionId("y"), _reported("x")) is None


def test_a_long_line_of_subagents_is_cut() -> None:
    subagents = Subagents({SessionId("0")})
    for number in range(100):
        subagents.lead(SessionId(str(number)), _reported(str(number + 1)))
    led = subagents.lead(SessionId("100"), agent("deep"))
    assert led is not None
    depth, update = 0, led[1]
    while isinstance(update, SubagentSaid):
        depth, update = depth + 1, update.update
    assert (led[0], depth) == ("0", MAX_DEPTH)


# An agent


BEFORE = dedent("""
    initialize = expect("initialize")
    assert initialize["params"]["clientCapabilities"]["subagents"] == {}
    answer(initialize, protocolVersion=1)
    answer(expect("session/new"), sessionId="s1")
    prompt = expect("session/prompt")

    def said(child, text):
        update("agent_message_chunk", child, content={"type": "text", "text": text})

    running = {"state": "running"}
    update("subagent_update", sessionId="c1", title="Look", state=running, capabilities={"cancel": {}})
    update("subagent_update", sessionId="c2", title="Write", state=running)
    said("c1", "I look. ")
    said("c2", "I write. ")
    said("c1", "Found.")
    update("tool_call", "c2", toolCallId="t", title="Write it", status="pending")
    options = [{"optionId": "yes", "name": "Yes", "kind": "allow_once"}]
    asked = {"sessionId": "c2", "toolCall": {"toolCallId": "t"}, "options": options}
    send(id=1, method="session/request_permission", params=asked)
    assert outcome() == "yes"
""")
AFTER = dedent("""
    update("tool_call_update", "c2", toolCallId="t", status="completed")
    assert expect("session/cancel")["params"] == {"sessionId": "c1"}
    for child, reason in (("c1", "cancelled"), ("c2", "end_turn")):
        update("subagent_update", sessionId=child, state={"state": "idle", "stopReason": reason})
    end(prompt)
    serve_until_closed()
""")


async def test_subagents_speak_ask_and_are_stopped(tmp_path: Path) -> None:
    plan = RecordingPlan(tmp_path, file=tmp_path / "run.jsonl")
    with anyio.fail_after(LIMIT_S):
        async with open_hub() as hub:
            led = await hub.start_agent(scripted(BEFORE + AFTER), recordings=plan)
            await led.initialize()
            session = await led.new_session(tmp_path)
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(session.send_prompt, [Text("go")])
                await until(lambda: session.conversation.permissions, anyio.lowlevel.checkpoint)
                await _answer_and_stop(session)
    look, write = session.conversation.subagents.values()
    assert texts(look.conversation)[0] == ("agent", "I look. Found.")
    assert texts(write.conversation)[0] == ("agent", "I write. ")
    assert (subagent_state(look), subagent_state(write)) == ("canceled", "done")
    assert replayed(tmp_path / "run.jsonl") == {SessionId("s1"): session.conversation}


async def _answer_and_stop(session: Session) -> None:
    look, write = session.conversation.subagents.values()
    (request,) = session.conversation.permissions.values()
    assert session.conversation.tool_call(request.tool_call_id).call.title == "Write it"
    assert request.description == "A subagent asks: Write"
    with pytest.raises(Unsupported):
        session.cancel_subagent(write)
    session.answer_permission(request.key, "yes")
    call = write.conversation.tool_call(ToolCallId("t")).call
    await until(lambda: call.is_settled, anyio.lowlevel.checkpoint)
    session.cancel_subagent(look)


TASKS = """
prompt = open_session()
own = {"claudeCode": {"parentToolUseId": "task"}}
text = {"type": "text", "text": "I search."}
update("tool_call", toolCallId="task", title="Search the docs", status="in_progress")
update("user_message_chunk", content={"type": "text", "text": "search"}, _meta=own)
update("agent_message_chunk", content=text, _meta=own)
update("tool_call", toolCallId="rm", title="Remove it", status="pending", _meta=own)
options = [{"optionId": "yes", "name": "Yes", "kind": "allow_once"}]
asked = {"sessionId": "s1", "toolCall": {"toolCallId": "rm", "title": "Remove it"}, "options": options}
send(id=1, method="session/request_permission", params=asked)
assert outcome() == "yes"
update("tool_call_update", toolCallId="rm", status="completed")
update("tool_call_update", toolCallId="task", status="completed")
end(prompt)
serve_until_closed()
"""


async def test_the_tasks_of_claudes_adapter_are_subagents(tmp_path: Path) -> None:
    plan = RecordingPlan(tmp_path, file=tmp_path / "run.jsonl")
    with anyio.fail_after(LIMIT_S):
        async with open_hub() as hub:
            led = await hub.start_agent(scripted(dedent(TASKS)), recordings=plan)
            await led.initialize()
            session = await led.new_session(tmp_path)
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(session.send_prompt, [Text("go")])
                await until(lambda: session.conversation.permissions, anyio.lowlevel.checkpoint)
                (request,) = session.conversation.permissions.values()
                session.answer_permission(request.key, "yes")
    (task,) = session.conversation.subagents.values()
    assert texts(task.conversation)[:2] == [("user", "search"), ("agent", "I search.")]
    assert task.conversation.tool_call(ToolCallId("rm")).call.status == "completed"
    assert session.conversation.tool_call(ToolCallId("rm")).call.status == "completed"
    assert (task.conversation.title, subagent_state(task)) == ("Search the docs", "done")
    assert replayed(tmp_path / "run.jsonl") == {SessionId("s1"): session.conversation}
