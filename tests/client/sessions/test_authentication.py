"""Logging in and out: which methods the agent may be asked for, when a call is repeated, what a terminal would run."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from acp_tui.client.agents.command import AgentCommand, Phase
from acp_tui.client.errors import AgentRefused, AuthenticationRequired, Unsupported
from acp_tui.client.sessions.agent import Agent
from acp_tui.client.sessions.driver import logged_in
from acp_tui.conversation.facts import AuthMethod
from acp_tui.protocol.roles import ClientOffer
from support.agents import Counterpart, in_memory, open_session, settle, shake_hands

METHODS = [
    {"id": "key", "name": "API key", "type": "env_var", "vars": []},
    {"id": "tty", "name": "Terminal", "type": "terminal", "args": ["--login"], "env": {"A": "theirs"}},
]
LOGOUT: Any = {"auth": {"logout": {}}}


@asynccontextmanager
async def with_methods(
    offer: ClientOffer | None = None, capabilities: Any = LOGOUT
) -> AsyncIterator[tuple[Agent, Counterpart]]:
    async with in_memory(offer) as (agent, wire):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(agent.initialize)
            result = {"protocolVersion": 1, "authMethods": METHODS, "agentCapabilities": capabilities}
            await wire.answer(await wire.expect("initialize"), result)
        yield agent, wire


async def test_a_call_that_wants_a_login_is_made_again_after_it(tmp_path: Path):
    """R-AUTH-1, R-AUTH-2, R-AUTH-3, R-AUTH-4."""
    async with with_methods() as (agent, wire), anyio.create_task_group() as tasks:
        offered: list[list[str]] = []
        reasons: list[str] = []

        async def log_in(wanted: AuthenticationRequired) -> AuthMethod:
            offered.append([method.method_id for method in wanted.methods])
            reasons.append(wanted.detail)
            await agent.authenticate("key")
            return wanted.methods[0]

        async def work() -> None:
            session = await logged_in(lambda: agent.new_session(tmp_path), log_in)
            assert session.session_id == "s1"

        tasks.start_soon(work)
        for _ in range(2):
            await wire.refuse(await wire.expect("session/new"), -32000, "whatever the words")
            login = await wire.expect("authenticate")
            assert login["params"] == {"methodId": "key"}
            await wire.answer(login, None)
        await wire.answer(await wire.expect("session/new"), {"sessionId": "s1"})
        await settle()
        assert offered == [["key", "tty"]] * 2
        first, second = reasons
        assert first == "whatever the words"
        assert second.startswith("whatever the words\nThe agent accepted “API key”, but still needs a login")


async def test_a_call_is_not_made_again_where_no_login_is_chosen(tmp_path: Path):
    async with with_methods() as (agent, wire), anyio.create_task_group() as tasks:

        async def log_in(_: AuthenticationRequired) -> None:
            return None

        async def work() -> None:
            with pytest.raises(AuthenticationRequired):
                await logged_in(lambda: agent.new_session(tmp_path), log_in)

        tasks.start_soon(work)
        await wire.refuse(await wire.expect("session/new"), -32000, "log in")
        assert await wire.receive_all() == []


async def test_only_the_code_asks_for_a_login(tmp_path: Path):
    """R-ERR-3."""
    async with with_methods() as (agent, wire), anyio.create_task_group() as tasks:

        async def log_in(_: AuthenticationRequired) -> None:
            raise AssertionError("nobody is to be asked")

        async def work() -> None:
            with pytest.raises(AgentRefused):
                await logged_in(lambda: agent.new_session(tmp_path), log_in)

        tasks.start_soon(work)
        await wire.refuse(await wire.expect("session/new"), -32603, "Authentication required")


async def test_giving_up_a_login_cancels_it_at_the_agent_and_restores_the_phase(tmp_path: Path):
    """R-AUTH-4, R-CREQ-3."""
    async with with_methods() as (agent, wire):
        await open_session(agent, wire, tmp_path)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(agent.authenticate, "key")
            login = await wire.expect("authenticate")
            assert agent.phase is Phase.AUTHENTICATING
            tasks.cancel_scope.cancel()
        cancelling = await wire.expect("$/cancel_request")
        assert cancelling["params"] == {"requestId": login["id"]}
        assert agent.phase is Phase.READY


@pytest.mark.parametrize("method_id", ["tty", "invented"])
async def test_a_login_that_is_not_the_agents_own_is_not_asked_of_it(method_id: str):
    """R-AUTH-5."""
    async with with_methods() as (agent, wire):
        with pytest.raises(Unsupported):
            await agent.authenticate(method_id)
        assert await wire.receive_all() == []


async def test_a_login_in_a_terminal_runs_the_agents_command_with_more_behind_it():
    """R-AUTH-6, R-AUTH-7."""
    async with with_methods(ClientOffer(auth_terminal=True)) as (agent, _):
        agent.command = AgentCommand("played", ("agent", "--acp"), {"A": "ours", "B": "ours"})
        command = agent.terminal_login("tty").command
        assert command.argv == ("agent", "--acp", "--login")
        assert command.env == {"A": "theirs", "B": "ours"}
        with pytest.raises(Unsupported):
            agent.terminal_login("key")


async def test_without_a_terminal_for_it_such_a_login_is_refused():
    """R-AUTH-5, R-AUTH-8."""
    async with with_methods() as (agent, _):
        with pytest.raises(Unsupported, match="in a terminal"):
            agent.terminal_login("tty")


@pytest.mark.parametrize("is_offered", [True, False])
async def test_a_terminal_to_log_in_is_offered_where_there_is_one(is_offered: bool):
    """R-AUTH-8, R-INIT-6."""
    async with in_memory(ClientOffer(auth_terminal=is_offered)) as (agent, wire):
        request = await shake_hands(agent, wire)
    auth = request["params"]["clientCapabilities"].get("auth")
    assert auth == ({"terminal": True} if is_offered else None)


async def test_a_logout_is_asked_of_agents_that_offer_it():
    """R-AUTH-9."""
    async with with_methods() as (agent, wire), anyio.create_task_group() as tasks:
        tasks.start_soon(agent.logout)
        request = await wire.expect("logout")
        assert request["params"] == {}
        await wire.answer(request, None)


async def test_a_logout_that_is_not_offered_is_not_sent():
    """R-AUTH-9, R-INIT-5."""
    async with with_methods(capabilities={"auth": {"logout": None}}) as (agent, wire):
        with pytest.raises(Unsupported, match=r"auth\.logout"):
            await agent.logout()
        assert await wire.receive_all() == []
