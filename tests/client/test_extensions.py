"""Extension methods, in both directions."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest

from acp_tui.client.agents.command import AgentCommand
from acp_tui.client.errors import AgentRefused
from acp_tui.client.sessions import agent as agent_module
from acp_tui.client.sessions.agent import Agent
from acp_tui.client.sessions.client_role import Extensions
from acp_tui.client.sessions.hub import open_hub
from support.agents import Counterpart, MemoryProcess, connected, notification, request, settle, shake_hands
from support.waiting import LIMIT_S


@asynccontextmanager
async def extended(extensions: Extensions) -> AsyncIterator[tuple[Agent, Counterpart]]:
    """An agent in memory whose client takes these."""
    with connected() as (wire, stream), anyio.fail_after(LIMIT_S), pytest.MonkeyPatch.context() as patch:

        @asynccontextmanager
        async def open_channel(*_: Any) -> AsyncIterator[MemoryProcess]:
            yield MemoryProcess(stream)

        patch.setattr(agent_module, "open_channel", open_channel)
        async with open_hub() as hub:
            agent = await hub.start_agent(AgentCommand("played", ("played",)), extensions=extensions)
            await shake_hands(agent, wire)
            yield agent, wire


async def test_a_registered_notification_is_told_in_wire_order_and_not_answered():
    """R-RPC-4."""
    told: list[Any] = []
    async with extended({"_example/said": told.append}) as (_, wire):
        await wire.send(*(notification("_example/said", {"n": number}) for number in range(3)))
        assert await wire.receive_all() == []
        assert told == [{"n": 0}, {"n": 1}, {"n": 2}]


@pytest.mark.parametrize("method", ["_example/unknown", "example/unknown"])
async def test_an_unknown_request_is_refused_by_name_and_an_unknown_notification_ignored(method: str):
    """R-RPC-5, R-EXT-1."""
    async with extended({}) as (_, wire):
        await wire.send(notification(method, {}), request("q", method, {}))
        [answer] = await wire.receive_all()
        assert (answer["id"], answer["error"]["code"]) == ("q", -32601)
        assert answer["error"]["data"] == {"method": method}


async def test_a_request_of_the_agents_own_is_sent_as_it_is_and_its_result_comes_as_it_is():
    """R-EXT-1, R-EXT-2."""
    async with extended({}) as (agent, wire), anyio.create_task_group() as tasks:
        results: list[Any] = []

        async def ask() -> None:
            results.append(await agent.send_extension("_example/ask", {"vendor": [1], "_meta": {"a": 1}}))

        tasks.start_soon(ask)
        asked = await wire.expect("_example/ask")
        assert asked["params"] == {"vendor": [1], "_meta": {"a": 1}}
        await wire.answer(asked, [None, {"x": 1}])
        await settle()
        assert results == [[None, {"x": 1}]]
        agent.notify_extension("_example/tell", {"n": 1})
        assert (await wire.expect("_example/tell"))["params"] == {"n": 1}


async def test_a_refused_request_is_told_as_any_other():
    async with extended({}) as (agent, wire), anyio.create_task_group() as tasks:

        async def ask() -> None:
            with pytest.raises(AgentRefused, match="no such thing"):
                await agent.send_extension("_example/ask", {})

        tasks.start_soon(ask)
        await wire.refuse(await wire.expect("_example/ask"), -32601, "no such thing")


async def test_a_name_without_an_underscore_is_the_protocols_alone():
    """R-EXT-1."""
    async with extended({}) as (agent, wire):
        with pytest.raises(ValueError, match="'_'"):
            await agent.send_extension("session/prompt", {})
        with pytest.raises(ValueError, match="'_'"):
            agent.notify_extension("session/cancel", {})
        assert await wire.receive_all() == []
