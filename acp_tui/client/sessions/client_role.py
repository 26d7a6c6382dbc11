"""The client that an agent talks to. Routes its updates and requests to the right session or extension."""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from acp_tui.client.errors import OpeningInProgress
from acp_tui.client.sessions.client_tools import ClientTools
from acp_tui.client.sessions.elicitations import Elicitations
from acp_tui.client.sessions.session import Session
from acp_tui.client.subagents import Routes
from acp_tui.conversation.elicitation import Elicitation
from acp_tui.conversation.facts import AuthStatus, SessionId
from acp_tui.conversation.updates import PermissionAsked, SessionUpdate
from acp_tui.conversation.wording import NO_MESSAGE
from acp_tui.protocol.roles import ElicitationAnswer
from acp_tui.rpc import RequestFailed

if TYPE_CHECKING:
    from acp_tui.client.agents.mcp_over_acp import LentServer

Extensions: TypeAlias = Mapping[str, Callable[[Any], None]]
"""What takes the params of notifications beyond the protocol, by method. It runs inside the read loop."""
SERVER_UNAVAILABLE: Final = -33001
"""The code of MCP over ACP for a server that isn't there."""


class SessionTable(Routes[Session]):
    """An agent's sessions while they are opened and closed. Its methods run inside the read loop, in wire order."""

    def __init__(self) -> None:
        super().__init__(Session.hear)
        self._opening: dict[SessionId, Session | None] = {}
        """For each session being opened, the session that had its ID before. It's restored if opening fails."""
        self._retired: list[Session] = []

    # New sessions

    def add(self, session: Session, state: Sequence[SessionUpdate], *, is_fork: bool = False) -> Session:
        """Add a new session. Applies the updates that came before the response, then those in it (R-CFG-9)."""
        replaced = self.open.get(session.session_id)
        self.open[session.session_id] = session
        for update in (*self.early.take(session.session_id, is_fork=is_fork), *state):
            self.hear(session, update)
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


class ClientRole(SessionTable):
    """Serves one agent with these sessions (protocol.roles.ClientHandler)."""

    def __init__(self, log: deque[str], elicitations: Elicitations, extensions: Extensions) -> None:
        """`elicitations` are those outside any session. What isn't in `extensions` is ignored (R-RPC-5)."""
        super().__init__()
        self._log = log
        self._elicitations = elicitations
        self._extensions = extensions
        self.lent: dict[str, LentServer] = {}
        """The MCP servers that run here for the agent, by the IDs that it was given."""
        self.auth_status: AuthStatus | None = None
        """Who is logged in, as far as the agent has told."""
        self.auth_listeners: list[Callable[[], None]] = []
        """Called when it has told. They run inside the read loop."""

    def on_dropped(self, what: str, why: str, raw: bytes | None = None) -> None:
        text = "" if raw is None else ": " + raw[:500].decode("utf-8", "replace")
        self._log.append(f"{NO_MESSAGE}{what[:500]} ({why[:500]}){text}")

    def on_extension(self, method: str, params: Any) -> None:
        take = self._extensions.get(method)
        if take is not None:
            take(params)

    def on_auth_status(self, status: AuthStatus) -> None:
        self.auth_status = status
        for listener in tuple(self.auth_listeners):
            listener()

    def ask_mcp_server(
        self, server_id: str, request_id: str, method: str, params: Mapping[str, Any] | None
    ) -> Awaitable[Any]:
        server = self.lent.get(server_id)
        if server is None:
            raise RequestFailed(SERVER_UNAVAILABLE, "There is no MCP server with that serverId")
        return server.ask(request_id, method, params)

    # Questions to the user

    def elicit(self, session_id: SessionId | None, elicitation: Elicitation) -> Awaitable[ElicitationAnswer]:
        """Pass the question to its session, or keep it outside the sessions."""
        if session_id is None:
            return self._elicitations.ask(elicitation)
        return self.serving(session_id).elicit(elicitation)

    def on_elicitation_complete(self, elicitation_id: str) -> None:
        """Mark a page as done in every session, because the notification doesn't name one."""
        self._elicitations.complete(elicitation_id)
        for session in self.open.values():
            session.questions.complete(elicitation_id)

    def request_permission(self, session_id: SessionId, asked: PermissionAsked) -> Awaitable[str | None]:
        session, asked = self.asking(session_id, asked)
        return session.request_permission(asked)

    def client_tools(self, session_id: SessionId) -> ClientTools:
        return self.serving(session_id).client_tools
