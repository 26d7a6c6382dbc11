"""Temporary storage with limits: bytes in an unnamed file, and updates of sessions that aren't known yet.

The early entries of a long conversation are stored as such bytes. Nothing is left on the disk.
"""

from __future__ import annotations

import errno
import os
import pickle
import tempfile
from threading import Lock
from typing import IO, Final

from acp_tui.conversation.conversation import Conversation
from acp_tui.conversation.entry_list import EntryList
from acp_tui.conversation.facts import SessionId
from acp_tui.conversation.updates import MessageUpdate, SessionUpdate, WorkUpdate


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


MAX_EARLY_UPDATES: Final = 1_000
MAX_EARLY_BYTES: Final = 4 << 20
"""For all of them, including the IDs of their sessions."""


class EarlyUpdates:
    """Updates of sessions that aren't known yet, while the agent chooses the ID of a new one.

    Live sessions and replays keep the same ones.
    """

    def __init__(self) -> None:
        self._updates: dict[SessionId, list[SessionUpdate]] = {}
        self._count = self._bytes = 0
        self._awaited = 0

    def await_new(self) -> None:
        """Expect the ID of a new session. The agent may send updates for it before we know the ID."""
        self._awaited += 1

    def end_awaiting(self) -> None:
        """The agent has sent the ID or refused. Drops all updates if no new session is expected anymore."""
        self._awaited -= 1
        if self._awaited <= 0:
            self._updates.clear()
            self._count = self._bytes = 0

    def add(self, session_id: SessionId, update: SessionUpdate) -> None:
        """Keep it if a new session is expected and there is room."""
        if self._awaited <= 0 or self._count >= MAX_EARLY_UPDATES:
            return
        size = len(pickle.dumps((session_id, update)))
        if self._bytes + size <= MAX_EARLY_BYTES:
            self._count += 1
            self._bytes += size
            self._updates.setdefault(session_id, []).append(update)

    def take(self, session_id: SessionId, *, is_fork: bool = False) -> list[SessionUpdate]:
        """Remove and return the updates of a session that is now known.

        Nothing can have been said in a fork yet. Agents such as opencode repeat what was said in its source, which the
        fork shows already.
        """
        taken = self._updates.pop(session_id, [])
        return [one for one in taken if not isinstance(one, MessageUpdate | WorkUpdate)] if is_fork else taken
