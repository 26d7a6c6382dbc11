"""A session in a git worktree: its own tab, and a question about its changes when that closes."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from acp_tui.client import worktrees
from acp_tui.client.settings.settings import RecordingSettings
from acp_tui.client.transcript.recording_plan import RecordingPlan, recording_store
from acp_tui.client.worktrees import Worktree, remove_worktree
from acp_tui.ui.tab.several import CompareDialog
from support.changes import ONE_FILE, make_repository
from support.desks import SESSION
from support.recordings import demo, play
from support.tabs import OpenTabs, TabDesk

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git isn't installed")

TWO = """
answer(expect("session/new"), sessionId="s2")
"""


async def open_worktree(desk: TabDesk) -> Path:
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


async def test_the_sessions_of_a_repository_and_its_worktrees_are_listed_together(open_tabs: OpenTabs) -> None:
    async with open_tabs(SESSION, TWO + "serve_until_closed()") as desk:
        folder = await open_worktree(desk)
        await record(desk.tabs[0].cwd, "Zebras?")
        await record(folder, "Lions?")
        await record(folder.parent.parent, "Tigers?")
        shown = []
        for _ in range(2):  # in the worktree's tab, then in the other one
            shown.append({row.title: row.past.branch.endswith("fix") for row in await desk.rows() if not row.is_tab})
            await desk.go_to(1)
        assert shown == [{"Zebras?": False, "Lions?": True}] * 2


async def test_a_worktree_without_changes_goes_with_its_tab_and_escape_keeps_both(open_tabs: OpenTabs) -> None:
    async with open_tabs(SESSION, TWO + "serve_until_closed()") as desk:
        folder = await open_worktree(desk)
        await desk.do("close_tab")
        await desk.shows("Nothing changed in it")
        await desk.answer(None)
        assert len(desk.tabs) == 2
        assert folder.exists()
        await desk.do("close_tab")
        await desk.shows("Nothing changed in it")
        await desk.choose("Delete it")
        await desk.until(lambda: len(desk.tabs) == 1 and not folder.exists())


async def test_changes_are_copied_back_before_the_worktree_goes_and_not_over_others(open_tabs: OpenTabs) -> None:
    async with open_tabs(SESSION, TWO + "serve_until_closed()") as desk:
        folder = await open_worktree(desk)
        (folder / "a.txt").write_text("two\n")
        (desk.tabs[0].cwd / "a.txt").write_text("three\n")
        await desk.do("close_tab")
        await desk.shows("Copy its changes to")
        await desk.choose("Copy its changes to")
        await desk.shows("Nothing was copied", "a.txt. The worktree keeps them in ", folder.name)
        await desk.hides("Merge")
        assert len(desk.tabs) == 2
        assert (folder / "a.txt").read_text() == "two\n"
        assert (desk.tabs[0].cwd / "a.txt").read_text() == "three\n"
        (desk.tabs[0].cwd / "a.txt").write_text("one\n")
        await desk.do("close_tab")
        await desk.shows("Copy its changes to")
        await desk.choose("Copy its changes to")
        await desk.until(lambda: len(desk.tabs) == 1 and not folder.exists())
        assert (desk.tabs[0].cwd / "a.txt").read_text() == "two\n"


async def test_a_session_of_a_deleted_worktree_is_read_only_however_soon_it_is_opened(
    open_tabs: OpenTabs, monkeypatch: pytest.MonkeyPatch
) -> None:
    may_go = anyio.Event()

    async def wait_and_remove(worktree: Worktree, *, keeps_branch: bool) -> None:
        await may_go.wait()
        await remove_worktree(worktree, keeps_branch=keeps_branch)

    monkeypatch.setattr(worktrees, "remove_worktree", wait_and_remove)
    async with open_tabs(SESSION, TWO + "serve_until_closed()") as desk:
        folder = await open_worktree(desk)
        await record(folder, "Zebras?")
        (folder / "new.txt").write_text("new\n")
        await desk.do("close_tab")
        await desk.shows("Copy its changes to")
        await desk.choose("Copy its changes to")
        await desk.until(lambda: len(desk.tabs) == 1)
        assert folder.exists()
        await desk.open_row("Zebras?")
        await desk.shows("This session is read-only: its folder is gone")
        may_go.set()
        await desk.until(lambda: not folder.exists())


async def test_changes_that_are_there_already_are_called_so(open_tabs: OpenTabs) -> None:
    async with open_tabs(SESSION, TWO + "serve_until_closed()") as desk:
        folder = await open_worktree(desk)
        for each in (folder, desk.tabs[0].cwd):
            (each / "a.txt").write_text("two\n")
        await desk.do("close_tab")
        await desk.shows("Copy its changes to")
        await desk.choose("Copy its changes to")
        await desk.shows("already had the changes")
        await desk.until(lambda: len(desk.tabs) == 1 and not folder.exists())


async def test_outside_a_repository_it_is_said_why_there_is_no_worktree(open_tabs: OpenTabs) -> None:
    async with open_tabs(SESSION, "serve_until_closed()") as desk:
        await desk.has_session()
        await desk.send("/worktree")
        await desk.shows("not a git repository")
        assert len(desk.tabs) == 1


async def test_a_worktree_begun_in_another_stands_beside_it(open_tabs: OpenTabs) -> None:
    three = 'answer(expect("session/new"), sessionId="s3")\nserve_until_closed()'
    async with open_tabs(SESSION, TWO + three) as desk:
        folder = await open_worktree(desk)
        await desk.send("/worktree other")
        await desk.until(lambda: len(desk.tabs) == 3)
        await desk.has_session()
        assert desk.tabs[2].cwd == folder.parent / "other"


async def test_a_resumed_session_shows_what_changed_since_its_worktree_was_made(open_tabs: OpenTabs) -> None:
    async with open_tabs(SESSION, TWO + "serve_until_closed()") as desk:
        home = desk.tabs[0].cwd
        make_repository(home, ONE_FILE)
        worktree = await worktrees.add_worktree(home, "fix")
        (Path(worktree.folder) / "a.txt").write_text("one\ntwo\n")
        (Path(worktree.folder) / "new.txt").write_text("new\n")
        await desk.has_session()
        await desk.app.open_tab(desk.tabs[0].link, Path(worktree.folder))
        await desk.until(lambda: len(desk.tabs) == 2)
        await desk.has_session()
        await desk.until(lambda: desk.tab.changes is not None and desk.tab.changes.summary() == "2 files +2")
        assert sorted(desk.tab.changes.changes) == ["a.txt", "new.txt"]
        assert desk.tab.changes.since == "the worktree was made"
        await desk.send("/compare")
        (compared,) = (await desk.asks(CompareDialog)).compared
        assert compared.row("2", "").aside == "2 files +2"
