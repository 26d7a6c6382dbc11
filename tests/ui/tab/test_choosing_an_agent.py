"""The app started without an agent: the user chooses one and works with it in the first tab."""

from __future__ import annotations

import os
from pathlib import Path

import anyio
import pytest
from textual.widgets import Input

from acp_tui.client.sessions.hub import open_hub
from acp_tui.ui.app.app import AcpTuiApp
from acp_tui.ui.dialogs.agents import AgentsScreen
from acp_tui.ui.tab.screen import SessionScreen
from support.changes import make_repository
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


async def test_the_first_agent_can_be_started_in_a_worktree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", os.defpath)
    project = tmp_path / "project"
    make_repository(project, {"file.txt": b"one\n"})
    with anyio.fail_after(LIMIT_S):
        async with open_hub() as hub:
            app = AcpTuiApp(hub, None, project)
            async with app.run_test() as pilot:
                await until_so(pilot, lambda: isinstance(app.screen, AgentsScreen))
                await pilot.press("tab", *"demo", "enter")
                await until_so(pilot, lambda: hub.agents and hub.agents[0].sessions)
                (session,) = hub.agents[0].sessions.values()
                assert session.cwd == tmp_path / "project.worktrees/session-1"


async def test_without_a_repository_there_is_no_worktree_and_another_choice(tmp_path: Path) -> None:
    with anyio.fail_after(LIMIT_S):
        async with open_hub() as hub:
            app = AcpTuiApp(hub, None, tmp_path)
            async with app.run_test(notifications=True) as pilot:
                await until_so(pilot, lambda: isinstance(app.screen, AgentsScreen))
                await pilot.press("tab", *"demo", "enter")
                await until_so(
                    pilot, lambda: any("Can't create a worktree" in one.message for one in app.notices.shown)
                )
                await until_so(pilot, lambda: isinstance(app.screen, AgentsScreen))
                assert not hub.agents


async def test_esc_clears_what_was_typed_before_it_quits(tmp_path: Path) -> None:
    with anyio.fail_after(LIMIT_S):
        async with open_hub() as hub:
            app = AcpTuiApp(hub, None, tmp_path)
            async with app.run_test() as pilot:
                await until_so(pilot, lambda: isinstance(app.screen, AgentsScreen))
                await pilot.press(*"dem", "escape")
                assert app.screen.query_one(Input).value == ""
                assert isinstance(app.screen, AgentsScreen)
                await pilot.press("escape")
                await until_so(pilot, lambda: app.return_code is not None)


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
