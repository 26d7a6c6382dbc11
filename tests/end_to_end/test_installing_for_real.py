"""From an empty home to a real agent, with the npm of this machine. Runs only with LONG_TOURS=1."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from acp_tui.client.agents.catalogue import KNOWN_AGENTS
from acp_tui.client.agents.installed import all_installed, terms_of
from acp_tui.client.agents.installing import install, look_up, remove
from acp_tui.client.settings.location import installed_folder
from support.agents import running
from support.real_agents import LONG_TOURS

pytestmark = [
    pytest.mark.skipif(not LONG_TOURS, reason="LONG_TOURS=1 installs large agents"),
    pytest.mark.skipif(shutil.which("npm") is None, reason="npm isn't installed"),
]


@pytest.mark.parametrize(("name", "earlier"), [("gemini", "0.60.0"), ("opencode", "1.18.30"), ("codex", "2.5.0")])
async def test_an_agent_is_installed_started_updated_and_removed(name: str, earlier: str) -> None:
    offer = KNOWN_AGENTS[name].offer
    first = await install(replace(offer, version=earlier))
    found = await look_up(offer)
    assert found.version > earlier
    assert str(found.folder) in terms_of(found)[1]
    second = await install(found)
    for each in (first, second):
        async with running(each.command) as agent:
            await agent.initialize()
            assert agent.capabilities.load_session
    assert all_installed() == (second,)
    size = sum(file.lstat().st_size for file in Path(second.argv[0]).parents[2].rglob("*"))
    assert 0.5 < size / offer.size_bytes < 2
    assert remove(name) == second
    assert not list(installed_folder().glob(f"{name}*/"))
