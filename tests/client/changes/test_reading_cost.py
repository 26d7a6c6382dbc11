"""What it costs to read a workspace, counted: files opened and examined, and entries kept."""

import gc
import os
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import pytest

from acp_tui.client.changes import ChangeLimits
from acp_tui.client.changes.tracker import ChangeTracker
from support.changes import changes, kinds

Track = Callable[..., AbstractAsyncContextManager[ChangeTracker]]
Git = Callable[..., str]
FILES = 300


class Counts:
    """How often files of a folder are opened and examined. Their names end with `.txt`."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.opened = self.examined = 0
        opens, examines = os.open, os.lstat

        def count_open(path: Any, *rest: Any, **options: Any) -> int:
            self.opened += str(path).endswith(".txt")
            return opens(path, *rest, **options)

        def count_lstat(path: Any, **options: Any) -> os.stat_result:
            self.examined += str(path).endswith(".txt")
            return examines(path, **options)

        monkeypatch.setattr(os, "open", count_open)
        monkeypatch.setattr(os, "lstat", count_lstat)


@pytest.fixture
def counts(monkeypatch: pytest.MonkeyPatch) -> Counts:
    return Counts(monkeypatch)


def fill(root: Path) -> None:
    """Many small files in a few folders."""
    for number in range(FILES):
        file = root / f"folder{number % 7}" / f"{number}.txt"
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(b"x\n")
        os.utime(file, (1, 1))


async def test_in_a_clean_repository_no_file_is_opened_and_each_examined_once(
    root: Path, track: Track, git: Git, counts: Counts
) -> None:
    git(root, "init", "-q")
    fill(root)
    git(root, "add", ".")
    async with track(root) as tracker:
        assert counts.examined <= FILES
        await changes(tracker)
        assert counts.examined <= 3 * FILES  # the watch also begins with a look at all
        assert counts.opened == 0
        (root / "folder1/1.txt").write_bytes(b"y\n")
        assert await kinds(tracker) == {"folder1/1.txt": "modified"}
        assert counts.opened <= 3


async def test_what_does_not_fit_into_the_copies_is_not_opened(root: Path, track: Track, counts: Counts) -> None:
    fill(root)
    async with track(root, ChangeLimits(max_total_bytes=20)):
        assert counts.opened == 10


async def test_an_event_examines_only_its_files(root: Path, track: Track, counts: Counts) -> None:
    fill(root)
    async with track(root) as tracker:
        await tracker.rescan()
        counts.opened = counts.examined = 0
        (root / "folder1/1.txt").write_bytes(b"y\n")
        await tracker.look_first([str(root / "folder1/1.txt")])
        await tracker.review("folder1/1.txt")
        assert counts.opened <= 2


FOLDERS = 1 + 7
"""The root and those that `fill` makes."""


async def test_each_folder_is_listed_once_and_none_that_git_ignores(
    root: Path, track: Track, git: Git, monkeypatch: pytest.MonkeyPatch
) -> None:
    git(root, "init", "-q")
    fill(root)
    (root / ".gitignore").write_text("build/\n")
    for number in range(5 * FOLDERS):
        (root / f"build/{number}").mkdir(parents=True)
    listed, scan = 0, os.scandir

    def count_scandir(folder: Any) -> Any:
        nonlocal listed
        listed += 1
        return scan(folder)

    monkeypatch.setattr(os, "scandir", count_scandir)
    async with track(root) as tracker:
        await changes(tracker)
        assert listed == FOLDERS


@pytest.mark.parametrize("has_git", [False, True])
async def test_a_file_that_has_not_changed_takes_no_object(root: Path, track: Track, git: Git, has_git: bool) -> None:
    async def objects_of_tracker() -> int:
        if has_git:
            git(root, "init", "-q")
            git(root, "add", ".")
        async with track(root) as tracker:
            await changes(tracker)
            gc.collect()
            return len(gc.get_objects())

    fill(root)
    few = await objects_of_tracker()
    for number in range(3 * FILES):
        (root / f"more{number}.txt").write_bytes(b"x\n")
    assert await objects_of_tracker() - few < FILES
