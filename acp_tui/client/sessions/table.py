"""The sessions of one connection by their ids, also while they are being opened; it sends nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from acp_tui.client.early_updates import EarlyUpdates
from acp_tui.client.errors import OpeningInProgress
from acp_tui.client.sessions.session import Session
from acp_tui.conversation.facts import SessionId
from acp_tui.conversation.updates import SessionUpdate


class SessionTable:
    """Leads what an agent says to the session it is about. Its methods run inside the read loop, in wire order."""

    def __init__(self) -> None:
        self.open: dict[SessionId, Session] = {}
        """What updates and requests reach; those that are still being opened are among them."""
        self._opening: dict[SessionId, Session | None] = {}
        """What was open under the id of a session that is being opened, and is again should that fail."""
        self._retired: list[Session] = []
        self._early = EarlyUpdates()
        self._awaited = 0

    def apply(self, session_id: SessionId, update: SessionUpdate) -> None:
        """Apply an update; keep it where it may belong to a session that is about to get its id."""
        session = self.open.get(session_id)
        if session is not None:
            session.hear(update)
        elif self._awaited:
            self._early.add(session_id, update)

    # New sessions

    @contextmanager
    def awaiting(self) -> Iterator[None]:
        """While the agent makes up the id of a new session."""
        self._awaited += 1
        try:
            yield
        finally:
            self._awaited -= 1
            if not self._awaited:
                self._early.clear()

    def add(self, session: Session, state: Sequence[SessionUpdate]) -> Session:
        """A new session, with what came before the response and then the response's own (R-CFG-9)."""
        replaced = self.open.get(session.session_id)
        self.open[session.session_id] = session
        for update in (*self._early.take(session.session_id), *state):
            session.hear(update)
        self._retire(replaced)
        return session

    # Sessions that the agent has kept

    def begin(self, session: Session) -> None:
        """From now on updates reach `session` (R-SESS-4). Raises OpeningInProgress."""
        session_id = session.session_id
        if session_id in self._opening:
            raise OpeningInProgress(f"session {session_id} is being opened already", hint="wait for it")
        self._opening[session_id] = self.open.get(session_id)
        self.open[session_id] = session

    def finish(self, session: Session, state: Sequence[SessionUpdate]) -> None:
        """The agent has opened it: what was open before under its id is no more."""
        self._retire(self._opening.pop(session.session_id, None))
        for update in state:
            session.apply(update)

    def give_up(self, session: Session) -> None:
        """The agent has not opened it, or is gone: what was open before is open still."""
        if session.session_id not in self._opening:
            return  # it was given up before
        replaced = self._opening.pop(session.session_id)
        self.remove(session)
        self._retire(session)
        if replaced is not None:
            self.open[session.session_id] = replaced

    # The end

    def remove(self, session: Session) -> None:
        """Nothing reaches it any more."""
        if self.open.get(session.session_id) is session:
            del self.open[session.session_id]

    def _retire(self, session: Session | None) -> None:
        if session is not None:
            session.close()
            self._retired.append(session)

    def all(self) -> list[Session]:
        """The open ones, those held back and those replaced."""
        held_back = [session for session in self._opening.values() if session is not None]
        return [*self.open.values(), *held_back, *self._retired]

    async def close_retired(self) -> None:
        """End what runs for the sessions that were replaced."""
        while self._retired:
            await self._retired.pop().aclose()
