"""What is on the disk after an agent wrote a file, or failed to."""

import errno
import os
import resource
import sys
import threading
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import anyio.from_thread
import pytest

from acp_tui.client.workspace.errors import (
    NotFound,
    OutsideWorkspace,
    PathChanged,
    WorkspaceError,
)
from acp_tui.client.workspace.exchange import exchange
from acp_tui.client.workspace.workspace import PlaceState, Workspace
from support.waiting import LIMIT_S

OLD = "the old content\n"


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace([tmp_path])


async def write(workspace: Workspace, name: str, content: str) -> bool:
    """Whether that put another file there, and didn't write into the one that was there."""
    return await _replaces(workspace.roots[0] / name, lambda file: workspace.write_text_file(file, content))


async def _replaces(file: Path, write: Callable[[str], Awaitable[None]]) -> bool:
    before = file.stat().st_ino if file.exists() else None
    with anyio.fail_after(LIMIT_S):
        await write(str(file))
    return file.stat().st_ino != before


def names_in(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.iterdir())


async def test_an_absent_file_is_created_with_its_parents_r_fs_4(workspace: Workspace, tmp_path: Path) -> None:
    await write(workspace, "new/deep/file", "x")
    assert (tmp_path / "new/deep/file").read_text() == "x"


@pytest.mark.parametrize("content", ["", "a\r\nb\nc\r", "\ufeffä€🙂\0\x1b", "no newline at the end"])
async def test_exactly_the_bytes_of_the_content_are_written_r_fs_4(
    workspace: Workspace, tmp_path: Path, content: str
) -> None:
    (tmp_path / "file").write_text("something that is longer than the new content")
    assert await write(workspace, "file", content)
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
    await write(workspace, "link", "new")
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
    expected = {"sub": "is a directory", "sub/.": "is a directory", "file/x": "uses a file as", "pipe": "named pipe"}
    for name, what in expected.items():
        with pytest.raises(WorkspaceError, match=what):
            await workspace.write_text_file(f"{tmp_path}/{name}", "x")
    assert names_in(tmp_path) == ["file", "pipe", "sub"]


async def test_a_lone_surrogate_is_refused_before_anything_is_touched(workspace: Workspace, tmp_path: Path) -> None:
    with pytest.raises(WorkspaceError, match="character 2 of the content is a lone surrogate"):
        await write(workspace, "new/file", "ab\ud800")
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

    with monkeypatch.context() as patch, pytest.raises(WorkspaceError, match=r"Cannot write .*no space left"):
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
        with pytest.raises(WorkspaceError, match="too large"):
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

    with monkeypatch.context() as patch, pytest.raises(WorkspaceError, match="Check the disk"):
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
    refuse_new_files(monkeypatch, refusal)
    assert not await write(workspace, "file", "new")
    assert file.read_text() == "new"
    with pytest.raises(WorkspaceError, match="Cannot write"):
        await write(workspace, "other", "new")


async def test_a_file_that_cannot_be_replaced_gets_the_content_in_place(
    workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text(OLD)

    def refuse(*args: object, **options: object) -> None:
        raise OSError(errno.EBUSY, os.strerror(errno.EBUSY))

    monkeypatch.setattr(os, "replace", refuse)
    assert not await write(workspace, "file", "new")
    assert (tmp_path / "file").read_text() == "new"
    assert names_in(tmp_path) == ["file"]


async def test_a_file_whose_owner_cannot_be_kept_gets_the_content_in_place(
    workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text(OLD)

    def refuse(*args: object) -> None:
        raise OSError(errno.EPERM, os.strerror(errno.EPERM))

    monkeypatch.setattr(os, "fchown", refuse)
    assert not await write(workspace, "file", "new")
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
        assert not await write(workspace, "closed/file", "new")
        with pytest.raises(WorkspaceError, match="Check who may write it"):
            await write(workspace, "closed/other", "new")
    finally:
        directory.chmod(0o700)
    assert (directory / "file").read_text() == "new"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everything")
async def test_a_file_that_the_user_made_read_only_stays_as_it_is(workspace: Workspace, tmp_path: Path) -> None:
    (tmp_path / "file").write_text(OLD)
    (tmp_path / "file").chmod(0o444)
    with pytest.raises(WorkspaceError, match="permission denied"):
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

    (tmp_path / "file").touch()
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
    (tmp_path / "file").touch()
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


# Only over what was shown


async def write_over(workspace: Workspace, file: Path, shown: PlaceState, content: str = "agent") -> bool:
    """Whether that put another file there, and didn't write into the one that was there."""
    return await _replaces(file, lambda path: workspace.write_text_file(path, content, allowed_at=file, shown=shown))


def save(file: Path, text: str = "user") -> None:
    """As an editor that writes another file and renames it."""
    new = file.with_name("saved")
    new.write_text(text)
    new.replace(file)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "file").write_text(OLD)
    return tmp_path / "file"


def between(monkeypatch: pytest.MonkeyPatch, *events: Callable[[], object]) -> None:
    """Let something happen right before each exchange of the new file with the old one."""
    pending = list(events)

    def exchange_after(directory: int, name: str, other: str) -> bool:
        if pending:
            pending.pop(0)()
        return exchange(directory, name, other)

    monkeypatch.setattr("acp_tui.client.workspace.workspace.exchange", exchange_after)


async def test_a_file_in_the_state_that_was_shown_is_replaced(workspace: Workspace, file: Path) -> None:
    file.chmod(0o750)
    shown = await workspace.state_of(str(file), allowed_at=file)
    assert shown.text == OLD
    assert await write_over(workspace, file, shown)
    assert (file.read_text(), file.stat().st_mode & 0o777) == ("agent", 0o750)
    assert names_in(file.parent) == ["file"]


@pytest.mark.parametrize("kind", ["save", "folder", "fifo", "link", "mode"])
async def test_what_comes_right_before_the_exchange_is_put_back(
    workspace: Workspace, file: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    def come() -> None:
        if kind == "mode":
            file.chmod(0o755)
            return
        file.unlink()
        if kind == "folder":
            file.mkdir()
            (file / "inner").touch()
        elif kind == "fifo":
            os.mkfifo(file)
        elif kind == "link":
            file.symlink_to("nowhere")
        else:
            save(file)

    shown = await workspace.state_of(str(file), allowed_at=file)
    between(monkeypatch, come)
    with pytest.raises(PathChanged):
        await write_over(workspace, file, shown)
    assert names_in(file.parent) == ["file"]
    found = {"folder": file.is_dir(), "fifo": file.is_fifo(), "link": file.is_symlink()}.get(kind)
    assert found or file.read_text() == ("user" if kind == "save" else OLD)


@pytest.mark.parametrize("saves", [2, 3, 4])
async def test_of_saves_while_the_exchange_is_undone_the_newest_is_kept(
    workspace: Workspace, file: Path, monkeypatch: pytest.MonkeyPatch, saves: int
) -> None:
    shown = await workspace.state_of(str(file), allowed_at=file)
    between(monkeypatch, *(partial(save, file, f"save {number}") for number in range(saves)))
    with pytest.raises(PathChanged):
        await write_over(workspace, file, shown)
    assert (names_in(file.parent), file.read_text()) == (["file"], f"save {saves - 1}")


async def test_a_file_deleted_right_before_the_exchange_stays_deleted(
    workspace: Workspace, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = await workspace.state_of(str(file), allowed_at=file)
    between(monkeypatch, file.unlink)
    with pytest.raises(PathChanged):
        await write_over(workspace, file, shown)
    assert names_in(file.parent) == []


async def test_a_save_is_back_if_ours_is_deleted_while_the_exchange_is_undone(
    workspace: Workspace, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = await workspace.state_of(str(file), allowed_at=file)
    between(monkeypatch, lambda: save(file), file.unlink)
    with pytest.raises(PathChanged):
        await write_over(workspace, file, shown)
    assert (names_in(file.parent), file.read_text()) == (["file"], "user")


async def test_what_cannot_be_put_back_is_kept_beside_it(
    workspace: Workspace, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail() -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    shown = await workspace.state_of(str(file), allowed_at=file)
    between(monkeypatch, lambda: save(file), fail)
    with pytest.raises(WorkspaceError, match="Check the disk"):
        await write_over(workspace, file, shown)
    assert "user" in [path.read_text() for path in file.parent.iterdir()]


async def test_without_an_exchange_the_file_is_compared_right_before_it_is_replaced(
    workspace: Workspace, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("acp_tui.client.workspace.workspace.exchange", lambda *names: False)
    shown = await workspace.state_of(str(file), allowed_at=file)
    assert await write_over(workspace, file, shown)
    with pytest.raises(PathChanged):
        await write_over(workspace, file, shown, "again")
    assert (file.read_text(), names_in(file.parent)) == ("agent", ["file"])


@pytest.mark.parametrize("has_hard_links", [True, False])
async def test_a_new_file_overwrites_nothing_that_appears_at_the_last_moment(
    workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, has_hard_links: bool
) -> None:
    file, link, appears = tmp_path / "new", os.link, [True]

    def appear_and_link(*args: Any, **options: Any) -> None:
        if appears.pop():
            file.write_text("user")
        if not has_hard_links:
            raise OSError(errno.EPERM, os.strerror(errno.EPERM))
        link(*args, **options)

    monkeypatch.setattr(os, "link", appear_and_link)
    shown = await workspace.state_of(str(file), allowed_at=file)
    with pytest.raises(PathChanged):
        await write_over(workspace, file, shown)
    assert (file.read_text(), names_in(tmp_path)) == ("user", ["new"])
    file.unlink()
    appears.append(False)
    await write_over(workspace, file, shown)
    assert (file.read_text(), names_in(tmp_path)) == ("agent", ["new"])


async def test_in_place_a_file_is_compared_too(
    workspace: Workspace, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = await workspace.state_of(str(file), allowed_at=file)
    refuse_new_files(monkeypatch, errno.EACCES)
    assert not await write_over(workspace, file, shown)
    with pytest.raises(PathChanged):
        await write_over(workspace, file, shown, "again")
    assert file.read_text() == "agent"


async def test_a_file_with_other_names_is_replaced_and_never_written_in_place(
    workspace: Workspace, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    outside = tmp_path_factory.mktemp("outside") / "file"
    outside.write_text(OLD)
    file = tmp_path / "file"
    os.link(outside, file)
    with monkeypatch.context() as patch:
        refuse_new_files(patch, errno.EACCES)
        with pytest.raises(WorkspaceError, match="2 names"):
            await write(workspace, "file", "new")
    assert (file.read_text(), outside.read_text()) == (OLD, OLD)
    assert await write(workspace, "file", "new")
    assert (file.read_text(), outside.read_text()) == ("new", OLD)


SAVES = int(os.environ.get("ACP_TUI_SAVES", "300"))


async def test_no_save_of_an_editor_is_lost_however_it_races_the_writes(workspace: Workspace, file: Path) -> None:
    """A save is lost if a write goes over it that was shown an earlier one. Each write names the save it was shown.

    Such a write may be there until it ends, which takes it back.
    """
    lost: list[str] = []
    written: list[bool] = []
    a_write_ends = threading.Condition()
    stop = threading.Event()
    file.write_text("0")

    def is_there(save: str) -> bool:
        return file.read_text().split()[-1] == save

    def edit() -> None:
        number = 0
        while number < SAVES or not written:
            number += 1
            last = str(number - 1)
            with a_write_ends:
                if not is_there(last) and not (a_write_ends.wait(LIMIT_S) and is_there(last)):
                    lost.append(last)
            save(file, str(number))
        stop.set()

    thread = threading.Thread(target=edit)
    thread.start()
    while not stop.is_set():
        shown = await workspace.state_of(str(file), allowed_at=file)
        with suppress(PathChanged):
            written.append(await write_over(workspace, file, shown, f"agent over {(shown.text or '').split()[-1]}"))
        with a_write_ends:
            a_write_ends.notify()
    thread.join()
    assert not lost
    assert names_in(file.parent) == ["file"]
