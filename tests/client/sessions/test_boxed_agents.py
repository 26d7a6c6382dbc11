"""An agent in a sandbox: its first question says so, also to whoever is attached to its host."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from acp_tui.client.errors import AgentLost
from acp_tui.client.sandbox.sandbox import REPLACED
from acp_tui.client.sessions.session import Session
from acp_tui.conversation.entries import Failure
from acp_tui.conversation.facts import WHY_ACTS_ITSELF, PermissionRequest
from acp_tui.conversation.updates import ClientRemark, Disconnected
from support.agents import Counterpart, in_memory, notification, settle, shake_hands, until
from support.hosts import hosted
from support.settings import sandbox_of

OPTIONS = [
    {"optionId": "y", "name": "Allow", "kind": "allow_once"},
    {"optionId": "n", "name": "Reject", "kind": "reject_once"},
]


async def ask(wire: Counterpart, number: int) -> None:
    # The title is where version 2 has it, and the tool call where version 1 has it.
    call = {"toolCallId": f"c{number}", "title": "May I?"}
    params = {"sessionId": "s1", "title": "May I?", "toolCall": call, "options": OPTIONS}
    message = {"jsonrpc": "2.0", "id": number, "method": "session/request_permission", "params": params}
    await wire.send(message)


async def asked(session: Session, count: int = 1) -> list[PermissionRequest]:
    await until(session, lambda: len(session.conversation.permissions) == count)
    return [*session.conversation.permissions.values()]


def note(session: Session) -> str:
    """The note on its last question: a host asks again if a question has changed."""
    return next((asked.note or "" for asked in reversed(session.conversation.permissions.values())), "")


async def test_the_first_question_of_a_session_says_what_the_sandbox_allows(tmp_path: Path) -> None:
    sandbox = sandbox_of(tmp_path, {})
    async with hosted(tmp_path, sandbox=sandbox) as host:
        await ask(host.wire, 7)
        await ask(host.wire, 8)
        first, second = await asked(host.session, 2)
        assert (first.note, second.note) == (sandbox.unasked_words, None)


async def test_an_agent_that_acts_itself_is_confined_by_its_sandbox(tmp_path: Path) -> None:
    sandbox = sandbox_of(tmp_path, {})
    async with hosted(tmp_path, version=2, sandbox=sandbox) as host:
        await ask(host.wire, 7)
        (first,) = await asked(host.session)
        assert first.note == sandbox.unasked_words


@pytest.mark.parametrize("version", [1, 2])
async def test_who_attaches_to_a_host_sees_that_its_agent_is_in_a_sandbox(tmp_path: Path, version: int) -> None:
    sandbox = sandbox_of(tmp_path, {})
    async with hosted(tmp_path, version=version, sandbox=sandbox) as host:
        client = await host.connect()
        session = await client.load_session(host.session.session_id, tmp_path)
        await ask(host.wire, 7)
        await until(session, lambda: bool(note(session)))
        assert client.sandbox_name == "workspace"
        assert sandbox.unasked_words in note(session)
        assert WHY_ACTS_ITSELF not in note(session)


async def test_only_a_host_is_believed_about_a_sandbox() -> None:
    async with in_memory() as (agent, wire):
        meta = {"acp_tui": {"sandbox": "workspace"}}
        await shake_hands(agent, wire, answer={"protocolVersion": 1, "agentCapabilities": {"_meta": meta}})
        assert agent.sandbox_name == ""


@pytest.mark.parametrize("is_boxed", [True, False])
async def test_an_agent_that_ends_at_its_start_may_lack_what_its_sandbox_keeps(tmp_path: Path, is_boxed: bool) -> None:
    sandbox = sandbox_of(tmp_path, {}) if is_boxed else None
    async with in_memory(sandbox=sandbox) as (agent, wire):
        await wire.close_output()
        with pytest.raises(AgentLost) as caught:
            await agent.initialize()
        assert ("passes only some variables" in caught.value.hint) is is_boxed
        assert ("env and readable under [sandbox.workspace] add more" in caught.value.hint) is is_boxed


async def test_an_agent_that_ends_in_a_session_says_nothing_of_its_sandbox(tmp_path: Path) -> None:
    async with hosted(tmp_path, sandbox=sandbox_of(tmp_path, {})) as host:
        await host.wire.close_output()
        await host.host.agent.ended.wait()
        assert host.host.agent.lost is not None
        assert host.host.agent.lost.hint == ""


async def test_a_refusal_of_the_sandbox_is_explained_once_where_it_shows(tmp_path: Path) -> None:
    async with hosted(tmp_path, sandbox=sandbox_of(tmp_path, {})) as host:
        for number in (1, 2):
            said = {"type": "content", "content": {"type": "text", "text": f"cat: {Path.home()}/x: Permission denied"}}
            update = {"sessionUpdate": "tool_call", "toolCallId": f"c{number}", "title": "cat", "content": [said]}
            await host.wire.send(notification("session/update", {"sessionId": "s1", "update": update}))
            done = {"sessionUpdate": "tool_call_update", "toolCallId": f"c{number}", "status": "failed"}
            await host.wire.send(notification("session/update", {"sessionId": "s1", "update": done}))
        await until(host.session, lambda: len(host.session.conversation.entries) >= 3)
        await settle()
        remarks = [entry.text for entry in host.session.conversation.entries if isinstance(entry, ClientRemark)]
        assert len(remarks) == 1
        assert remarks[0].startswith("The sandbox workspace hides ~/x: readable = ")


async def test_an_agent_that_ends_because_of_the_sandbox_is_explained(tmp_path: Path) -> None:
    async with hosted(tmp_path, sandbox=sandbox_of(tmp_path, {})) as host:
        said = f"Traceback:\nPermissionError: [Errno 13] Permission denied: '{Path.home()}/x'"
        host.session.apply(Disconnected("It exited with code 1", said))
        why, remark = host.session.conversation.entries[-2:]
        assert isinstance(why, Failure)
        assert isinstance(remark, ClientRemark)
        assert remark.text.startswith("The sandbox workspace hides ~/x: readable = ")


async def test_what_the_sandbox_no_longer_keeps_is_told_once(tmp_path: Path) -> None:
    config = tmp_path / "config"
    config.touch()
    sandbox = sandbox_of(tmp_path, {})
    sandbox = replace(sandbox, box=replace(sandbox.box, kept={config: config.stat().st_ino + 1}))
    async with hosted(tmp_path, sandbox=sandbox) as host:
        for number in (1, 2):
            done = {"sessionUpdate": "tool_call", "toolCallId": f"c{number}", "title": "cat", "status": "completed"}
            await host.wire.send(notification("session/update", {"sessionId": "s1", "update": done}))
        await until(host.session, lambda: len(host.session.conversation.entries) >= 3)
        await settle()
        remarks = [entry.text for entry in host.session.conversation.entries if isinstance(entry, ClientRemark)]
        assert remarks == [REPLACED.format(path=config)]
