"""Existing sessions: loaded with their history, resumed without it, or opened in the best available way."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import pytest

from acp_tui.client.agents.command import Phase
from acp_tui.client.errors import (
    AgentLost,
    OpeningInProgress,
    PromptInProgress,
    SessionClosed,
)
from acp_tui.conversation.facts import SessionId
from support.agents import (
    EVERY_SESSION_CALL,
    REPLY,
    agent_texts,
    asked,
    capable,
    exchange,
    in_turn,
    open_session,
    refused,
    said,
    settle,
)

S1 = SessionId("s1")
CANCELLED = {"outcome": {"outcome": "cancelled"}}


async def test_a_loaded_session_has_its_history_when_it_is_there(tmp_path: Path):
    """R-SESS-3, R-SESS-4, R-ORD-2."""
    async with capable() as (agent, wire):
        loading = agent.load_session(S1, tmp_path)
        session = await exchange(loading, wire, "session/load", said("from "), said("before"))
        assert agent_texts(session) == ["from before"]
        assert agent.sessions == {"s1": session}


async def test_while_a_session_loads_messages_are_shown_and_requests_served(tmp_path: Path):
    """R-SESS-4: updates and requests for its id are accepted before the response."""
    async with capable() as (agent, wire), anyio.create_task_group() as tasks:
        changes: list[Any] = []
        tasks.start_soon(agent.load_session, S1, tmp_path, changes.append)
        loading = await wire.expect("session/load")
        assert loading["params"] == {"sessionId": "s1", "cwd": str(tmp_path), "mcpServers": []}
        await wire.send(said("early"), asked(7, "a"))
        await settle()
        assert changes
        [key] = agent.sessions[S1].conversation.permissions
        agent.sessions[S1].answer_permission(key, "a")
        assert (await wire.receive())["id"] == 7
        await wire.answer(loading, None)


@pytest.mark.parametrize("result", [None, {}, {"modes": None, "vendor": 1}])
async def test_a_load_is_answered_by_null_or_by_nothing_much(tmp_path: Path, result: Any):
    """R-SESS-5, R-RPC-8."""
    async with capable() as (agent, wire):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(agent.load_session, S1, tmp_path)
            await wire.answer(await wire.expect("session/load"), result)
        assert agent.sessions[S1].conversation.options == ()


async def test_a_session_loaded_while_it_is_open_begins_afresh_and_replaces_the_old_one(tmp_path: Path):
    """R-SESS-5: nothing appears twice; what waited in the old session is withdrawn."""
    async with capable() as (agent, wire):
        old = await open_session(agent, wire, tmp_path)
        await wire.send(said("history"), asked(1, "a"))
        await settle()
        new = await exchange(agent.load_session(S1, tmp_path), wire, "session/load", said("history"))
        assert (await wire.receive())["result"] == CANCELLED
        assert (agent_texts(new), agent_texts(old)) == (["history"], ["history"])
        await wire.send(said(", and more"))
        await settle()
        assert (agent_texts(new), agent_texts(old)) == (["history, and more"], ["history"])
        assert agent.sessions == {"s1": new}
        with pytest.raises(SessionClosed):
            await old.send_prompt(REPLY)


async def test_a_refused_load_leaves_what_was_open(tmp_path: Path):
    async with capable() as (agent, wire):
        old = await open_session(agent, wire, tmp_path)
        await refused(agent.load_session(S1, tmp_path), wire, "session/load")
        await refused(agent.load_session(SessionId("s2"), tmp_path), wire, "session/load", -32002)
        assert (agent.sessions, agent.phase) == ({"s1": old}, Phase.READY)
        async with in_turn(old, wire):
            await wire.send(said("still here"))
        assert agent_texts(old) == ["still here"]


async def test_an_unreadable_answer_to_a_load_leaves_what_was_open(tmp_path: Path):
    async with capable() as (agent, wire), anyio.create_task_group() as tasks:

        async def load() -> None:
            with pytest.raises(AgentLost, match="broke the protocol"):
                await agent.load_session(S1, tmp_path)

        tasks.start_soon(load)
        await wire.answer(await wire.expect("session/load"), "loaded")
        await settle()
        assert agent.sessions == {}


async def test_a_session_is_opened_once_at_a_time(tmp_path: Path):
    async with capable() as (agent, wire), anyio.create_task_group() as tasks:
        tasks.start_soon(agent.load_session, S1, tmp_path)
        loading = await wire.expect("session/load")
        with pytest.raises(OpeningInProgress):
            await agent.load_session(S1, tmp_path)
        await wire.answer(loading, {})


async def test_a_session_is_not_loaded_in_the_middle_of_its_turn(tmp_path: Path):
    """R-PROMPT-3: the fresh session wouldn't know about the prompt in flight."""
    async with capable() as (agent, wire):
        session = await open_session(agent, wire, tmp_path)
        async with in_turn(session, wire):
            with pytest.raises(PromptInProgress):
                await agent.load_session(S1, tmp_path)
            assert await wire.receive_all() == []


async def test_a_replaced_session_sends_nothing_any_more(tmp_path: Path):
    """R-SESS-12: its ID now belongs to another."""
    async with capable() as (agent, wire):
        old = await open_session(agent, wire, tmp_path)
        new = await exchange(agent.load_session(S1, tmp_path), wire, "session/load")
        async with in_turn(new, wire):
            old.cancel()
            await agent.close_session(old)
            with pytest.raises(SessionClosed):
                await old.set_option("mode", "ask")
            assert await wire.receive_all() == []
        assert agent.sessions == {"s1": new}


async def test_what_was_said_of_a_session_before_it_is_loaded_is_not_its_history(tmp_path: Path):
    """R-SESS-5."""
    async with capable() as (agent, wire):
        await wire.send(said("stray"))
        session = await exchange(agent.load_session(S1, tmp_path), wire, "session/load", said("history"))
        assert agent_texts(session) == ["history"]


async def test_the_end_of_the_agent_reaches_the_loading_session_and_the_one_it_replaces(tmp_path: Path):
    async with capable() as (agent, wire):
        old = await open_session(agent, wire, tmp_path)
        async with anyio.create_task_group() as tasks:

            async def load() -> None:
                with pytest.raises(AgentLost, match="closed its output"):
                    await agent.load_session(S1, tmp_path)

            tasks.start_soon(load)
            await wire.expect("session/load")
            await wire.close_output()
        assert not old.conversation.is_connected


async def test_a_resumed_session_has_the_options_of_the_response_and_no_history(tmp_path: Path):
    """R-SESS-6."""
    async with capable() as (agent, wire):
        modes = {"currentModeId": "ask", "availableModes": [{"id": "ask", "name": "Ask"}]}
        session = await exchange(agent.resume_session(S1, tmp_path), wire, "session/resume", modes=modes)
        assert [option.value for option in session.conversation.options] == ["ask"]
        assert session.conversation.entries == []


async def test_an_open_session_that_is_resumed_keeps_its_conversation(tmp_path: Path):
    """R-SESS-6."""
    async with capable() as (agent, wire):
        session = await open_session(agent, wire, tmp_path)
        await wire.send(said("kept"))
        extra = tmp_path / "extra"
        resuming = agent.resume_session(S1, tmp_path, additional_directories=[extra])
        assert await exchange(resuming, wire, "session/resume") is session
        assert agent_texts(session) == ["kept"]
        assert session.additional_directories == (extra,)


@pytest.mark.parametrize(
    ("capabilities", "method"),
    [
        (EVERY_SESSION_CALL, "session/load"),
        ({"loadSession": True}, "session/load"),
        ({"sessionCapabilities": {"resume": {}}}, "session/resume"),
    ],
)
async def test_an_old_session_is_loaded_where_that_can_be_and_else_resumed(
    tmp_path: Path, capabilities: Any, method: str
):
    """R-SESS-10."""
    async with capable(capabilities) as (agent, wire):
        session = await exchange(agent.open_session(S1, tmp_path), wire, method)
        assert agent.sessions == {"s1": session}
