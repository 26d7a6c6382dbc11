"""Where a path leads, and the only way to get there: down from a root, one real directory at a time.

This module doesn't read or write files. `workspace` does, in the directory that a walk has opened.

A path is never compared as text after checking it, because another process can replace a directory with a symbolic link
in between. Instead, every directory is opened from its parent with O_NOFOLLOW, so that the kernel itself refuses a
link. At a link or a `..`, the walk starts again with the path it stands for. So a walk only ever goes down, and it ends
inside the workspace exactly if it began at a root.

This can't detect a hard link to a file outside, or a directory that is moved out while it's open. On a case-insensitive
disk, a root in another case counts as outside, so the user is asked once too often rather than too rarely.

Private folders (`private`) aren't part of any workspace. A walk that reaches one ends there, and so does opening a file
in one.
"""

from __future__ import annotations

import errno
import os
import stat
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path
from typing import Final, Self, TypeAlias

from acp_tui.client.private_files import SPECIAL_KINDS
from acp_tui.client.workspace import errors
from acp_tui.values import dataclass

# Private folders are recognized by more than their spelling: by device and inode, so that another case, a bind mount,
# or a link is the same folder; by the targets of links in them, because settings are often kept elsewhere; and by name,
# as long as they don't exist. A file with more than one name is searched for in them. They are checked again for every
# request.

_Id: TypeAlias = tuple[int, int]
"""Device and inode."""


class PrivateFolders:
    def __init__(self, folders: Sequence[Path]) -> None:
        self._folders = tuple(folders)
        places = (*folders, *map(_resolved, folders), *(_resolved(link) for link in _links_in(folders)))
        self._names = tuple(map(_names, places))

    def are(self, status: os.stat_result) -> bool:
        """Whether this is one of them, or the target of a link in one of them."""
        return bool(self._folders) and _id(status) in self._ids

    def own(self, status: os.stat_result) -> bool:
        """The same, and for a file also whether one of its names is in them."""
        if not self._folders:
            return False
        is_shared = stat.S_ISREG(status.st_mode) and status.st_nlink > 1
        return self.are(status) or (is_shared and _id(status) in self._files)

    def hold(self, path: Path) -> bool:
        """Whether the names of a path without links lead into one of them, whether or not anything exists there."""
        names = _names(path)
        return any(names[: len(each)] == each for each in self._names)

    def hold_any_above(self, path: Path) -> bool:
        """Whether an existing parent of the path is one of them or inside one."""
        if not self._folders:
            return False
        for each in (path, *path.parents):
            with suppress(OSError):
                if self.are(each.stat()):
                    return True
        return False

    @cached_property
    def _ids(self) -> frozenset[_Id]:
        return frozenset(self._found())

    def _found(self) -> Iterator[_Id]:
        for folder in self._folders:
            with suppress(OSError):
                yield _id(folder.stat())
        for link in _links_in(self._folders):
            with suppress(OSError):
                yield _id(link.stat())

    @cached_property
    def _files(self) -> frozenset[_Id]:
        return frozenset(found for folder in self._folders for found in _files_below(folder))


def _links_in(folders: Sequence[Path]) -> Iterator[Path]:
    """The symbolic links directly in the folders, because settings are often kept elsewhere."""
    for folder in folders:
        with suppress(OSError), os.scandir(folder) as entries:
            yield from [Path(entry.path) for entry in entries if entry.is_symlink()]


def _files_below(folder: Path) -> Iterator[_Id]:
    for directory, _, files in os.walk(folder):
        for file in files:
            with suppress(OSError):
                yield _id(os.lstat(f"{directory}/{file}"))


def _id(status: os.stat_result) -> _Id:
    return status.st_dev, status.st_ino


def _resolved(folder: Path) -> Path:
    try:
        return folder.resolve()
    except (OSError, RuntimeError):  # circular links
        return folder


def _names(path: Path) -> tuple[str, ...]:
    """Case-folded and normalized, like most macOS disks do. Elsewhere, this refuses hardly anything extra."""
    return tuple(unicodedata.normalize("NFC", name).casefold() for name in path.parts)


Names: TypeAlias = tuple[str, ...]
"""An absolute path as the names below `/`."""

_MAX_HOPS: Final = 40  # Linux's limit; a `..` counts too, so no path costs more than 40 walks
_MAX_PATH_BYTES: Final = 4096
# O_PATH doesn't need permission to list the directory, so it can open one that may only be traversed.
_OPEN_DIRECTORY: int = os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC | getattr(os, "O_PATH", os.O_RDONLY)
# O_NONBLOCK: opening a named pipe must not wait for its other end (R-FS-3).
_OPEN_FILE: Final = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY


@dataclass(frozen=True, slots=True)
class ContainedPath:
    path: Path
    """With links and `..` followed as far as the path exists."""
    inside: bool
    """Whether it's in the workspace."""


class Directory:
    """An open directory that moves down. Entering a directory closes the one before."""

    __slots__ = ("fd", "names")

    def __init__(self, names: Names) -> None:
        self.names = names
        self.fd = os.open(path_of(names), _OPEN_DIRECTORY)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self.fd)

    def enter(self, name: str) -> None:
        """Move into a directory. Raises OSError for anything else, including a symbolic link."""
        child = os.open(name, _OPEN_DIRECTORY, dir_fd=self.fd)
        os.close(self.fd)
        self.fd = child
        self.names = (*self.names, name)

    def link_text(self, name: str) -> str | None:
        """The target of a symbolic link; None if it isn't one."""
        try:
            return os.readlink(name, dir_fd=self.fd)
        except OSError as error:
            if error.errno in (errno.EINVAL, errno.ENOENT):
                return None
            raise

    def enter_or_read_link(self, name: str) -> str | None:
        """Move into a directory, or stay and return the target of the symbolic link."""
        try:
            self.enter(name)
        except OSError as error:
            # Which of the two a link causes depends on the system.
            link = self.link_text(name) if error.errno in (errno.ENOTDIR, errno.ELOOP) else None
            if link is None:
                raise
            return link
        return None


@dataclass(frozen=True, slots=True)
class DirectoryEntry:
    """The end of a walk: an open directory and the name in it that the path means."""

    asked: str
    """The path as requested, for messages."""
    location: ContainedPath
    directory: Directory
    """Open only until `Boundary.reach` ends."""
    name: str
    """Never a path; `.` if the path means the directory itself."""
    private: PrivateFolders
    missing_parents: Names = ()
    """Directories to create below `directory` before `name`; never `.` or `..`."""
    obstacle: OSError | None = None
    """Why the walk couldn't reach the directory that contains `name`."""


@dataclass(frozen=True, slots=True)
class _Start:
    spelling: Names
    directory: Names
    inside: bool


class Boundary:
    """The directories that belong to the workspace."""

    def __init__(self, roots: Sequence[Path], private: Sequence[Path] = ()) -> None:
        """Resolve the roots once: a root that becomes a link later isn't followed.

        No path reaches anything in the `private` folders.
        """
        for root in roots:
            if not root.is_absolute():
                raise ValueError(f"a workspace root must be absolute: {root}")
        self.roots = tuple(root.resolve() for root in roots)
        self._private = private
        self._starts = _starts([*zip(roots, self.roots, strict=True)])

    @contextmanager
    def reach(self, path: str) -> Iterator[DirectoryEntry]:
        """Walk to the directory that contains `path`, inside the workspace or not, and keep it open.

        Raises: InvalidPath, PrivatePath, WorkspaceError (circular links); OSError if not even the root can be opened.
        """
        names = names_of(path)
        private = PrivateFolders(self._private)
        for _ in range(_MAX_HOPS + 1):
            start, rest = self._start_for(names)
            with Directory(start.directory) as directory:
                if private.hold_any_above(path_of(start.directory)):
                    raise errors.PrivatePath(path)
                end = _walk(path, start, directory, rest, private)
                if isinstance(end, DirectoryEntry):
                    if private.hold(end.location.path):
                        raise errors.PrivatePath(path)
                    yield end
                    return
            names = end
        what = f"{errors.quoted(path)} leads through too many symbolic links or '..': they may form a circle."
        raise errors.WorkspaceError(path, what)

    def _start_for(self, names: Names) -> tuple[_Start, Names]:
        """The outermost root above these names, or `/`; and the names below it."""
        start = next(start for start in self._starts if names[: len(start.spelling)] == start.spelling)
        return start, names[len(start.spelling) :]


def _starts(roots: Sequence[tuple[Path, Path]]) -> tuple[_Start, ...]:
    """Roots in both spellings (as given, resolved), then `/` for everything else.

    Outermost first: a root inside another is reached by walking through the other, which detects a swapped directory on
    the way.
    """
    spellings = {
        _Start(spelling.parts[1:], resolved.parts[1:], inside=True)
        for given, resolved in roots
        for spelling in (given, resolved)
    }
    outermost_first = sorted(spellings, key=lambda start: len(start.spelling))
    return (*outermost_first, _Start((), (), inside=False))


def _walk(
    asked: str, start: _Start, directory: Directory, names: Names, private: PrivateFolders
) -> DirectoryEntry | Names:
    """Go down by these names. At a link or a `..`, return the names to use instead."""
    for index, name in enumerate(names):
        rest = names[index + 1 :]
        if name == ".":
            continue
        if name == "..":
            return directory.names[:-1] + rest
        try:
            link = directory.enter_or_read_link(name) if rest else directory.link_text(name)
        except OSError as obstacle:
            return _stopped(asked, start, directory, (name, *rest), obstacle, private)
        if private.are(os.fstat(directory.fd)):
            raise errors.PrivatePath(asked)
        if link is not None:
            return (() if link.startswith("/") else directory.names) + _split(link) + rest
        if not rest:
            _require_public(asked, directory, name, private)
            location = ContainedPath(path_of(directory.names) / name, start.inside)
            return DirectoryEntry(asked, location, directory, name, private)
    return DirectoryEntry(asked, ContainedPath(path_of(directory.names), start.inside), directory, ".", private)


def _require_public(asked: str, directory: Directory, name: str, private: PrivateFolders) -> None:
    """Raises: PrivatePath; OSError if the status can't be read."""
    with suppress(FileNotFoundError):
        if private.own(os.stat(name, dir_fd=directory.fd, follow_symlinks=False)):
            raise errors.PrivatePath(asked)


def _stopped(
    asked: str, start: _Start, directory: Directory, names: Names, obstacle: OSError, private: PrivateFolders
) -> DirectoryEntry:
    """The end of a walk that can't continue to the first of these names."""
    *parents, name = names
    can_be_made = obstacle.errno == errno.ENOENT and not {".", ".."} & set(names)
    location = ContainedPath(path_of(directory.names).joinpath(*names), start.inside)
    missing = tuple(parents) if can_be_made else ()
    return DirectoryEntry(asked, location, directory, name, private, missing, obstacle)


def names_of(path: str) -> Names:
    """The names of an absolute path. Raises: InvalidPath."""
    if not path:
        raise errors.InvalidPath(path, "it is empty")
    if "\0" in path:
        raise errors.InvalidPath(path, "it holds a NUL character")
    if not path.startswith("/"):
        raise errors.InvalidPath(path, "it is relative; give the absolute path")
    try:
        size = len(os.fsencode(path))
    except UnicodeEncodeError:
        raise errors.InvalidPath(path, "it holds a character that file names can't") from None
    if size >= _MAX_PATH_BYTES:
        raise errors.InvalidPath(path, f"it is longer than {_MAX_PATH_BYTES - 1} bytes")
    return _split(path)


def _split(path: str) -> Names:
    """The names in a path. A slash at its end becomes `.`, because it requires a directory."""
    names = tuple(name for name in path.split("/") if name not in ("", "."))
    return (*names, ".") if path.endswith(("/", "/.")) else names


def path_of(names: Names) -> Path:
    return Path("/", *names)


@contextmanager
def open_regular(place: DirectoryEntry, flags: int) -> Iterator[int]:
    """Open the regular file at a place, and nothing else. Doesn't follow links. Raises: NotAFile, OSError."""
    require_regular(place, os.stat(place.name, dir_fd=place.directory.fd, follow_symlinks=False))
    fd = os.open(place.name, flags | _OPEN_FILE, dir_fd=place.directory.fd)
    try:
        require_regular(place, os.fstat(fd))  # it may have been swapped since
        yield fd
    finally:
        os.close(fd)


@dataclass(frozen=True, slots=True)
class HeldDirectory:
    """A directory that stays the same, whatever its path refers to later."""

    location: ContainedPath
    fd: int
    """Open until its holder closes it."""

    def is_same(self, other: HeldDirectory) -> bool:
        return self.location == other.location and os.path.sameopenfile(self.fd, other.fd)


def hold(place: DirectoryEntry) -> HeldDirectory:
    """Open the directory at a place. Doesn't follow links. Raises: OSError, for a file too."""
    if place.obstacle is not None:
        raise place.obstacle
    return HeldDirectory(place.location, os.open(place.name, _OPEN_DIRECTORY, dir_fd=place.directory.fd))


def require_regular(place: DirectoryEntry, status: os.stat_result) -> None:
    """Raises: NotAFile, PrivatePath; OSError(ELOOP) if a link has appeared since the walk."""
    if place.private.own(status):
        raise errors.PrivatePath(place.asked)
    kind = stat.S_IFMT(status.st_mode)
    if kind == stat.S_IFLNK:
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
    if kind != stat.S_IFREG:
        is_folder = kind == stat.S_IFDIR
        raise errors.NotAFile(place.asked, "directory" if is_folder else SPECIAL_KINDS.get(kind, "special file"))
