"""A host of either version of ACP, with clients of both at once: each is told in its own."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from acp_tui.client.sessions.session import Session
from acp_tui.conversation.entries import Message, ToolCallEntry
from acp_tui.conversation.tool_calls import TerminalId
from acp_tui.conversation.updates import ToolCallReported
from acp_tui.protocol.v2.inbound import read_update
from client.hosting.test_attaching import same
from support.agents import REPLY, Counterpart, agent_texts, asked, notification, request, said, settle, until
from support.hosts import Hosted, hosted

pytestmark = pytest.mark.anyio

PROMPT = {"sessionId": "s1", "prompt": [{"type": "text", "text": "go"}]}
INFO = {"name": "c", "version": "1"}
FORM = {
    "sessionId": "s1",
    "mode": "form",
    "message": "Who?",
    "requestedSchema": {"type": "object", "properties": {}},
}
ELICITS = {"form": {}, "url": {}}


@asynccontextmanager
async def client_of(
    its: Hosted, version: int, *, opens: bool = True, elicits: dict[str, Any] = ELICITS
) -> AsyncIterator[Counterpart]:
    """A client of others that speaks one version, and has the session open."""
    offered = {"elicitation": elicits}
    first = {"clientInfo": INFO, "clientCapabilities": offered}
    if version == 2:
        first = {"info": INFO, "capabilities": offered}
    async with its.played() as client:
        await client.send(request(1, "initialize", {"protocolVersion": version, **first}))
        assert (await client.receive())["result"]["protocolVersion"] == version
        if opens:
            await client.send(request(2, *opening(version)))
            await client.receive_all()
        yield client


def opening(version: int) -> tuple[str, dict[str, Any]]:
    """The request that opens the session with its history."""
    if version == 1:
        return "session/load", {"sessionId": "s1", "cwd": "/", "mcpServers": []}
    return "session/resume", {"sessionId": "s1", "cwd": "/", "replayFrom": {"type": "start"}}


def update(kind: str, **fields: Any) -> dict[str, Any]:
    """A notification of the agent."""
    return notification("session/update", {"sessionId": "s1", "update": {"sessionUpdate": kind, **fields}})


def state(name: str, **fields: Any) -> dict[str, Any]:
    return update("state_update", state=name, **fields)


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


async def told(client: Counterpart) -> list[Any]:
    """What a client was sent: kinds of updates, with their text, and the names of requests."""
    sent = []
    for message in await client.receive_all():
        if message.get("method") != "session/update":
            sent.append(message.get("method") or message.get("result"))
            continue
        said = message["params"]["update"]
        content = said.get("content")
        if said["sessionUpdate"] == "state_update":
            sent.append((said["state"], said.get("stopReason")))
        elif isinstance(content, list) and said["sessionUpdate"].endswith("_message"):
            sent.append((said["sessionUpdate"], "".join(block["text"] for block in content)))
        else:
            sent.append((said["sessionUpdate"], content.get("text") if isinstance(content, dict) else None))
    return sent


async def test_an_agent_of_version_two_is_told_in_both(tmp_path: Path) -> None:
    async with hosted(tmp_path, version=2) as its, client_of(its, 1) as one, client_of(its, 2) as two:
        await two.send(request(3, "session/prompt", PROMPT))
        prompt = await its.wire.expect("session/prompt")
        await its.wire.send(update("user_message", messageId="u", content=[text("go")]))
        await its.wire.answer(prompt, {"messageId": "u"})
        await its.wire.send(state("running"), update("agent_message_chunk", messageId="a", content=text("half")))
        await its.wire.send(update("agent_message", messageId="a", content=[text("whole")]))
        await its.wire.send(update("terminal_output_chunk", terminalId="t", data="b2s="))
        await its.wire.send(state("idle", stopReason="end_turn"))
        await until(its.session, lambda: its.session.conversation.is_idle)
        assert await told(one) == [
            ("user_message_chunk", "go"),
            ("agent_message_chunk", "half"),
            ("agent_message_chunk", "whole"),
        ]
        heard = await told(two)
        assert heard[0] == ("user_message", "go")
        heard.remove({"messageId": "u"})
        assert heard[1:] == [
            ("running", None),
            ("agent_message_chunk", "half"),
            ("agent_message", "whole"),
            ("terminal_output_chunk", None),
            ("idle", "end_turn"),
        ]


async def test_an_agent_of_version_one_is_told_in_both(tmp_path: Path) -> None:
    async with hosted(tmp_path) as its, client_of(its, 1) as one, client_of(its, 2) as two:
        await two.send(request(3, "session/prompt", PROMPT))
        prompt = await its.wire.expect("session/prompt")
        await its.wire.send(said("hel"), said("lo"))
        await its.wire.answer(prompt, {"stopReason": "max_tokens"})
        await until(its.session, lambda: its.session.conversation.is_idle)
        assert await told(one) == [
            ("user_message_chunk", "go"),
            ("agent_message_chunk", "hel"),
            ("agent_message_chunk", "lo"),
        ]
        heard = await told(two)
        heard.remove({"messageId": "entry-0"})
        assert heard == [
            ("user_message", "go"),
            ("running", None),
            ("agent_message_chunk", "hel"),
            ("agent_message_chunk", "lo"),
            ("idle", "max_tokens"),
        ]
        async with client_of(its, 2, opens=False) as late:
            await late.send(request(2, *opening(2)))
            messages = await late.receive_all()
            updates = [each["params"]["update"] for each in messages if "params" in each]
            assert [each["sessionUpdate"] for each in updates] == [
                "user_message",
                "agent_message_chunk",
                "state_update",
            ]
            assert [each.get("messageId") for each in updates] == ["entry-0", "entry-1", None]
            assert "result" in messages[-1]


async def test_a_client_of_version_one_takes_a_turn_of_an_agent_of_version_two(tmp_path: Path) -> None:
    async with hosted(tmp_path, version=2) as its, client_of(its, 1) as one:
        await one.send(request(3, "session/prompt", PROMPT))
        await its.wire.answer(await its.wire.expect("session/prompt"), {"messageId": "u"})
        await its.wire.send(state("running"))
        await its.wire.send(update("user_message", messageId="u", content=[text("go")]))
        await its.wire.send(update("tool_call_content_chunk", toolCallId="c", content=_moved()))
        await its.wire.send(state("idle", stopReason="refusal"))
        await until(its.session, lambda: its.session.conversation.is_idle)
        *updates, answer = await one.receive_all()
        (call,) = (each["params"]["update"] for each in updates)  # and not its own prompt
        assert call["content"] == [{"type": "content", "content": text("move /a → /b")}]
        assert answer["result"] == {"stopReason": "refusal"}


def _moved() -> dict[str, Any]:
    return {"type": "diff", "changes": [{"operation": "move", "path": "/b", "oldPath": "/a"}]}


@pytest.mark.parametrize("version", [1, 2])
async def test_a_question_goes_to_clients_of_both_and_is_answered_once(version: int, tmp_path: Path) -> None:
    async with hosted(tmp_path, version=version) as its, client_of(its, 1) as one, client_of(its, 2) as two:
        await its.wire.send(asked("p", "yes") if version == 1 else _asked_in_v2())
        first, other = await last_question(one), await last_question(two)
        assert first["params"]["toolCall"]["title"] in ("Delete everything", "make")
        assert other["params"]["title"] in ("Delete everything", "May I?")
        assert other["params"]["subject"]["type"] == ("tool_call" if version == 1 else "command")
        await two.answer(other, {"outcome": {"outcome": "selected", "optionId": "yes"}})
        assert (await its.wire.receive())["result"] == {"outcome": {"outcome": "selected", "optionId": "yes"}}
        assert [each["method"] for each in await one.receive_all()][-1] == "$/cancel_request"


async def last_question(client: Counterpart) -> Any:
    """The request as it's asked in the end. An agent that acts itself gets a note, which asks again."""
    return [each for each in await client.receive_all() if each["method"] == "session/request_permission"][-1]


def _asked_in_v2() -> dict[str, Any]:
    options = [{"optionId": "yes", "name": "Yes", "kind": "allow_once"}]
    subject = {"type": "command", "command": "make", "cwd": "/w"}
    params = {"sessionId": "s1", "title": "May I?", "subject": subject, "options": options}
    return request("p", "session/request_permission", params)


async def test_a_form_of_an_agent_of_version_two_goes_to_clients_of_both(tmp_path: Path) -> None:
    async with hosted(tmp_path, version=2) as its, client_of(its, 1) as one, client_of(its, 2) as two:
        await its.wire.send(request("f", "elicitation/create", FORM))
        await two.expect("elicitation/create")
        await one.answer(await one.expect("elicitation/create"), {"action": "accept", "content": {}})
        assert (await its.wire.receive())["result"] == {"action": "accept", "content": {}}


@pytest.mark.parametrize("version", [1, 2])
async def test_a_client_is_asked_only_what_it_offers(tmp_path: Path, version: int) -> None:
    page = {"sessionId": "s1", "mode": "url", "message": "Look", "url": "https://good.example", "elicitationId": "e"}
    async with (
        hosted(tmp_path) as its,
        client_of(its, version, elicits={}) as none,
        client_of(its, version, elicits={"url": {}}) as pages,
    ):
        await its.wire.send(request("f", "elicitation/create", FORM), request("p", "elicitation/create", page))
        await until(its.session, lambda: len(its.session.conversation.elicitations) == 2)
        asked_for = await pages.expect("elicitation/create")
        assert asked_for["params"]["mode"] == "url"
        assert await none.receive_all() == []
        async with client_of(its, version, elicits={"form": {}}, opens=False) as forms:
            await forms.send(request(2, *opening(version)))
            (form,) = [each for each in await forms.receive_all() if each.get("method") == "elicitation/create"]
            await forms.answer(form, {"action": "accept", "content": {}})
        assert (await its.wire.receive())["result"] == {"action": "accept", "content": {}}
        await pages.answer(asked_for, {"action": "decline"})
        assert (await its.wire.receive())["result"] == {"action": "decline"}


async def test_a_cancelled_turn_ends_for_clients_of_both(tmp_path: Path) -> None:
    async with hosted(tmp_path, version=2) as its, client_of(its, 1) as one, client_of(its, 2) as two:
        await one.send(request(3, "session/prompt", PROMPT))
        await its.wire.answer(await its.wire.expect("session/prompt"), {"messageId": "u"})
        await its.wire.send(state("running"))
        await until(its.session, lambda: its.session.conversation.has_run)
        await two.send(notification("session/cancel", {"sessionId": "s1"}))
        await its.wire.expect("session/cancel")
        await its.wire.send(state("idle", stopReason="cancelled"))
        await until(its.session, lambda: its.session.conversation.is_idle)
        assert (await one.receive_all())[-1]["result"] == {"stopReason": "cancelled"}
        assert (await told(two))[-1] == ("idle", "cancelled")


async def test_a_held_prompt_of_version_two_is_answered_as_cancelled_with_the_turn(tmp_path: Path) -> None:
    async with hosted(tmp_path) as its, client_of(its, 1) as one, client_of(its, 2) as two:
        await one.send(request(3, "session/prompt", PROMPT))
        running = await its.wire.expect("session/prompt")
        await two.send(request(3, "session/prompt", PROMPT))
        await settle()
        await two.send(notification("session/cancel", {"sessionId": "s1"}))
        await settle()
        assert [each["error"]["code"] for each in await two.receive_all() if "error" in each] == [-32800]
        await its.wire.answer(running, {"stopReason": "end_turn"})


async def test_options_commands_and_terminals_are_in_the_terms_of_version_two(tmp_path: Path) -> None:
    option = {
        "id": "m",
        "name": "Mode",
        "type": "select",
        "currentValue": "a",
        "options": [{"value": "a", "name": "A"}],
    }
    async with hosted(tmp_path, configOptions=[option]) as its, client_of(its, 2, opens=False) as two:
        await two.send(request(2, *opening(2)))
        result = (await two.receive_all())[-1]["result"]
        assert result["configOptions"][0]["configId"] == "m"
        await two.send(
            request(3, "session/set_config_option", {"sessionId": "s1", "configId": "m", "type": "id", "value": "a"})
        )
        asked_for = await its.wire.expect("session/set_config_option")
        await its.wire.answer(asked_for, {"configOptions": [option]})
        assert (await two.receive_all())[-1]["result"]["configOptions"][0]["configId"] == "m"


async def test_terminals_of_ours_are_the_same_as_those_of_an_agent_of_version_two(tmp_path: Path) -> None:
    """Whoever attaches late sees what who was there saw, and both continue alike."""
    async with hosted(tmp_path, version=2) as its, anyio.create_task_group() as tasks:
        one = await its.attach("one")
        tasks.start_soon(one.send_prompt, REPLY)
        prompt = await its.wire.expect("session/prompt")
        await its.wire.send(state("running"), update("user_message", messageId="u", content=[text("go")]))
        await its.wire.answer(prompt, {"messageId": "u"})
        opened = {"terminalId": "t", "command": "make", "cwd": "/w", "size": {"cols": 80, "rows": 24}}
        await its.wire.send(update("terminal_update", **opened, capabilities={"cancel": {}}))
        await its.wire.send(
            update("tool_call_update", toolCallId="c", content=[{"type": "terminal", "terminalId": "t"}])
        )
        await its.wire.send(update("terminal_output_chunk", terminalId="t", data="b2sK"))
        await until(its.session, lambda: bool(its.session.conversation.terminals))
        other = await its.attach("other")
        await its.wire.send(update("agent_message_chunk", messageId="a", content=text("done")))
        await its.wire.send(state("idle", stopReason="end_turn"))
        for client in (one, other):
            await until(client, lambda client=client: client.conversation.is_idle)  # type: ignore[misc]
        assert same(its.session, one, other)
        assert _messages(other) == ["go", "done"]
        async with anyio.create_task_group() as asking:
            asking.start_soon(other.cancel_terminal, TerminalId("t"))
            await its.wire.answer(await its.wire.expect("terminal/cancel"), {})


async def test_a_call_with_the_id_of_an_earlier_one_is_another_for_all_who_attach(tmp_path: Path) -> None:
    async with hosted(tmp_path) as its, client_of(its, 2) as two, anyio.create_task_group() as tasks:
        one = await its.attach("one")
        for title in ("Read", "Write"):
            tasks.start_soon(one.send_prompt, REPLY)
            prompt = await its.wire.expect("session/prompt")
            await its.wire.send(update("tool_call", toolCallId="c", title=title, status="completed"))
            await its.wire.answer(prompt, {"stopReason": "end_turn"})
            await until(one, lambda: one.conversation.is_idle)
        late = await its.attach("late")
        calls = [entry for entry in late.conversation.entries if isinstance(entry, ToolCallEntry)]
        assert [entry.call.title for entry in calls] == ["Read", "Write"]
        assert same(its.session, one, late)
        for messages in (await two.receive_all(), await _history(its, 2)):
            assert [each.begins for each in _calls(messages)] == [True, True]


async def _history(its: Hosted, version: int) -> list[dict[str, Any]]:
    """What a client that attaches late is sent."""
    async with client_of(its, version, opens=False) as client:
        await client.send(request(2, *opening(version)))
        return await client.receive_all()


def _calls(messages: list[dict[str, Any]]) -> list[ToolCallReported]:
    """The calls that a client of version two reads from what it was sent."""
    said = [message["params"] for message in messages if message.get("method") == "session/update"]
    return [each for params in said for each in read_update(params)[1] if isinstance(each, ToolCallReported)]


def _messages(session: Session) -> list[str]:
    return [entry.text for entry in session.conversation.entries if isinstance(entry, Message)]


async def test_two_of_our_terminals_prompt_an_agent_of_version_two(tmp_path: Path) -> None:
    async with hosted(tmp_path, version=2) as its, anyio.create_task_group() as tasks:
        one, other = await its.attach("one"), await its.attach("other")
        tasks.start_soon(one.send_prompt, REPLY)
        await its.wire.answer(await its.wire.expect("session/prompt"), {"messageId": "u1"})
        await its.wire.send(state("running"), update("agent_message_chunk", messageId="a", content=text("so far")))
        await until(other, lambda: agent_texts(other) == ["so far"])
        tasks.start_soon(other.steer, REPLY)
        await its.wire.answer(await its.wire.expect("session/prompt"), {"messageId": "u2"})
        await its.wire.send(update("user_message", messageId="u2", content=[text("go")]))
        await its.wire.send(state("idle", stopReason="end_turn"), state("running"))
        await its.wire.send(state("idle", stopReason="end_turn"))
        for client in (one, other):
            await until(client, lambda client=client: client.conversation.is_idle)  # type: ignore[misc]
        assert same(its.session, one, other)
