"""The files that an agent may read and write: a session's directories, served off the event loop.

It does not ask the user anything: a path outside raises OutsideWorkspace, and whoever has asked says what place the
user agreed to, so that a link that is swapped meanwhile leads nowhere else.
"""

import os
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from pathlib import Path
from typing import Final

from anyio import Lock, to_thread

from acp_tui.client.workspace.containment import Boundary, HeldDirectory, Location, Place, hold
from acp_tui.client.workspace.errors import (
    Action,
    OutsideWorkspace,
    PathChanged,
    UnencodableText,
    from_os_error,
)
from acp_tui.client.workspace.reading import LineRange, read_text
from acp_tui.client.workspace.writing import Written, write_bytes

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
