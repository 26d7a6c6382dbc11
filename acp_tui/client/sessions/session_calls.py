"""What a user can want of an agent's sessions: to open, load, resume, list, close and delete them.

Every call is refused here, unsent, where the agent does not offer it. The agent's life is `agent`'s.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias, TypeVar

from anyio import move_on_after

from acp_tui import __version__
from acp_tui.client.agents.command import AgentCommand
from acp_tui.client.agents.quirks import Quirks, quirks_of
from acp_tui.client.errors import (
    AgentLost,
    AgentRefused,
    ClientError,
    PromptInProgress,
    StaleCursor,
    Unsupported,
)
from acp_tui.client.extensions import Extensions
from acp_tui.client.sessions.client_role import ClientRole
from acp_tui.client.sessions.elicitations import Elicitations
from acp_tui.client.sessions.phase import Phase
from acp_tui.client.sessions.policy import Policy
from acp_tui.client.sessions.session import Session
from acp_tui.client.sessions.table import SessionTable
from acp_tui.conversation import reducer
from acp_tui.conversation.conversation import Change, Conversation
from acp_tui.conversation.facts import Fact, SessionId, SessionPage, Turn
from acp_tui.conversation.updates import Disconnected, Reconnected, SessionUpdate
from acp_tui.protocol import MalformedMessage
from acp_tui.protocol.roles import (
    AgentCapabilities,
    AgentIdentity,
    AuthMethod,
    ClientOffer,
    HttpServer,
    McpServer,
    Workplace,
)
from acp_tui.protocol.v1.connection import Connection
from acp_tui.rpc import ErrorCode, RpcError

if TYPE_CHECKING:
    from acp_tui.client.transcript.recorder import Recorder

MAX_LOG_LINES: Final = 500
CLOSE_LIMIT_S: Final = 5.0
"""How long an agent may take to close a session: all that runs for it here waits."""

T = TypeVar("T")

Attend: TypeAlias = Callable[[Session], object]
"""Called with a session that is being opened, before the agent says anything in it."""


@contextmanager
def shown_early(show: Callable[[Session], None]) -> Iterator[Attend]:
    """Gives an `attend` that shows a session at the first permission that its agent asks for inside of the block.

    Whoever opens a session in the block sees that question: the opening may wait for the answer.
    """
    with ExitStack() as opening:

        def attend(session: Session) -> None:
            def look(change: Change) -> None:
                if Fact.PERMISSIONS in change.facts:
                    opening.close()
                    show(session)

            opening.callback(session.subscribe(look))

        yield attend


class SessionCalls(ABC):
    """The user's side of an agent's sessions. Where nothing else is said, calls raise AgentRefused and AgentLost."""

    def __init__(
        self,
        command: AgentCommand,
        *,
        offer: ClientOffer,
        extensions: Extensions,
        policy: Policy,
        on_phase: Callable[[Phase], None],
    ) -> None:
        self.command = command
        self.identity: AgentIdentity | None = None
        self.capabilities = AgentCapabilities()
        self.auth_methods: tuple[AuthMethod, ...] = ()
        self.log: deque[str] = deque(maxlen=MAX_LOG_LINES)
        """What the agent said on stderr, and what it said on stdout that is no message; one line each."""
        self.phase = Phase.STARTING
        self.on_elicitations: Callable[[], None] | None = None
        """Called when `elicitations` or `visits` have changed; it may only mark what to draw."""
        self._on_phase = on_phase
        self._offer = offer
        self._policy = policy
        self._quirks = Quirks()
        self._recorder: Recorder | None = None
        self._table = SessionTable()
        # What the agent asks outside of any session is folded as a session's is.
        self._outside = Conversation()
        # Two sessions may have the same id, while one of them is being opened: a key tells whose question is answered.
        self._question_keys = count(1)
        self._questions = Elicitations(self._outside, self._apply_outside, self._question_keys)
        role = ClientRole(self._table, self.log, self._questions, extensions)
        self._connection = Connection(role, offer)

    @property
    def title(self) -> str:
        """What to call the agent: its title, else its name, else the name of its command (R-INIT-8)."""
        if self.identity is None:
            return self.command.name
        return self.identity.title or self.identity.name or self.command.name

    @property
    def sessions(self) -> dict[SessionId, Session]:
        """The open sessions, those that are still being loaded among them; to be read only."""
        return self._table.open

    def _set_phase(self, phase: Phase) -> None:
        self.phase = phase
        self._on_phase(phase)

    @contextmanager
    def _in_phase(self, phase: Phase) -> Iterator[None]:
        """An agent that was ready is so again, however this ends."""
        was_ready = self.phase is Phase.READY
        self._set_phase(phase)
        try:
            yield
        finally:
            if was_ready and self.phase is phase:
                self._set_phase(Phase.READY)

    async def _ask(self, call: Awaitable[T]) -> T:
        """Await a request, with its errors turned into ours."""
        try:
            return await call
        except (RpcError, MalformedMessage) as error:
            raise await self.explain(error) from error

    @abstractmethod
    async def explain(self, error: RpcError | MalformedMessage) -> ClientError:
        """What a user is to know of an error of the connection."""

    def _apply_outside(self, update: SessionUpdate) -> None:
        if self._recorder is not None:
            self._recorder.own(None, update)
        reducer.apply(self._outside, update)
        if self.on_elicitations is not None:
            self.on_elicitations()

    def _require(self, is_offered: bool, what: str) -> None:
        if not is_offered:
            raise Unsupported(f"{self.title} does not offer {what}")

    async def initialize(self) -> None:
        """Agree on the protocol. Raises UnsupportedProtocol too."""
        self._set_phase(Phase.INITIALIZING)
        agreed = await self._ask(self._connection.initialize("acp-tui", "acp-tui", __version__))
        self.identity, self.capabilities, self.auth_methods = agreed
        if self.identity is not None:
            self._quirks = quirks_of(self.identity.name)

    # Sessions

    async def new_session(
        self,
        cwd: Path,
        attend: Attend | None = None,
        *,
        additional_directories: Sequence[Path] = (),
        mcp_servers: Sequence[McpServer] = (),
        earlier: Session | None = None,
        why_anew: str = "",
    ) -> Session:
        """Open a session in the absolute directory `cwd`; in place of an `earlier` one, below what was said there.

        `why_anew` tells the user why the earlier one is not gone on with, where that was tried. Raises
        AuthenticationRequired where the agent wants a login first; Unsupported where it takes no additional
        directories, or not such servers.
        """
        workplace = self._workplace(cwd, additional_directories, mcp_servers)

        def register(session_id: SessionId, state: tuple[SessionUpdate, ...]) -> Session:
            session = self._session(session_id, workplace, attend, earlier)
            if earlier is not None:
                session.apply(Reconnected(remembers=False, why=why_anew))
            return self._table.add(session, state)

        with self._in_phase(Phase.OPENING):
            with self._table.awaiting():
                session = await self._ask(self._connection.new_session(workplace, register))
            await self._table.close_retired()
            self._set_phase(Phase.READY)
        return session

    async def load_session(
        self,
        session_id: SessionId,
        cwd: Path,
        attend: Attend | None = None,
        *,
        additional_directories: Sequence[Path] = (),
        mcp_servers: Sequence[McpServer] = (),
    ) -> Session:
        """Open a session that the agent has kept, with its history: it is in the conversation when this returns.

        A session that is open already is replaced by one with a fresh conversation (R-SESS-5); where the agent
        refuses, it stays. Raises what `new_session` raises, OpeningInProgress, and PromptInProgress where it is in
        the middle of a turn.
        """
        self._require(self.capabilities.load_session, "loading sessions (loadSession)")
        workplace = self._workplace(cwd, additional_directories, mcp_servers)
        known = self.sessions.get(session_id)
        if known is not None and known.conversation.turn is not Turn.IDLE:
            raise PromptInProgress("the session is in the middle of a turn", hint="wait, or cancel the turn")
        session = self._session(session_id, workplace, attend)
        return await self._reopen(session, workplace, self._connection.load_session)

    async def resume_session(
        self,
        session_id: SessionId,
        cwd: Path,
        attend: Attend | None = None,
        *,
        additional_directories: Sequence[Path] = (),
        mcp_servers: Sequence[McpServer] = (),
        earlier: Session | None = None,
    ) -> Session:
        """Go on with a session that the agent has kept, without its history; it goes on below that of `earlier`.

        One that is open already keeps its conversation and its listeners (R-SESS-6). Raises what `new_session`
        raises, and OpeningInProgress.
        """
        self._require(self.capabilities.resume_session, "resuming sessions (sessionCapabilities.resume)")
        workplace = self._workplace(cwd, additional_directories, mcp_servers)
        known = self.sessions.get(session_id)
        if known is not None:
            return await self._resume_open(known, workplace, attend)
        session = self._session(session_id, workplace, attend, earlier)
        if earlier is None:
            return await self._reopen(session, workplace, self._connection.resume_session)
        session.apply(Reconnected(remembers=True))
        try:
            return await self._reopen(session, workplace, self._connection.resume_session)
        except ClientError as error:
            session.apply(Disconnected(str(error)))
            raise

    async def open_session(
        self,
        session_id: SessionId,
        cwd: Path,
        attend: Attend | None = None,
        *,
        additional_directories: Sequence[Path] = (),
        mcp_servers: Sequence[McpServer] = (),
    ) -> Session:
        """Load a session where the agent can, else resume it (R-SESS-10). Raises Unsupported where it can neither."""
        can_open = self.capabilities.load_session or self.capabilities.resume_session
        self._require(can_open, "opening old sessions (loadSession, sessionCapabilities.resume)")
        open_it = self.load_session if self.capabilities.load_session else self.resume_session
        return await open_it(
            session_id,
            cwd,
            attend,
            additional_directories=additional_directories,
            mcp_servers=mcp_servers,
        )

    def _session(
        self,
        session_id: SessionId,
        workplace: Workplace,
        attend: Attend | None,
        earlier: Session | None = None,
    ) -> Session:
        session = Session(
            session_id,
            workplace.cwd,
            self._connection,
            self._quirks,
            self.explain,
            additional_directories=workplace.additional_directories,
            capabilities=self.capabilities,
            policy=self._policy,
            earlier=earlier,
            keys=self._question_keys,
        )
        session.recorder = self._recorder
        if attend is not None:
            attend(session)
        return session

    def _workplace(
        self, cwd: Path, additional_directories: Sequence[Path], mcp_servers: Sequence[McpServer]
    ) -> Workplace:
        """Raises Unsupported for what the agent must not be sent (R-DIR-1, R-MCP-2)."""
        can_reach = {"http": self.capabilities.mcp_http, "sse": self.capabilities.mcp_sse}
        for server in mcp_servers:
            if isinstance(server, HttpServer):
                what = f"MCP servers over {server.kind} (mcpCapabilities.{server.kind})"
                self._require(can_reach[server.kind], what)
        if additional_directories:
            what = "additional directories (sessionCapabilities.additionalDirectories)"
            self._require(self.capabilities.additional_directories, what)
        return Workplace(cwd, tuple(additional_directories), tuple(mcp_servers))

    async def _reopen(
        self, session: Session, workplace: Workplace, request: Callable[..., Awaitable[None]]
    ) -> Session:
        self._table.begin(session)
        on_opened = partial(self._table.finish, session)
        on_refused = partial(self._table.give_up, session)
        with self._in_phase(Phase.OPENING):
            try:
                await self._ask(request(session.session_id, workplace, on_opened, on_refused))
            except AgentLost:
                on_refused()  # nobody will answer any more
                raise
            finally:
                await self._table.close_retired()
            self._set_phase(Phase.READY)
        return session

    async def _resume_open(self, session: Session, workplace: Workplace, attend: Attend | None) -> Session:
        def resumed(state: tuple[SessionUpdate, ...]) -> None:
            session.move(workplace.cwd, workplace.additional_directories)
            if attend is not None:
                attend(session)
            for update in state:
                session.apply(update)

        call = self._connection.resume_session(session.session_id, workplace, resumed, lambda: None)
        await self._ask(call)
        return session

    async def list_sessions(self, cwd: Path | None = None, cursor: str | None = None) -> SessionPage:
        """A page of the sessions that the agent knows, of all directories or of `cwd`; without a cursor the first.

        Raises Unsupported; StaleCursor where the agent does not take the cursor (any more).
        """
        self._require(self.capabilities.list_sessions, "listing sessions (sessionCapabilities.list)")
        try:
            return await self._ask(self._connection.list_sessions(cwd, cursor))
        except AgentRefused as error:
            if cursor is None or error.code != ErrorCode.INVALID_PARAMS:
                raise
            hint = "list the sessions from the first page on"
            raise StaleCursor(str(error), code=error.code, hint=hint, detail=error.detail) from error

    async def close_session(self, session: Session) -> None:
        """End a session here, and at the agent where it can be told; what was said stays readable.

        Its turn is cancelled, its questions are taken back, its terminals end. Raises nothing: an agent that does
        not know the session any more, is gone, or does not answer, has closed it (R-SESS-7).
        """
        if session.is_closed:
            return  # under its id another may be open
        if not self.capabilities.close_session:
            session.cancel()
        session.close()
        try:
            if self.capabilities.close_session and session.conversation.is_connected:
                # The request goes out before the answers to the questions do: their tasks have not run yet.
                with suppress(ClientError), move_on_after(CLOSE_LIMIT_S):
                    await self._ask(self._connection.close_session(session.session_id))
        finally:
            self._table.remove(session)
            if self._recorder is not None:
                self._recorder.closed(session.session_id)
            await session.aclose()

    async def delete_session(self, session_id: SessionId) -> None:
        """Let the agent forget a session; one that is open is closed first (R-SESS-11). Raises Unsupported."""
        self._require(self.capabilities.delete_session, "deleting sessions (sessionCapabilities.delete)")
        session = self.sessions.get(session_id)
        if session is not None:
            await self.close_session(session)
        await self._ask(self._connection.delete_session(session_id))
