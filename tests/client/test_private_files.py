"""Replacing whole files: their modes, and that a failure leaves the old file and nothing else."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

import pytest

from acp_tui.client import private_files
from acp_tui.client.private_files import create_private, make_private, open_private, replace_file, replacing


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "a-file"
    path.write_text("old")
    path.chmod(0o640)
    return path


@pytest.fixture
def full_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Writes don't reach the disk."""

    def fail(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(private_files.os, "fsync", fail)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_new_file_and_its_folders_are_the_users_only(tmp_path: Path) -> None:
    file = tmp_path / "one" / "two" / "a-file"
    assert replace_file(file, b"new")
    assert file.read_bytes() == b"new"
    assert (mode(file), mode(file.parent)) == (0o600, 0o700)


def test_a_file_of_ours_that_others_could_read_is_closed_to_them_with_its_folder(file: Path) -> None:
    file.parent.chmod(0o777)
    assert replace_file(file, b"new")
    assert (file.read_text(), mode(file), mode(file.parent)) == ("new", 0o600, 0o700)


def test_a_file_that_the_user_writes_too_keeps_its_mode_and_its_folder(file: Path) -> None:
    file.parent.chmod(0o755)
    assert replace_file(file, b"new", is_ours=False)
    assert (file.read_text(), mode(file), mode(file.parent)) == ("new", 0o640, 0o755)


def test_every_folder_on_the_way_is_the_users_only_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        make_private(tmp_path / "a/b/c")
        create_private(tmp_path / "a/b/c/new").close()
        os.close(open_private(tmp_path / "a/kept"))
    finally:
        os.umask(before)
    assert [mode(tmp_path / folder) for folder in ("a", "a/b", "a/b/c")] == [0o700] * 3
    assert [mode(tmp_path / file) for file in ("a/b/c/new", "a/kept")] == [0o600] * 2


def test_a_file_that_is_added_to_is_closed_to_others(file: Path) -> None:
    os.close(open_private(file))
    assert (mode(file), file.read_text()) == (0o600, "old")


def test_no_link_is_followed_to_a_new_file(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("elsewhere")
    with pytest.raises(FileExistsError):
        create_private(tmp_path / "link")
    assert not (tmp_path / "elsewhere").exists()


def test_a_symbolic_link_is_replaced_itself(file: Path) -> None:
    link = file.with_name("a-link")
    link.symlink_to(file)
    replace_file(link, b"new")
    assert not link.is_symlink()
    assert (link.read_text(), file.read_text()) == ("new", "old")


@pytest.mark.usefixtures("full_disk")
def test_a_full_disk_leaves_what_was_there_and_nothing_beside_it(file: Path) -> None:
    with pytest.raises(OSError, match="No space left"):
        replace_file(file, b"new")
    assert [(path.name, path.read_text()) for path in file.parent.iterdir()] == [("a-file", "old")]


def test_what_fails_while_it_is_written_leaves_what_was_there(file: Path) -> None:
    with pytest.raises(ZeroDivisionError), replacing(file) as opened:
        opened.write(b"half")
        opened.flush()
        raise ZeroDivisionError
    assert [(path.name, path.read_text()) for path in file.parent.iterdir()] == [("a-file", "old")]


def test_what_is_not_wanted_any_more_is_not_written(file: Path) -> None:
    assert not replace_file(file, b"new", lambda: False)
    assert [(path.name, path.read_text()) for path in file.parent.iterdir()] == [("a-file", "old")]
