"""Every form of git's index is read as git itself reads it, and kept as it was when it was opened."""

import os
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import anyio
import pytest

from acp_tui.client.changes import ChangeLimits
from acp_tui.client.changes.git_index import SAMPLED, GitIndex
from acp_tui.client.changes.tracker import ChangeTracker
from acp_tui.client.safe_git import GitFailed
from support.changes import changes, kinds, let_the_clock_tick

Track = Callable[..., AbstractAsyncContextManager[ChangeTracker]]
Git = Callable[..., str]
KEEP_NOTHING = ChangeLimits(max_total_bytes=0)
"""So that only git has the content of files."""


def make_repository(root: Path, git: Git, *options: str) -> list[str]:
    """A repository with many files, some with odd names. Returns their paths in git's order."""
    git(root, "init", "-q", *options)
    names = [f"folder{number % 9}/sub-{number % 5}/file{number}" for number in range(3 * SAMPLED)]
    names += ["a", "a-b", "a.b/c", "a0", " space ", "new\nline", os.fsdecode(b"\xff"), "x" * 200]
    for number, name in enumerate(names):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(b"%d\n" % number)
    git(root, "add", ".")
    return sorted(names, key=os.fsencode)


def blobs(root: Path, git: Git) -> dict[str, str]:
    """What git says."""
    lines = git(root, "ls-files", "-z", "--stage").encode().split(b"\0")[:-1]
    return {os.fsdecode(path): meta.split()[1].decode() for meta, path in (line.split(b"\t", 1) for line in lines)}


@pytest.mark.parametrize("form", ["2", "4", "sha256"])
def test_entries_are_read_in_order_and_each_is_found(root: Path, git: Git, form: str) -> None:
    names = make_repository(root, git, *(["--object-format=sha256"] if form == "sha256" else []))
    if form != "sha256":
        git(root, "update-index", "--index-version", form)
    index = GitIndex(root / ".git/index", id_bytes=32 if form == "sha256" else 20)
    assert [entry.path for entry in index.entries()] == names
    for name in names:
        found = index.find(name)
        assert found is not None
        assert found.path == name
        assert (root / name).lstat().st_size == found.size
    assert index.find("folder1") is index.find("nothing") is index.find("zz") is index.find("") is None
    assert [entry.path for entry in index.entries("folder1")] == [each for each in names if each.startswith("folder1/")]
    assert [entry.path for entry in index.entries("a")] == ["a"]
    index.close()


def test_the_index_stays_as_it_was_when_it_was_opened(root: Path, git: Git) -> None:
    names = make_repository(root, git)
    index = GitIndex(root / ".git/index")
    assert index.is_current(root / ".git/index")
    git(root, "rm", "-rq", "--cached", ".")
    assert not index.is_current(root / ".git/index")
    assert [entry.path for entry in index.entries()] == names
    index.close()


def test_below_the_top_paths_are_those_of_the_folder(root: Path, git: Git) -> None:
    names = make_repository(root, git)
    index = GitIndex(root / ".git/index", "folder1/")
    assert [entry.path for entry in index.entries()] == [
        name.removeprefix("folder1/") for name in names if name.startswith("folder1/")
    ]
    assert index.find("a") is None
    index.close()


@pytest.mark.parametrize("cut", [3, 13, 80, 500, 5_000])
def test_a_damaged_index_is_refused(root: Path, git: Git, cut: int) -> None:
    make_repository(root, git)
    file = root / ".git/index"
    file.write_bytes(file.read_bytes()[:cut])
    with pytest.raises(GitFailed):
        [*GitIndex(file).entries()]


def test_an_index_overwritten_in_place_is_noticed(root: Path, git: Git) -> None:
    """Git replaces the file; other programs may not."""
    make_repository(root, git)
    file = root / ".git/index"
    index = GitIndex(file)
    with file.open("r+b") as overwritten:
        overwritten.write(b"DIRC")
        overwritten.truncate(100)
    with pytest.raises(GitFailed, match="overwritten"):
        index.find("a")
    index.close()


async def test_a_split_index_is_done_without_and_that_is_said(repository: Path, track: Track, git: Git) -> None:
    git(repository, "update-index", "--split-index")
    async with track(repository) as tracker:
        (repository / "clean").write_bytes(b"x\n")
        assert (await kinds(tracker))["clean"] == "modified"
        assert (await tracker.review("clean")).before_lines == (b"one\n", b"two\n", b"three\n")
        assert any("without git" in note for note in tracker.notes)


@pytest.mark.parametrize("flag", ["--assume-unchanged", "--skip-worktree"])
async def test_what_git_is_told_to_overlook_is_compared_with_the_disk(
    repository: Path, track: Track, git: Git, flag: str
) -> None:
    git(repository, "update-index", flag, "clean", "sub/clean")
    (repository / "clean").write_bytes(b"mine\n")
    (repository / "sub/clean").unlink()
    async with track(repository) as tracker:
        assert await changes(tracker) == {}
        (repository / "clean").write_bytes(b"agent\n")
        (repository / "sub/clean").write_bytes(b"agent\n")
        assert await kinds(tracker) == {"clean": "modified", "sub/clean": "added"}
        assert (await tracker.review("clean")).before_lines == (b"mine\n",)


async def test_a_sparse_index_has_only_what_is_checked_out(repository: Path, track: Track, git: Git) -> None:
    (repository / "other").mkdir()
    (repository / "other/file").write_bytes(b"x\n")
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "second")
    git(repository, "sparse-checkout", "set", "--cone", "--sparse-index", "sub")
    assert not (repository / "other").exists()
    async with track(repository, KEEP_NOTHING) as tracker:
        assert await changes(tracker) == {}
        (repository / "sub/clean").write_bytes(b"agent\n")
        assert await kinds(tracker) == {"sub/clean": "modified"}
        await tracker.revert_file(await tracker.review("sub/clean"))
        assert (repository / "sub/clean").read_bytes() == b"sub\n"


async def test_a_file_changed_in_the_moment_of_the_index_is_not_taken_for_clean(
    repository: Path, track: Track, git: Git
) -> None:
    """With the same size and times as in the index, only the content tells."""
    for _ in range(20):
        (repository / "clean").write_bytes(b"aaa\n")
        git(repository, "add", "clean")
        (repository / "clean").write_bytes(b"bbb\n")
        async with track(repository) as tracker:
            (repository / "clean").write_bytes(b"ccc\n")
            await tracker.rescan()
            assert (await tracker.review("clean")).before_lines == (b"bbb\n",)


async def test_a_conflict_is_compared_with_the_file_on_disk(repository: Path, track: Track, git: Git) -> None:
    git(repository, "checkout", "-qb", "side")
    (repository / "clean").write_bytes(b"side\n")
    git(repository, "commit", "-qam", "side")
    git(repository, "checkout", "-q", "-")
    (repository / "clean").write_bytes(b"main\n")
    git(repository, "commit", "-qam", "main")
    with pytest.raises(Exception, match="merge"):
        git(repository, "merge", "-q", "side")
    conflict = (repository / "clean").read_bytes()
    async with track(repository) as tracker:
        (repository / "clean").write_bytes(b"resolved\n")
        await tracker.rescan()
        await tracker.revert_file(await tracker.review("clean"))
        assert (repository / "clean").read_bytes() == conflict


async def test_an_unborn_branch_has_an_index(root: Path, track: Track, git: Git) -> None:
    make_repository(root, git)
    await anyio.to_thread.run_sync(let_the_clock_tick, root)
    async with track(root, KEEP_NOTHING) as tracker:
        (root / "a").write_bytes(b"agent\n")
        assert await kinds(tracker) == {"a": "modified"}
