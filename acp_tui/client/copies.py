"""Keeps bytes in a file without a name for as long as a session lasts, so that nothing is left behind."""

import errno
import os
import tempfile
from threading import Lock
from typing import IO

from acp_tui.values import dataclass


@dataclass(frozen=True, slots=True)
class Copied:
    """Where bytes were put."""

    offset: int
    size: int


class Copies:
    """Bytes that were put aside, on disk, up to a limit. Any thread may use it, also while another closes it."""

    def __init__(self, max_bytes: int) -> None:
        self.room = max_bytes
        """Bytes that still fit."""
        self._file: IO[bytes] | None = None
        self._is_closed = False
        self._end = 0
        # A descriptor that was closed may by then be another file's.
        self._one_at_a_time = Lock()

    def put(self, data: bytes) -> Copied:
        """Raises: OSError where the disk takes no more; ValueError beyond the limit."""
        if len(data) > self.room:
            raise ValueError("no room for so many bytes")
        with self._one_at_a_time:
            copied = Copied(self._end, len(data))
            file = self._open()
            rest = memoryview(data)
            while rest:
                written = os.pwrite(file.fileno(), rest, self._end)
                rest = rest[written:]
                self._end += written
        self.room -= len(data)
        return copied

    def get(self, copied: Copied) -> bytes:
        """Raises: OSError."""
        with self._one_at_a_time:
            return os.pread(self._open().fileno(), copied.size, copied.offset)

    def close(self) -> None:
        """Let go of them all."""
        with self._one_at_a_time:
            self._is_closed = True
            if self._file is not None:
                self._file.close()

    def __del__(self) -> None:
        self.close()

    def _open(self) -> IO[bytes]:
        if self._is_closed:
            raise OSError(errno.EBADF, "the copies are gone")
        if self._file is None:
            # Removed as soon as it is open: a crash leaves nothing, and nobody else can open it.
            self._file = tempfile.TemporaryFile(prefix="acp-tui-", buffering=0)  # noqa: SIM115 - closed with the copies
        return self._file
