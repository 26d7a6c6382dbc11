"""How a tab opens an earlier session: with its agent if possible, otherwise from its recording."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from anyio import to_thread

from acp_tui.client.errors import ClientError, NotAgreed, SessionNotOpened
from acp_tui.client.sessions.driver import Options, keep_title
from acp_tui.client.sessions.session import Session
from acp_tui.client.sessions.session_history import PastSession, SessionFromRecording, reread
from acp_tui.client.transcript.index import SessionIndex
from acp_tui.ui.tab.agent_link import AgentLink
from acp_tui.values import dataclass

if TYPE_CHECKING:
    from acp_tui.ui.tab.agent import SessionsController


@dataclass(frozen=True, slots=True)
class Reopening:
    """Opens the session for a tab (`tab.Opening`), with the title that session lists show."""

    past: PastSession
    index: SessionIndex
    chosen: Options = ()
    """What the user has chosen for it on the command line."""
    why_not: str = ""
    """Why no agent can open it."""
    is_wanted: bool | None = None
    """Whether the user wants it open here, too, although it's open elsewhere; None if they weren't asked."""

    async def __call__(self, sessions: SessionsController) -> Session:
        """The session, opened or read from its recording. Raises ClientError if neither is possible."""
        session = await self._opened(sessions)
        # A first prompt that starts with markup is from the agent rather than the user.
        if self.past.is_named or not self.past.title.startswith("<"):
            keep_title(session, self.past.title, is_named=self.past.is_named)
        return session

    async def _opened(self, sessions: SessionsController) -> Session:
        why = self.why_not
        may_open = await sessions.may_open(self.past.session_id) if self.is_wanted is None else self.is_wanted
        if may_open:
            try:
                return await sessions.open(self.past.session_id, self.past.cwd, self.chosen)
            except NotAgreed:
                if self.past.recorded is None:
                    raise
            except ClientError as error:
                refusal = sessions.not_opened(self.past.session_id, error)
                if self.past.recorded is None:
                    raise refusal from error
                why = "\n".join(filter(None, (str(refusal), refusal.detail, refusal.hint)))
        if self.past.recorded is None:
            raise SessionNotOpened("The session wasn't opened, because you didn't want it open twice")
        return await to_thread.run_sync(
            partial(reread, self.index, self.past.recorded, why, has_failed=not self.why_not)
        )


def is_of(past: PastSession, link: AgentLink, *, is_same_name: bool = False) -> bool:
    """Whether the session belongs to this agent. False if the agent hasn't been started."""
    agent = link.agent or link.starting
    if agent is None or (is_same_name and past.agent != agent.command.name):
        return False
    return past.is_of(agent.command)


def is_shown(past: PastSession, session: Session | None, link: AgentLink) -> bool:
    """Whether a tab with this session and this agent shows it."""
    if session is None or session.session_id != past.session_id:
        return False
    if isinstance(session, SessionFromRecording):
        recorded = past.recorded
        return recorded is not None and recorded.recordings[:1] == session.recorded.recordings[:1]
    is_ours = is_of(past, link) or (link.is_hosted and session.cwd == past.cwd)  # which agent a host keeps isn't known
    had_same_id = past.recorded is not None and session.conversation.is_blank  # and no more than that
    return is_ours and (past.is_listed or (past.is_latest and not had_same_id))
