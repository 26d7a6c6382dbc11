"""The handshake: what is offered and agreed on, and the messages when it fails."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import anyio
import pytest

from acp_tui import __version__
from acp_tui.client.agents.command import AgentCommand, Phase
from acp_tui.client.errors import AgentLost, AgentRefused, AuthenticationRequired, UnsupportedProtocol
from acp_tui.protocol.roles import ClientOffer
from support.agents import in_memory, open_session, settle, shake_hands

AUTH_METHODS = [{"id": "key", "name": "API key"}, {"id": "tty", "name": "In a terminal", "type": "terminal"}]


async def test_the_client_offers_exactly_what_it_serves():
    """R-INIT-2, R-INIT-6."""
    async with in_memory() as (agent, wire):
        request = await shake_hands(agent, wire)
    assert request["params"] == {
        "protocolVersion": 2,
        "clientInfo": {"name": "acp-tui", "title": "acp-tui", "version": __version__},
        "info": {"name": "acp-tui", "title": "acp-tui", "version": __version__},
        "capabilities": {},
        "clientCapabilities": {
            "fs": {"readTextFile": True, "writeTextFile": True},
            "terminal": True,
            "session": {"configOptions": {"boolean": {}}, "notices": {}, "compaction": {}},
            "subagents": {},
            "plan": {},
            "_meta": {"terminal_output": True},
        },
    }


async def test_what_is_switched_off_is_not_offered():
    async with in_memory(ClientOffer(False, False, False)) as (agent, wire):
        capabilities = (await shake_hands(agent, wire))["params"]["clientCapabilities"]
    assert not any(capabilities.get("fs", {}).values())
    assert not capabilities.get("terminal")


async def test_nothing_is_sent_before_initialize_is_answered(tmp_path: Path):
    """R-INIT-1."""
    async with in_memory() as (agent, wire), anyio.create_task_group() as tasks:

        async def work() -> None:
            await agent.initialize()
            await agent.new_session(tmp_path)

        tasks.start_soon(work)
        request = await wire.expect("initialize")
        assert await wire.receive_all() == []
        await wire.answer(request, {"protocolVersion": 1})
        opening = await wire.expect("session/new")
        await wire.answer(opening, {"sessionId": "s1"})
    assert opening["params"] == {"cwd": str(tmp_path), "mcpServers": []}


@pytest.mark.parametrize(
    ("info", "title"),
    [
        ({"name": "n", "title": "T", "version": "1"}, "T"),
        ({"name": "n", "version": "1"}, "n"),
        (None, "played"),
    ],
)
async def test_the_agent_is_called_by_its_title_or_name_or_command(info: Any, title: str):
    """R-INIT-8."""
    async with in_memory() as (agent, wire), anyio.create_task_group() as tasks:
        tasks.start_soon(agent.initialize)
        await wire.answer(await wire.expect("initialize"), {"protocolVersion": 1, "agentInfo": info})
        await settle()
        assert agent.title == title


async def test_an_agent_that_the_user_has_a_name_for_has_that_name():
    command = AgentCommand("claude", ("played",), is_listed=True)
    async with in_memory(command=command) as (agent, wire), anyio.create_task_group() as tasks:
        tasks.start_soon(agent.initialize)
        info = {"name": "claude-agent-acp", "title": "Claude Agent", "version": "1"}
        await wire.answer(await wire.expect("initialize"), {"protocolVersion": 1, "agentInfo": info})
        await settle()
        assert agent.title == "claude"


async def test_another_protocol_version_is_said():
    """R-INIT-4."""
    async with in_memory() as (agent, wire), anyio.create_task_group() as tasks:

        async def initialize() -> None:
            with pytest.raises(UnsupportedProtocol, match=r"version 7 of ACP.*versions 1 and 2") as failure:
                await agent.initialize()
            assert "update" in failure.value.hint

        tasks.start_soon(initialize)
        await wire.answer(await wire.expect("initialize"), {"protocolVersion": 7})


@pytest.mark.parametrize("result", [None, {}, {"protocolVersion": "one"}, 5])
async def test_an_unreadable_handshake_is_a_breach_of_the_protocol(result: Any):
    async with in_memory() as (agent, wire), anyio.create_task_group() as tasks:

        async def initialize() -> None:
            with pytest.raises(AgentLost, match="broke the protocol"):
                await agent.initialize()

        tasks.start_soon(initialize)
        await wire.answer(await wire.expect("initialize"), result)


async def test_a_wanted_login_names_the_methods_of_the_handshake_and_can_be_done(tmp_path: Path):
    """R-AUTH-2, R-AUTH-3, R-AUTH-4."""
    async with in_memory() as (agent, wire), anyio.create_task_group() as tasks:

        async def work() -> None:
            await agent.initialize()
            with pytest.raises(AuthenticationRequired) as wanted:
                await agent.new_session(tmp_path)
            assert [method.method_id for method in wanted.value.methods] == ["key", "tty"]
            assert "API key" in wanted.value.hint
            await agent.authenticate("key")

        tasks.start_soon(work)
        answer = {"protocolVersion": 1, "authMethods": AUTH_METHODS}
        await wire.answer(await wire.expect("initialize"), answer)
        await wire.refuse(await wire.expect("session/new"), -32000, "whatever the words")
        login = await wire.expect("authenticate")
        assert login["params"] == {"methodId": "key"}
        await wire.answer(login, {})
    assert agent.title == "played"


async def test_another_error_is_a_refusal_whatever_its_words(tmp_path: Path):
    """R-ERR-2, R-ERR-3."""
    async with in_memory() as (agent, wire), anyio.create_task_group() as tasks:
        await shake_hands(agent, wire)

        async def work() -> None:
            with pytest.raises(AgentRefused, match="Authentication required") as refusal:
                await agent.new_session(tmp_path)
            assert (refusal.value.code, refusal.value.detail) == (-32603, "the cause")

        tasks.start_soon(work)
        opening = await wire.expect("session/new")
        error = {"code": -32603, "message": "Authentication required", "data": {"details": "the cause"}}
        await wire.send({"jsonrpc": "2.0", "id": opening["id"], "error": error})


async def test_a_session_is_opened_after_a_refused_one(tmp_path: Path):
    async with in_memory() as (agent, wire):
        await shake_hands(agent, wire)
        with pytest.raises(ExceptionGroup) as failures:
            await open_session(agent, wire, tmp_path, session_id=5)  # type: ignore[arg-type]
        assert failures.group_contains(AgentLost, match="broke the protocol")
        assert (await open_session(agent, wire, tmp_path)).session_id == "s1"


async def test_an_agent_that_answers_too_late_is_ended_and_the_user_told_what_to_do():
    """R-INIT-10."""
    async with in_memory() as (agent, _):
        with pytest.raises(AgentLost, match="hasn't answered within") as caught:
            await agent.initialize(limit_s=0.01)
        assert "start_limit_s" in caught.value.hint
        await agent.stop()
        assert agent.phase is Phase.GONE


async def test_an_agent_that_asks_before_it_answers_may_take_its_time(monkeypatch: pytest.MonkeyPatch):
    """R-INIT-10, R-ELIC-1."""
    offer = ClientOffer(elicitation_form=True)
    async with in_memory(offer) as (agent, wire), anyio.create_task_group() as tasks:
        tasks.start_soon(agent.initialize, 60)
        request = await wire.expect("initialize")
        schema = {"type": "object", "properties": {}}
        form = {"mode": "form", "message": "Who?", "requestedSchema": schema, "requestId": request["id"]}
        await wire.send({"jsonrpc": "2.0", "id": 1, "method": "elicitation/create", "params": form})
        await settle()
        [key] = agent.elicitations
        with monkeypatch.context() as patched:
            two_minutes_later = anyio.current_time() + 120
            patched.setattr(asyncio.get_running_loop(), "time", lambda: two_minutes_later)
            await settle()
        assert agent.lost is None
        agent.questions.answer(key, "accept", {})
        assert (await wire.receive())["result"]["action"] == "accept"
        await wire.answer(request, {"protocolVersion": 1})
