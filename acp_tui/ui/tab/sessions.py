"""What a user does with the sessions of an agent: begin, open, delete and close one, go on after a restart.

Which one is chosen is `history`'s matter, in which tab it is shown is decided by the caller.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from acp_tui.client.errors import AgentLost, AgentRefused, ClientError, SessionNotOpened
from acp_tui.client.sessions.agent import Agent
from acp_tui.client.sessions.session import Session, shown_early
from acp_tui.conversation.entries import Remark
from acp_tui.conversation.facts import SessionId
from acp_tui.conversation.updates import Reconnected, Remarked
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
        link = self._host.link
        session = await self._agent.logged_in(
            lambda agent: agent.new_session(
                self._host.cwd,
                additional_directories=link.directories,
                mcp_servers=link.servers,
                earlier=earlier,
                why_anew=why_anew,
            )
        )
        return self._with_remark(session)

    def _with_remark(self, session: Session) -> Session:
        """The session, in which it is said, once, which directories and MCP servers it is without."""
        link = self._host.link
        remarks = [*link.directories_left_out]
        if link.servers_left_out:
            remarks.append(f"MCP servers: {'; '.join(link.servers_left_out)}")
        for remark in remarks:
            if Remark(remark) not in session.conversation.entries:
                session.apply(Remarked(remark))
        return session

    async def open(self, session_id: SessionId, cwd: Path) -> Session:
        """The session as it is where it is open already, else as the agent gives it (R-SESS-10)."""
        await self._agent.ensure_agent()
        agent = self._host.link.agent
        assert agent is not None
        known = agent.sessions.get(session_id)
        if known is not None:
            return known
        link = self._host.link

        with shown_early(lambda session: self._host.run(self._host.show(session))) as attend:
            session = await self._agent.logged_in(
                lambda agent: agent.open_session(
                    session_id,
                    cwd,
                    attend,
                    additional_directories=link.directories,
                    mcp_servers=link.servers,
                )
            )
        return self._with_remark(session)

    async def go_on(self, earlier: Session) -> Session:
        """Start the agent again where it is gone, and go on with a session as far as the agent remembers it."""
        await self._agent.ensure_agent()
        agent = self._host.link.agent
        assert agent is not None
        try:
            if agent.capabilities.resume_session:
                return await self._agent.logged_in(lambda agent: self._resumed(agent, earlier))
            if agent.capabilities.load_session and not earlier.conversation.is_blank:
                return await self._loaded(earlier)
        except AgentRefused as refused:
            return await self.begin(earlier, str(self.not_opened(earlier.session_id, refused)))
        return await self.begin(earlier)

    async def _loaded(self, earlier: Session) -> Session:
        session = await self.open(earlier.session_id, earlier.cwd)
        session.queue = earlier.queue
        session.apply(Reconnected(remembers=True, is_loaded=True))
        return session

    async def _resumed(self, agent: Agent, earlier: Session) -> Session:
        session = await agent.resume_session(
            earlier.session_id,
            earlier.cwd,
            additional_directories=self._host.link.directories,
            mcp_servers=self._host.link.servers,
            earlier=earlier,
        )
        return self._with_remark(session)

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
