"""Choosing who serves an agent's models: only what it offers, and only as the schema has it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest

from acp_tui.client.errors import AgentLost, AgentRefused, Unsupported
from acp_tui.client.sessions.agent import Agent
from acp_tui.conversation.facts import Provider, ProviderRoute
from support.agents import Counterpart, capable, exchange, in_memory
from support.schema import is_valid, needs_schema

AGREEMENTS: dict[int, dict[str, Any]] = {
    1: {"protocolVersion": 1, "agentCapabilities": {"providers": {}}},
    2: {"protocolVersion": 2, "info": {"name": "a", "version": "1"}, "capabilities": {"providers": {}}},
}
REQUIRED = Provider("main", (), True, None)


@asynccontextmanager
async def with_providers(version: int = 1) -> AsyncIterator[tuple[Agent, Counterpart]]:
    async with in_memory() as (agent, wire):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(agent.initialize)
            await wire.answer(await wire.expect("initialize"), AGREEMENTS[version])
        yield agent, wire


@needs_schema
@pytest.mark.parametrize("version", AGREEMENTS)
async def test_a_provider_is_listed_set_and_disabled(version: int) -> None:
    asked: list[dict[str, Any]] = []

    async def play(wire: Counterpart) -> None:
        route = {"apiType": "openai", "baseUrl": "https://a"}
        listed = {"providerId": "main", "supported": ["openai"], "required": False, "current": route}
        for method, result in (
            ("providers/list", {"providers": [listed]}),
            ("providers/set", {}),
            ("providers/disable", {}),
        ):
            request = await wire.expect(method)
            asked.append(request["params"])
            await wire.answer(request, result)

    async with with_providers(version) as (agent, wire), anyio.create_task_group() as tasks:
        tasks.start_soon(play, wire)
        (provider,) = await agent.list_providers()
        assert provider == Provider("main", ("openai",), False, ProviderRoute("openai", "https://a"))
        await agent.set_provider(provider, ProviderRoute("openai", "https://b"), {"X-Key": "k"})
        await agent.set_provider(provider, None, {})
    assert asked == [
        {},
        {"providerId": "main", "apiType": "openai", "baseUrl": "https://b", "headers": {"X-Key": "k"}},
        {"providerId": "main"},
    ]
    for name, params in zip(("ListProviders", "SetProvider", "DisableProvider"), asked, strict=True):
        assert is_valid(version, f"{name}Request", params)


async def test_an_agent_that_does_not_offer_it_is_asked_nothing() -> None:
    async with capable({}) as (agent, _):
        with pytest.raises(Unsupported, match="providers"):
            await agent.list_providers()
        with pytest.raises(Unsupported, match="providers"):
            await agent.set_provider(REQUIRED, ProviderRoute("x", "y"), {})


async def test_a_required_provider_is_not_disabled() -> None:
    async with with_providers() as (agent, _):
        with pytest.raises(Unsupported, match="main"):
            await agent.set_provider(REQUIRED, None, {})


async def test_what_an_agent_refuses_is_told_with_its_reason() -> None:
    async with with_providers() as (agent, wire), anyio.create_task_group() as tasks:

        async def refuse() -> None:
            await wire.refuse(await wire.expect("providers/set"), -32602, "no such address")

        tasks.start_soon(refuse)
        with pytest.raises(AgentRefused, match="no such address"):
            await agent.set_provider(REQUIRED, ProviderRoute("x", "y"), {})


async def test_a_list_that_cannot_be_read_is_told_and_ends_nothing() -> None:
    async with with_providers() as (agent, wire):
        with pytest.RaisesGroup(AgentLost):
            await exchange(agent.list_providers(), wire, "providers/list", providers="none")
        assert await exchange(agent.list_providers(), wire, "providers/list", providers=[]) == ()
