"""The files that an agent may read and write: a session's directories, served off the event loop.

A path outside raises OutsideWorkspace. Once the user has agreed to a place, swapping a link can't lead anywhere else.
"""

from __future__ import annotations

import codecs
import errno
import os
import secrets
import stat
from collections import deque
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import field, replace
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import Final, Self, TypeAlias

from anyio import Lock, to_thread

from acp_tui.client.workspace import containment, errors
from acp_tui.client.workspace.exchange import exchange
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
    skip: int
    count: int | None
    """None for all that follow."""

    @classmethod
    def of_request(cls, line: int | None, limit: int | None) -> Self:
        """From the protocol's 1-based line, where 0 means 1 (R-FS-2)."""
        skip = 0 if line is None else max(line - 1, 0)
        return cls(skip, None if limit is None else max(limit, 0))


def read_text(place: containment.DirectoryEntry, lines: LineRange, max_bytes: int) -> str:
    """The requested lines with their endings; "" past the end of the file.

    Raises: NotAFile, NotText, FileTooLarge; OSError.
    """
    if place.obstacle is not None:
        raise place.obstacle
    with containment.open_regular(place, os.O_RDONLY) as fd:
        size = os.fstat(fd).st_size
        if lines == LineRange(0, None) and size > max_bytes:
            raise errors.FileTooLarge(place.asked, size, max_bytes)
        pieces = _select(_refuse_binary(place, _chunks(fd)), lines)
        return _decode(place, _bounded(place, pieces, max_bytes))


def _chunks(fd: int) -> Iterator[Piece]:
    """The file's bytes as they are read. Its size isn't used, because files in /proc have none."""
    offset = 0
    while chunk := os.read(fd, CHUNK_BYTES):
        yield offset, chunk
        offset += len(chunk)


def _refuse_binary(place: containment.DirectoryEntry, chunks: Iterator[Piece]) -> Iterator[Piece]:
    for offset, chunk in chunks:
        if offset == 0 and chunk.startswith(_FOREIGN_MARKS):
            raise errors.NotText(place.asked, "a UTF-16 or UTF-32 byte order mark", 0)
        if offset < _SNIFFED_BYTES and (found := chunk.find(b"\0", 0, _SNIFFED_BYTES - offset)) >= 0:
            raise errors.NotText(place.asked, "a NUL", offset + found)
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


def _bounded(place: containment.DirectoryEntry, pieces: Iterator[Piece], max_bytes: int) -> Iterator[Piece]:
    size = 0
    for offset, piece in pieces:
        size += len(piece)
        if size > max_bytes:
            raise errors.FileTooLarge(place.asked, size, max_bytes)
        yield offset, piece


def _decode(place: containment.DirectoryEntry, pieces: Iterator[Piece]) -> str:
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
    place: containment.DirectoryEntry,
    decoder: codecs.IncrementalDecoder,
    offset: int,
    piece: bytes,
    *,
    final: bool = False,
) -> str:
    pending, _ = decoder.getstate()  # the beginning of a character, from the previous piece
    try:
        return decoder.decode(piece, final)
    except UnicodeDecodeError as error:
        raise errors.NotText(place.asked, error.reason, offset - len(pending) + error.start) from None


@dataclass(frozen=True, slots=True)
class PlaceState:
    """What is at a place at one moment. Two are equal if the user would see no difference: `touch` changes nothing."""

    mode: int
    """The type and the permission bits; 0 if nothing exists."""
    content: bytes | tuple[int, ...] = b""
    """A digest of the bytes. If they can't be read or are too many: what changes when someone writes the file."""
    text: str | None = field(default=None, compare=False, repr=False)
    """None if there is none, or if it's unknown."""
    problem: errors.WorkspaceError | None = field(default=None, compare=False)
    """Why something exists but its text is unknown."""

    @property
    def is_executable(self) -> bool:
        return bool(self.mode & 0o111)

    def differences(self, before: PlaceState) -> Iterator[str]:
        if stat.S_IFMT(self.mode) != stat.S_IFMT(before.mode):
            yield "it was deleted" if not self.mode else "something else is there" if before.mode else "it was created"
            return
        if self.content != before.content:
            yield "its content is different"
        if self.is_executable and not before.is_executable:
            yield "it is executable now"
        elif self.mode != before.mode:
            yield f"its mode is {stat.S_IMODE(self.mode):03o}, not {stat.S_IMODE(before.mode):03o}"


NOTHING: Final = PlaceState(0)


def look_at(place: containment.DirectoryEntry, max_bytes: int) -> PlaceState:
    """The state of a place. Never waits for a pipe or a device.

    Raises: PrivatePath; OSError if the status can't be read, or a link has appeared there since the walk.
    """
    if place.obstacle is not None:
        if place.obstacle.errno == errno.ENOENT:
            return NOTHING
        return PlaceState(
            0, (place.obstacle.errno or 0,), problem=errors.from_os_error("read", place.asked, place.obstacle)
        )
    try:
        status = os.stat(place.name, dir_fd=place.directory.fd, follow_symlinks=False)
    except FileNotFoundError:
        return NOTHING
    try:
        with containment.open_regular(place, os.O_RDONLY) as fd:
            return _state_of(place, fd, max_bytes)
    except FileNotFoundError:
        return NOTHING
    except errors.NotAFile as error:
        return PlaceState(stat.S_IFMT(status.st_mode), problem=error)
    except PermissionError as error:
        return PlaceState(status.st_mode, _written(status), problem=errors.from_os_error("read", place.asked, error))


def _state_of(place: containment.DirectoryEntry, fd: int, max_bytes: int) -> PlaceState:
    status = os.fstat(fd)
    digest = blake2b()
    chunks = _digested(_bounded(place, _chunks(fd), max_bytes), digest)
    try:
        if status.st_size > max_bytes:
            raise errors.FileTooLarge(place.asked, status.st_size, max_bytes)
        try:
            text, problem = _decode(place, _refuse_binary(place, chunks)), None
        except errors.NotText as error:
            text, problem = None, error
            deque(chunks, maxlen=0)
    except errors.FileTooLarge as error:
        return PlaceState(status.st_mode, _written(status), problem=error)
    return PlaceState(status.st_mode, digest.digest(), text, problem)


def _digested(chunks: Iterator[Piece], digest: blake2b) -> Iterator[Piece]:
    for offset, chunk in chunks:
        digest.update(chunk)
        yield offset, chunk


def _written(status: os.stat_result) -> tuple[int, ...]:
    """Numbers that change when a file is replaced, or written to at another tick of the system's clock."""
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


# How a file is written, and the consequences:
#
# - The content goes to a temporary file beside the target, which then takes its name. The old file stays intact if
#   anything fails. Owner, group, and permission bits are kept.
# - That creates a new file: other hard links keep the old content; ACLs and extended attributes are lost.
# - If the directory accepts no new file, the target can't be replaced (a mount point, a sticky directory), or its owner
#   couldn't be kept, the content is written into the file in place. That isn't atomic: a failure leaves a mixture of
#   old and new. The result says so. A file with several names isn't written in place, because one of the names may be
#   outside the workspace.
# - A file that its user may not write to is refused, although a rename would circumvent that.
# - Missing parents are created, and stay if the write itself then fails.
#
# Nothing is overwritten that wasn't there when the user was asked:
#
# - A new file takes its name with link(2), which fails if anything has that name. Without hard links (FAT), the file is
#   created under its name and then filled, so a reader may see a part of it.
# - An existing file is compared with what was shown, exchanged with the new one in one step, and compared again under
#   the temporary name. If it isn't as shown, the two are exchanged back, so even a save in between isn't lost. For that
#   moment, others see the new content.
# - What remains: a program that opened the file before the exchange and writes into it after the second comparison
#   writes into a deleted file. Where the system can't exchange files (NFS, FAT, old C libraries), a save between the
#   comparison and the rename is lost; in place, one between the comparison and the write. Files that can't be read or
#   are too large are compared by inode, size, and time: a write of the same size within a tick of the clock is missed.

_CREATE: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_CANNOT_REPLACE: Final = {errno.EACCES, errno.EPERM, errno.EROFS, errno.EBUSY}
_NO_HARD_LINKS: Final = {errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL}


@dataclass(frozen=True, slots=True)
class _Write:
    """One write: where, what, and what must be there."""

    place: containment.DirectoryEntry
    content: bytes
    shown: PlaceState | None
    """None if whatever is there may be replaced."""
    max_bytes: int

    def run(self) -> None:
        """Write the whole content of the file, creating the file if necessary (R-FS-4).

        Raises: NotAFile, PathChanged, WorkspaceError for a file with several names that can't be replaced; OSError.
        """
        place = self.place
        self._require_as_shown()
        if place.obstacle is not None:
            _make_parents(place, place.obstacle)
        if not _exists(place):
            self._require(self.shown in (None, NOTHING))
            self._create()
            return
        self._require(self.shown != NOTHING)
        with containment.open_regular(place, os.O_WRONLY) as existing:
            self._overwrite(existing)

    def _require_as_shown(self) -> None:
        self._require(self.shown is None or look_at(self.place, self.max_bytes) == self.shown)

    def _require(self, is_as_shown: bool) -> None:
        if not is_as_shown:
            raise errors.PathChanged(self.place.asked)

    def _create(self) -> None:
        """Create the file unless anything has its name; atomically if the file system can."""
        place, directory = self.place, self.place.directory.fd
        try:
            with self._temporary(None) as (temporary, _):
                try:
                    os.link(temporary, place.name, src_dir_fd=directory, dst_dir_fd=directory, follow_symlinks=False)
                except OSError as error:
                    if error.errno not in _NO_HARD_LINKS:
                        raise
                    with self._filled(place.name, None):
                        return
        except FileExistsError:
            raise errors.PathChanged(place.asked) from None
        _sync_directory(directory)

    def _overwrite(self, existing: int) -> None:
        """Replace a file that is open for writing, or otherwise write into it."""
        old = os.fstat(existing)
        try:
            with self._temporary(old) as (temporary, ours):
                self._replace_with(temporary, ours)
        except FileNotFoundError:
            raise errors.PathChanged(self.place.asked) from None
        except OSError as error:
            if error.errno not in _CANNOT_REPLACE:
                raise
            self._write_into(existing, error)
            return
        _sync_directory(self.place.directory.fd)

    def _write_into(self, existing: int, why: OSError) -> None:
        """Write into the open file, because it can't be replaced."""
        names = os.fstat(existing).st_nlink
        if names > 1:
            what = (
                f"Cannot write {errors.quoted(self.place.asked)}: the file has {names} names (hard links), and its"
                " folder accepts no new file that could replace it. Nothing was written; ask the user to change it."
            )
            raise errors.WorkspaceError(self.place.asked, what) from why
        self._require_as_shown()
        self._require(os.path.samestat(os.fstat(existing), self._status(self.place.name)))
        _write_through(existing, self.content)

    def _replace_with(self, temporary: str, ours: os.stat_result) -> None:
        """Give the temporary file, which is `ours`, the target's name."""
        name, directory = self.place.name, self.place.directory.fd
        self._require_as_shown()
        if self.shown is None or not exchange(directory, temporary, name):
            os.replace(temporary, name, src_dir_fd=directory, dst_dir_fd=directory)
            return
        found = None
        with suppress(OSError, errors.WorkspaceError):
            found = look_at(replace(self.place, name=temporary), self.max_bytes)
        if found != self.shown:
            self._put_back(temporary, ours)
            raise errors.PathChanged(self.place.asked)
        os.unlink(temporary, dir_fd=directory)

    def _put_back(self, temporary: str, ours: os.stat_result) -> None:
        """Undo the exchange: what now has the temporary name isn't what the user was shown."""
        name, directory, there = self.place.name, self.place.directory.fd, ours
        try:
            while True:
                back = self._status(temporary)
                exchange(directory, temporary, name)
                if os.path.samestat(there, self._status(temporary)):
                    break
                there = back  # someone has replaced what was there: that's newer than what was put back
            os.unlink(temporary, dir_fd=directory)
        except FileNotFoundError:  # someone has deleted ours
            with suppress(OSError):
                os.link(temporary, name, src_dir_fd=directory, dst_dir_fd=directory, follow_symlinks=False)
                os.unlink(temporary, dir_fd=directory)

    def _status(self, name: str) -> os.stat_result:
        return os.stat(name, dir_fd=self.place.directory.fd, follow_symlinks=False)

    @contextmanager
    def _temporary(self, old: os.stat_result | None) -> Iterator[tuple[str, os.stat_result]]:
        """The name and status of a complete new file beside the target. If it has this name at the end, it's deleted.

        Anything else that has the name then is the user's, and can't be put back.
        """
        name = f".acp-tui-{secrets.token_hex(16)}.tmp"
        with self._filled(name, old) as ours:
            try:
                yield name, ours
            finally:
                with suppress(OSError):
                    if os.path.samestat(ours, self._status(name)):
                        os.unlink(name, dir_fd=self.place.directory.fd)

    @contextmanager
    def _filled(self, name: str, old: os.stat_result | None) -> Iterator[os.stat_result]:
        """A new file with the content, in place of an `old` one if there is one. Open, it keeps its number."""
        directory = self.place.directory.fd
        # The kernel applies the umask to a new file. A replacement is private until it has its owner and mode.
        fd = os.open(name, _CREATE, 0o666 if old is None else 0o600, dir_fd=directory)
        with os.fdopen(fd, "wb", buffering=0):
            try:
                if old is not None:
                    os.fchown(fd, old.st_uid, old.st_gid)
                    # Without set-id bits, which any write to a file clears.
                    os.fchmod(fd, (old.st_mode if self.shown is None else self.shown.mode) & 0o777)
                _write_through(fd, self.content)
            except BaseException:
                with suppress(OSError):
                    os.unlink(name, dir_fd=directory)
                raise
            yield os.fstat(fd)


def _make_parents(place: containment.DirectoryEntry, obstacle: OSError) -> None:
    if not place.missing_parents:
        raise obstacle
    for name in place.missing_parents:
        with suppress(FileExistsError):
            os.mkdir(name, dir_fd=place.directory.fd)
        place.directory.enter(name)


def _exists(place: containment.DirectoryEntry) -> bool:
    try:
        os.stat(place.name, dir_fd=place.directory.fd, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True


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
        self._boundary = containment.Boundary(roots, private)
        self._max_read_bytes = max_read_bytes
        self._one_write_at_a_time = Lock()

    @property
    def roots(self) -> tuple[Path, ...]:
        """The directories with links resolved; the session's cwd first."""
        return self._boundary.roots

    async def locate(self, path: str) -> containment.ContainedPath:
        """Where a path leads, and whether that is inside. The file need not exist. Raises: WorkspaceError."""
        return await to_thread.run_sync(self._locate, path, abandon_on_cancel=True)

    @asynccontextmanager
    async def hold(self, path: str) -> AsyncIterator[containment.HeldDirectory]:
        """Open the directory that a path leads to, for the block, so that the same directory is checked and used.

        Raises: WorkspaceError.
        """
        held = await to_thread.run_sync(self._hold, path)
        try:
            yield held
        finally:
            os.close(held.fd)

    async def require_held(self, path: str, held: containment.HeldDirectory) -> None:
        """Raises: PathChanged if the path now leads to another directory, WorkspaceError if it leads to none."""
        async with self.hold(path) as now:
            if not held.is_same(now):
                raise errors.PathChanged(path)

    async def read_text_file(
        self, path: str, line: int | None = None, limit: int | None = None, *, allowed_at: Path | None = None
    ) -> str:
        """The file's text, or `limit` lines starting at the 1-based `line`, with their endings (R-FS-1, R-FS-2).

        With `allowed_at`, only the file at that path is read, with all links followed; it may be outside.

        Raises: WorkspaceError.
        """
        read = partial(self._read, path, LineRange.of_request(line, limit), allowed_at)
        return await to_thread.run_sync(read, abandon_on_cancel=True)

    async def state_of(self, path: str, *, allowed_at: Path) -> PlaceState:
        """The state of the file at `allowed_at`, which `path` leads to, to show it and compare it when writing.

        Raises: WorkspaceError, including PathChanged if it now leads elsewhere.
        """
        return await to_thread.run_sync(partial(self._file_state, path, allowed_at), abandon_on_cancel=True)

    async def write_text_file(
        self, path: str, content: str, *, allowed_at: Path | None = None, shown: PlaceState | None = None
    ) -> None:
        """Replace the file's content with exactly the UTF-8 bytes of `content`. Writes run in the order of the calls.

        A write that has begun completes even if the caller is cancelled (R-FS-4). With `allowed_at`, only the file at
        that path is written, with all links followed; it may be outside. With `shown`, only a file in that state is.

        Raises: WorkspaceError, including PathChanged if the path leads elsewhere or the file is in another state.
        """
        async with self._one_write_at_a_time:
            await to_thread.run_sync(partial(self._write, path, content, allowed_at, shown))

    def _locate(self, path: str) -> containment.ContainedPath:
        try:
            with self._boundary.reach(path) as place:
                return place.location
        except OSError as error:
            raise errors.from_os_error("find", path, error) from error

    def _hold(self, path: str) -> containment.HeldDirectory:
        try:
            with self._boundary.reach(path) as place:
                return containment.hold(place)
        except OSError as error:
            raise errors.from_os_error("find", path, error) from error

    def _read(self, path: str, lines: LineRange, allowed_at: Path | None) -> str:
        with self._reach("read", path, allowed_at) as place:
            return read_text(place, lines, self._max_read_bytes)

    def _file_state(self, path: str, allowed_at: Path) -> PlaceState:
        with self._reach("read", path, allowed_at) as place:
            return look_at(place, self._max_read_bytes)

    def _write(self, path: str, content: str, allowed_at: Path | None, shown: PlaceState | None) -> None:
        encoded = _encode(path, content)
        with self._reach("write", path, allowed_at) as place:
            _Write(place, encoded, shown, self._max_read_bytes).run()

    @contextmanager
    def _reach(self, action: errors.Action, path: str, allowed_at: Path | None) -> Iterator[containment.DirectoryEntry]:
        """The place of a path that may be served. Errors from the system inside the block become WorkspaceErrors."""
        try:
            with self._boundary.reach(path) as place:
                if allowed_at is None and not place.location.inside:
                    raise errors.OutsideWorkspace(path, place.location.path)
                if allowed_at not in (None, place.location.path):
                    raise errors.PathChanged(path)
                yield place
        except OSError as error:
            raise errors.from_os_error(action, path, error) from error


def _encode(path: str, content: str) -> bytes:
    try:
        return content.encode("utf-8")
    except UnicodeEncodeError as error:
        what = (
            f"Can't write {errors.quoted(path)}: character {error.start} of the content is a lone surrogate,"
            " which UTF-8 can't hold. Nothing was written; send valid text."
        )
        raise errors.WorkspaceError(path, what) from None
