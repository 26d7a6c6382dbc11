"""The files that an agent may read and write: a session's directories, served off the event loop.

A path outside raises OutsideWorkspace; once the user agrees to a place, a link swapped meanwhile leads nowhere else.
"""

from __future__ import annotations

import codecs
import errno
import os
import secrets
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Final, Self, TypeAlias

from anyio import Lock, to_thread

from acp_tui.client.workspace.containment import Boundary, HeldDirectory, Location, Place, hold, open_regular
from acp_tui.client.workspace.errors import (
    Action,
    FileTooLarge,
    NotText,
    OutsideWorkspace,
    PathChanged,
    UnencodableText,
    from_os_error,
)
from acp_tui.values import dataclass

# What counts as text:
#
# - UTF-8 only. A byte order mark stays in the text as U+FEFF, so that writing back what was read keeps it. UTF-16 and
#   UTF-32 are refused by name rather than decoded, since writing back would silently turn them into UTF-8.
# - A line ends with a line feed, and keeps its ending: `\r\n` comes out as it is in the file, and a lone carriage
#   return does not end a line (nor do the further separators of `str.splitlines`).
# - A NUL in the first 8 KiB means binary. Beyond that, only the lines that were asked for have to be valid.

_CHUNK_BYTES: Final = 1 << 20
_SNIFFED_BYTES: Final = 8192
_FOREIGN_MARKS: Final = (
    codecs.BOM_UTF16_LE,
    codecs.BOM_UTF16_BE,
)  # UTF-32's little-endian mark begins with the first

Piece: TypeAlias = tuple[int, bytes]
"""Bytes of a file, and the offset in it where they begin."""


@dataclass(frozen=True, slots=True)
class LineRange:
    """Which lines of a file are wanted."""

    skip: int
    count: int | None
    """None: all that follow."""

    @classmethod
    def of_request(cls, line: int | None, limit: int | None) -> Self:
        """From the protocol's 1-based line, where 0 means 1 (R-FS-2)."""
        skip = 0 if line is None else max(line - 1, 0)
        return cls(skip, None if limit is None else max(limit, 0))

    @property
    def is_whole_file(self) -> bool:
        """Whether no line is left out."""
        return self.skip == 0 and self.count is None


def read_text(place: Place, lines: LineRange, max_bytes: int) -> str:
    """The wanted lines with their endings, "" past the end of the file.

    Raises: NotAFile, NotText, FileTooLarge; OSError.
    """
    if place.obstacle is not None:
        raise place.obstacle
    with open_regular(place, os.O_RDONLY) as fd:
        size = os.fstat(fd).st_size
        if lines.is_whole_file and size > max_bytes:
            raise FileTooLarge(place.asked, size, max_bytes)
        pieces = _select(_refuse_binary(place, _chunks(fd)), lines)
        return _decode(place, _bounded(place, pieces, max_bytes))


def _chunks(fd: int) -> Iterator[Piece]:
    """The file's bytes as they come; its size is not asked, because files in /proc have none."""
    offset = 0
    while chunk := os.read(fd, _CHUNK_BYTES):
        yield offset, chunk
        offset += len(chunk)


def _refuse_binary(place: Place, chunks: Iterator[Piece]) -> Iterator[Piece]:
    for offset, chunk in chunks:
        if offset == 0 and chunk.startswith(_FOREIGN_MARKS):
            raise NotText(place.asked, "a UTF-16 or UTF-32 byte order mark", 0)
        if offset < _SNIFFED_BYTES and (found := chunk.find(b"\0", 0, _SNIFFED_BYTES - offset)) >= 0:
            raise NotText(place.asked, "a NUL", offset + found)
        yield offset, chunk


def _select(chunks: Iterator[Piece], lines: LineRange) -> Iterator[Piece]:
    """Cut the wanted lines out; reading stops behind the last of them."""
    skip, count = lines.skip, lines.count
    for offset, chunk in chunks:
        start, skip = _past_lines(chunk, 0, skip)
        end = len(chunk)
        if count is not None:
            end, count = _past_lines(chunk, start, count)
        yield offset + start, chunk[start:end]
        if count == 0:
            return


def _past_lines(chunk: bytes, start: int, count: int) -> tuple[int, int]:
    """The index behind `count` lines from `start` on, and how many of them are still to come."""
    found = chunk.count(b"\n", start)
    if found < count:
        return len(chunk), count - found
    for _ in range(count):
        start = chunk.index(b"\n", start) + 1
    return start, 0


def _bounded(place: Place, pieces: Iterator[Piece], max_bytes: int) -> Iterator[Piece]:
    size = 0
    for offset, piece in pieces:
        size += len(piece)
        if size > max_bytes:
            raise FileTooLarge(place.asked, size, max_bytes)
        yield offset, piece


def _decode(place: Place, pieces: Iterator[Piece]) -> str:
    """Piece by piece: decoding a big file in one call would hold the interpreter, and with it the event loop."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    texts: list[str] = []
    end = 0
    for offset, piece in pieces:
        texts.append(_decode_piece(place, decoder, offset, piece))
        end = offset + len(piece)
    texts.append(_decode_piece(place, decoder, end, b"", final=True))
    return "".join(texts)


def _decode_piece(
    place: Place, decoder: codecs.IncrementalDecoder, offset: int, piece: bytes, *, final: bool = False
) -> str:
    pending, _ = decoder.getstate()  # the beginning of a character, from the piece before
    try:
        return decoder.decode(piece, final)
    except UnicodeDecodeError as error:
        raise NotText(place.asked, error.reason, offset - len(pending) + error.start) from None


# How a file is written, and what that means:
#
# - The content goes to a temporary file beside the target, which is then renamed over it. The old file stays whole
#   whatever fails. Owner, group and permission bits are kept.
# - A rename makes a new file: other hard links keep the old content; ACLs and extended attributes are not kept.
# - Where the directory takes no new file, the target may not be replaced (a mount point, a sticky directory) or
#   its owner could not be kept, the content is written into the file in place. That is not atomic: a failure
#   leaves a mixture of old and new. The result says so.
# - A file that its user may not write to is refused, although a rename would get around that.
# - Missing parents are created, and stay if the write itself then fails.

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


DEFAULT_MAX_READ_BYTES: Final = 64 * 1024 * 1024


class Workspace:
    """A session's directories on disk, as its agent may use them (ACP v1, file-system)."""

    def __init__(
        self,
        roots: Sequence[Path],
        *,
        private: Sequence[Path] = (),
        max_read_bytes: int = DEFAULT_MAX_READ_BYTES,
    ) -> None:
        """Resolve the roots: the session's cwd, then its additional directories; all absolute.

        What lies in the `private` folders raises PrivatePath, also where it was agreed to.
        """
        self._boundary = Boundary(roots, private)
        self._max_read_bytes = max_read_bytes
        self._one_write_at_a_time = Lock()

    @property
    def roots(self) -> tuple[Path, ...]:
        """The directories, links resolved; the session's cwd first."""
        return self._boundary.roots

    async def locate(self, path: str) -> Location:
        """Where a path leads, and whether that is inside; there need not be a file.

        Raises: WorkspaceError.
        """
        return await to_thread.run_sync(self._locate, path, abandon_on_cancel=True)

    @asynccontextmanager
    async def hold(self, path: str) -> AsyncIterator[HeldDirectory]:
        """Where a path leads that must be a directory, open inside of the block: it is checked and used as one.

        Raises: WorkspaceError.
        """
        held = await to_thread.run_sync(self._hold, path)
        try:
            yield held
        finally:
            os.close(held.fd)

    async def require_held(self, path: str, held: HeldDirectory) -> None:
        """Raises: PathChanged where the path leads to another directory by now, WorkspaceError where to none."""
        async with self.hold(path) as now:
            if not held.is_same(now):
                raise PathChanged(path)

    async def read_text_file(
        self, path: str, line: int | None = None, limit: int | None = None, *, allowed_at: Path | None = None
    ) -> str:
        """The file's text, or `limit` lines from the 1-based `line` on, with their endings (R-FS-1, R-FS-2).

        Where `allowed_at` is given, only the file there is read, all links followed: it may lie outside.

        Raises: WorkspaceError.
        """
        read = partial(self._read, path, LineRange.of_request(line, limit), allowed_at)
        return await to_thread.run_sync(read, abandon_on_cancel=True)

    async def write_text_file(self, path: str, content: str, *, allowed_at: Path | None = None) -> Written:
        """Make `content`, as exactly its UTF-8 bytes, the file's content; writes run in the order of their calls.

        A write that has begun is finished even if the caller is cancelled (R-FS-4). Where `allowed_at` is
        given, only the file there is written, all links followed: it may lie outside.

        Raises: WorkspaceError.
        """
        async with self._one_write_at_a_time:
            return await to_thread.run_sync(partial(self._write, path, content, allowed_at))

    def _locate(self, path: str) -> Location:
        try:
            with self._boundary.reach(path) as place:
                return place.location
        except OSError as error:
            raise from_os_error("find", path, error) from error

    def _hold(self, path: str) -> HeldDirectory:
        try:
            with self._boundary.reach(path) as place:
                return hold(place)
        except OSError as error:
            raise from_os_error("find", path, error) from error

    def _read(self, path: str, lines: LineRange, allowed_at: Path | None) -> str:
        with self._reach("read", path, allowed_at) as place:
            return read_text(place, lines, self._max_read_bytes)

    def _write(self, path: str, content: str, allowed_at: Path | None) -> Written:
        encoded = _encode(path, content)
        with self._reach("write", path, allowed_at) as place:
            return write_bytes(place, encoded)

    @contextmanager
    def _reach(self, action: Action, path: str, allowed_at: Path | None) -> Iterator[Place]:
        """The place of a path that may be served; whatever the system refuses there becomes a WorkspaceError."""
        try:
            with self._boundary.reach(path) as place:
                if place.location.path != allowed_at:
                    if not place.location.inside:
                        raise OutsideWorkspace(path, place.location.path)
                    if allowed_at is not None:
                        raise PathChanged(path)
                yield place
        except OSError as error:
            raise from_os_error(action, path, error) from error


def _encode(path: str, content: str) -> bytes:
    try:
        return content.encode("utf-8")
    except UnicodeEncodeError as error:
        raise UnencodableText(path, error.start) from None
