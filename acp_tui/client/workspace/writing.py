"""Replaces the content of a file, so that at any moment there is either the old content or the new.

It does not find the file: it gets the place from `containment`. How it is done, and what that means:

- The content goes to a temporary file beside the target, which is then renamed over it. The old file stays whole
  whatever fails. Owner, group and permission bits are kept.
- A rename makes a new file: other hard links keep the old content; ACLs and extended attributes are not kept.
- Where the directory takes no new file, the target may not be replaced (a mount point, a sticky directory) or
  its owner could not be kept, the content is written into the file in place. That is not atomic: a failure
  leaves a mixture of old and new. The result says so.
- A file that its user may not write to is refused, although a rename would get around that.
- Missing parents are created, and stay if the write itself then fails.
"""

import errno
import os
import secrets
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from acp_tui.client.workspace.containment import Place, open_regular

_CREATE: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_CANNOT_REPLACE: Final = {errno.EACCES, errno.EPERM, errno.EROFS, errno.EBUSY}


@dataclass(frozen=True, slots=True)
class Written:
    """What a write did."""

    path: Path
    """The file itself, links followed."""
    created: bool
    atomic: bool
    """False where the file was written in place, so that a reader may have seen half of it."""


def write_bytes(place: Place, content: bytes) -> Written:
    """Make `content` the whole content of the file, which is created if absent (R-FS-4).

    Raises: NotAFile; OSError.
    """
    if place.obstacle is not None:
        _make_parents(place, place.obstacle)
    if not _exists(place):
        _replace(place, content, None)
        return Written(place.location.path, created=True, atomic=True)
    with open_regular(place, os.O_WRONLY) as existing:
        atomic = _overwrite(place, content, existing)
    return Written(place.location.path, created=False, atomic=atomic)


def _make_parents(place: Place, obstacle: OSError) -> None:
    if not place.missing_parents:
        raise obstacle
    for name in place.missing_parents:
        with suppress(FileExistsError):
            os.mkdir(name, dir_fd=place.directory.fd)
        place.directory.enter(name)


def _exists(place: Place) -> bool:
    try:
        os.stat(place.name, dir_fd=place.directory.fd, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True


def _overwrite(place: Place, content: bytes, existing: int) -> bool:
    """Replace a file that is open for writing, or else write into it; True if it was replaced."""
    try:
        _replace(place, content, os.fstat(existing))
    except OSError as error:
        if error.errno not in _CANNOT_REPLACE:
            raise
        _write_through(existing, content)
        return False
    return True


def _replace(place: Place, content: bytes, old: os.stat_result | None) -> None:
    """Write a temporary file and rename it over the target; on failure it is as if nothing had been."""
    directory = place.directory.fd
    temporary = f".acp-tui-{secrets.token_hex(16)}.tmp"
    # The kernel applies the umask to a new file. A replacement is closed to others until it has its owner and mode.
    fd = os.open(temporary, _CREATE, 0o666 if old is None else 0o600, dir_fd=directory)
    try:
        try:
            if old is not None:
                _take_after(fd, old)
            _write_through(fd, content)
        finally:
            os.close(fd)
        os.replace(temporary, place.name, src_dir_fd=directory, dst_dir_fd=directory)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary, dir_fd=directory)
        raise
    _sync_directory(directory)


def _take_after(fd: int, old: os.stat_result) -> None:
    """Give a file the owner and mode of another; without set-id bits, which any write to a file clears."""
    os.fchown(fd, old.st_uid, old.st_gid)
    os.fchmod(fd, old.st_mode & 0o777)


def _write_through(fd: int, content: bytes) -> None:
    """Make this all that the file holds, down to the disk."""
    rest = memoryview(content)
    while rest:
        rest = rest[os.write(fd, rest) :]
    os.ftruncate(fd, len(content))  # only now: blocks that are written over need no free space
    os.fsync(fd)


def _sync_directory(directory: int) -> None:
    """Make the rename outlast a crash. It has already happened, so that a failure here is none of the write's."""
    with suppress(OSError):
        fd = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=directory)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)
