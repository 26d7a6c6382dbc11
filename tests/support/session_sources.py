"""Sources for the sessions dialog in tests: realistic ones, and hostile ones."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from pathlib import Path

from acp_tui.client.errors import ClientError
from acp_tui.client.sessions.session_history import PastSession
from acp_tui.client.transcript.index import RecordedSession
from acp_tui.conversation.facts import SessionId, SessionPage, SessionStatus, SessionSummary
from acp_tui.ui.dialogs.session_rows import OpenMode

HERE = Path("/home/me/project")
ELSEWHERE = Path("/home/me/work/durations/packages/parser")


def recorded(
    session_id: str,
    title: str,
    *,
    agent: str = "other",
    prompts: int = 2,
    cwd: Path = Path("/project"),
    last_at: float = 2.0,
) -> PastSession:
    """A recorded session."""
    name = SessionId(session_id)
    file = Path(f"/recordings/{session_id}".replace("\0", ""))
    whole = RecordedSession(name, agent, (agent,), cwd, title, last_at, last_at, prompts, (file,))
    return PastSession(agent, name, cwd, title, last_at, recorded=whole)


class NoSessions:
    """No agent sessions and no recordings; tests override what they need."""

    agent = "agent"

    async def page(self, cursor: str | None, is_everywhere: bool) -> SessionPage:
        return SessionPage(())

    async def status(self, session_id: SessionId) -> SessionStatus | None:
        return None

    async def recorded(self, words: str, is_everywhere: bool) -> Sequence[PastSession]:
        return ()

    async def line_with(self, session: PastSession, words: str) -> str:
        return ""

    def judge(self, session: PastSession) -> tuple[OpenMode, str]:
        return OpenMode.AGENT, ""

    def no_delete(self, session: PastSession) -> str:
        return ""

    async def delete(self, session: PastSession) -> None: ...

    async def forget(self, session: PastSession) -> None: ...

    async def export(self, session: PastSession) -> None: ...

    async def rename(self, session: PastSession) -> None: ...

    async def pin(self, session: PastSession) -> None: ...

    async def archive(self, session: PastSession) -> None: ...

    def marked(self, past: Iterable[PastSession]) -> list[PastSession]:
        return list(past)


class SampleSessions(NoSessions):
    """Sessions from each source, in two folders."""

    agent = "claude"

    def __init__(self, now: datetime) -> None:
        self._now = now

    async def page(self, cursor: str | None, is_everywhere: bool) -> SessionPage:
        titles = ("Mend the parser of durations", None, "Write tests for the scheduler", "翻訳を直す")
        return SessionPage(
            tuple(
                SessionSummary(
                    SessionId(f"session-{at}"),
                    (HERE, ELSEWHERE)[at % 2],
                    title,
                    (self._now - timedelta(days=at * 4)).isoformat(),
                )
                for at, title in enumerate(titles)
            ),
            "next",
        )

    async def recorded(self, words: str, is_everywhere: bool) -> Sequence[PastSession]:
        at = self._now.timestamp()
        return (
            recorded("session-0", "Why", agent="claude", prompts=12, cwd=HERE, last_at=at - 300),
            recorded("r1", "Explain the scheduler", agent="demo", prompts=1, cwd=HERE, last_at=at - 7200),
        )

    def judge(self, session: PastSession) -> tuple[OpenMode, str]:
        if session.agent == "demo":
            return OpenMode.RECORDING, "its folder is gone"
        ways = {"session-0": OpenMode.HERE, "session-2": OpenMode.TAB}
        return ways.get(session.session_id, OpenMode.AGENT), ""


class HostileSessions(NoSessions):
    """Every text is this one."""

    def __init__(self, text: str) -> None:
        self.agent = text

    async def page(self, cursor: str | None, is_everywhere: bool) -> SessionPage:
        text = self.agent
        if cursor is not None:
            raise ClientError(text, hint=text, detail=text)
        folder = Path(text.replace("\0", ""))
        return SessionPage(
            tuple(SessionSummary(SessionId(text + str(at)), folder, (text, None)[at], text) for at in (0, 1)),
            "more",
        )

    async def recorded(self, words: str, is_everywhere: bool) -> Sequence[PastSession]:
        return (recorded(self.agent, self.agent, agent=self.agent),)

    async def line_with(self, session: PastSession, words: str) -> str:
        return self.agent

    def judge(self, session: PastSession) -> tuple[OpenMode, str]:
        return OpenMode.NONE, self.agent
