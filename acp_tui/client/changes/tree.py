"""Examines the files below a directory without following links, blocking on pipes, or reading too much."""

from __future__ import annotations

import errno
import os
import re
import secrets
import stat
from collections import deque
from collections.abc import Container, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from acp_tui.client.changes import CannotRevert, ChangedMeanwhile, FileState
from acp_tui.values import dataclass

SKIPPED_DIRECTORIES: Final = frozenset({".git", ".hg", ".jj", ".svn"})
"""The stores of version control systems, which users don't care about, at any depth."""

# O_PATH doesn't need permission to list a directory, so it can open one that may only be traversed.
_ENTER: int = os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC | getattr(os, "O_PATH", os.O_RDONLY)
_LIST: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# O_NONBLOCK: opening a named pipe must not wait for its other end.
_READ: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY
# Which of the two a link on the way causes depends on the system.
_NOTHING_THERE: Final = {errno.ENOENT, errno.ENOTDIR, errno.ELOOP}


@dataclass(frozen=True, slots=True)
class FolderListing:
    path: str
    """"" for the root."""
    directories: list[str]
    """Names, without the directories of version control."""
    others: list[str]
    """Names of files, links, and everything else."""
    holds_repository: bool
    """Whether there is a `.git`."""
    unreadable: str = ""
    """Why there are no entries."""


class Tree:
    """The directory whose files are examined. Paths are relative to it."""

    def __init__(self, root: Path) -> None:
        self.root = root.resolve()
        self.borders = _mounted_below(self.root)
        """Directories in which another file system begins. They aren't entered."""

    def status(self, path: str) -> os.stat_result | None:
        """The result of `lstat`; None if nothing exists there or it can't be reached.

        This is a quick hint, because a directory on the way may be a link. `read` is reliable.
        """
        try:
            return os.lstat(f"{self.root}/{path}")
        except OSError:
            return None

    def read(self, path: str, max_bytes: int) -> FileState | None:
        """The state of a file; None if there isn't one, or if it's a directory."""
        try:
            with self.parent_of(path) as parent:
                return read_at(parent, name_of(path), max_bytes)
        except OSError as error:
            if error.errno in _NOTHING_THERE:
                return None
            return FileState(0, 0, None, _reason(error))

    @contextmanager
    def parent_of(self, path: str) -> Iterator[int]:
        """A descriptor of the directory that contains `path`, reached only through real directories.

        Raises: OSError.
        """
        with self._open(path.split("/")[:-1], _ENTER) as directory:
            yield directory

    def walk(self, under: str = "") -> Iterator[FolderListing]:
        """Every directory from `under` down, shallow ones first.

        Directories that the caller removes from a listing's `directories` aren't entered.
        """
        waiting = deque([under])
        while waiting:
            listing = self._list(waiting.popleft())
            yield listing
            waiting.extend(join(listing.path, name) for name in listing.directories)

    def _list(self, path: str) -> FolderListing:
        try:
            with self._open([*filter(None, path.split("/"))], _LIST) as directory, os.scandir(directory) as entries:
                return self._listing(path, list(entries), os.fstat(directory).st_dev)
        except OSError as error:
            return FolderListing(path, [], [], False, _reason(error))

    def _listing(self, path: str, entries: list[os.DirEntry[str]], device: int) -> FolderListing:
        directories = [entry for entry in entries if entry.is_dir(follow_symlinks=False)]
        others = {entry.name for entry in entries}.difference(entry.name for entry in directories)
        entered = (entry for entry in directories if entry.name not in SKIPPED_DIRECTORIES)
        return FolderListing(
            path,
            [entry.name for entry in entered if not self._is_border(join(path, entry.name), entry, device)],
            sorted(others - SKIPPED_DIRECTORIES),
            holds_repository=any(entry.name == ".git" for entry in entries),
        )

    def _is_border(self, path: str, directory: os.DirEntry[str], device: int) -> bool:
        """Whether another file system begins there. A stuck one isn't even asked for its status."""
        if path in self.borders:
            return True
        try:
            return directory.stat(follow_symlinks=False).st_dev != device
        except OSError:
            return False

    @contextmanager
    def _open(self, names: list[str], flags: int) -> Iterator[int]:
        """Open a directory by going down one name at a time, so that the kernel refuses every link."""
        directory = os.open(self.root, flags if not names else _ENTER)
        try:
            for index, name in enumerate(names, 1):
                child = os.open(name, flags if index == len(names) else _ENTER, dir_fd=directory)
                os.close(directory)
                directory = child
            yield directory
        finally:
            os.close(directory)


def read_at(directory: int, name: str, max_bytes: int) -> FileState | None:
    """The state of the file with this name in an open directory. Raises: OSError if not even the status can be read."""
    status = os.stat(name, dir_fd=directory, follow_symlinks=False)
    if stat.S_ISDIR(status.st_mode):
        return None
    if stat.S_ISLNK(status.st_mode):
        text = os.fsencode(os.readlink(name, dir_fd=directory))
        return FileState(status.st_mode, len(text), text)
    if not stat.S_ISREG(status.st_mode):
        return FileState(status.st_mode, 0, None, "it isn't a regular file")
    try:
        fd = os.open(name, _READ, dir_fd=directory)
    except PermissionError as error:
        return FileState(status.st_mode, status.st_size, None, _reason(error))
    try:
        return _read_open(fd, max_bytes)
    finally:
        os.close(fd)


def _read_open(fd: int, max_bytes: int) -> FileState:
    status = os.fstat(fd)  # it may have been swapped since the check
    if not stat.S_ISREG(status.st_mode):
        return FileState(status.st_mode, 0, None, "it isn't a regular file")
    if status.st_size <= max_bytes:
        data = _read_up_to(fd, max_bytes + 1)
        if len(data) <= max_bytes:
            return FileState(status.st_mode, len(data), data)
    return FileState(status.st_mode, status.st_size, None, too_large(max_bytes))


def _read_up_to(fd: int, count: int) -> bytes:
    pieces: list[bytes] = []
    while count > 0 and (piece := os.read(fd, min(count, 1 << 20))):
        pieces.append(piece)
        count -= len(piece)
    return b"".join(pieces)


def signature(status: os.stat_result) -> int:
    """A number that almost certainly changes when a file is written to or replaced."""
    return hash((status.st_mode, status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino))


def join(directory: str, name: str) -> str:
    """The path of a name in a directory. The root is ""."""
    return f"{directory}/{name}" if directory else name


def is_within(path: str, places: Container[str]) -> bool:
    while path:
        if path in places:
            return True
        path = path.rpartition("/")[0]
    return False


def _mounted_below(root: Path) -> frozenset[str]:
    """Where other file systems are mounted, also parts of the same one; empty where the system doesn't say (macOS)."""
    prefix = os.fsencode(root).rstrip(b"/") + b"/"
    try:
        lines = Path("/proc/self/mountinfo").read_bytes().splitlines()
    except OSError:
        return frozenset()
    places = (_unescaped(line.split(b" ")[4]) for line in lines if line.count(b" ") > 4)
    return frozenset(
        os.fsdecode(place[len(prefix) :]) for place in places if place.startswith(prefix) and place != prefix
    )


def _unescaped(place: bytes) -> bytes:
    r"""A path from the kernel, which writes white space as octal numbers, such as `\040`."""
    return re.sub(rb"\\([0-7]{3})", lambda found: bytes([int(found[1], 8)]), place)


def name_of(path: str) -> str:
    return path.rpartition("/")[2]


def too_large(max_bytes: int) -> str:
    return f"it is larger than {max_bytes / (1 << 20):g} MiB"


def _reason(error: OSError) -> str:
    return error.strerror or str(error)


_CREATE: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_NO_HARD_LINKS: Final = {errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS}


def swap(tree: Tree, path: str, expected: FileState | None, wanted: FileState | None) -> None:
    """Replace the state at `path` with `wanted` if it's `expected`. None means that nothing exists.

    Raises: ChangedMeanwhile, CannotRevert.
    """
    for state in (expected, wanted):
        if state is not None and state.data is None:
            raise CannotRevert(path, state.unknown)
    _require_unchanged(path, expected, tree.read(path, _enough_for(expected)))
    try:
        if wanted is not None:
            make_parents(tree, path)
        with tree.parent_of(path) as parent:
            _swap_in(parent, path, expected, wanted)
    except OSError as error:
        raise CannotRevert(path, error.strerror or str(error)) from error


def _require_unchanged(path: str, expected: FileState | None, now: FileState | None) -> None:
    if now != expected:
        raise ChangedMeanwhile(path, expected, now)


def _enough_for(state: FileState | None) -> int:
    """How many bytes to read to see whether a file is still in this state.

    Includes some more, to show a different state.
    """
    return max(1 << 20, state.size if state else 0)


def make_parents(tree: Tree, path: str) -> None:
    """Create the directories above `path`, none of them a link. Raises OSError."""
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
    """Give a file its name, unless something already has it."""
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
    """The name of a temporary file or link in this state. It's deleted at the end unless it has been renamed."""
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
    try:
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(fd, rest) :]
        os.fchmod(fd, permissions)
        os.fsync(fd)
    finally:
        os.close(fd)
