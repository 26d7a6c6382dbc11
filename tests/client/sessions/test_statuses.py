"""What an agent says of its logins and its sessions: asked only if it offers that, and heard whenever it tells."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest

from acp_tui.client.sessions.agent import Agent
from acp_tui.conversation.facts import Account, AuthStatus, SessionId, SessionStatus
from support.agents import Counterpart, exchange, in_memory, notification, refused, settle, shake_hands

OFFERS: dict[int, dict[str, Any]] = {
    1: {"agentCapabilities": {"sessionCapabilities": {"status": {}}, "auth": {"status": {}}}},
    2: {"info": {"name": "two", "version": "1"}, "capabilities": {"session": {"status": {}}, "auth": {"status": {}}}},
}
NOTHING: dict[int, dict[str, Any]] = {1: {}, 2: {"info": {"name": "two", "version": "1"}}}
S1 = SessionId("s1")
both_versions = pytest.mark.parametrize("version", [1, 2])


@asynccontextmanager
async def agent_of(version: int, said: dict[int, dict[str, Any]]) -> AsyncIterator[tuple[Agent, Counterpart]]:
    async with in_memory() as (agent, wire):
        await shake_hands(agent, wire, answer={"protocolVersion": version, **said[version]})
        yield agent, wire


@both_versions
async def test_an_agent_that_offers_neither_is_asked_neither(version: int) -> None:
    async with agent_of(version, NOTHING) as (agent, wire):
        await agent.ask_auth_status()
        assert await agent.session_status(S1) is None
        assert await wire.receive_all() == []
        assert not agent.tells_login


@both_versions
async def test_an_agent_that_offers_it_says_who_is_logged_in(version: int) -> None:
    async with agent_of(version, OFFERS) as (agent, wire):
        assert agent.auth_status is None
        accounts = [{"label": "Key", "active": True}]
        await exchange(agent.ask_auth_status(), wire, "auth/status", state="authenticated", accounts=accounts)
        assert agent.auth_status == AuthStatus("authenticated", (Account("Key", is_active=True),))


@both_versions
@pytest.mark.parametrize("method", ["auth/status_update", "_auth/status_update"])
async def test_what_it_tells_by_itself_is_heard_under_either_name(version: int, method: str) -> None:
    async with agent_of(version, NOTHING) as (agent, wire):
        heard: list[str] = []
        agent.auth_listeners.append(lambda: heard.append(agent.auth_status.state if agent.auth_status else ""))
        await wire.send(notification(method, {"state": "unauthenticated"}))
        await wire.send(notification(method, {"authStatus": {"kind": "api_key", "label": "Key"}}))
        await wire.send(notification(method, {"authStatus": None}), notification(method, [5]))
        await settle()
        assert heard == ["unauthenticated", "authenticated"]
        assert agent.tells_login
        assert len(agent.log) == 2, "what couldn't be read is noted"
        assert await wire.receive_all() == [], "a notification isn't answered"


@both_versions
async def test_a_refused_question_leaves_what_is_known(version: int) -> None:
    async with agent_of(version, OFFERS) as (agent, wire):
        await wire.send(notification("auth/status_update", {"state": "authenticated"}))
        await refused(agent.ask_auth_status(), wire, "auth/status")
        assert agent.auth_status == AuthStatus("authenticated")


@both_versions
async def test_a_login_that_is_wanted_before_the_answer_is_the_answer(version: int) -> None:
    async with agent_of(version, OFFERS) as (agent, wire), anyio.create_task_group() as tasks:
        tasks.start_soon(agent.ask_auth_status)
        await wire.refuse(await wire.expect("auth/status"), -32000, "log in first")
        await settle()
        assert agent.auth_status == AuthStatus("unauthenticated")


@both_versions
async def test_a_session_is_asked_about_without_being_opened(version: int) -> None:
    async with agent_of(version, OFFERS) as (agent, wire):
        status = await exchange(agent.session_status(S1), wire, "session/status", status="open")
        assert status == SessionStatus(True)
        assert not agent.sessions
        assert await wire.receive_all() == []


async def test_a_session_that_the_agent_does_not_know_has_no_status() -> None:
    async with agent_of(1, OFFERS) as (agent, wire), anyio.create_task_group() as tasks:
        told: list[SessionStatus | None] = []

        async def ask() -> None:
            told.append(await agent.session_status(S1))

        tasks.start_soon(ask)
        asked = await wire.expect("session/status")
        assert asked["params"] == {"sessionId": "s1"}
        await wire.refuse(asked, -32002, "unknown", {"sessionId": "s1"})
        await settle()
        assert told == [None]
