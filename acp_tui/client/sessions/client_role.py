"""The client that an agent talks to. Routes its updates and requests to the right session or extension."""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from acp_tui.client.errors import OpeningInProgress
from acp_tui.client.extensions import Extensions
from acp_tui.client.sessions.elicitations import Elicitations
from acp_tui.client.sessions.machine import Machine
from acp_tui.client.sessions.session import Session
from acp_tui.client.set_aside import EarlyUpdates
from acp_tui.client.subagents import Subagents
from acp_tui.conversation.elicitation import Elicitation
from acp_tui.conversation.facts import SessionId
from acp_tui.conversation.updates import PermissionAsked, SessionUpdate, ToolCallReported
from acp_tui.protocol import RESOURCE_NOT_FOUND
from acp_tui.protocol.roles import ElicitationAnswer
from acp_tui.rpc import RequestFailed


class SessionTable:
    """Routes an agent's updates to their sessions. Its methods run inside the read loop, in wire order."""

    def __init__(self) -> None:
        self.open: dict[SessionId, Session] = {}
        """Sessions that receive updates and requests, including those still being opened."""
        self.subagents = Subagents(self.open)
        self._opening: dict[SessionId, Session | None] = {}
        """For each session being opened, the session that had its ID before. It's restored if opening fails."""
        self._retired: list[Session] = []
        self._early = EarlyUpdates()

    def apply(self, session_id: SessionId, update: SessionUpdate) -> None:
        """Apply an update, or keep it if it may belong to a session that is about to get its ID."""
        led = self.subagents.lead(session_id, update)
        if led is None:
            return
        session_id, update = led
        session = self.open.get(session_id)
        if session is not None:
            session.hear(update)
        else:
            self._early.add(session_id, update)

    # New sessions

    @contextmanager
    def awaiting(self) -> Iterator[None]:
        """Keep updates for unknown sessions while the agent chooses the ID of a new one."""
        self._early.await_new()
        try:
            yield
        finally:
            self._early.end_awaiting()

    def add(self, session: Session, state: Sequence[SessionUpdate]) -> Session:
        """Add a new session. Applies the updates that came before the response, then those in it (R-CFG-9)."""
        replaced = self.open.get(session.session_id)
        self.open[session.session_id] = session
        for update in (*self._early.take(session.session_id), *state):
            session.hear(update)
        self._retire(replaced)
        return session

    # Sessions that the agent has kept

    def begin(self, session: Session) -> None:
        """Send updates to `session` from now on (R-SESS-4). Raises OpeningInProgress."""
        session_id = session.session_id
        if session_id in self._opening:
            raise OpeningInProgress(f"session {session_id} is already being opened", hint="wait for it")
        self._opening[session_id] = self.open.get(session_id)
        self.open[session_id] = session

    def finish(self, session: Session, state: Sequence[SessionUpdate]) -> None:
        """The agent opened the session: retire the one that had its ID before."""
        self._retire(self._opening.pop(session.session_id, None))
        for update in state:
            session.apply(update)

    def give_up(self, session: Session) -> None:
        """The agent didn't open the session, or is gone: restore the one that was open before."""
        if session.session_id not in self._opening:
            return  # already given up
        replaced = self._opening.pop(session.session_id)
        self.remove(session)
        self._retire(session)
        if replaced is not None:
            self.open[session.session_id] = replaced

    # Closing

    def remove(self, session: Session) -> None:
        """Send nothing more to the session."""
        if self.open.get(session.session_id) is session:
            del self.open[session.session_id]

    def _retire(self, session: Session | None) -> None:
        if session is not None:
            session.close()
            self._retired.append(session)

    def all(self) -> list[Session]:
        """All sessions: open, held back during an opening, and replaced."""
        held_back = [session for session in self._opening.values() if session is not None]
        return [*self.open.values(), *held_back, *self._retired]

    async def close_retired(self) -> None:
        while self._retired:
            await self._retired.pop().aclose()


class ClientRole:
    """Serves one agent (protocol.roles.ClientHandler)."""

    def __init__(
        self, table: SessionTable, log: deque[str], elicitations: Elicitations, extensions: Extensions
    ) -> None:
        """`elicitations` are those outside any session."""
        self._table = table
        self._log = log
        self._elicitations = elicitations
        self._extensions = extensions

    def on_update(self, session_id: SessionId, update: SessionUpdate) -> None:
        """Apply an update, or keep it until its session is known."""
        self._table.apply(session_id, update)

    def on_dropped(self, what: str, why: str, raw: bytes | None = None) -> None:
        text = "" if raw is None else ": " + raw[:500].decode("utf-8", "replace")
        self._log.append(f"[stdout] {what[:500]} ({why[:500]}){text}")

    def serve_extension(self, method: str, params: Any) -> Awaitable[Any]:
        return self._extensions.serve(method, params)

    def on_extension(self, method: str, params: Any) -> None:
        self._extensions.tell(method, params)

    # Questions to the user

    def elicit(self, session_id: SessionId | None, elicitation: Elicitation) -> Awaitable[ElicitationAnswer]:
        """Pass the question to its session, or keep it outside the sessions."""
        if session_id is None:
            return self._elicitations.ask(elicitation)
        return self._session(session_id).elicit(elicitation)

    def on_elicitation_complete(self, elicitation_id: str) -> None:
        """Mark a page as done in every session, because the notification doesn't name one."""
        self._elicitations.complete(elicitation_id)
        for session in self._table.open.values():
            session.complete_elicitation(elicitation_id)

    def request_permission(self, session_id: SessionId, asked: PermissionAsked) -> Awaitable[str | None]:
        session = self._session(session_id)
        if session_id not in self._table.open and not asked.request.is_alone:
            self._table.apply(session_id, ToolCallReported(asked.patch))
        return session.request_permission(self._table.subagents.question(session.conversation, session_id, asked))

    def machine(self, session_id: SessionId) -> Machine:
        return self._session(session_id).machine

    def _session(self, session_id: SessionId) -> Session:
        """The session with this ID; for a subagent, the session it works for."""
        session = self._table.open.get(self._table.subagents.root(session_id))
        if session is None:
            raise RequestFailed(RESOURCE_NOT_FOUND, f"Unknown session: {session_id}")
        return session
