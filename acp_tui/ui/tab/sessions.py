"""Begins, opens, deletes and closes sessions of an agent, and resumes them after a restart."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from acp_tui.client.errors import AgentLost, AgentRefused, ClientError, SessionNotOpened
from acp_tui.client.sessions.driver import SessionDriver
from acp_tui.client.sessions.session import Session
from acp_tui.conversation.entries import Remark
from acp_tui.conversation.facts import SessionId
from acp_tui.conversation.updates import Remarked
from acp_tui.conversation.visible import make_visible_line
from acp_tui.ui.tab.agent import AgentController
from acp_tui.ui.tab.host import TabHost

WAYS_ON: Final = (
    "{choose_session} shows the sessions there are, so does `acp-tui sessions`; {begin_session} begins one"
)
"""Where the one that the user wanted is not to be had."""


class SessionsController:
    """The sessions of one agent, for one tab. Calls raise ClientError, and log in first where the agent wants that."""

    def __init__(self, host: TabHost, agent: AgentController) -> None:
        self._host = host
        self._agent = agent

    async def begin(self, earlier: Session | None = None, why_anew: str = "") -> Session:
        """A new session; the agent is started where it does not run.

        It goes on below what was said in an `earlier` one; `why_anew` says why that one does not.
        """
        await self._agent.ensure_agent()
        return self._with_remark(await self._driver.begin(earlier, why_anew))

    @property
    def _driver(self) -> SessionDriver:
        return SessionDriver(self._host.link, self._agent, self._host.cwd)

    def _show(self, session: Session) -> None:
        self._host.run(self._host.show(session))

    def _with_remark(self, session: Session) -> Session:
        """The session, in which it is said, once, which directories and MCP servers it is without."""
        added = self._host.link.additions
        assert added is not None
        remarks = [*added.directories_left_out]
        if added.servers_left_out:
            remarks.append(f"MCP servers: {'; '.join(added.servers_left_out)}")
        for remark in remarks:
            if Remark(remark) not in session.conversation.entries:
                session.apply(Remarked(remark))
        return session

    async def fork(self, source: Session, title: str) -> Session:
        """Another session that goes on from what was said in `source`, which is called so."""
        await self._agent.ensure_agent()
        return self._with_remark(await self._driver.fork(source, title))

    async def open(self, session_id: SessionId, cwd: Path) -> Session:
        """The session as it is where it is open already, else as the agent gives it (R-SESS-10)."""
        await self._agent.ensure_agent()
        return self._with_remark(await self._driver.open(session_id, cwd, self._show))

    async def go_on(self, earlier: Session) -> Session:
        """Start the agent again where it is gone, and go on with a session as far as the agent remembers it."""
        await self._agent.ensure_agent()

        def refused(error: AgentRefused) -> str:
            return str(self.not_opened(earlier.session_id, error))

        return self._with_remark(await self._driver.go_on(earlier, refused, self._show))

    async def delete(self, session_id: SessionId) -> None:
        """Let the agent forget a session."""
        assert self._host.link.agent is not None
        await self._host.link.agent.delete_session(session_id)
        self._host.say("The session is deleted.")

    async def close(self, session: Session) -> None:
        """Close a session in the agent, where it runs and offers that."""
        agent = self._host.link.agent
        if agent is not None and agent.lost is None and not session.is_closed:
            await agent.close_session(session)

    def not_opened(self, session_id: SessionId, error: ClientError) -> ClientError:
        """The error as one about this session, with what can be done instead; the loss of the agent stays that."""
        if isinstance(error, AgentLost):
            return error
        hint = "\n".join(filter(None, (error.hint, self._host.hint(WAYS_ON))))
        named = f"Session {make_visible_line(session_id)} was not opened. {error}"
        return SessionNotOpened(named, hint=hint, detail=error.detail)
