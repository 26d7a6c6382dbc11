"""What an agent says of a new session before we know its id (R-SESS-13): kept until we do, within limits."""

from __future__ import annotations

import pickle
from typing import Final

from acp_tui.conversation.facts import SessionId
from acp_tui.conversation.updates import SessionUpdate

MAX_EARLY_UPDATES: Final = 1_000
MAX_EARLY_BYTES: Final = 4 << 20
"""Of them together, with the ids of their sessions."""


class EarlyUpdates:
    """The same updates are kept live and in a replay."""

    def __init__(self) -> None:
        self._updates: dict[SessionId, list[SessionUpdate]] = {}
        self._count = self._bytes = 0

    def add(self, session_id: SessionId, update: SessionUpdate) -> None:
        """Keep it, if there is room."""
        if self._count >= MAX_EARLY_UPDATES:
            return
        size = len(pickle.dumps((session_id, update)))
        if self._bytes + size <= MAX_EARLY_BYTES:
            self._count += 1
            self._bytes += size
            self._updates.setdefault(session_id, []).append(update)

    def take(self, session_id: SessionId) -> list[SessionUpdate]:
        """Those of a session, which is known now."""
        return self._updates.pop(session_id, [])

    def clear(self) -> None:
        """No new session is awaited any more."""
        self._updates.clear()
        self._count = self._bytes = 0
