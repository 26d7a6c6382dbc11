"""Which files are listed as changed when git can be asked, and when it can't."""

import hashlib
import os
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import anyio
import pytest

from acp_tui.client.changes import ChangedPath, ChangeLimits
from acp_tui.client.changes.tracker import ChangeTracker
from support.changes import changes, kinds, let_the_clock_tick, sizes

Track = Callable[..., AbstractAsyncContextManager[ChangeTracker]]
Git = Callable[..., str]


async def test_a_file_that_git_converts_is_compared_as_it_was_on_disk(repository: Path, track: Track, git: Git) -> None:
    folder = repository / "folder"
    folder.mkdir()
    (folder / ".gitattributes").write_bytes(
        b"dos eol=crlf\ntext text\nutf16 working-tree-encoding=UTF-16LE\nid ident\n"
    )
    (folder / "dos").write_bytes(b"a\r\nb\r\n")
    (folder / "text").write_bytes(b"a\r\nb\r\n")
    (folder / "utf16").write_bytes("жук".encode("utf-16le"))
    (folder / "id").write_bytes(b"$Id$\n")
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "second")
    (folder / "id").unlink()
    git(repository, "checkout", "-q", ".")
    expanded = (folder / "id").read_bytes()
    assert expanded.startswith(b"$Id: ")
    async with track(folder) as tracker:
        for name in ("dos", "text", "utf16", "id"):
            (folder / name).write_bytes(b"a\r\n")

        assert set(await changes(tracker)) == {"dos", "text", "utf16", "id"}
        assert (await tracker.review("dos")).before_lines == (b"a\r\n", b"b\r\n")
        assert (await tracker.review("text")).before_lines == (b"a\r\n", b"b\r\n")
        assert (await sizes(tracker, "utf16"))[0] == 6
        assert (await tracker.review("id")).before_lines == (expanded,)


async def test_files_that_were_only_touched_need_no_copies(repository: Path, track: Track) -> None:
    """As after copying the whole repository: git's times mean nothing, but the contents match."""
    for path in ("clean", "sub/clean", ".gitignore"):
        os.utime(repository / path, (1, 1))
    async with track(repository, ChangeLimits(max_total_bytes=0)) as tracker:
        (repository / "clean").write_bytes(b"x\n")

        assert await kinds(tracker) == {"clean": "modified"}
        assert (await tracker.review("clean")).before_lines == (b"one\n", b"two\n", b"three\n")


async def test_a_mixture_of_line_ends_is_said_to_be_unknown_rather_than_guessed(
    repository: Path, track: Track, git: Git
) -> None:
    (repository / ".gitattributes").write_bytes(b"mixed text\n")
    (repository / "mixed").write_bytes(b"a\r\nb\n")
    git(repository, "add", ".")
    await anyio.to_thread.run_sync(let_the_clock_tick, repository)
    git(repository, "commit", "-qm", "second")
    async with track(repository, ChangeLimits(max_total_bytes=0)) as tracker:
        (repository / "mixed").write_bytes(b"c\n")

        assert (await changes(tracker))["mixed"].before_unknown


async def test_an_index_that_names_files_elsewhere_reaches_none_of_them(
    repository: Path, track: Track, git: Git
) -> None:
    """Git doesn't write such an index, but someone else can, byte by byte."""
    secret = repository.parent / "secret-file"
    secret.write_bytes(b"secret\n")
    (repository / "xx").mkdir()
    (repository / "xx/secret-file").write_bytes(b"public\n")
    git(repository, "add", ".")
    index = repository / ".git/index"
    content = index.read_bytes()[:-20].replace(b"xx/secret-file", b"../secret-file")
    index.write_bytes(content + hashlib.sha1(content).digest())
    assert "../secret-file" in git(repository, "ls-files", "--stage")
    async with track(repository) as tracker:
        secret.write_bytes(b"another\n")
        (repository / "clean").write_bytes(b"x\n")

        assert not any(".." in path for path in await changes(tracker))
        assert not any(".." in path for path in tracker.changes)


async def test_a_subfolder_of_a_repository_is_a_workspace(repository: Path, track: Track) -> None:
    async with track(repository / "sub") as tracker:
        (repository / "clean").write_bytes(b"outside")
        (repository / "sub/clean").write_bytes(b"x\n")
        (repository / "sub/ignored").write_bytes(b"x\n")

        assert await changes(tracker) == {"clean": ChangedPath("clean", "modified", added=1, removed=1)}
        assert await sizes(tracker, "clean") == (4, 2)
        assert tracker.notes == ()


async def test_a_workspace_that_a_repository_ignores_is_followed_without_git(repository: Path, track: Track) -> None:
    (repository / "build").mkdir()
    (repository / "build/file").write_bytes(b"old")
    async with track(repository / "build") as tracker:
        (repository / "build/file").write_bytes(b"new")

        assert await kinds(tracker) == {"file": "modified"}


@pytest.mark.parametrize("outer", ["git", "no git"])
async def test_repositories_inside_are_asked_themselves(root: Path, track: Track, git: Git, outer: str) -> None:
    (root / "nested").mkdir()
    (root / "nested/tracked").write_bytes(b"old\n")
    (root / "nested/.gitignore").write_bytes(b"out\n")
    git(root / "nested", "init", "-q")
    git(root / "nested", "add", ".")
    git(root / "nested", "commit", "-qm", "first")
    if outer == "git":
        git(root, "init", "-q")
        git(root, "submodule", "add", "-q", str(root / "nested"), "module")
    async with track(root, ChangeLimits(max_total_bytes=500)) as tracker:
        for inner in ("nested", "module") if outer == "git" else ("nested",):
            (root / inner / "tracked").write_bytes(b"new\n")
            (root / inner / "out").write_bytes(b"new\n")
            (root / inner / "fresh").write_bytes(b"new\n")

            listed = await changes(tracker)
            assert listed[f"{inner}/tracked"].removed == 1
            assert listed[f"{inner}/fresh"].kind == "added"
            assert f"{inner}/out" not in listed
        assert not any("/.git" in path for path in tracker.changes if not path.endswith("/.gitignore"))


async def test_a_repository_that_comes_later_is_listed_file_by_file(workspace: Path, track: Track, git: Git) -> None:
    async with track(workspace) as tracker:
        (workspace / "later").mkdir()
        (workspace / "later/file").write_bytes(b"x\n")
        git(workspace / "later", "init", "-q")
        git(workspace / "later", "add", ".")
        git(workspace / "later", "commit", "-qm", "first")

        assert await kinds(tracker) == {"later/file": "added"}


async def test_a_worktree_and_a_repository_without_a_commit_are_repositories(
    repository: Path, track: Track, git: Git, tmp_path: Path
) -> None:
    git(repository, "worktree", "add", "-q", str(tmp_path / "tree"))
    (tmp_path / "empty").mkdir()
    git(tmp_path / "empty", "init", "-q")
    (tmp_path / "empty/.gitignore").write_bytes(b"ignored\n")
    for directory in (tmp_path / "tree", tmp_path / "empty"):
        async with track(directory) as tracker:
            (directory / "ignored").write_bytes(b"x")
            (directory / "clean").write_bytes(b"x")

            assert list(await changes(tracker)) == ["clean"]
            assert tracker.notes == ()


async def test_without_the_git_command_a_repository_is_walked(
    repository: Path, track: Track, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    async with track(repository) as tracker:
        (repository / "clean").write_bytes(b"x\n")

        assert await kinds(tracker) == {"clean": "modified"}
        assert any("git" in note for note in tracker.notes)


async def test_a_repository_that_vanishes_leaves_the_list_honest(repository: Path, track: Track, git: Git) -> None:
    for path in ("clean", "sub/clean", ".gitignore"):
        os.utime(repository / path, (1, 1))
    git(repository, "add", ".")
    await anyio.to_thread.run_sync(let_the_clock_tick, repository)
    async with track(repository) as tracker:
        (repository / "clean").write_bytes(b"x\n")
        (repository / ".git").rename(repository / ".hg")

        listed = await changes(tracker)
        assert set(listed) == {"clean"}
        assert listed["clean"].before_unknown
        assert tracker.notes


async def test_a_repository_that_git_cannot_read_is_walked(repository: Path, track: Track) -> None:
    (repository / ".git/index").write_bytes(b"not an index")
    async with track(repository) as tracker:
        (repository / "clean").write_bytes(b"x\n")

        assert await kinds(tracker) == {"clean": "modified"}
        assert any("index" in note for note in tracker.notes)


async def test_variables_that_point_elsewhere_do_not_count(
    repository: Path, track: Track, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("GIT_DIR", str(tmp_path))
    monkeypatch.setenv("GIT_INDEX_FILE", str(tmp_path / "index"))
    async with track(repository) as tracker:
        (repository / "ignored").write_bytes(b"x\n")
        (repository / "clean").write_bytes(b"x\n")

        assert await kinds(tracker) == {"clean": "modified"}
