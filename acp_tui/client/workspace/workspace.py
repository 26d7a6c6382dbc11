"""The files that an agent may read and write: a session's directories, served off the event loop.

A path outside raises OutsideWorkspace. Once the user has agreed to a place, swapping a link can't lead anywhere else.
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

from acp_tui.client.workspace.containment import Boundary, DirectoryEntry, HeldDirectory, Location, hold, open_regular
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
#   UTF-32 are refused by name rather than decoded, because writing back would silently turn them into UTF-8.
# - A line ends with a line feed and keeps its ending: `\r\n` is returned as it is in the file. A lone carriage return
#   doesn't end a line (nor do the other separators of `str.splitlines`).
# - A NUL in the first 8 KiB means binary. After that, only the requested lines have to be valid.

CHUNK_BYTES: Final = 1 << 20
_SNIFFED_BYTES: Final = 8192
_FOREIGN_MARKS: Final = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)  # UTF-32's little-endian mark begins with UTF-16's

Piece: TypeAlias = tuple[int, bytes]
"""Bytes of a file, and their offset in it."""


@dataclass(frozen=True, slots=True)
class LineRange:
    """The requested lines of a file."""

    skip: int
    count: int | None
    """None for all that follow."""

    @classmethod
    def of_request(cls, line: int | None, limit: int | None) -> Self:
        """From the protocol's 1-based line, where 0 means 1 (R-FS-2)."""
        skip = 0 if line is None else max(line - 1, 0)
        return cls(skip, None if limit is None else max(limit, 0))

    @property
    def is_whole_file(self) -> bool:
        """Whether it includes every line."""
        return self.skip == 0 and self.count is None


def read_text(place: DirectoryEntry, lines: LineRange, max_bytes: int) -> str:
    """The requested lines with their endings; "" past the end of the file.

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
    """The file's bytes as they are read. Its size isn't used, because files in /proc have none."""
    offset = 0
    while chunk := os.read(fd, CHUNK_BYTES):
        yield offset, chunk
        offset += len(chunk)


def _refuse_binary(place: DirectoryEntry, chunks: Iterator[Piece]) -> Iterator[Piece]:
    for offset, chunk in chunks:
        if offset == 0 and chunk.startswith(_FOREIGN_MARKS):
            raise NotText(place.asked, "a UTF-16 or UTF-32 byte order mark", 0)
        if offset < _SNIFFED_BYTES and (found := chunk.find(b"\0", 0, _SNIFFED_BYTES - offset)) >= 0:
            raise NotText(place.asked, "a NUL", offset + found)
        yield offset, chunk


def _select(chunks: Iterator[Piece], lines: LineRange) -> Iterator[Piece]:
    """Extract the requested lines. Reading stops after the last of them."""
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
    """The index after `count` lines from `start`, and how many of them are still missing."""
    found = chunk.count(b"\n", start)
    if found < count:
        return len(chunk), count - found
    for _ in range(count):
        start = chunk.index(b"\n", start) + 1
    return start, 0


def _bounded(place: DirectoryEntry, pieces: Iterator[Piece], max_bytes: int) -> Iterator[Piece]:
    size = 0
    for offset, piece in pieces:
        size += len(piece)
        if size > max_bytes:
            raise FileTooLarge(place.asked, size, max_bytes)
        yield offset, piece


def _decode(place: DirectoryEntry, pieces: Iterator[Piece]) -> str:
    """Decode piece by piece: decoding a big file in one call would hold the GIL and so block the event loop."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    texts: list[str] = []
    end = 0
    for offset, piece in pieces:
        texts.append(_decode_piece(place, decoder, offset, piece))
        end = offset + len(piece)
    texts.append(_decode_piece(place, decoder, end, b"", final=True))
    return "".join(texts)


def _decode_piece(
    place: DirectoryEntry, decoder: codecs.IncrementalDecoder, offset: int, piece: bytes, *, final: bool = False
) -> str:
    pending, _ = decoder.getstate()  # the beginning of a character, from the previous piece
    try:
        return decoder.decode(piece, final)
    except UnicodeDecodeError as error:
        raise NotText(place.asked, error.reason, offset - len(pending) + error.start) from None


# How a file is written, and the consequences:
#
# - The content goes to a temporary file beside the target, which is then renamed over it. The old file stays intact if
#   anything fails. Owner, group, and permission bits are kept.
# - A rename creates a new file: other hard links keep the old content; ACLs and extended attributes are lost.
# - If the directory accepts no new file, the target can't be replaced (a mount point, a sticky directory), or its owner
#   couldn't be kept, the content is written into the file in place. That isn't atomic: a failure leaves a mixture of
#   old and new. The result says so.
# - A file that its user may not write to is refused, although a rename would circumvent that.
# - Missing parents are created, and stay if the write itself then fails.

_CREATE: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_CANNOT_REPLACE: Final = {errno.EACCES, errno.EPERM, errno.EROFS, errno.EBUSY}


@dataclass(frozen=True, slots=True)
class WriteResult:
    """The result of a write."""

    path: Path
    """The file itself, with links followed."""
    created: bool
    atomic: bool
    """False if the file was written in place, so a reader may have seen a partial state."""


def write_bytes(place: DirectoryEntry, content: bytes) -> WriteResult:
    """Replace the whole content of the file with `content`, creating the file if necessary (R-FS-4).

    Raises: NotAFile; OSError.
    """
    if place.obstacle is not None:
        _make_parents(place, place.obstacle)
    if not _exists(place):
        _replace(place, content, None)
        return WriteResult(place.location.path, created=True, atomic=True)
    with open_regular(place, os.O_WRONLY) as existing:
        atomic = _overwrite(place, content, existing)
    return WriteResult(place.location.path, created=False, atomic=atomic)


def _make_parents(place: DirectoryEntry, obstacle: OSError) -> None:
    if not place.missing_parents:
        raise obstacle
    for name in place.missing_parents:
        with suppress(FileExistsError):
            os.mkdir(name, dir_fd=place.directory.fd)
        place.directory.enter(name)


def _exists(place: DirectoryEntry) -> bool:
    try:
        os.stat(place.name, dir_fd=place.directory.fd, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True


def _overwrite(place: DirectoryEntry, content: bytes, existing: int) -> bool:
    """Replace a file that is open for writing, or otherwise write into it. True if it was replaced."""
    try:
        _replace(place, content, os.fstat(existing))
    except OSError as error:
        if error.errno not in _CANNOT_REPLACE:
            raise
        _write_through(existing, content)
        return False
    return True


def _replace(place: DirectoryEntry, content: bytes, old: os.stat_result | None) -> None:
    """Write a temporary file and rename it over the target. A failure leaves everything unchanged."""
    directory = place.directory.fd
    temporary = f".acp-tui-{secrets.token_hex(16)}.tmp"
    # The kernel applies the umask to a new file. A replacement is private until it has its owner and mode.
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
    """Give a file the owner and mode of another, without set-id bits, which any write to a file clears."""
    os.fchown(fd, old.st_uid, old.st_gid)
    os.fchmod(fd, old.st_mode & 0o777)


def _write_through(fd: int, content: bytes) -> None:
    """Make this the file's whole content, and sync it to the disk."""
    rest = memoryview(content)
    while rest:
        rest = rest[os.write(fd, rest) :]
    os.ftruncate(fd, len(content))  # only now: overwriting blocks needs no free space
    os.fsync(fd)


def _sync_directory(directory: int) -> None:
    """Make the rename survive a crash. It has already happened, so a failure here doesn't fail the write."""
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
        self, roots: Sequence[Path], *, private: Sequence[Path] = (), max_read_bytes: int = DEFAULT_MAX_READ_BYTES
    ) -> None:
        """Resolve the roots: the session's cwd, then its additional directories; all absolute.

        Anything in the `private` folders raises PrivatePath, even if the user agreed to it.
        """
        self._boundary = Boundary(roots, private)
        self._max_read_bytes = max_read_bytes
        self._one_write_at_a_time = Lock()

    @property
    def roots(self) -> tuple[Path, ...]:
        """The directories with links resolved; the session's cwd first."""
        return self._boundary.roots

    async def locate(self, path: str) -> Location:
        """Where a path leads, and whether that is inside. The file need not exist.

        Raises: WorkspaceError.
        """
        return await to_thread.run_sync(self._locate, path, abandon_on_cancel=True)

    @asynccontextmanager
    async def hold(self, path: str) -> AsyncIterator[HeldDirectory]:
        """Open the directory that a path leads to, for the block, so that the same directory is checked and used.

        Raises: WorkspaceError.
        """
        held = await to_thread.run_sync(self._hold, path)
        try:
            yield held
        finally:
            os.close(held.fd)

    async def require_held(self, path: str, held: HeldDirectory) -> None:
        """Raises: PathChanged if the path now leads to another directory, WorkspaceError if it leads to none."""
        async with self.hold(path) as now:
            if not held.is_same(now):
                raise PathChanged(path)

    async def read_text_file(
        self, path: str, line: int | None = None, limit: int | None = None, *, allowed_at: Path | None = None
    ) -> str:
        """The file's text, or `limit` lines starting at the 1-based `line`, with their endings (R-FS-1, R-FS-2).

        With `allowed_at`, only the file at that path is read, with all links followed; it may be outside.

        Raises: WorkspaceError.
        """
        read = partial(self._read, path, LineRange.of_request(line, limit), allowed_at)
        return await to_thread.run_sync(read, abandon_on_cancel=True)

    async def write_text_file(self, path: str, content: str, *, allowed_at: Path | None = None) -> WriteResult:
        """Replace the file's content with exactly the UTF-8 bytes of `content`. Writes run in the order of the calls.

        A write that has begun completes even if the caller is cancelled (R-FS-4). With `allowed_at`, only the file at
        that path is written, with all links followed; it may be outside.

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

    def _write(self, path: str, content: str, allowed_at: Path | None) -> WriteResult:
        encoded = _encode(path, content)
        with self._reach("write", path, allowed_at) as place:
            return write_bytes(place, encoded)

    @contextmanager
    def _reach(self, action: Action, path: str, allowed_at: Path | None) -> Iterator[DirectoryEntry]:
        """The place of a path that may be served. Errors from the system inside the block become WorkspaceErrors."""
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
