"""Choosing who serves the models of real agents. Runs only with LONG_TOURS=1."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Final, Literal

import pytest

from acp_tui.client.errors import AgentRefused
from acp_tui.conversation.facts import ProviderRoute
from support.real_agents import LONG_TOURS, PATIENCE_S, WITHIN_S, command, why_not
from support.recordings import Lead, lead

SECRET: Final = "a key of the gateway"


@pytest.mark.skipif(not LONG_TOURS, reason="LONG_TOURS=1 runs the large agents")
@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize(
    ("name", "provider_id", "kind", "lists_models_first"),
    [("claude-current", "main", "anthropic", False), ("codex", "openai", "openai", True)],
)
async def test_its_provider_is_listed_set_and_disabled(
    name: str, provider_id: str, kind: str, lists_models_first: bool, version: Literal[1, 2], tmp_path: Path
) -> None:
    if reason := why_not(name):
        pytest.skip(reason)
    recording = tmp_path / "run.jsonl"

    async def choose(leading: Lead) -> None:
        agent = leading.agent
        (provider,) = await agent.list_providers()
        assert (provider.provider_id, provider.is_required) == (provider_id, False)
        assert kind in provider.supported
        assert provider.route is not None
        with pytest.raises(AgentRefused, match="http"):
            await agent.set_provider(provider, ProviderRoute(kind, "ftp://a.example"), {})
        if lists_models_first:
            with pytest.raises(AgentRefused, match="Model discovery"):
                await agent.set_provider(provider, ProviderRoute(kind, "http://127.0.0.1:1"), {"X-Key": SECRET})
        else:
            await agent.set_provider(provider, provider.route, {"X-Key": SECRET})
        await agent.set_provider(provider, None, {})
        assert await agent.list_providers() == (provider,)

    chosen = replace(command(name), protocol=version)
    await lead(chosen, tmp_path, recording, choose, PATIENCE_S, WITHIN_S, WITHIN_S)
    recorded = recording.read_text()
    assert "providers/set" in recorded
    assert SECRET not in recorded
