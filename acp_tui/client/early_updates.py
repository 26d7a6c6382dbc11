"""Updates of sessions that aren't known yet: they came before the answer that names the session."""

from __future__ import annotations

import pickle
from typing import Final

from acp_tui.conversation.facts import SessionId
from acp_tui.conversation.updates import MessageUpdate, SessionUpdate, WorkUpdate

MAX_EARLY_UPDATES: Final = 1_000
MAX_EARLY_BYTES: Final = 4 << 20
"""For all of them, including the IDs of their sessions."""


class EarlyUpdates:
    """Kept while the agent chooses the ID of a new session. Live sessions and replays keep the same ones."""

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
