"""Reads a repository's index as it was when it was opened, without git and without keeping it in memory.

Git replaces its index with another file, so an open descriptor still has the earlier one. A split index isn't read.
The index may be hostile: anything in it that leads out of the directory is dropped.
"""

from __future__ import annotations

import os
import stat
import struct
from bisect import bisect_left
from collections.abc import Iterator
from pathlib import Path
from threading import Lock
from typing import Final, NamedTuple

from acp_tui.client.safe_git import GitFailed

SAMPLED: Final = 128
"""The place of each 128th entry is kept, so that finding one doesn't read all before it."""

_PIECE: Final = 1 << 18
_LONGEST: Final = 1 << 16
"""No entry is longer. Paths are limited to 4 KiB by the system."""
_HEADER: Final = struct.Struct(">4sII")
_STATUS: Final = struct.Struct(">10I")
_ASSUMED: Final = 0x8000
_EXTENDED: Final = 0x4000
_STAGE: Final = 0x3000
_SKIPPED: Final = 0x4000
_INTENDED: Final = 0x2000
LEADS_OUT: Final = frozenset({"", ".", ".."})
_NS: Final = 1_000_000_000


class IndexEntry(NamedTuple):
    """A path that git tracks, with what git saw of the file when it last knew it to be this blob."""

    path: str
    """Relative to the folder that was asked for."""
    mode: int
    blob: bytes
    is_plain: bool
    """Not in conflict, not sparse, not assumed unchanged."""
    is_skipped: bool
    """Not checked out, because of a sparse checkout."""
    ctime_ns: int
    mtime_ns: int
    """0 if git doesn't say, or if the file may have been written to since then with the same timestamps."""
    inode: int
    size: int

    @property
    def is_repository(self) -> bool:
        return self.mode == 0o160000

    def is_still(self, status: os.stat_result) -> bool:
        """Whether the file certainly is what git saw. Git keeps 32 bits of inode and size."""
        return (
            status.st_mtime_ns == self.mtime_ns != 0
            and self.is_plain
            and status.st_size & 0xFFFFFFFF == self.size
            and self.ctime_ns in (0, status.st_ctime_ns)
            and self.inode in (0, status.st_ino & 0xFFFFFFFF)
        )


class _Sample(NamedTuple):
    path: bytes
    before: bytes
    """The path of the entry before, which the next one may continue."""
    offset: int
    number: int


class GitIndex:
    """An index, opened in its current state. Any thread may use it. All methods block and raise GitFailed."""

    def __init__(self, path: Path, prefix: str = "", id_bytes: int = 20) -> None:
        """`prefix` is the path of the folder below the top of the repository. Raises: GitFailed."""
        self._prefix = os.fsencode(prefix)
        self._id_bytes = id_bytes
        self._one_at_a_time = Lock()
        self._version = self.count = self._size = 0
        self.written_ns = 0
        """When git wrote it."""
        self._fd = -1
        self._fd = _opened(path)
        if self._fd >= 0:
            status = os.fstat(self._fd)
            self.written_ns, self._size = status.st_mtime_ns, status.st_size
            mark, self._version, self.count = _HEADER.unpack(os.pread(self._fd, _HEADER.size, 0).ljust(12, b"\0"))
            if mark != b"DIRC" or self._version not in (2, 3, 4):
                self.close()
                raise GitFailed("git's index has an unknown format")
        self._samples = [_Sample(b"", b"", _HEADER.size, 0)]

    @property
    def is_missing(self) -> bool:
        """Whether there is no index, as in a new repository."""
        return self._size == 0

    def is_current(self, path: Path) -> bool:
        try:
            now = path.stat()
        except OSError:
            return self.is_missing
        return self._fd >= 0 and os.path.samestat(now, os.fstat(self._fd))

    def entries(self, under: str = "") -> Iterator[IndexEntry]:
        """The entries at or below a path, in git's order. For a path in conflict, one of them."""
        wanted = self._prefix + os.fsencode(under)
        folder = wanted if not under else wanted + b"/"
        for path, fields, blob, flags, more in self._records(self._sample_before(wanted)):
            if path == wanted or path.startswith(folder):
                entry = self._entry(path, fields, blob, flags, more)
                if entry is not None:
                    yield entry
            elif path > folder:
                return

    def find(self, path: str) -> IndexEntry | None:
        wanted = self._prefix + os.fsencode(path)
        for found, fields, blob, flags, more in self._records(self._sample_before(wanted)):
            if found >= wanted:
                return self._entry(found, fields, blob, flags, more) if found == wanted else None
        return None

    def close(self) -> None:
        with self._one_at_a_time:
            if self._fd >= 0:
                os.close(self._fd)
            self._fd = -1
            self.count = 0

    def __del__(self) -> None:
        self.close()

    def _entry(self, path: bytes, fields: tuple[int, ...], blob: bytes, flags: int, more: int) -> IndexEntry | None:
        ctime, ctime_ns, mtime, mtime_ns, _, inode, mode, _, _, size = fields
        name = os.fsdecode(path[len(self._prefix) :])
        if not LEADS_OUT.isdisjoint(name.split("/")):
            return None  # also a folder of a sparse index, which ends with a slash
        seen_ns = mtime * _NS + mtime_ns
        # A file as recent as the index may have been written to since then with the same timestamps.
        seen_ns = seen_ns if seen_ns < self.written_ns else 0
        is_plain = not flags & (_ASSUMED | _STAGE) and not more & (_SKIPPED | _INTENDED)
        is_skipped = bool(more & _SKIPPED)
        return IndexEntry(name, mode, blob, is_plain, is_skipped, ctime * _NS + ctime_ns, seen_ns, inode, size)

    def _sample_before(self, path: bytes) -> _Sample:
        with self._one_at_a_time:
            # Not one that's equal: in a conflict, entries have the same path.
            at = bisect_left(self._samples, path, key=lambda sample: sample.path)
            return self._samples[max(at - 1, 0)]

    def _records(self, sample: _Sample) -> Iterator[tuple[bytes, tuple[int, ...], bytes, int, int]]:
        """From this sample on: the path, status, and ID, and two sets of flags."""
        before, at, base, piece = sample.before, 0, sample.offset, b""
        last = None
        fixed = _STATUS.size + self._id_bytes + 2
        for number in range(sample.number, self.count):
            if len(piece) - at < _LONGEST and base + len(piece) < self._size:
                base, piece, at = base + at, self._read(base + at), 0
            flags = int.from_bytes(piece[at + fixed - 2 : at + fixed])
            start = at + fixed + (2 if flags & _EXTENDED else 0)
            more = int.from_bytes(piece[start - 2 : start]) if flags & _EXTENDED else 0
            kept = b""
            if self._version == 4:
                dropped, start = _number(piece, start)
                kept = before[: len(before) - dropped]
            end = piece.find(b"\0", start)
            if end < 0:
                raise GitFailed("git's index is damaged")
            path = kept + piece[start:end]
            if number % SAMPLED == 0:
                self._keep(_Sample(path, before, base + at, number))
            if path != last:
                fields = _STATUS.unpack_from(piece, at)
                yield path, fields, piece[at + _STATUS.size : at + fixed - 2], flags, more
            before = last = path
            at = end + 1 if self._version == 4 else at + ((end - at + 8) & ~7)

    def _keep(self, sample: _Sample) -> None:
        with self._one_at_a_time:
            if sample.number == len(self._samples) * SAMPLED:
                self._samples.append(sample)

    def _read(self, offset: int) -> bytes:
        with self._one_at_a_time:  # after closing, the descriptor's number may belong to another file
            if self._fd < 0:
                raise GitFailed("git's index is no longer open")
            status = os.fstat(self._fd)
            if (status.st_mtime_ns, status.st_size) != (self.written_ns, self._size):
                raise GitFailed("git's index was overwritten in place")
            return os.pread(self._fd, _PIECE, offset)


def paired(before: GitIndex, after: GitIndex) -> Iterator[tuple[IndexEntry | None, IndexEntry]]:
    """The entries of a later index, each with that of the same path in an earlier one. Both are in the same order."""
    earlier = before.entries()
    known = next(earlier, None)
    for entry in after.entries():
        while known is not None and is_before(known.path, entry.path):
            known = next(earlier, None)
        yield known if known is not None and known.path == entry.path else None, entry


def is_before(path: str, other: str) -> bool:
    """Whether git lists a path before another one."""
    return path != other and os.fsencode(path) < os.fsencode(other)


def _opened(path: Path) -> int:
    """A descriptor; -1 if there is no index, as in a new repository. Raises: GitFailed."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY)
    except FileNotFoundError:
        return -1
    except OSError as error:
        raise GitFailed(f"git's index can't be read: {error.strerror or error}") from error
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise GitFailed("git's index isn't a file")
    return fd


def _number(data: bytes, at: int) -> tuple[int, int]:
    """A number of variable length, and where it ends. Raises: GitFailed."""
    value, is_first = 0, True
    while at < len(data):
        byte = data[at]
        value = (value if is_first else (value + 1) << 7) | (byte & 127)
        is_first = False
        at += 1
        if not byte & 128:
            return value, at
    raise GitFailed("git's index is damaged")
