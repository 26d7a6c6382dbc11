"""Changes are noticed automatically; and what happens where that isn't possible."""

import os
import shutil
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest
import watchfiles

from acp_tui.client.changes import ChangeLimits, tracker
from acp_tui.client.changes.tracker import ChangeTracker
from support.waiting import LIMIT_S, Bell


class Seen:
    """A tracker, and a way to wait for its reports."""

    def __init__(self, root: Path, limits: ChangeLimits) -> None:
        self._bell = Bell()
        self.tracker = ChangeTracker(root, self._bell.ring, limits)

    async def until(self, condition: Callable[[ChangeTracker], object]) -> None:
        await self._bell.until(lambda: condition(self.tracker), lambda: str(list(self.tracker.changes)))

    async def until_listed(self, *paths: str) -> None:
        await self.until(lambda tracker: set(tracker.changes) == set(paths))


@asynccontextmanager
async def following(root: Path, *, live: bool = True) -> AsyncIterator[Seen]:
    seen = Seen(root, ChangeLimits())
    with anyio.fail_after(LIMIT_S):
        async with anyio.create_task_group() as tasks:
            await tasks.start(seen.tracker.run)
            await seen.tracker.captured.wait()
            if live:
                await seen.until(lambda tracker: tracker.is_live)
            yield seen
            tasks.cancel_scope.cancel()


async def test_changes_are_noticed_as_they_come_and_go(workspace: Path) -> None:
    async with following(workspace) as seen:
        (workspace / "clean").write_bytes(b"x\n")
        await seen.until_listed("clean")
        (workspace / "sub/new").write_bytes(b"x\n")
        await seen.until_listed("clean", "sub/new")
        (workspace / "sub/new").rename(workspace / "moved")
        await seen.until_listed("clean", "moved")
        (workspace / "moved").unlink()
        (workspace / "clean").write_bytes(b"one\ntwo\nthree\n")
        await seen.until_listed()


async def test_where_examining_all_takes_too_long_the_watch_tells_what_a_turn_has_changed(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with following(workspace) as seen:
        monkeypatch.setattr(tracker, "REMEMBER_LIMIT_S", 0)
        (workspace / "clean").write_bytes(b"x\n")
        seen.tracker.note_work()
        moment = await seen.tracker.remember()
        (workspace / "sub/new").write_bytes(b"x\n")
        await seen.until_listed("clean", "sub/new")
        assert moment is not None
        assert list(await seen.tracker.since(moment)) == ["sub/new"]


async def test_what_happened_before_the_watch_began_is_noticed(workspace: Path) -> None:
    async with following(workspace, live=False) as seen:
        (workspace / "clean").write_bytes(b"x\n")
        await seen.until_listed("clean")


async def test_new_directories_are_followed(workspace: Path) -> None:
    async with following(workspace) as seen:
        (workspace / "a/b").mkdir(parents=True)
        (workspace / "a/b/one").write_bytes(b"x\n")
        await seen.until_listed("a/b/one")
        await seen.until(lambda tracker: tracker.is_live)
        (workspace / "a/b/two").write_bytes(b"x\n")
        await seen.until_listed("a/b/one", "a/b/two")


async def test_a_directory_that_is_moved_takes_its_files_along(workspace: Path) -> None:
    async with following(workspace) as seen:
        (workspace / "sub").rename(workspace / "other")
        await seen.until_listed("sub/clean", "other/clean")
        (workspace / "other").rename(workspace / "sub")
        await seen.until_listed()


@pytest.mark.parametrize("is_at_once", [True, False])
async def test_a_workspace_that_is_deleted_and_made_again_is_followed(workspace: Path, is_at_once: bool) -> None:
    async with following(workspace) as seen:
        shutil.rmtree(workspace)
        if not is_at_once:
            await seen.until(lambda tracker: "clean" in tracker.changes)
        workspace.mkdir()
        (workspace / "one").write_bytes(b"x\n")
        await seen.until(lambda tracker: {"clean", "one"} <= set(tracker.changes) and tracker.is_live)
        (workspace / "two").write_bytes(b"x\n")
        await seen.until(lambda tracker: "two" in tracker.changes)


async def test_it_is_followed_although_a_process_is_still_in_the_deleted_one(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(workspace)
    async with following(workspace) as seen:
        shutil.rmtree(workspace)
        await seen.until(lambda tracker: "clean" in tracker.changes)
        workspace.mkdir()
        (workspace / "one").write_bytes(b"x\n")
        await seen.until(lambda tracker: "one" in tracker.changes and tracker.is_live)
        (workspace / "two").write_bytes(b"x\n")
        await seen.until(lambda tracker: "two" in tracker.changes)


async def test_a_workspace_that_is_moved_away_and_made_again_is_followed(workspace: Path, tmp_path: Path) -> None:
    async with following(workspace) as seen:
        workspace.rename(tmp_path / "away")
        workspace.mkdir()
        await seen.until(lambda tracker: "clean" in tracker.changes and tracker.is_live)
        (tmp_path / "away/two").write_bytes(b"x\n")
        (workspace / "one").write_bytes(b"x\n")
        await seen.until(lambda tracker: "one" in tracker.changes)
        assert "two" not in seen.tracker.changes


async def test_files_that_are_no_longer_ignored_are_noticed(repository: Path) -> None:
    async with following(repository) as seen:
        (repository / "fresh").write_bytes(b"x\n")
        await seen.until_listed("fresh")
        (repository / ".gitignore").write_bytes(b"fresh\nignored\n")
        await seen.until_listed(".gitignore")


async def test_a_directory_with_nothing_but_ignored_files_is_followed(repository: Path) -> None:
    (repository / "logs").mkdir()
    (repository / "logs/ignored").write_bytes(b"x\n")
    (repository / "empty").mkdir()
    async with following(repository) as seen:
        (repository / "logs/new").write_bytes(b"x\n")
        (repository / "empty/new").write_bytes(b"x\n")
        await seen.until_listed("logs/new", "empty/new")
        assert seen.tracker.changes["logs/new"].before_unknown is None


async def test_names_that_the_watch_cannot_spell_do_not_end_it(workspace: Path) -> None:
    name = os.fsdecode(b"\xff")
    async with following(workspace) as seen:
        (workspace / name).write_bytes(b"x\n")
        await seen.until_listed(name)
        (workspace / "clean").write_bytes(b"x\n")
        await seen.until_listed(name, "clean")


async def test_a_link_to_a_directory_is_not_watched(
    workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (workspace / "everything").symlink_to("/")
    watched: list[str] = []
    original = watchfiles.watch

    def watch(*paths: str, **options: object) -> Iterator[object]:
        watched.extend(paths)
        return original(*paths, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(watchfiles, "watch", watch)
    async with following(workspace):
        assert sorted(watched) == [str(workspace), str(workspace / "sub")]


REFUSALS = [
    OSError('OS file watch limit reached. about ["/a"] (Error { kind: MaxFilesWatch, paths: ["/a"] })'),
    RuntimeError("Error creating recommended watcher: Too many open files (os error 24)"),
]


@pytest.mark.parametrize("refusal", REFUSALS)
async def test_where_nothing_can_be_watched_that_is_said_and_named_files_are_noticed(
    workspace: Path, monkeypatch: pytest.MonkeyPatch, refusal: Exception
) -> None:
    def watch(*paths: str, **options: object) -> Iterator[object]:
        raise refusal

    monkeypatch.setattr(watchfiles, "watch", watch)
    async with following(workspace, live=False) as seen:
        await seen.until(lambda tracker: any("watch limit is used up" in note for note in tracker.notes))
        assert not any("Error" in note or "/a" in note for note in seen.tracker.notes)
        assert not seen.tracker.is_live
        (workspace / "clean").write_bytes(b"x\n")
        (workspace / "sub/clean").write_bytes(b"x\n")
        await seen.tracker.look_first([str(workspace / "clean")])
        await seen.until(lambda tracker: "clean" in tracker.changes)
        await seen.tracker.rescan()
        assert set(seen.tracker.changes) == {"clean", "sub/clean"}


async def test_a_look_at_the_workspace_can_be_cancelled(workspace: Path) -> None:
    tracker = ChangeTracker(workspace)
    with anyio.fail_after(LIMIT_S):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(tracker.run)
            await anyio.lowlevel.checkpoint()
            tasks.cancel_scope.cancel()


def watches() -> int:
    """How many folders the system watches for this process."""
    infos = [file.read_text() for file in Path("/proc/self/fdinfo").iterdir() if file.exists()]
    return sum(info.count("inotify wd:") for info in infos)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux says how many watches there are")
async def test_each_folder_is_watched_once_and_none_that_git_ignores(repository: Path) -> None:
    for number in range(40):
        (repository / f"build/{number}").mkdir(parents=True)
    before = watches()
    async with following(repository):
        assert watches() - before == len([".", "sub"])
