"""The app started without an agent: the user chooses one and works with it in the first tab."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from acp_tui.client.agents.catalogue import read_catalogue
from acp_tui.ui.dialogs.agents import AgentsScreen
from support.changes import make_repository
from support.frame_log import FrameLog
from support.tabs import TabDesk, tabs_of


@pytest.fixture(autouse=True)
def no_agent_is_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))


async def choose_demo(desk: TabDesk, *, is_in_worktree: bool = False) -> None:
    dialog = await desk.asks(AgentsScreen)
    dialog.is_in_worktree = is_in_worktree
    (demo,) = (one for one in read_catalogue().agents if one.name == "demo")
    await desk.answer(demo)


async def test_the_chosen_agent_is_started_where_it_works(tmp_path: Path, frame_log: FrameLog) -> None:
    async with tabs_of(None, tmp_path, frame_log) as desk:
        await choose_demo(desk)
        await desk.until(lambda: desk.tabs)
        await desk.has_session()
        agent = desk.tab.link.agent
        assert agent is not None
        assert agent.command.name == "demo"
        assert desk.shown_session.cwd == agent.command.cwd != tmp_path


async def test_the_first_agent_can_be_started_in_a_worktree(
    tmp_path: Path, frame_log: FrameLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", os.defpath)
    project = tmp_path / "project"
    make_repository(project, {"file.txt": b"one\n"})
    async with tabs_of(None, project, frame_log) as desk:
        await choose_demo(desk, is_in_worktree=True)
        await desk.until(lambda: desk.tabs)
        await desk.has_session()
        assert desk.shown_session.cwd == tmp_path / "project.worktrees/session-1"


async def test_without_a_repository_there_is_no_worktree_and_another_choice(
    tmp_path: Path, frame_log: FrameLog
) -> None:
    async with tabs_of(None, tmp_path, frame_log) as desk:
        await choose_demo(desk, is_in_worktree=True)
        await desk.until(lambda: any("Can't create a worktree" in one.message for one in desk.notices))
        await desk.asks(AgentsScreen)
        assert not desk.tabs


async def test_who_chooses_none_is_out(tmp_path: Path, frame_log: FrameLog) -> None:
    async with tabs_of(None, tmp_path, frame_log) as desk:
        await desk.asks(AgentsScreen)
        await desk.answer(None)
        await desk.until(lambda: desk.app.is_over)
        assert not desk.tabs
