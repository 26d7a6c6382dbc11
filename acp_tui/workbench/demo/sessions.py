"""Every session of one agent: those that are open, and where the scenario keeps sessions those of the past, too.

It sends nothing; what is said in a session is `turn`'s.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from acp_tui.rpc import ErrorCode, RequestFailed
from acp_tui.workbench.demo.script import KeptSession, Scenario, Step
from acp_tui.workbench.demo.session import Session

RESOURCE_NOT_FOUND: Final = -32002


class Sessions:
    """Opens, finds, lists and forgets sessions. Raises RequestFailed where a client asks for what is not there."""

    def __init__(self, scenario: Scenario, run: str = "") -> None:
        """The ids of new sessions are counted; `run` is put into them."""
        self._prefix = "-".join(filter(None, ("demo", run)))
        self._setup = scenario.session
        self._keeping = scenario.keeping
        self._open: dict[str, Session] = {}
        self._kept = {old.session_id: self._session_of(old) for old in scenario.keeping.sessions}
        self._untold = {old.session_id: old.history for old in scenario.keeping.sessions}
        self._begun = 0
        self._folder = str(Path.cwd())

    def _session_of(self, old: KeptSession) -> Session:
        session = Session(old.session_id, old.cwd, self._setup, is_kept=True)
        session.title, session.updated_at = old.title, old.updated_at
        return session

    def begin(self, cwd: str) -> Session:
        """A new session."""
        self._begun += 1
        is_kept = bool(self._keeping.offers)
        session = Session(f"{self._prefix}-{self._begun}", cwd, self._setup, is_kept=is_kept)
        if is_kept:
            self._kept = {session.id: session} | self._kept
        return self._opened(session, cwd)

    def reopen(self, session_id: Any, cwd: str) -> Session:
        """A session of the past; one that is open has its turn cancelled."""
        session = self._kept.get(session_id)
        if session is None:
            raise RequestFailed(RESOURCE_NOT_FOUND, f"There is no session {session_id!r}")
        self.close(session_id)
        return self._opened(session, cwd)

    def _opened(self, session: Session, cwd: str) -> Session:
        session.cwd = self._folder = cwd
        self._open[session.id] = session
        return session

    def get(self, session_id: Any) -> Session | None:
        """An open session."""
        return self._open.get(session_id)

    def close(self, session_id: Any) -> None:
        """End what goes on in a session; one that is not open is closed already."""
        session = self._open.pop(session_id, None)
        if session is not None and session.turn is not None:
            session.turn.cancel()

    def delete(self, session_id: Any) -> None:
        """Forget a session; one that is not there is forgotten already."""
        self.close(session_id)
        self._kept.pop(session_id, None)

    def untold(self, session: Session) -> tuple[Step, ...]:
        """What the scenario says that was said in it, once: afterwards the session itself remembers."""
        return self._untold.pop(session.id, ())

    def page(self, cwd: Any, cursor: Any) -> dict[str, Any]:
        """What `session/list` answers: a page, the newest sessions first."""
        told = [session.summary(self._folder) for session in self._kept.values()]
        found = [summary for summary in told if cwd is None or summary["cwd"] == cwd]
        start = self._start(found, cursor)
        page, rest = found[start:][: self._keeping.page_size], found[start + self._keeping.page_size :]
        return {"sessions": page} | ({"nextCursor": _cursor(page[-1])} if rest else {})

    def _start(self, found: list[dict[str, Any]], cursor: Any) -> int:
        if cursor is None:
            return 0
        for number, summary in enumerate(found, 1):
            if _cursor(summary) == cursor:
                return number
        raise RequestFailed(ErrorCode.INVALID_PARAMS, "There is no such cursor, or not any more")


def _cursor(last: dict[str, Any]) -> str:
    """Leads to the page behind this session; nobody but the agent can read it."""
    return str(last["sessionId"]).encode().hex()
