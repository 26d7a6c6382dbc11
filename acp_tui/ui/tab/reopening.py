"""How a tab comes to a session of the past: by its agent where that can be, else from its recording."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from anyio import to_thread

from acp_tui.client.errors import ClientError
from acp_tui.client.sessions.session import Session
from acp_tui.client.sessions.session_history import PastSession, RereadSession, reread
from acp_tui.client.transcript.index import SessionIndex
from acp_tui.conversation.entries import Message
from acp_tui.conversation.updates import InfoChanged, Renamed
from acp_tui.ui.session.status import title_of
from acp_tui.ui.tab.agent_link import AgentLink
from acp_tui.ui.tab.host import OpensSessions
from acp_tui.ui.tab.tabs import Tab
from acp_tui.values import dataclass

MARKUP: Final = "<"


@dataclass(frozen=True, slots=True)
class Reopening:
    """A way to the session, for a tab (host.Opening), called what the lists of sessions call it."""

    past: PastSession
    index: SessionIndex
    by_agent: bool = True
    """False: its agent is not to be started."""

    async def __call__(self, sessions: OpensSessions) -> Session:
        """The session, open or read again. Raises ClientError where it can be had in neither way."""
        session = await self._opened(sessions)
        if self.past.is_named and not session.conversation.is_named:
            session.apply(Renamed(self.past.title))
        # A first prompt that begins with markup is the agent's rather than the user's.
        if not session.conversation.title and not self.past.title.startswith(MARKUP):
            session.hear(InfoChanged(title=self.past.title))
        return session

    async def _opened(self, sessions: OpensSessions) -> Session:
        why = ""
        if self.by_agent:
            try:
                return await sessions.open(self.past.session_id, self.past.cwd)
            except ClientError as error:
                refusal = sessions.not_opened(self.past.session_id, error)
                if self.past.recorded is None:
                    raise refusal from error
                why = "\n".join(filter(None, (str(refusal), refusal.detail, refusal.hint)))
        assert self.past.recorded is not None
        return await to_thread.run_sync(reread, self.index, self.past.recorded, why)


def is_of(past: PastSession, link: AgentLink) -> bool:
    """Whether the session belongs to the agent of a tab; one that has not been started yet, nobody knows."""
    agent = link.agent or link.starting
    return agent is not None and past.is_of(agent.command)


def is_shown(past: PastSession, session: Session | None, link: AgentLink) -> bool:
    """Whether a tab with this session and this agent shows it."""
    if session is None or session.session_id != past.session_id:
        return False
    if isinstance(session, RereadSession):
        recorded = past.recorded
        return recorded is not None and recorded.recordings[:1] == session.recorded.recordings[:1]
    return is_of(past, link) and (past.is_listed or past.is_latest)


@dataclass(frozen=True, slots=True)
class LeftSession:
    """A session that was in a tab when the user quit, and in which something was said."""

    session_id: str
    title: str
    agent: str
    """The name of its command."""
    agent_is_listed: bool
    """One can type that name."""
    can_reopen: bool
    """The agent offers it, and there is the folder."""
    is_hosted: bool = False
    """It goes on in a host, which `agent` names."""


def left_sessions(tabs: Iterable[Tab]) -> list[LeftSession]:
    """From left to right; those that were only read again are not among them."""
    left = []
    for tab in tabs:
        session, agent = tab.session, tab.link.agent
        if session is None or agent is None or isinstance(session, RereadSession):
            continue
        if tab.link.is_hosted and not session.is_closed:
            title = title_of(session.conversation) or session.session_id
            left.append(
                LeftSession(
                    session.session_id, title, agent.command.name, False, can_reopen=True, is_hosted=True
                )
            )
        elif any(
            isinstance(entry, Message) and entry.role == "user" for entry in session.conversation.entries
        ):
            offered = agent.capabilities
            left.append(
                LeftSession(
                    session.session_id,
                    title_of(session.conversation) or session.session_id,
                    agent.command.name,
                    agent.command.is_listed,
                    (offered.load_session or offered.resume_session) and session.cwd.is_dir(),
                )
            )
    return left
