"""What a user does with the sessions of an agent: begin, choose, open, delete and close one, go on after a restart.

In which tab a session is shown is decided by whoever asks.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from acp_tui.client.errors import AgentRefused, Unsupported
from acp_tui.conversation.conversation import Change
from acp_tui.conversation.facts import Fact, SessionId

if TYPE_CHECKING:
    from acp_tui.client.sessions.agent import Agent
    from acp_tui.client.sessions.session import Session
    from acp_tui.ui.agent_desk import AgentDesk


@dataclass(frozen=True, slots=True)
class Wish:
    """What the user wants of a list of sessions."""

    what: str
    """"new", "open" or "delete"."""
    session_id: SessionId
    cwd: Path


class SessionsDesk:
    """The sessions of one agent, for one tab. Calls raise ClientError, and log in first where the agent wants that."""

    def __init__(self, desk: AgentDesk, cwd: Path, show: Callable[[Session], Coroutine[Any, Any, None]]) -> None:
        """`show` brings a session to the screen that has something to ask before it is loaded."""
        self._desk = desk
        self._cwd = cwd
        self._show = show

    async def begin(self, earlier: Session | None = None) -> Session:
        """A new session; the agent is started where it does not run."""
        await self._desk.ensure_agent()
        link = self._desk.link
        return await self._desk.logged_in(
            lambda agent: agent.new_session(
                self._cwd,
                additional_directories=link.directories,
                mcp_servers=link.servers,
                earlier=earlier,
            )
        )

    async def open(self, session_id: SessionId, cwd: Path) -> Session:
        """The session as it is where it is open already, else as the agent gives it (R-SESS-10)."""
        await self._desk.ensure_agent()
        agent = self._desk.agent
        assert agent is not None
        known = agent.sessions.get(session_id)
        if known is not None:
            return known
        link = self._desk.link

        def show_question(change: Change) -> None:
            """What the agent asks while it loads must be seen: the loading may wait for the answer."""
            session = agent.sessions.get(session_id)
            if session is not None and Fact.PERMISSIONS in change.facts:
                self._desk.run(self._show(session))

        return await self._desk.logged_in(
            lambda agent: agent.open_session(
                session_id,
                cwd,
                show_question,
                additional_directories=link.directories,
                mcp_servers=link.servers,
            )
        )

    async def go_on(self, earlier: Session) -> Session:
        """Start the agent again where it is gone, and go on with a session as far as the agent remembers it."""
        await self._desk.ensure_agent()
        agent = self._desk.agent
        assert agent is not None
        try:
            if agent.capabilities.resume_session:
                return await self._desk.logged_in(lambda agent: self._resumed(agent, earlier))
            if agent.capabilities.load_session and earlier.conversation.entries:
                return await self.open(earlier.session_id, earlier.cwd)
        except AgentRefused as refused:
            self._desk.say_error(refused)
        return await self.begin(earlier)

    async def _resumed(self, agent: Agent, earlier: Session) -> Session:
        return await agent.resume_session(
            earlier.session_id,
            earlier.cwd,
            additional_directories=self._desk.link.directories,
            mcp_servers=self._desk.link.servers,
            earlier=earlier,
        )

    async def choose(self, current: Session | None) -> Wish | None:
        """Let the user open, delete or begin a session."""
        from acp_tui.ui.screens.sessions import SessionsDialog

        agent = self._desk.agent_or_say()
        if agent is None:
            return None
        offered = agent.capabilities
        if not offered.list_sessions:
            missing = f"{agent.title} does not offer to list its sessions; Ctrl+N begins a new one"
            self._desk.say_error(Unsupported(missing))
            return None
        folders: dict[SessionId, Path] = {}

        async def load_page(cursor: str | None, is_everywhere: bool) -> tuple[Sequence[Any], str | None]:
            # fast-agent 0.10.46 and Qwen Code 0.24.4, asked for all, list those of their own process's folder only.
            page = await agent.list_sessions(cwd=None if is_everywhere else self._cwd, cursor=cursor)
            folders.update({listed.session_id: listed.cwd for listed in page.sessions})
            return page.sessions, page.next_cursor

        can_open = offered.load_session or offered.resume_session
        dialog = SessionsDialog(
            agent.title,
            load_page,
            current=current.session_id if current is not None else "",
            here=self._cwd,
            no_delete="" if offered.delete_session else f"{agent.title} does not offer to delete sessions",
            no_open="" if can_open else f"{agent.title} offers neither to load nor to resume sessions",
        )
        wish = await self._desk.ask(dialog)
        if wish is None:
            return None
        session_id = SessionId(wish[1])
        return Wish(wish[0], session_id, folders.get(session_id, self._cwd))

    async def delete(self, session_id: SessionId) -> None:
        """Let the agent forget a session."""
        assert self._desk.agent is not None
        await self._desk.agent.delete_session(session_id)
        self._desk.say("The session is deleted.")

    async def close(self, session: Session) -> None:
        """Close a session in the agent, where it runs and offers that."""
        agent = self._desk.agent
        if agent is not None and agent.lost is None and not session.is_closed:
            await agent.close_session(session)
