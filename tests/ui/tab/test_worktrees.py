"""A session in a git worktree: its own tab, and a question about its changes when that closes."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from acp_tui.client import worktrees
from acp_tui.client.agents.catalogue import Catalogue, EntrySource, ListedAgent
from acp_tui.client.settings.settings import RecordingSettings
from acp_tui.client.transcript.recording_plan import RecordingPlan, recording_store
from acp_tui.client.worktrees import Worktree, remove_worktree
from acp_tui.ui.dialogs.agents import AgentsScreen
from support.agents import scripted
from support.changes import ONE_FILE, make_repository
from support.desks import SESSION, Desk, OpenDesk
from support.recordings import demo, play

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git isn't installed")

TWO = """
answer(expect("session/new"), sessionId="s2")
"""


async def open_worktree(desk: Desk) -> Path:
    """Start a session in a new worktree; return its folder."""
    home = desk.tabs[0].cwd
    make_repository(home, ONE_FILE)
    await desk.has_session()
    await desk.send("/worktree fix")
    await desk.until(lambda: len(desk.tabs) == 2)
    await desk.has_session()
    folder = desk.tabs[1].cwd
    assert folder == home.parent / f"{home.name}.worktrees/fix"
    assert (folder / "a.txt").read_text() == "one\n"
    return folder


async def record(folder: Path, prompt: str) -> None:
    plan = RecordingPlan(folder, store=recording_store(RecordingSettings()))
    await play(replace(demo("markdown"), name="somebody"), plan, prompts=(prompt,))


async def test_the_sessions_of_a_repository_and_its_worktrees_are_listed_together(open_desk: OpenDesk) -> None:
    async with open_desk(SESSION, TWO + "serve_until_closed()") as desk:
        folder = await open_worktree(desk)
        await record(desk.tabs[0].cwd, "Zebras?")
        await record(folder, "Lions?")
        await record(folder.parent.parent, "Tigers?")
        shown = []
        for _ in range(2):  # in the worktree's tab, then in the other one
            await desk.press("f3")
            await desk.shows("Zebras?", "Lions?", "2 earlier in this project")
            shown.append({line.split()[1]: "fix" in line.split() for line in desk.lines if "s?" in line})
            await desk.press("escape")
            await desk.hides("Esc close")
            await desk.press("alt+1")
        assert shown == [{"Zebras?": False, "Lions?": False}, {"Zebras?": False, "Lions?": True}]


async def test_the_status_line_names_the_worktree_of_its_tab(open_desk: OpenDesk) -> None:
    async with open_desk(SESSION, TWO + "serve_until_closed()") as desk:
        await open_worktree(desk)
        await desk.until(lambda: "worktree fix · F1 help" in desk.status)
        await desk.press("alt+1")
        await desk.until(lambda: "F1 help" in desk.status and "worktree" not in desk.status)


async def test_a_worktree_without_changes_goes_with_its_tab_and_escape_keeps_both(open_desk: OpenDesk) -> None:
    async with open_desk(SESSION, TWO + "serve_until_closed()") as desk:
        folder = await open_worktree(desk)
        await desk.press("alt+w")
        await desk.shows("Nothing changed in it")
        await desk.press("escape")
        await desk.until(lambda: "Nothing changed in it" not in desk.text)
        assert len(desk.tabs) == 2
        assert folder.exists()
        await desk.press("alt+w")
        await desk.shows("Nothing changed in it")
        await desk.press("enter")
        await desk.until(lambda: len(desk.tabs) == 1 and not folder.exists())


async def test_changes_are_copied_back_before_the_worktree_goes_and_not_over_others(open_desk: OpenDesk) -> None:
    async with open_desk(SESSION, TWO + "serve_until_closed()") as desk:
        folder = await open_worktree(desk)
        (folder / "a.txt").write_text("two\n")
        (desk.tabs[0].cwd / "a.txt").write_text("three\n")
        await desk.press("alt+w")
        await desk.shows("Copy its changes to")
        await desk.press("down", "enter")
        await desk.shows("Nothing was copied")
        assert len(desk.tabs) == 2
        assert (folder / "a.txt").read_text() == "two\n"
        assert (desk.tabs[0].cwd / "a.txt").read_text() == "three\n"
        (desk.tabs[0].cwd / "a.txt").write_text("one\n")
        await desk.press("alt+w")
        await desk.shows("Copy its changes to")
        await desk.press("down", "enter")
        await desk.until(lambda: len(desk.tabs) == 1 and not folder.exists())
        assert (desk.tabs[0].cwd / "a.txt").read_text() == "two\n"


async def test_a_session_of_a_deleted_worktree_is_read_only_however_soon_it_is_opened(
    open_desk: OpenDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    may_go = anyio.Event()

    async def wait_and_remove(worktree: Worktree, *, keeps_branch: bool) -> None:
        await may_go.wait()
        await remove_worktree(worktree, keeps_branch=keeps_branch)

    monkeypatch.setattr(worktrees, "remove_worktree", wait_and_remove)
    async with open_desk(SESSION, TWO + "serve_until_closed()") as desk:
        folder = await open_worktree(desk)
        await record(folder, "Zebras?")
        (folder / "new.txt").write_text("new\n")
        await desk.press("alt+w")
        await desk.shows("Copy its changes to ")
        await desk.press("down", "enter")
        await desk.until(lambda: len(desk.tabs) == 1)
        assert folder.exists()
        await desk.press("f3")
        await desk.shows("Zebras?")
        await desk.press("down", "enter")
        await desk.shows("Read-only: its folder is gone")
        assert desk.status.startswith("○ This session is read-only: its folder is gone")
        may_go.set()
        await desk.until(lambda: not folder.exists())


async def test_changes_that_are_there_already_are_called_so(open_desk: OpenDesk) -> None:
    async with open_desk(SESSION, TWO + "serve_until_closed()") as desk:
        folder = await open_worktree(desk)
        for each in (folder, desk.tabs[0].cwd):
            (each / "a.txt").write_text("two\n")
        await desk.press("alt+w")
        await desk.shows("Copy its changes to")
        await desk.press("down", "enter")
        await desk.shows("already had the changes")
        await desk.until(lambda: len(desk.tabs) == 1 and not folder.exists())


async def test_outside_a_repository_it_is_said_why_there_is_no_worktree(open_desk: OpenDesk) -> None:
    async with open_desk(SESSION, "serve_until_closed()") as desk:
        await desk.has_session()
        await desk.send("/worktree")
        await desk.shows("not a git repository")
        assert len(desk.tabs) == 1


async def test_the_agent_that_a_tab_runs_by_a_command_is_the_first_to_start_again(open_desk: OpenDesk) -> None:
    async with open_desk(SESSION, "serve_until_closed()") as desk:
        await desk.has_session()
        await desk.press("alt+a")
        await desk.shows("Used last 1 scripted")
        await desk.press("enter")
        await desk.until(lambda: len(desk.tabs) == 2)
        await desk.has_session()
        assert desk.tabs[1].link is not desk.tabs[0].link
        assert desk.tabs[1].link.command == desk.tabs[0].link.command


async def test_another_agent_is_started_in_a_worktree(open_desk: OpenDesk, monkeypatch: pytest.MonkeyPatch) -> None:
    async with open_desk(SESSION, "serve_until_closed()") as desk:
        home = desk.tabs[0].cwd
        make_repository(home, ONE_FILE)
        await desk.has_session()
        other = ListedAgent(scripted(SESSION + "serve_until_closed()"), EntrySource.USER, "Other")
        monkeypatch.setattr(AgentsScreen.__init__, "__defaults__", (lambda: Catalogue((other,)), lambda: None))
        await desk.press("alt+a")
        await desk.shows("It works in this folder · Tab: in a new worktree")
        await desk.press("tab")
        await desk.shows("It works in a new git worktree of this folder")
        await desk.press("down", "enter")
        await desk.until(lambda: len(desk.tabs) == 2)
        await desk.has_session()
        assert desk.tabs[1].cwd.parent == home.parent / f"{home.name}.worktrees"
        assert desk.tabs[1].link is not desk.tabs[0].link


async def test_a_worktree_begun_in_another_stands_beside_it(open_desk: OpenDesk) -> None:
    three = 'answer(expect("session/new"), sessionId="s3")\nserve_until_closed()'
    async with open_desk(SESSION, TWO + three) as desk:
        folder = await open_worktree(desk)
        await desk.send("/worktree other")
        await desk.until(lambda: len(desk.tabs) == 3)
        await desk.has_session()
        assert desk.tabs[2].cwd == folder.parent / "other"


async def test_a_resumed_session_shows_what_changed_since_its_worktree_was_made(open_desk: OpenDesk) -> None:
    async with open_desk(SESSION, TWO + "serve_until_closed()") as desk:
        home = desk.tabs[0].cwd
        make_repository(home, ONE_FILE)
        worktree = await worktrees.add_worktree(home, "fix")
        (Path(worktree.folder) / "a.txt").write_text("one\ntwo\n")
        (Path(worktree.folder) / "new.txt").write_text("new\n")
        await desk.has_session()
        await desk.pilot.app.open_tab(desk.tabs[0].link, Path(worktree.folder))
        await desk.until(lambda: len(desk.tabs) == 2)
        await desk.has_session()
        await desk.until(lambda: "2 files +2" in desk.status)
        await desk.press("f5")
        await desk.shows("a.txt", "new.txt", "since the worktree was made (any program)")
        await desk.press("escape")
        await desk.hides("since the worktree was made")
        await desk.send("/compare")
        await desk.shows("Worktrees of ", "2 files +2")
