"""The app started without an agent: the user chooses one and works with it in the first tab."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest

from acp_tui.client.sessions.hub import open_hub
from acp_tui.ui.app.app import AcpTuiApp
from acp_tui.ui.dialogs.agents import AgentsScreen
from acp_tui.ui.tab.screen import SessionScreen
from support.settling import until_so
from support.waiting import LIMIT_S


@pytest.fixture(autouse=True)
def no_agent_is_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))


async def test_the_chosen_agent_is_started_where_it_works(tmp_path: Path) -> None:
    with anyio.fail_after(LIMIT_S):
        async with open_hub() as hub:
            app = AcpTuiApp(hub, None, tmp_path)
            async with app.run_test() as pilot:
                await until_so(pilot, lambda: isinstance(app.screen, AgentsScreen))
                await pilot.press(*"demo", "enter")
                await until_so(pilot, lambda: hub.agents)
                assert isinstance(app.screen, SessionScreen)
                (agent,) = hub.agents
                assert agent.command.name == "demo"
                await until_so(pilot, lambda: agent.sessions)
                (session,) = agent.sessions.values()
                assert session.cwd == agent.command.cwd != tmp_path


async def test_who_chooses_none_is_out(tmp_path: Path) -> None:
    with anyio.fail_after(LIMIT_S):
        async with open_hub() as hub:
            app = AcpTuiApp(hub, None, tmp_path)
            async with app.run_test() as pilot:
                await until_so(pilot, lambda: isinstance(app.screen, AgentsScreen))
                await pilot.press("escape")
                await until_so(pilot, lambda: not app.is_running or app.return_code is not None)
            assert app.return_code == 0
            assert not hub.agents
