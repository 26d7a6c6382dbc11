"""Whatever changes while a workspace is still being read: what is said of the files is right, or said to be unknown."""

import os
import threading
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from subprocess import CalledProcessError
from typing import TypeVar

import anyio
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from acp_tui.client.changes import CannotRevert, FileState
from acp_tui.client.changes.pace import Pace
from acp_tui.client.changes.tracker import ChangeTracker
from support.changes import let_the_clock_tick
from support.waiting import LIMIT_S

T = TypeVar("T")
Git = Callable[..., str]
OLD_NS = 150_000_000
"""Files this old certainly existed before the prompt."""


class StepPace(Pace):
    """A pace at which each item is only read when the test lets it."""

    def __init__(self) -> None:
        super().__init__()
        self._permits = threading.Semaphore(0)

    def allow(self, count: int) -> None:
        for _ in range(count):
            self._permits.release()

    def spread(self, items: Iterable[T]) -> Iterator[T]:
        for item in items:
            self._permits.acquire()
            yield item


@asynccontextmanager
async def reading(root: Path) -> AsyncIterator[tuple[ChangeTracker, StepPace]]:
    """A tracker that has read nothing yet when the agent may begin to change files."""
    tracker = ChangeTracker(root)
    tracker.pace = pace = StepPace()
    with anyio.fail_after(LIMIT_S):
        async with anyio.create_task_group() as tasks:
            await tasks.start(tracker.run)
            tracker.release()
            try:
                yield tracker, pace
            finally:
                tasks.cancel_scope.cancel()
                pace.allow(100_000)


def snapshot(root: Path) -> dict[str, tuple[bytes, int]]:
    """Each file's content and permissions."""
    return {
        str(path.relative_to(root)): (path.read_bytes(), path.stat().st_mode & 0o777)
        for path in root.rglob("*")
        if path.is_file() and ".git" not in path.relative_to(root).parts
    }


def known(state: FileState | None) -> tuple[bytes, int] | None:
    """A state as `snapshot` has it."""
    return None if state is None or state.data is None else (state.data, state.permissions)


async def test_what_git_knows_is_known_before_any_file_is_read(repository: Path) -> None:
    await anyio.to_thread.run_sync(let_the_clock_tick, repository, OLD_NS)
    async with reading(repository) as (tracker, pace):
        await tracker.look_first([str(repository / "clean"), "/elsewhere"])
        (repository / "clean").write_bytes(b"agent\n")
        assert (await tracker.review("clean")).before_lines == (b"one\n", b"two\n", b"three\n")
        pace.allow(100_000)
        await tracker.rescan()
        assert list(tracker.changes) == ["clean"]
        await tracker.revert_file(await tracker.review("clean"))
        assert (repository / "clean").read_bytes() == b"one\ntwo\nthree\n"


async def test_a_file_changed_before_it_was_read_is_unknown_and_stays(workspace: Path) -> None:
    await anyio.to_thread.run_sync(let_the_clock_tick, workspace, OLD_NS)
    async with reading(workspace) as (tracker, pace):
        (workspace / "clean").write_bytes(b"agent\n")
        pace.allow(100_000)
        await tracker.rescan()
        assert tracker.changes["clean"].before_unknown == "it changed before acp-tui had read it"
        with pytest.raises(CannotRevert):
            await tracker.revert_file(await tracker.review("clean"))
        assert (workspace / "clean").read_bytes() == b"agent\n"


async def test_a_new_file_named_beforehand_is_known_to_be_new(workspace: Path) -> None:
    await anyio.to_thread.run_sync(let_the_clock_tick, workspace, OLD_NS)
    async with reading(workspace) as (tracker, pace):
        await tracker.look_first([str(workspace / "sub/new"), str(workspace / "other/new")])
        for name in ("sub/new", "other/new"):
            (workspace / name).parent.mkdir(exist_ok=True)
            (workspace / name).write_bytes(b"agent\n")
        pace.allow(100_000)
        await tracker.rescan()
        assert {path: change.kind for path, change in tracker.changes.items()} == {
            "sub/new": "added",
            "other/new": "added",
        }
        assert all(change.before_unknown is None for change in tracker.changes.values())


async def test_a_folder_moved_meanwhile_is_not_taken_for_what_was_there(workspace: Path) -> None:
    (workspace / "other").mkdir()
    (workspace / "other/clean").write_bytes(b"other\n")
    await anyio.to_thread.run_sync(let_the_clock_tick, workspace, OLD_NS)
    async with reading(workspace) as (tracker, pace):
        (workspace / "sub").rename(workspace / "third")
        (workspace / "other").rename(workspace / "sub")
        pace.allow(100_000)
        await tracker.rescan()
        before = (await tracker.review("sub/clean")).before
        assert known(before) in (None, (b"sub\n", 0o644))
        assert before is not None


async def test_a_folder_moved_back_meanwhile_to_where_git_knew_it_was_not_there(repository: Path) -> None:
    (repository / "sub").rename(repository / "third")
    await anyio.to_thread.run_sync(let_the_clock_tick, repository, OLD_NS)
    async with reading(repository) as (tracker, pace):
        (repository / "third").rename(repository / "sub")
        pace.allow(100_000)
        await tracker.rescan()
        review = await tracker.review("sub/clean")
        assert known(review.before) is None


async def test_an_index_written_by_others_does_not_change_what_was(repository: Path, git: Git) -> None:
    await anyio.to_thread.run_sync(let_the_clock_tick, repository, OLD_NS)
    async with reading(repository) as (tracker, pace):
        pace.allow(100_000)
        await tracker.captured.wait()
        (repository / "clean").write_bytes(b"agent\n")
        (repository / "new").write_bytes(b"new\n")
        git(repository, "add", ".")
        git(repository, "commit", "-qm", "by the agent")
        await tracker.rescan()
        assert {path: change.kind for path, change in tracker.changes.items()} == {"clean": "modified", "new": "added"}
        assert (await tracker.review("clean")).before_lines == (b"one\n", b"two\n", b"three\n")


NAMES = ("clean", "sub/clean", "sub/new", "new", "deep/er/new", "ignored", "loose", "sub/loose")
STEPS = st.one_of(
    st.tuples(st.just("write"), st.sampled_from(NAMES), st.binary(max_size=2)),
    st.tuples(st.just("replace"), st.sampled_from(NAMES), st.binary(max_size=2)),
    st.tuples(st.just("delete"), st.sampled_from(NAMES)),
    st.tuples(st.just("chmod"), st.sampled_from(NAMES)),
    st.tuples(st.just("move"), st.sampled_from(["sub", "deep", "third"]), st.sampled_from(["sub", "deep", "third"])),
    st.tuples(
        st.just("git"), st.sampled_from(["add .", "commit -qm x", "checkout -q .", "rm -q --cached clean", "stash -q"])
    ),
    st.tuples(st.just("read"), st.integers(1, 4)),
    st.tuples(st.just("name"), st.sampled_from(NAMES)),
)


def take(root: Path, git: Git, step: tuple[object, ...]) -> None:
    """Change something, as agents and users do. What isn't possible doesn't happen."""
    with suppress(OSError, CalledProcessError):
        match step:
            case "write", str(name), bytes(data):
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_bytes(data)
            case "replace", str(name), bytes(data):
                (root / "temporary").write_bytes(data)
                (root / "temporary").rename(root / name)
            case "delete", str(name):
                (root / name).unlink()
            case "chmod", str(name):
                (root / name).chmod(0o755)
            case "move", str(name), str(other):
                (root / name).rename(root / other)
            case "git", str(words) if (root / ".git").exists():
                git(root, *words.split())
    (root / "temporary").unlink(missing_ok=True)


@settings(
    max_examples=int(os.environ.get("ACP_TUI_EARLY_CHANGES", "25")),
    deadline=None,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],  # shrinking would take minutes
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(early=st.lists(STEPS, max_size=3), steps=st.lists(STEPS, min_size=1, max_size=8), is_repository=st.booleans())
async def test_whatever_changes_while_files_are_read_nothing_wrong_is_said(
    tmp_path_factory: pytest.TempPathFactory,
    git: Git,
    early: list[tuple[object, ...]],
    steps: list[tuple[object, ...]],
    is_repository: bool,
) -> None:
    root = tmp_path_factory.mktemp("random") / "root"
    (root / "sub").mkdir(parents=True)
    for name in ("clean", "sub/clean"):
        (root / name).write_bytes(f"{name}\n".encode())
    if is_repository:
        git(root, "init", "-q")
        (root / ".gitignore").write_bytes(b"ignored\n")
        git(root, "add", ".")
        git(root, "commit", "-qm", "first")
    for name in ("loose", "sub/loose", "ignored"):
        (root / name).write_bytes(f"{name}\n".encode())
    for step in early:
        take(root, git, step)
    await anyio.to_thread.run_sync(let_the_clock_tick, root, OLD_NS)
    async with reading(root) as (tracker, pace):
        before = snapshot(root)
        for step in steps:
            match step:
                case "read", int(count):
                    pace.allow(count)
                case "name", str(name):
                    await tracker.look_first([str(root / name)])
                case _:
                    take(root, git, step)
        pace.allow(100_000)
        await tracker.rescan()
        after = snapshot(root)
        for path in {*before, *after}:
            review = await tracker.review(path)
            if review.before is None or review.before.data is not None:
                assert known(review.before) == before.get(path), path
            if path != "ignored" and before.get(path) != after.get(path):
                assert path in tracker.changes or any("may be missing" in note for note in tracker.notes), path
