"""What is listed when git has written a thousand files and more, such as those of another branch."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import anyio
import pytest

from acp_tui.client.changes.survey import MANY
from acp_tui.client.changes.tracker import ChangeTracker
from support.changes import changes, kinds, let_the_clock_tick
from support.waiting import LIMIT_S, Bell

Track = Callable[..., AbstractAsyncContextManager[ChangeTracker]]
Git = Callable[..., str]

FILES = MANY + 10
SAID = f"The branch is now other: {FILES:,} files came with it, and aren't listed."


@pytest.fixture
def branches(repository: Path, git: Git) -> Path:
    """A repository with a branch `other`, on which many files are different, new, or gone."""
    git(repository, "branch", "-M", "main")
    many = [repository / f"sub/{number}" for number in range(FILES - 1)]
    for file in many:
        file.write_bytes(b"main\n")
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "second")
    git(repository, "checkout", "-qb", "other")
    many.pop().unlink()
    for file in (*many, repository / "new"):
        file.write_bytes(b"other\n")
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "third")
    git(repository, "checkout", "-q", "main")
    let_the_clock_tick(repository)
    git(repository, "update-index", "--really-refresh")
    return repository


async def test_the_files_of_another_branch_are_one_line(branches: Path, track: Track, git: Git) -> None:
    async with track(branches) as tracker:
        git(branches, "checkout", "-q", "other")
        assert await kinds(tracker) == {}
        assert tuple(tracker.notes) == (SAID,)

        (branches / "sub/1").write_bytes(b"mine\n")
        (branches / "clean").write_bytes(b"mine\n")
        assert await kinds(tracker) == {"sub/1": "modified", "clean": "modified"}
        assert (await tracker.review("sub/1")).before_lines == (b"main\n",)

        git(branches, "checkout", "-qf", "main")
        assert await kinds(tracker) == {}
        assert tuple(tracker.notes) == ()


async def test_they_are_recognized_while_the_folder_is_followed(branches: Path, git: Git) -> None:
    bell = Bell()
    tracker = ChangeTracker(branches, bell.ring)
    with anyio.fail_after(LIMIT_S):
        async with anyio.create_task_group() as tasks:
            await tasks.start(tracker.run)
            await bell.until(lambda: tracker.is_live and not tracker.notes)
            await anyio.to_thread.run_sync(git, branches, "checkout", "-q", "other")
            await bell.until(lambda: SAID in tracker.notes)
            (branches / "sub/1").write_bytes(b"mine\n")
            await bell.until(lambda: set(tracker.changes) == {"sub/1"})
            tasks.cancel_scope.cancel()


async def test_what_is_committed_or_staged_on_the_other_branch_is_listed(
    branches: Path, track: Track, git: Git, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with track(branches) as tracker:
        git(branches, "checkout", "-q", "other")
        (branches / "sub/1").write_bytes(b"mine\n")
        (branches / "sub/2").unlink()
        monkeypatch.setenv("GIT_COMMITTER_DATE", "2090-01-01T00:00:00Z")
        git(branches, "commit", "-qam", "mine")
        (branches / "sub/3").write_bytes(b"mine\n")
        git(branches, "add", ".")
        assert await kinds(tracker) == {"sub/1": "modified", "sub/2": "deleted", "sub/3": "modified"}


async def test_what_the_user_had_changed_before_is_listed(branches: Path, track: Track, git: Git) -> None:
    (branches / "sub/1").write_bytes(b"mine\n")
    async with track(branches) as tracker:
        git(branches, "checkout", "-qf", "other")
        listed = await changes(tracker)
        assert set(listed) == {"sub/1"}
        await tracker.revert_file(await tracker.review("sub/1"))
        assert (branches / "sub/1").read_bytes() == b"mine\n"


async def test_many_files_that_an_agent_changes_are_listed_one_by_one(branches: Path, track: Track, git: Git) -> None:
    async with track(branches) as tracker:
        for number in range(FILES - 1):
            (branches / f"sub/{number}").write_bytes(b"mine\n")
        (branches / "clean").chmod(0o755)
        git(branches, "add", ".")
        listed = await kinds(tracker)
        assert (len(listed), listed["clean"]) == (FILES, "mode")
        assert tuple(tracker.notes) == ()
