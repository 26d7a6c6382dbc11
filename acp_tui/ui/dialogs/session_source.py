"""Where the sessions' dialog has its sessions from: what is asked, and the agent's pages one after the other.

Who answers is `history_desk`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Protocol

from acp_tui.client.errors import AgentRefused
from acp_tui.client.sessions.session_history import PastSession
from acp_tui.conversation.facts import SessionPage, SessionSummary
from acp_tui.ui.dialogs.session_rows import Way

EMPTY_PAGES_IN_A_ROW: Final = 20
"""An empty page with a cursor is not the end (R-SESS-9); an agent that sends only such pages gets no more turns."""


class Source(Protocol):
    """Where the sessions come from, and what becomes of them. What is awaited raises ClientError."""

    @property
    def agent(self) -> str:
        """The name of the agent that is asked for its sessions, "" where none runs."""

    async def page(self, cursor: str | None, is_everywhere: bool) -> SessionPage:
        """What the agent lists at a cursor, None for the first page: of the folder that the user works in, or of all.

        Empty where the agent lists nothing.
        """

    async def recorded(self, words: str, is_everywhere: bool) -> Sequence[PastSession]:
        """Those that were recorded, with `words` only those in which they stand."""

    async def line_with(self, session: PastSession, words: str) -> str:
        """A line of what was said in it, for words that stand there."""

    def judge(self, session: PastSession) -> tuple[Way, str]:
        """How it is come to, and why its agent cannot open it."""

    def no_delete(self, session: PastSession) -> str:
        """Why its agent cannot delete it; "" where it can."""

    async def delete(self, session: PastSession) -> None:
        """Have it deleted by its agent."""

    async def forget(self, session: PastSession) -> None:
        """Delete what was recorded of it."""

    async def export(self, session: PastSession) -> None:
        """Write it to a file."""


class Listing:
    """What the agent lists, as far as it was asked for."""

    def __init__(self, source: Source, *, is_everywhere: bool) -> None:
        self.sessions: dict[str, SessionSummary] = {}
        self.is_at_end = False
        self._source = source
        self._is_everywhere = is_everywhere
        self._cursor: str | None = None
        self._has_restarted = False

    async def load_some(self) -> None:
        """Load pages until one has something in it. Raises ClientError."""
        for _ in range(EMPTY_PAGES_IN_A_ROW):
            found = await self._next_page()
            self.is_at_end = self._cursor is None
            if found or self.is_at_end:
                break

    async def _next_page(self) -> bool:
        """Load a page; True where it held sessions. A cursor that is refused leads back to the first page, once."""
        try:
            page = await self._source.page(self._cursor, self._is_everywhere)
        except AgentRefused:
            if self._cursor is None or self._has_restarted:
                raise
            self._has_restarted = True
            self.sessions.clear()
            page = await self._source.page(None, self._is_everywhere)
        self._cursor = page.next_cursor
        self.sessions |= {session.session_id: session for session in page.sessions}
        return bool(page.sessions)

    def allow_restart(self) -> None:
        """The user wants it tried again."""
        self._has_restarted = False
