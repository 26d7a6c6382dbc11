"""Which files are listed as changed, and with which details."""

import os
import socket
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


async def test_nothing_is_listed_at_the_beginning(workspace: Path, track: Track) -> None:
    (workspace / "dirty").write_bytes(b"untracked\n")
    async with track(workspace) as tracker:
        assert await changes(tracker) == {}
        assert tracker.notes == ()


async def test_what_is_edited_added_and_deleted_is_listed_with_its_lines(workspace: Path, track: Track) -> None:
    async with track(workspace) as tracker:
        (workspace / "clean").write_bytes(b"one\n2\n2.5\nthree\n")
        (workspace / "new").mkdir()
        (workspace / "new/file").write_bytes(b"a\nb")
        (workspace / "sub/clean").unlink()

        assert await changes(tracker) == {
            "clean": ChangedPath("clean", "modified", added=2, removed=1),
            "new/file": ChangedPath("new/file", "added", added=2, removed=0),
            "sub/clean": ChangedPath("sub/clean", "deleted", added=0, removed=1),
        }
        found = [await sizes(tracker, path) for path in ("clean", "new/file", "sub/clean")]
        assert found == [(14, 16), (None, 3), (4, None)]


async def test_a_file_that_is_what_it_was_is_not_listed(workspace: Path, track: Track) -> None:
    async with track(workspace) as tracker:
        (workspace / "clean").write_bytes(b"other\n")
        (workspace / "new").write_bytes(b"x")
        assert set(await changes(tracker)) == {"clean", "new"}

        (workspace / "clean").write_bytes(b"one\ntwo\nthree\n")
        (workspace / "new").unlink()
        assert await changes(tracker) == {}


async def test_what_was_dirty_or_untracked_before_is_compared_with_that(repository: Path, track: Track) -> None:
    (repository / "clean").write_bytes(b"mine\n")
    (repository / "loose").write_bytes(b"loose\n")
    (repository / "sub/clean").unlink()
    async with track(repository) as tracker:
        (repository / "clean").write_bytes(b"mine\nagent\n")
        (repository / "loose").write_bytes(b"")
        (repository / "sub/clean").write_bytes(b"sub\n")

        assert await changes(tracker) == {
            "clean": ChangedPath("clean", "modified", added=1, removed=0),
            "loose": ChangedPath("loose", "modified", added=0, removed=1),
            "sub/clean": ChangedPath("sub/clean", "added", added=1, removed=0),
        }
        found = [await sizes(tracker, path) for path in ("clean", "loose", "sub/clean")]
        assert found == [(5, 11), (6, 0), (None, 4)]


async def test_a_commit_does_not_end_a_change(repository: Path, track: Track, git: Git) -> None:
    async with track(repository) as tracker:
        (repository / "clean").write_bytes(b"new\n")
        git(repository, "commit", "-qam", "second")
        git(repository, "gc", "-q", "--prune=now")

        assert (await changes(tracker))["clean"].removed == 3


async def test_ignored_files_stay_out(repository: Path, track: Track) -> None:
    async with track(repository) as tracker:
        (repository / "ignored").write_bytes(b"other")
        (repository / "build").mkdir()
        (repository / "build/out").write_bytes(b"x")
        (repository / "sub/build").mkdir()
        (repository / "sub/build/out").write_bytes(b"x")

        assert await changes(tracker) == {}


async def test_a_file_that_was_ignored_is_unknown_once_it_is_touched(repository: Path, track: Track) -> None:
    (repository / "build").mkdir()
    (repository / "build/old").write_bytes(b"x")
    await anyio.to_thread.run_sync(let_the_clock_tick, repository)
    async with track(repository) as tracker:
        (repository / ".gitignore").write_bytes(b"")
        (repository / "ignored").write_bytes(b"other")
        (repository / "build/new").write_bytes(b"x")
        (repository / "new").write_bytes(b"x")

        listed = await changes(tracker)
        assert set(listed) == {".gitignore", "ignored", "build/new", "new"}
        unknown = {path for path, change in listed.items() if change.before_unknown}
        assert unknown == {"ignored", "build/new"}
        assert (await tracker.review("ignored")).hunks == ()


async def test_permissions_and_types_are_changes_too(workspace: Path, track: Track) -> None:
    (workspace / "link").symlink_to("clean")
    async with track(workspace) as tracker:
        (workspace / "clean").chmod(0o755)
        (workspace / "sub/clean").unlink()
        (workspace / "sub/clean").symlink_to("../clean")
        (workspace / "link").unlink()
        (workspace / "link").symlink_to("elsewhere")

        assert await kinds(tracker) == {"clean": "mode", "sub/clean": "type", "link": "modified"}
        assert (await tracker.review("link")).after_lines == (b"elsewhere",)


async def test_a_directory_in_the_place_of_a_file_is_a_deletion(workspace: Path, track: Track) -> None:
    async with track(workspace) as tracker:
        (workspace / "clean").unlink()
        (workspace / "clean").mkdir()
        (workspace / "clean/inner").write_bytes(b"x")

        assert await kinds(tracker) == {"clean": "deleted", "clean/inner": "added"}


async def test_a_directory_swapped_for_a_link_is_not_followed(workspace: Path, track: Track, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "clean").write_bytes(b"outside\n")
    async with track(workspace) as tracker:
        (workspace / "sub/clean").unlink()
        (workspace / "sub").rmdir()
        (workspace / "sub").symlink_to(outside)

        assert await kinds(tracker) == {"sub/clean": "deleted", "sub": "added"}


async def test_binary_files_have_sizes_and_no_lines(workspace: Path, track: Track) -> None:
    async with track(workspace) as tracker:
        (workspace / "clean").write_bytes(b"\0\1\2")

        assert await changes(tracker) == {"clean": ChangedPath("clean", "modified", is_binary=True)}
        assert await sizes(tracker, "clean") == (14, 3)


async def test_what_was_too_large_to_copy_is_unknown_once_it_is_touched(workspace: Path, track: Track) -> None:
    with (workspace / "sparse").open("wb") as file:
        file.truncate(100 << 20)
    (workspace / "large").write_bytes(b"x" * 2000)
    async with track(workspace, ChangeLimits(max_file_bytes=1000)) as tracker:
        assert await changes(tracker) == {}
        with (workspace / "sparse").open("ab") as file:
            file.write(b"x")

        (change,) = (await changes(tracker)).values()
        assert (change.path, change.kind, change.added) == ("sparse", "modified", None)
        assert change.before_unknown is not None
        assert await sizes(tracker, change.path) == (100 << 20, (100 << 20) + 1)


async def test_copies_end_at_their_limit(root: Path, track: Track) -> None:
    for name in "abc":
        (root / name).write_bytes(b"12345\n")
    async with track(root, ChangeLimits(max_total_bytes=13)) as tracker:
        for name in "abc":
            (root / name).write_bytes(b"changed\n")

        assert [bool(change.before_unknown) for _, change in sorted((await changes(tracker)).items())] == [
            False,
            False,
            True,
        ]


async def test_beyond_the_limit_of_files_nothing_is_claimed(root: Path, track: Track) -> None:
    for number in range(5):
        (root / str(number)).write_bytes(b"x")
    await anyio.to_thread.run_sync(let_the_clock_tick, root)
    async with track(root, ChangeLimits(max_files=3)) as tracker:
        assert tracker.notes
        assert await changes(tracker) == {}
        (root / "4").write_bytes(b"y")

        listed = await changes(tracker)
        assert [(path, bool(change.before_unknown)) for path, change in listed.items()] == [("4", True)]


async def test_where_there_are_far_too_many_files_that_is_said(root: Path, track: Track) -> None:
    async with track(root, ChangeLimits(max_files=3)) as tracker:
        for number in range(10):
            (root / str(number)).write_bytes(b"x")

        assert len(await changes(tracker)) == 3
        assert any("more than" in note for note in tracker.notes)


async def test_names_may_be_any_bytes(workspace: Path, track: Track) -> None:
    names = ["new\nline", "-dash", ":(glob)*", 'quo"te\\', " space ", "\u00e4", os.fsdecode(b"\xff\xfe")]
    for name in names:
        (workspace / name).write_bytes(b"old\n")
    async with track(workspace) as tracker:
        for name in names:
            (workspace / name).write_bytes(b"new\n")
            (workspace / f"{name}2").write_bytes(b"new\n")

        listed = await kinds(tracker)
        assert {path for path, kind in listed.items() if kind == "modified"} == set(names)
        assert {path for path, kind in listed.items() if kind == "added"} == {f"{name}2" for name in names}


async def test_pipes_sockets_and_circles_of_links_hold_nothing_up(workspace: Path, track: Track) -> None:
    os.mkfifo(workspace / "pipe")
    (workspace / "circle").symlink_to("circle")
    (workspace / "sub/up").symlink_to("..")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(os.path.relpath(workspace / "socket"))
        async with track(workspace) as tracker:
            assert await changes(tracker) == {}
            (workspace / "clean").unlink()
            os.mkfifo(workspace / "clean")

            assert await kinds(tracker) == {"clean": "type"}


async def test_unreadable_files_and_directories_are_passed_by(workspace: Path, track: Track) -> None:
    (workspace / "closed").mkdir()
    (workspace / "closed/file").write_bytes(b"x")
    (workspace / "closed").chmod(0)
    (workspace / "unreadable").write_bytes(b"x")
    (workspace / "unreadable").chmod(0)
    if os.access(workspace / "unreadable", os.R_OK):
        pytest.skip("this user may read everything")
    try:
        async with track(workspace) as tracker:
            (workspace / "clean").chmod(0)
            assert set(await changes(tracker)) == {"clean"}
    finally:
        (workspace / "closed").chmod(0o700)
