"""What is on the disk after an agent wrote a file, or failed to."""

import errno
import os
import resource
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import anyio
import pytest

from acp_tui.client.workspace import (
    AccessDenied,
    DiskFailure,
    IsDirectory,
    NotADirectory,
    NotFound,
    OutsideWorkspace,
    SpecialFile,
    UnencodableText,
    Workspace,
    WriteResult,
)
from support.waiting import LIMIT_S

OLD = "the old content\n"


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace([tmp_path])


async def write(workspace: Workspace, name: str, content: str) -> WriteResult:
    with anyio.fail_after(LIMIT_S):
        return await workspace.write_text_file(str(workspace.roots[0] / name), content)


def names_in(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.iterdir())


async def test_an_absent_file_is_created_with_its_parents_r_fs_4(workspace: Workspace, tmp_path: Path) -> None:
    written = await write(workspace, "new/deep/file", "x")
    assert written == WriteResult(tmp_path / "new/deep/file", created=True, atomic=True)
    assert (tmp_path / "new/deep/file").read_text() == "x"


@pytest.mark.parametrize("content", ["", "a\r\nb\nc\r", "\ufeffä€🙂\0\x1b", "no newline at the end"])
async def test_exactly_the_bytes_of_the_content_are_written_r_fs_4(
    workspace: Workspace, tmp_path: Path, content: str
) -> None:
    (tmp_path / "file").write_text("something that is longer than the new content")
    written = await write(workspace, "file", content)
    assert written == WriteResult(tmp_path / "file", created=False, atomic=True)
    assert (tmp_path / "file").read_bytes() == content.encode()
    assert names_in(tmp_path) == ["file"]


@pytest.mark.parametrize("mode", [0o600, 0o644, 0o755, 0o777])
async def test_the_mode_of_a_file_is_kept_r_fs_4(workspace: Workspace, tmp_path: Path, mode: int) -> None:
    file = tmp_path / "file"
    file.touch()
    file.chmod(mode)
    await write(workspace, "file", "x")
    assert file.stat().st_mode & 0o7777 == mode


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
async def test_the_owner_of_a_file_is_kept(workspace: Workspace, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    os.chown(file, 12345, 23456)
    await write(workspace, "file", "x")
    assert (file.stat().st_uid, file.stat().st_gid) == (12345, 23456)


async def test_a_new_file_gets_the_mode_that_the_umask_leaves(workspace: Workspace, tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        await write(workspace, "file", "x")
    finally:
        os.umask(before)
    assert (tmp_path / "file").stat().st_mode & 0o777 == 0o640


async def test_a_reader_that_has_the_file_open_keeps_the_old_content_r_fs_4(
    workspace: Workspace, tmp_path: Path
) -> None:
    file = tmp_path / "file"
    file.write_text(OLD)
    with file.open() as reader:
        await write(workspace, "file", "new")
        assert reader.read() == OLD
    assert file.read_text() == "new"


async def test_a_link_inside_is_kept_and_its_target_written(workspace: Workspace, tmp_path: Path) -> None:
    (tmp_path / "target").write_text(OLD)
    (tmp_path / "link").symlink_to("target")
    written = await write(workspace, "link", "new")
    assert written.path == tmp_path / "target"
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "target").read_text() == "new"


async def test_a_link_to_a_file_that_is_yet_to_be_creates_that_file(workspace: Workspace, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("sub/target")
    await write(workspace, "link", "new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "sub/target").read_text() == "new"


async def test_no_directory_is_made_on_the_way_to_a_refused_path(workspace: Workspace, tmp_path: Path) -> None:
    for name in ("new/../file", "new/../../outside", "new/", "new/deep/."):
        with pytest.raises(NotFound):
            await workspace.write_text_file(f"{tmp_path}/{name}", "x")
    with pytest.raises(OutsideWorkspace):
        await workspace.write_text_file(f"{tmp_path.parent}/new/file", "x")
    assert names_in(tmp_path) == []
    assert not (tmp_path.parent / "new").exists()


async def test_what_is_no_regular_file_is_not_written(workspace: Workspace, tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "file").write_text(OLD)
    os.mkfifo(tmp_path / "pipe")
    expected = {"sub": IsDirectory, "sub/.": IsDirectory, "file/x": NotADirectory, "pipe": SpecialFile}
    for name, error in expected.items():
        with pytest.raises(error):
            await workspace.write_text_file(f"{tmp_path}/{name}", "x")
    assert names_in(tmp_path) == ["file", "pipe", "sub"]


async def test_a_lone_surrogate_is_refused_before_anything_is_touched(workspace: Workspace, tmp_path: Path) -> None:
    with pytest.raises(UnencodableText, match="character 2") as caught:
        await write(workspace, "new/file", "ab\ud800")
    assert caught.value.index == 2
    assert names_in(tmp_path) == []


async def test_a_disk_that_fills_up_leaves_the_old_file_whole(
    workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text(OLD)
    write_some = os.write
    calls: list[int] = []

    def fill_up(fd: int, data: memoryview) -> int:
        calls.append(len(data))
        if len(calls) > 1:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return write_some(fd, data[:10])

    with monkeypatch.context() as patch, pytest.raises(DiskFailure, match=r"Cannot write .*no space left"):
        patch.setattr("acp_tui.client.workspace.workspace.os.write", fill_up)
        await write(workspace, "file", "new" * 1000)
    assert len(calls) == 2
    assert (tmp_path / "file").read_text() == OLD
    assert names_in(tmp_path) == ["file"]


async def test_the_system_s_own_limit_on_file_sizes_leaves_the_old_file_whole(
    workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A module compiled meanwhile would be cut short.
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    (tmp_path / "file").write_text(OLD)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, before[1]))
    try:
        with pytest.raises(DiskFailure, match="too large"):
            await write(workspace, "file", "new" * 10_000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert (tmp_path / "file").read_text() == OLD
    assert names_in(tmp_path) == ["file"]


@pytest.mark.parametrize("step", ["fsync", "fchmod", "replace"])
async def test_a_failure_at_any_step_leaves_the_old_file_whole_and_no_other(
    workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    (tmp_path / "file").write_text(OLD)

    def fail(*args: object, **options: object) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    with monkeypatch.context() as patch, pytest.raises(DiskFailure):
        patch.setattr(f"acp_tui.client.workspace.workspace.os.{step}", fail)
        await write(workspace, "file", "new")
    assert (tmp_path / "file").read_text() == OLD
    assert names_in(tmp_path) == ["file"]


def refuse_new_files(monkeypatch: pytest.MonkeyPatch, refusal: int) -> None:
    open_file = os.open

    def refuse(path: str, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
        if flags & os.O_EXCL:
            raise OSError(refusal, os.strerror(refusal))
        return open_file(path, flags, mode, dir_fd=dir_fd)

    monkeypatch.setattr(os, "open", refuse)


@pytest.mark.parametrize("refusal", [errno.EACCES, errno.EPERM, errno.EROFS])
async def test_a_directory_that_takes_no_new_file_gets_the_content_in_place(
    workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refusal: int
) -> None:
    file = tmp_path / "file"
    file.write_text(OLD)
    inode = file.stat().st_ino
    refuse_new_files(monkeypatch, refusal)
    written = await write(workspace, "file", "new")
    assert written == WriteResult(file, created=False, atomic=False)
    assert (file.read_text(), file.stat().st_ino) == ("new", inode)
    with pytest.raises(AccessDenied, match="Cannot write"):
        await write(workspace, "other", "new")


async def test_a_file_that_cannot_be_replaced_gets_the_content_in_place(
    workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text(OLD)

    def refuse(*args: object, **options: object) -> None:
        raise OSError(errno.EBUSY, os.strerror(errno.EBUSY))

    monkeypatch.setattr(os, "replace", refuse)
    written = await write(workspace, "file", "new")
    assert not written.atomic
    assert (tmp_path / "file").read_text() == "new"
    assert names_in(tmp_path) == ["file"]


async def test_a_file_whose_owner_cannot_be_kept_gets_the_content_in_place(
    workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text(OLD)

    def refuse(*args: object) -> None:
        raise OSError(errno.EPERM, os.strerror(errno.EPERM))

    monkeypatch.setattr(os, "fchown", refuse)
    assert not (await write(workspace, "file", "new")).atomic
    assert names_in(tmp_path) == ["file"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everything")
async def test_a_writable_file_in_a_read_only_directory_is_written_in_place(
    workspace: Workspace, tmp_path: Path
) -> None:
    directory = tmp_path / "closed"
    directory.mkdir()
    (directory / "file").write_text(OLD)
    directory.chmod(0o500)
    try:
        written = await write(workspace, "closed/file", "new")
        with pytest.raises(AccessDenied):
            await write(workspace, "closed/other", "new")
    finally:
        directory.chmod(0o700)
    assert (written.atomic, (directory / "file").read_text()) == (False, "new")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everything")
async def test_a_file_that_the_user_made_read_only_stays_as_it_is(workspace: Workspace, tmp_path: Path) -> None:
    (tmp_path / "file").write_text(OLD)
    (tmp_path / "file").chmod(0o444)
    with pytest.raises(AccessDenied, match="permission denied"):
        await write(workspace, "file", "new")
    assert (tmp_path / "file").read_text() == OLD


async def test_writes_go_one_after_another_in_the_order_of_their_calls(
    workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    replace: Callable[..., None] = os.replace
    busy = threading.Lock()
    overlaps: list[bool] = []

    def observe(*args: object, **options: object) -> None:
        overlaps.append(not busy.acquire(blocking=False))
        replace(*args, **options)
        busy.release()

    monkeypatch.setattr(os, "replace", observe)
    with anyio.fail_after(LIMIT_S):
        async with anyio.create_task_group() as tasks:
            for number in range(20):
                tasks.start_soon(workspace.write_text_file, f"{tmp_path}/file", str(number))
    assert overlaps == [False] * 20
    assert (tmp_path / "file").read_text() == "19"


async def test_a_write_that_has_begun_is_finished_although_its_caller_is_cancelled(
    workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, may_go_on = anyio.Event(), threading.Event()
    replace: Callable[..., None] = os.replace

    def hold(*args: object, **options: object) -> None:
        anyio.from_thread.run_sync(begun.set)
        assert may_go_on.wait(10)
        replace(*args, **options)

    monkeypatch.setattr(os, "replace", hold)
    with anyio.fail_after(LIMIT_S):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(workspace.write_text_file, f"{tmp_path}/file", "x")
            await begun.wait()
            tasks.cancel_scope.cancel()
            may_go_on.set()
    assert (tmp_path / "file").read_text() == "x"
