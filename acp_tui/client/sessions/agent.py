"""One agent: its process, its connection and the sessions on it. The end of the agent is the end of nothing else."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Final, TypeVar

import anyio
from anyio.abc import TaskStatus

from acp_tui import __version__
from acp_tui.client.agents.command import AgentCommand
from acp_tui.client.agents.process import AgentProcess, running_agent
from acp_tui.client.agents.quirks import Quirks, quirks_of
from acp_tui.client.errors import (
    AgentLost,
    AgentRefused,
    AuthenticationRequired,
    ClientError,
    UnsupportedProtocol,
)
from acp_tui.client.sessions.phase import Phase
from acp_tui.client.sessions.session import Listener, Session
from acp_tui.conversation.content import Meta
from acp_tui.conversation.facts import PermissionOption, SessionId
from acp_tui.conversation.tool_calls import TerminalId, ToolCallPatch
from acp_tui.conversation.updates import Disconnected, SessionUpdate
from acp_tui.protocol.capabilities import AgentCapabilities, AgentIdentity, AuthMethod
from acp_tui.protocol.errors import AUTH_REQUIRED, RESOURCE_NOT_FOUND, MalformedMessage, UnsupportedVersion
from acp_tui.protocol.handler import ClientOffer, ExitStatus, TerminalSnapshot
from acp_tui.protocol.v1.connection import Connection
from acp_tui.rpc import FrameTooLarge, Peer, RequestFailed, RpcError, Tap

log = logging.getLogger(__name__)

# An agent may speak of a session before we know its id (R-SESS-13); this many updates are kept for later.
MAX_EARLY_UPDATES: Final = 1_000
MAX_LOG_LINES: Final = 500
EXIT_GRACE_S: Final = 0.5

T = TypeVar("T")


class Agent:
    """A running agent; made by `SessionHub.start_agent`. It is the client that the agent talks to."""

    def __init__(
        self,
        command: AgentCommand,
        *,
        offer: ClientOffer | None,
        on_phase: Callable[[Phase], None],
        tap: Tap | None = None,
    ) -> None:
        self.command = command
        self.identity: AgentIdentity | None = None
        self.capabilities = AgentCapabilities()
        self.auth_methods: tuple[AuthMethod, ...] = ()
        self.sessions: dict[SessionId, Session] = {}
        self.log: deque[str] = deque(maxlen=MAX_LOG_LINES)
        """What the agent said on stderr, and what it said on stdout that is no message; one line each."""
        self.phase = Phase.STARTING
        self.lost: AgentLost | None = None
        self._on_phase = on_phase
        self._tap = tap
        self._early: dict[SessionId, list[SessionUpdate]] = {}
        self._quirks = Quirks()
        self._process: AgentProcess | None = None
        self._connection = Connection(self, offer or ClientOffer())
        self._scope = anyio.CancelScope()
        self._lost_known = anyio.Event()
        self._ended = anyio.Event()

    @property
    def title(self) -> str:
        """What to call the agent: its title, else its name, else the name of its command (R-INIT-8)."""
        if self.identity is None:
            return self.command.name
        return self.identity.title or self.identity.name or self.command.name

    # Life

    async def run(self, *, task_status: TaskStatus[None]) -> None:
        """Own the process from start to end. Raises ClientError only before the process has started."""
        try:
            with self._scope:
                async with running_agent(self.command, self._on_stderr) as process:
                    self._process = process
                    peer = Peer(process.stream, self._connection, tap=self._tap)
                    self._connection.peer = peer
                    task_status.started()
                    await self._serve(peer, process)
        finally:
            # The scope above is not ours to wait in any more, but the terminals must not outlive us.
            with anyio.CancelScope(shield=True):
                await self._close_sessions()
            self._set_phase(Phase.GONE)
            self._ended.set()

    async def _serve(self, peer: Peer, process: AgentProcess) -> None:
        try:
            await peer.serve()
            # Most agents that close their output are about to exit, and the exit code is what tells.
            await process.wait_for_end(EXIT_GRACE_S)
            self._lose(f"{self.title} {process.describe_exit()}", process)
        except FrameTooLarge as error:
            self._lose(f"{self.title} broke the protocol: it sent {error}", process)
        finally:
            # We are stopping it: whoever still waits for an answer is to know, the conversations need not say it.
            self.lost = self.lost or AgentLost(f"{self.title} was stopped")
            self._lost_known.set()

    def _lose(self, message: str, process: AgentProcess) -> AgentLost:
        self.lost = self.lost or AgentLost(message, detail=process.stderr_tail)
        for session in self.sessions.values():
            session.apply(Disconnected(str(self.lost), process.stderr_tail))
        return self.lost

    async def _close_sessions(self) -> None:
        for session in self.sessions.values():
            await session.aclose()

    async def stop(self) -> None:
        """End the agent and all that runs for its sessions; returns when nothing is left."""
        self._scope.cancel()
        await self._ended.wait()

    def _set_phase(self, phase: Phase) -> None:
        self.phase = phase
        self._on_phase(phase)

    # What the user wants of it

    async def initialize(self) -> None:
        """Agree on the protocol. Raises AgentLost, UnsupportedProtocol and AgentRefused."""
        self._set_phase(Phase.INITIALIZING)
        agreed = await self._ask(self._connection.initialize("acp-tui", "acp-tui", __version__))
        self.identity, self.capabilities, self.auth_methods = agreed
        if self.identity is not None:
            self._quirks = quirks_of(self.identity.name)

    async def new_session(self, cwd: Path, listener: Listener | None = None) -> Session:
        """Open a session in the absolute directory `cwd`.

        Raises AuthenticationRequired where the agent wants a login first, AgentRefused and AgentLost.
        """
        self._set_phase(Phase.OPENING)

        def register(session_id: SessionId, state: tuple[SessionUpdate, ...]) -> Session:
            session = Session(session_id, cwd, self._connection, self._quirks, self.explain, listener)
            return self._register(session, state)

        session = await self._ask(self._connection.new_session(str(cwd), register))
        self._set_phase(Phase.READY)
        return session

    def _register(self, session: Session, state: Sequence[SessionUpdate]) -> Session:
        """Runs inside the read loop, so that no update falls between the response and the session."""
        self.sessions[session.session_id] = session
        for update in (*state, *self._early.pop(session.session_id, ())):
            session.apply(update)
        return session

    async def authenticate(self, method_id: str) -> None:
        """Let the agent log the user in by one of its methods; may take minutes. Raises AgentRefused, AgentLost."""
        self._set_phase(Phase.AUTHENTICATING)
        await self._ask(self._connection.authenticate(method_id))

    async def _ask(self, call: Awaitable[T]) -> T:
        """Await a request, with its errors turned into ours."""
        try:
            return await call
        except (RpcError, MalformedMessage) as error:
            raise await self.explain(error) from error
        except UnsupportedVersion as error:
            self.lost = UnsupportedProtocol(
                f"{self.title} speaks version {error.version} of ACP, and acp-tui speaks version 1",
                hint="update the agent or acp-tui",
            )
            raise self.lost from error

    async def explain(self, error: RpcError | MalformedMessage) -> ClientError:
        """What a user is to know of an error of the connection: for a lost one, the end of the agent."""
        if isinstance(error, RequestFailed):
            return self._refused(error)
        if isinstance(error, MalformedMessage):
            return AgentLost(f"{self.title} broke the protocol: {error}")
        # Whoever reads the connection learns more than whoever lost a request: the exit code, the rest of stderr.
        with anyio.move_on_after(2 * EXIT_GRACE_S):
            await self._lost_known.wait()
        return self.lost or self._give_up(error)

    def _give_up(self, error: RpcError) -> AgentLost:
        """It lives on and does not listen any more: as good as gone, so it is ended."""
        assert self._process is not None
        lost = self._lose(f"{self.title} broke the protocol: {error}", self._process)
        self._scope.cancel()
        return lost

    def _refused(self, error: RequestFailed) -> ClientError:
        detail = error.detail or ""
        if error.code != AUTH_REQUIRED:
            return AgentRefused(f"{self.title}: {error.message}", code=error.code, detail=detail)
        names = ", ".join(method.name for method in self.auth_methods) or "none that it names"
        return AuthenticationRequired(
            f"{self.title} wants you to log in first",
            self.auth_methods,
            hint=f"its ways to log in: {names}",
            detail=detail or error.message,
        )

    # What it says (protocol.handler.ClientHandler)

    def on_update(self, session_id: SessionId, update: SessionUpdate) -> None:
        """Apply an update, or keep it until its session is known."""
        session = self.sessions.get(session_id)
        if session is not None:
            session.apply(update)
            return
        if sum(map(len, self._early.values())) < MAX_EARLY_UPDATES:
            self._early.setdefault(session_id, []).append(update)

    def on_dropped(self, what: str, why: str, raw: bytes | None = None) -> None:
        """Keep in the log what could not be used."""
        text = "" if raw is None else ": " + raw[:500].decode("utf-8", "replace")
        self.log.append(f"[stdout] {what} ({why}){text}")

    def _on_stderr(self, data: bytes) -> None:
        self.log.extend(data.decode("utf-8", "replace").splitlines())

    def _session(self, session_id: SessionId) -> Session:
        session = self.sessions.get(session_id)
        if session is None:
            raise RequestFailed(RESOURCE_NOT_FOUND, f"Unknown session: {session_id}")
        return session

    def request_permission(
        self,
        session_id: SessionId,
        patch: ToolCallPatch,
        options: tuple[PermissionOption, ...],
        meta: Meta | None,
    ) -> Awaitable[str | None]:
        """Pass the question to its session."""
        return self._session(session_id).request_permission(patch, options, meta)

    async def read_text_file(
        self, session_id: SessionId, path: str, line: int | None, limit: int | None
    ) -> str:
        """Serve a file of the session's workspace."""
        return await self._session(session_id).read_text_file(path, line, limit)

    async def write_text_file(self, session_id: SessionId, path: str, content: str) -> None:
        """Write a file of the session's workspace."""
        await self._session(session_id).write_text_file(path, content)

    async def create_terminal(
        self,
        session_id: SessionId,
        command: str,
        args: Sequence[str],
        env: Sequence[tuple[str, str]],
        cwd: str | None,
        output_limit_bytes: int | None,
    ) -> TerminalId:
        """Start a terminal of the session."""
        session = self._session(session_id)
        return await session.create_terminal(command, args, env, cwd, output_limit_bytes)

    def terminal_output(self, session_id: SessionId, terminal_id: TerminalId) -> TerminalSnapshot:
        """What a terminal of the session printed."""
        return self._session(session_id).terminal_output(terminal_id)

    async def wait_for_terminal_exit(self, session_id: SessionId, terminal_id: TerminalId) -> ExitStatus:
        """Wait for a terminal of the session."""
        return await self._session(session_id).wait_for_terminal_exit(terminal_id)

    async def kill_terminal(self, session_id: SessionId, terminal_id: TerminalId) -> None:
        """Kill in a terminal of the session."""
        await self._session(session_id).kill_terminal(terminal_id)

    async def release_terminal(self, session_id: SessionId, terminal_id: TerminalId) -> None:
        """Release a terminal of the session."""
        await self._session(session_id).release_terminal(terminal_id)
