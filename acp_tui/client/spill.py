"""Spills to disk what a long conversation has in its early entries: bytes in an unnamed file, up to a limit."""

from __future__ import annotations

import errno
import os
import tempfile
from threading import Lock
from typing import IO, Final

from acp_tui.conversation.conversation import Conversation
from acp_tui.conversation.entry_list import EntryList


class Copies:
    """Bytes stored on disk, up to a limit. Any thread may use it, even while another one closes it."""

    def __init__(self, max_bytes: int) -> None:
        self.room = max_bytes
        """Bytes that still fit."""
        self._file: IO[bytes] | None = None
        self._is_closed = False
        self._end = 0
        # After closing, the descriptor's number may belong to another file.
        self._one_at_a_time = Lock()

    def put(self, data: bytes) -> int:
        """Store the bytes and return their position. Raises: OSError if the disk is full; ValueError if too many."""
        if len(data) > self.room:
            raise ValueError("no room for this many bytes")
        with self._one_at_a_time:
            place = self._end
            file = self._open()
            rest = memoryview(data)
            while rest:
                written = os.pwrite(file.fileno(), rest, self._end)
                rest = rest[written:]
                self._end += written
        self.room -= len(data)
        return place

    def get(self, place: int, size: int) -> bytes:
        """Return bytes at a position. Raises: OSError."""
        with self._one_at_a_time:
            return os.pread(self._open().fileno(), size, place)

    def close(self) -> None:
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
            # Deleted as soon as it's open, so a crash leaves nothing, and no one else can open it.
            self._file = tempfile.TemporaryFile(prefix="acp-tui-", buffering=0)  # noqa: SIM115 - closed with the copies
        return self._file


MAX_BYTES: Final = 4 << 30
"""Per conversation. Anything more stays in memory."""


def new_conversation() -> Conversation:
    """A conversation that takes little memory, however long it becomes."""
    return Conversation(EntryList(store=Copies(MAX_BYTES)))
