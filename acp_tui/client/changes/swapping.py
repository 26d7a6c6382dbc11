"""Puts one state of a file in the place of another, if that other is still there.

It does not know what a change or a review is. How it is done, and what that means:

- New content goes to a temporary file beside the target. Right before that takes the target's place, the target
  is read again and compared, byte for byte; what another process writes in the instant between is lost.
- Where nothing is to be replaced, nothing can be: the temporary file is linked to the name, which fails if it exists.
- A rename makes a new file: other hard links keep their content, ACLs and extended attributes are not kept.
- No link is followed, neither at the path nor on the way to it. Missing parent directories are made.
"""

import errno
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Final

from acp_tui.client.changes.tree import Tree, join, name_of, read_at
from acp_tui.client.changes.values import CannotRevert, ChangedMeanwhile, FileState

_CREATE: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_NO_HARD_LINKS: Final = {errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS}


def swap(tree: Tree, path: str, expected: FileState | None, wanted: FileState | None) -> None:
    """Make what stands at `path` `wanted`, if it is `expected`; None means nothing.

    Raises: ChangedMeanwhile, CannotRevert.
    """
    _require_known(path, expected, wanted)
    _require_unchanged(path, expected, tree.read(path, _enough_for(expected)))
    try:
        if wanted is not None:
            _make_parents(tree, path)
        with tree.parent_of(path) as parent:
            _swap_in(parent, path, expected, wanted)
    except OSError as error:
        raise CannotRevert(path, error.strerror or str(error)) from error


def _require_known(path: str, expected: FileState | None, wanted: FileState | None) -> None:
    for state in (expected, wanted):
        if state is not None and state.data is None:
            raise CannotRevert(path, state.unknown)


def _require_unchanged(path: str, expected: FileState | None, now: FileState | None) -> None:
    if now != expected:
        raise ChangedMeanwhile(path, expected, now)


def _enough_for(state: FileState | None) -> int:
    """How much to read to see whether a file is still in this state; more, so that the user sees the other."""
    return max(1 << 20, state.size if state else 0)


def _make_parents(tree: Tree, path: str) -> None:
    directory = ""
    for name in path.split("/")[:-1]:
        directory = join(directory, name)
        with tree.parent_of(directory) as parent, suppress(FileExistsError):
            os.mkdir(name, dir_fd=parent)


def _swap_in(parent: int, path: str, expected: FileState | None, wanted: FileState | None) -> None:
    name = name_of(path)
    if wanted is None:
        _require_unchanged(path, expected, _read(parent, name, expected))
        os.unlink(name, dir_fd=parent)
        return
    with _temporary(parent, wanted) as temporary:
        _require_unchanged(path, expected, _read(parent, name, expected))
        if expected is None:
            _place(parent, path, temporary)
        else:
            os.replace(temporary, name, src_dir_fd=parent, dst_dir_fd=parent)


def _read(parent: int, name: str, expected: FileState | None) -> FileState | None:
    try:
        return read_at(parent, name, _enough_for(expected))
    except FileNotFoundError:
        return None


def _place(parent: int, path: str, temporary: str) -> None:
    """Give a file its name, unless something has it by now."""
    name = name_of(path)
    try:
        os.link(temporary, name, src_dir_fd=parent, dst_dir_fd=parent, follow_symlinks=False)
    except FileExistsError:
        raise ChangedMeanwhile(path, None, _read(parent, name, None)) from None
    except OSError as error:
        if error.errno not in _NO_HARD_LINKS:
            raise
        os.rename(temporary, name, src_dir_fd=parent, dst_dir_fd=parent)


@contextmanager
def _temporary(parent: int, state: FileState) -> Iterator[str]:
    """The name of a file or link in this state, which is gone at the end unless it has been renamed."""
    assert state.data is not None
    name = f".acp-tui-{secrets.token_hex(16)}.tmp"
    try:
        if state.is_link:
            os.symlink(os.fsdecode(state.data), name, dir_fd=parent)
        else:
            _write(os.open(name, _CREATE, 0o600, dir_fd=parent), state.data, state.permissions)
        yield name
    finally:
        with suppress(FileNotFoundError):
            os.unlink(name, dir_fd=parent)


def _write(fd: int, data: bytes, permissions: int) -> None:
    """Fill a file, down to the disk, and close it."""
    try:
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(fd, rest) :]
        os.fchmod(fd, permissions)
        os.fsync(fd)
    finally:
        os.close(fd)
