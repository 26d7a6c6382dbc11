"""One agent from start to end: its process, its connection, and its sessions.

Calls that the agent doesn't offer are refused here without sending anything. `client_role` serves the agent's requests.
"""

from __future__ import annotations

import math
import os
import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager, suppress
from dataclasses import replace
from functools import partial
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypedDict, TypeVar, Unpack

import anyio
from anyio import to_thread

from acp_tui.client import errors
from acp_tui.client.agents.channel import Channel, open_channel
from acp_tui.client.agents.command import AgentCommand, Phase
from acp_tui.client.agents.process import StderrLines
from acp_tui.client.agents.remembered import consent_file, note_run
from acp_tui.client.agents.terminal_login import TerminalLogin
from acp_tui.client.sessions.client_role import ClientRole, Extensions
from acp_tui.client.sessions.consent import Policy
from acp_tui.client.sessions.elicitations import Elicitations
from acp_tui.client.sessions.session import Attend, Session, end_servers
from acp_tui.client.settings.location import settings_file
from acp_tui.client.settings.mcp import servers_at_start
from acp_tui.client.transcript.frame_log import FrameLog
from acp_tui.conversation import content, elicitation, facts, reducer, updates, wording
from acp_tui.conversation.conversation import Conversation, snapshot
from acp_tui.conversation.value_outline import in_words
from acp_tui.conversation.visible import make_visible_line
from acp_tui.protocol import AUTH_REQUIRED, MalformedMessage, UnsupportedVersion, roles, shown_versions
from acp_tui.protocol.connection import Connection
from acp_tui.protocol.failures import read_error_facts
from acp_tui.protocol.negotiation import NEWEST, VERSIONS, initialize
from acp_tui.protocol.v1.connection import ConnectionV1
from acp_tui.rpc import AnswersUnread, Direction, ErrorCode, FrameTooLarge, Peer, RequestFailed, RpcError, Tap

if TYPE_CHECKING:
    from acp_tui.client.agents.mcp_over_acp import LentServer
    from acp_tui.client.agents.proxy_chain import Chain
    from acp_tui.client.sandbox.sandbox import Sandbox
    from acp_tui.client.transcript.recorder import Recorder, SecretsSent
    from acp_tui.client.transcript.recording_plan import RecordingPlan
    from acp_tui.protocol.conductor import HopTap

NO_AGENT: Final = "it didn't answer initialize: is it an ACP agent? Some need an argument such as --acp"
NO_PROXY: Final = "it didn't answer proxy/initialize: is it an ACP proxy?"
UNHEARD: Final = "What it said in the meantime is missing: it doesn't offer session/load."
EXIT_GRACE_S: Final = 0.5
MAX_LOG_LINES: Final = 500
MAX_SANDBOX_NAME: Final = 40
CLOSE_LIMIT_S: Final = 5.0
"""How long an agent may take to close a session. Everything that runs here for the session waits for it."""

T = TypeVar("T")


def _seldom_needed() -> tuple[Callable[..., AbstractAsyncContextManager[Chain]], type[LentServer]]:
    """What agents with proxies need, and those that get MCP servers which run here."""
    from acp_tui.client.agents import mcp_over_acp, proxy_chain

    return proxy_chain.open_chain, mcp_over_acp.LentServer


def _is_no_agent(error: errors.AgentRefused | errors.AgentLost) -> bool:
    """Whether a failed handshake looks like one with a program that doesn't speak ACP."""
    if isinstance(error, errors.AgentRefused):
        return error.code in (ErrorCode.METHOD_NOT_FOUND, ErrorCode.INVALID_REQUEST)
    if isinstance(error, errors.UnsupportedProtocol | errors.AgentUnreachable):
        return False
    return not (error.hint or error.detail)  # what it said on stderr tells more


def _require_extension(method: str) -> None:
    """Raise ValueError for a name that is the protocol's (R-EXT-1)."""
    if not method.startswith("_"):
        raise ValueError(f"the name of an extension starts with '_', but {method!r} doesn't")


class Added(TypedDict, total=False):
    """What a session gets besides its directory."""

    additional_directories: Sequence[Path]
    mcp_servers: Sequence[roles.McpServer]


class StartOptions(TypedDict, total=False):
    cwd: Path | None
    """Where its process starts; None for the current directory."""
    offer: roles.ClientOffer | None
    """None for ClientOffer(). What `policy` turns off isn't offered, whatever this says."""
    on_phase: Callable[[Phase], None]
    tap: Tap | None
    secrets: SecretsSent | None
    """For hosts, whose watchers don't see any."""
    extensions: Extensions
    policy: Policy | None
    recordings: RecordingPlan | None
    """None to record nothing."""
    keeps_frames: bool
    """For interfaces that can show frames."""
    hop_tap: HopTap | None
    """Sees what each of the agent's proxies says and hears, and what the agent behind them does."""


class Agent:
    """A running agent, made by `SessionHub.start_agent`.

    Unless stated otherwise, calls raise AgentRefused and AgentLost.
    """

    def __init__(self, command: AgentCommand, **start: Unpack[StartOptions]) -> None:
        policy = (start.get("policy") or Policy()).for_agent(command)
        keeps_frames = start.get("keeps_frames", False)
        self.command = command
        self.identity: roles.AgentIdentity | None = None
        self.capabilities = roles.AgentCapabilities()
        self.auth_methods: tuple[facts.AuthMethod, ...] = ()
        self.log: deque[str] = deque(maxlen=MAX_LOG_LINES)
        """The agent's stderr lines, and the stdout lines that aren't messages."""
        self.phase = Phase.STARTING
        self.on_elicitations: Callable[[], None] | None = None
        """Called when `elicitations` or `visits` change. It may only mark what to redraw."""
        self._on_phase: Callable[[Phase], None] = start.get("on_phase", lambda _: None)
        self._offer = policy.within(start.get("offer") or roles.ClientOffer())
        self._policy = policy
        self._recorder: Recorder | None = None
        # What the agent asks outside any session is folded the same way as a session's updates.
        self.outside = Conversation()
        # While a session is being opened, two sessions may share an ID. The key tells whose question is answered.
        self._question_keys = count(1)
        self.questions = Elicitations(self.outside, self._apply_outside, self._question_keys)
        self._table = ClientRole(self.log, self.questions, start.get("extensions", {}))
        self.protocol_version: int | None = None
        """The negotiated version of ACP; None before the handshake."""
        # Until the handshake chooses one.
        self.connection: Connection = ConnectionV1(self._table, self._offer)
        self._peer: Peer | None = None
        self.lost: errors.AgentLost | None = None
        self.frames = FrameLog(command.name, command.argv) if keeps_frames else None
        """The last frames on the wire, if a user interface can show them."""
        hops = (*command.proxy_commands, command) if keeps_frames and command.proxies else ()
        self.hop_frames = tuple(FrameLog(hop.name, hop.argv) for hop in hops)
        """The same for each of its proxies and, last, the agent behind them; empty without proxies."""
        self._stderr_lines = StderrLines(self.log)
        self._cwd = start.get("cwd")
        self._logs: list[FrameLog | Recorder] = [] if self.frames is None else [self.frames]
        """What gets all that goes over the wire, what is on stderr, and the end."""
        self.secrets = start.get("secrets")
        """What the agent's watchers must not see, if it may be hosted."""
        taps = (self.secrets.tap if self.secrets is not None else None, start.get("tap"))
        self._taps = [each for each in taps if each is not None]
        self._recordings = start.get("recordings")
        self._channel: Channel | None = None
        self.chain: Chain | None = None
        """The way through its proxies; None before it has started, and without proxies."""
        self._hop_tap = start.get("hop_tap")
        self._scope = anyio.CancelScope()
        self._start_limit = anyio.CancelScope()
        self._lost_known = anyio.Event()
        self.ended = anyio.Event()
        self._set_phase(self.phase)

    @property
    def title(self) -> str:
        """What it's called everywhere: the user's name for it, otherwise its title or name (R-INIT-8)."""
        if self.identity is None:
            return self._awaited.name
        if self.command.is_listed:
            return self.command.name
        return self.identity.title or self.identity.name or self.command.name

    @property
    def said(self) -> list[str]:
        """The `log`, with a line on stdout that hasn't ended, such as a question, if it's no message that is coming."""
        begun = self._peer.splitter.unfinished if self._peer is not None else b""
        if not begun or begun.startswith(b"{"):
            return list(self.log)
        return [*self.log, f"{wording.NO_MESSAGE}a line (not ended): {begun.decode('utf-8', 'replace')}"]

    @property
    def _awaited(self) -> AgentCommand:
        """Whose answer the handshake waits for: a proxy's, or the agent's."""
        return (self.chain.awaited if self.chain is not None else None) or self.command

    @property
    def sessions(self) -> dict[facts.SessionId, Session]:
        """The open sessions, including those still being loaded. Read-only."""
        return self._table.open

    @property
    def sandbox(self) -> Sandbox | None:
        """What it runs in, if that's a sandbox of ours; it must have started."""
        return None if self._channel is None else self._channel.sandbox

    @property
    def sandbox_name(self) -> str:
        """The name of what it runs in; "" for no sandbox. If a host keeps it, that is what the host says."""
        if self.sandbox is not None:
            return self.sandbox.name
        told = (self.capabilities.meta or {}).get(content.OWN_META) if self.command.is_host else None
        name = told.get("sandbox") if isinstance(told, Mapping) else None
        return make_visible_line(name[:MAX_SANDBOX_NAME]) if isinstance(name, str) else ""

    @property
    def system_prompt(self) -> roles.SystemPrompt | None:
        """What each session gets; None for nothing, which is also all that most agents take."""
        if not self.command.system_prompt or self.untaken_prompt:
            return None
        return roles.SystemPrompt(self.command.system_prompt, self._prompt_mode)

    @property
    def untaken_prompt(self) -> str:
        """Why the command's system prompt isn't sent, as a sentence; "" if it is, or if there is none."""
        if not self.command.system_prompt or self._prompt_mode in self.capabilities.system_prompt:
            return ""
        if self.capabilities.system_prompt:
            return f"The system prompt isn't sent: {self.title} only adds one to its own, and yours is to replace it"
        return f"The system prompt isn't sent: {self.title} doesn't take one"

    @property
    def _prompt_mode(self) -> roles.PromptMode:
        return "override" if self.command.overrides_prompt else "append"

    def can_work_in(self, folder: Path) -> bool:
        """Whether a session can be in this folder: a sandbox has those it was made with."""
        return self.sandbox is None or self.sandbox.box.holds(folder)

    @property
    def may_come_back(self) -> bool:
        """Whether only the connection is lost, so that connecting again may work."""
        return isinstance(self.lost, errors.AgentUnreachable) and self.lost.is_temporary

    def _set_phase(self, phase: Phase) -> None:
        self.phase = phase
        self._on_phase(phase)

    @contextmanager
    def _in_phase(self, phase: Phase) -> Iterator[None]:
        """Set the phase for the block. An agent that was ready is ready again afterward, however the block ends."""
        was_ready = self.phase is Phase.READY
        self._set_phase(phase)
        try:
            yield
        finally:
            if was_ready and self.phase is phase:
                self._set_phase(Phase.READY)

    def _require(self, is_offered: bool, what: str) -> None:
        if not is_offered:
            raise errors.Unsupported(f"{self.title} doesn't offer {what}")

    # Start and end

    async def run(self, on_open: Callable[[], object]) -> None:
        """Run the agent from start to end, and tell when its channel is open. Raises ClientError only before that."""
        try:
            with self._scope:
                # Read the servers before any agent can write to that file.
                await to_thread.run_sync(servers_at_start, settings_file())
                async with self._way() as channel, anyio.create_task_group() as self._servers:
                    self._channel = channel
                    await self._record(channel)
                    self._peer = self.connection.peer = Peer(channel.stream, self.connection, tap=self._see)
                    on_open()
                    await self._serve(self._peer, channel)
                    self._servers.cancel_scope.cancel()
        finally:
            # The scope above may be cancelled, so waiting needs a shield. The terminals must not outlive us.
            with anyio.CancelScope(shield=True):
                for session in self._table.all():
                    await session.aclose()
                await self._end_recording()
                if self.sandbox is not None:
                    await to_thread.run_sync(self.sandbox.box.discard)
            self._set_phase(Phase.GONE)
            self.ended.set()

    @asynccontextmanager
    async def _way(self) -> AsyncIterator[Channel]:
        sandboxes = self._policy.sandboxes
        if not self.command.proxies:
            plan = self.command.planned_in(sandboxes)
            async with open_channel(self.command, self._on_stderr, self._cwd, plan) as channel:
                yield channel
            return
        open_chain, _ = _seldom_needed()
        async with open_chain(self.command, self._on_stderr, self._cwd, sandboxes, self._see_hop) as self.chain:
            yield self.chain

    async def _serve(self, peer: Peer, channel: Channel) -> None:
        try:
            await peer.serve()
            # Most agents that close their output are about to exit, and the exit code explains why.
            await channel.wait_for_end(EXIT_GRACE_S)
            self._lose(channel.loss(self.title))
        except FrameTooLarge as error:
            self._end(f"{self.title} broke the protocol: it sent {error}")
        except AnswersUnread as error:
            self._end(f"{self.title} was ended: {error}")
        finally:
            # We are stopping the agent. Callers that still wait for an answer get an error; the conversations don't
            # show one.
            self.lost = self.lost or errors.AgentLost(f"{self.title} was stopped")
            self._lost_known.set()

    def _end(self, message: str, hint: str = "") -> errors.AgentLost:
        """Treat the agent as lost because of what it did."""
        assert self._channel is not None
        return self._lose(errors.AgentLost(message, hint=hint, detail=self._channel.stderr_tail))

    def _lose(self, lost: errors.AgentLost) -> errors.AgentLost:
        self.lost = self.lost or lost
        if self.protocol_version is None and any(line.startswith(wording.NO_MESSAGE) for line in self.said):
            self.lost.detail = "\n".join(self.said)  # with what it printed instead of an answer, such as how to log in
        if self.sandbox is not None and not self._table.all():
            refused = self.sandbox.refusals(self.lost.detail, self.sandbox.box.folders[0])
            self.lost.hint = self.lost.hint or next((note for _, note in refused), self.sandbox.adds_more)
        disconnected = updates.Disconnected(str(self.lost), self.lost.detail)
        for session in self._table.all():
            told = session.cut_off() if isinstance(self.lost, errors.AgentUnreachable) else ""
            session.apply(replace(disconnected, reason="\n".join(filter(None, (disconnected.reason, told)))))
        self._apply_outside(disconnected)
        return self.lost

    async def _record(self, channel: Channel) -> None:
        for frames in (self.frames, *self.hop_frames):
            if frames is not None:
                frames.environ = {**os.environ, **channel.given}
        if self._recordings is not None:
            argv, sandbox = self.command.argv, self.sandbox_name
            self._recorder = self._recordings.begin(self.command.name, argv, channel.given, sandbox)
            self._logs.append(self._recorder)
            if self._recorder.header.argv == argv:  # without the secrets that were in it, it can't be run again
                await to_thread.run_sync(note_run, self.command, self._recordings.cwd, sandbox, consent_file())

    def _see(self, direction: Direction, frame: bytes) -> None:
        for log in self._logs:
            log.tap(direction, frame)
        for tap in self._taps:
            tap(direction, frame)

    def _see_hop(self, position: int, direction: Direction, frame: bytes) -> None:
        if self.hop_frames:
            self.hop_frames[position].tap(direction, frame)
        if self._hop_tap is not None:
            self._hop_tap(position, direction, frame)

    async def _end_recording(self) -> None:
        if self._channel is None:
            return
        if self.chain is not None:
            for frames, hop in zip(self.hop_frames, self.chain.hops, strict=False):
                frames.exited(hop.channel.describe_exit())
        for log in self._logs:
            log.exited(self.how_it_ended)
        if self._recorder is not None:
            await anyio.to_thread.run_sync(self._recorder.close)

    def screen_resized(self, columns: int, rows: int) -> None:
        """Record the new size of the user's screen for replays. The agent isn't told."""
        if self._recorder is not None:
            self._recorder.resized(columns, rows)

    async def stop(self) -> None:
        """End the agent and everything that runs for its sessions. Returns when nothing is left."""
        self._scope.cancel()
        await self.ended.wait()

    @property
    def how_it_ended(self) -> str:
        """How its process or connection ended, such as "exited with code 3"; "" if there was none."""
        return "" if self._channel is None else self._channel.describe_exit()

    def _on_stderr(self, data: bytes) -> None:
        for log in self._logs:
            log.stderr(data)
        self._stderr_lines.append(data)

    async def initialize(self, limit_s: float | None = None) -> None:
        """Negotiate the protocol. Also raises UnsupportedProtocol, and AgentLost if it takes longer than `limit_s`.

        If the agent asks the user something during the handshake, the limit no longer applies (R-INIT-10).
        """

        def choose(connection: Connection) -> None:
            self.connection = connection

        self._set_phase(Phase.INITIALIZING)
        wanted = self.command.protocol or NEWEST
        with anyio.move_on_after(limit_s) as self._start_limit:
            try:
                agreed = await self._ask(initialize(self.connection, wanted, choose))
            except (errors.AgentRefused, errors.AgentLost) as error:
                if _is_no_agent(error):
                    error.hint = NO_AGENT if self._awaited is self.command else NO_PROXY
                raise
        if self._start_limit.cancelled_caught:
            raise self.give_up(
                f"{self.title} hasn't answered within {limit_s:g} s",
                hint=f"it may still be downloading: run {self._awaited.line} yourself, or raise agent.start_limit_s",
            )
        self.protocol_version = self.connection.version
        self.identity, self.capabilities = agreed.identity, agreed.capabilities
        self.auth_methods = agreed.auth_methods
        if self.identity is not None:
            self._table.quirks = self.identity.quirks

    # Logging in and out

    async def authenticate(self, method_id: str) -> None:
        """Have the agent log the user in with one of its methods. This may take minutes (R-AUTH-4).

        Raises Unsupported for a method that the agent doesn't have or that needs a terminal (R-AUTH-5).
        """
        method = self._auth_method(method_id)
        self._require(method.kind == "agent", f"{method.name!r} without a terminal")
        with self._in_phase(Phase.AUTHENTICATING):
            await self._ask(self.connection.authenticate(method_id))

    def terminal_login(self, method_id: str) -> TerminalLogin:
        """What to run in a terminal to log in. Exit status 0 means success; restart the agent after that.

        The method adds to the agent's own command and can't choose another (R-AUTH-6, R-AUTH-7). It runs in the
        agent's sandbox. Raises Unsupported.
        """
        method = self._auth_method(method_id)
        is_offered = method.kind == "terminal" and self._offer.auth_terminal
        self._require(is_offered, f"{method.name!r} in a terminal")
        command = self.command.for_terminal(method.args, method.env)
        plan = self.command.planned_in(self._policy.sandboxes)
        return TerminalLogin(self.command, command, method.env, self._cwd, plan)

    def _auth_method(self, method_id: str) -> facts.AuthMethod:
        method = next((method for method in self.auth_methods if method.method_id == method_id), None)
        if method is None:
            raise errors.Unsupported(f"{self.title} has no login method with the ID {method_id!r}")
        return method

    async def logout(self) -> None:
        """Log out. Open sessions may require a login afterward (R-AUTH-9). Raises Unsupported."""
        self._require(self.capabilities.logout, "logging out (auth.logout)")
        await self._ask(self.connection.logout())

    @property
    def auth_status(self) -> facts.AuthStatus | None:
        """Who is logged in, as the agent last told; None if it hasn't."""
        return self._table.auth_status

    @property
    def auth_listeners(self) -> list[Callable[[], None]]:
        """Called inside the read loop when the agent tells who is logged in."""
        return self._table.auth_listeners

    @property
    def tells_login(self) -> bool:
        """Whether it tells who is logged in, when asked or by itself."""
        return self.capabilities.auth_status or self.auth_status is not None

    async def ask_auth_status(self) -> None:
        """Ask who is logged in, if the agent can be asked; `auth_status` then has the answer."""
        if self.capabilities.auth_status and self.lost is None:
            try:
                await self._ask(self.connection.auth_status())
            except errors.AuthenticationRequired:  # which no agent may answer here, but it's an answer
                self._table.on_auth_status(facts.AuthStatus("unauthenticated"))

    # Who serves its models

    async def list_providers(self) -> tuple[facts.Provider, ...]:
        """The providers of models that can be configured. Raises Unsupported."""
        self._require_providers()
        return await self._ask(self.connection.list_providers())

    async def set_provider(
        self, provider: facts.Provider, route: facts.ProviderRoute | None, headers: Mapping[str, str]
    ) -> None:
        """Replace all that is configured for a provider; without a route, disable it.

        Raises Unsupported, also for disabling one that is required.
        """
        self._require_providers()
        if route is not None:
            await self._ask(self.connection.set_provider(provider.provider_id, route, headers))
            return
        self._require(not provider.is_required, f"to disable {provider.provider_id}, which it needs")
        await self._ask(self.connection.disable_provider(provider.provider_id))

    def _require_providers(self) -> None:
        self._require(self.capabilities.providers, "choosing who serves its models (providers)")

    # MCP servers that run here

    @property
    def runs_servers_here(self) -> bool:
        """Whether MCP servers that are programs run here: it can't start them itself, and takes MCP over ACP."""
        return self.capabilities.mcp_acp and (self.command.is_remote or not self.capabilities.mcp_stdio)

    def _lend(self, cwd: Path, server: facts.StdioServer) -> roles.AcpServer:
        """Start a server that the user's settings have for the agent. Raises AgentLost."""
        if self.lost is not None:
            raise self.lost
        _, lent_server = _seldom_needed()
        lent = lent_server(server, self.command.sandbox, lambda: self.connection, self._on_stderr, self._table.lent)
        # The agent isn't sent these, so nothing learns them from its frames.
        if self._recorder is not None:
            self._recorder.learn(dict(server.env))
        if self.secrets is not None:
            self.secrets.masker.learn(dict(server.env))
        for frames in (self.frames, *self.hop_frames):
            if frames is not None:
                frames.environ = {**frames.environ, **dict(server.env)}
        self._servers.start_soon(lent.run, cwd, self._policy.sandboxes)
        return lent.given

    def _lent(self, workplace: roles.Workplace) -> list[LentServer]:
        ids = (server.server_id for server in workplace.mcp_servers if isinstance(server, roles.AcpServer))
        return [lent for server_id in ids if (lent := self._table.lent.get(server_id)) is not None]

    # Sessions

    async def new_session(
        self,
        cwd: Path,
        attend: Attend | None = None,
        *,
        earlier: Session | None = None,
        why_anew: str = "",
        **added: Unpack[Added],
    ) -> Session:
        """Open a session in the absolute directory `cwd`.

        With `earlier`, the new session replaces that one and continues below its conversation. `why_anew` tells the
        user why `earlier` couldn't be continued, if that was tried. Raises AuthenticationRequired if the agent requires
        a login first, and Unsupported if it doesn't accept additional directories or these servers.
        """
        workplace = self._workplace(cwd, **added)

        def register(session_id: facts.SessionId, state: tuple[updates.SessionUpdate, ...]) -> Session:
            session = self._session(session_id, workplace, attend, earlier)
            if earlier is not None:
                session.apply(updates.Reconnected(remembers=False, why=why_anew, is_same=earlier.is_cut_off))
            return self._table.add(session, state)

        return await self._opened(workplace, self.connection.new_session(workplace, register))

    async def fork_session(self, source: Session, *, title: str, **added: Unpack[Added]) -> Session:
        """Open a session that starts with what the agent knows from `source`, and that shows it.

        `title` is the name of the source. Raises what `new_session` raises, and Unsupported.
        """
        self._require(self.capabilities.fork_session, "forking sessions (sessionCapabilities.fork)")
        workplace = self._workplace(source.cwd, **added)

        def register(session_id: facts.SessionId, state: tuple[updates.SessionUpdate, ...]) -> Session:
            session = self._session(session_id, workplace, attend=None, conversation=snapshot(source.conversation))
            session.apply(updates.Reconnected(remembers=True, forked_from=title))
            return self._table.add(session, state, is_fork=True)

        return await self._opened(workplace, self.connection.new_session(workplace, register, source.session_id))

    async def load_session(
        self, session_id: facts.SessionId, cwd: Path, attend: Attend | None = None, **added: Unpack[Added]
    ) -> Session:
        """Open a session that the agent has kept. When this returns, the conversation contains its history.

        If the session is already open, one with a fresh conversation replaces it (R-SESS-5); if the agent refuses, it
        stays. Raises what `new_session` raises, OpeningInProgress, and PromptInProgress if the session is in the middle
        of a turn.
        """
        self._require(self.capabilities.load_session, "loading sessions (loadSession)")
        known = self.sessions.get(session_id)
        if known is not None and not known.conversation.is_idle:
            raise errors.PromptInProgress("the session is in the middle of a turn", hint="wait, or cancel the turn")
        workplace = self._workplace(cwd, **added)
        session = self._session(session_id, workplace, attend)
        return await self._reopen(session, workplace, self.connection.load_session)

    async def resume_session(
        self,
        session_id: facts.SessionId,
        cwd: Path,
        attend: Attend | None = None,
        *,
        earlier: Session | None = None,
        **added: Unpack[Added],
    ) -> Session:
        """Resume a session that the agent has kept, without its history. It continues below the history of `earlier`.

        If the session is already open, it keeps its conversation and its listeners (R-SESS-6). Raises what
        `new_session` raises, and OpeningInProgress.
        """
        self._require(self.capabilities.resume_session, "resuming sessions (sessionCapabilities.resume)")
        workplace = self._workplace(cwd, **added)
        known = self.sessions.get(session_id)
        if known is not None:
            return await self._resume_open(known, workplace, attend)
        session = self._session(session_id, workplace, attend, earlier)
        if earlier is None:
            return await self._reopen(session, workplace, self.connection.resume_session)
        why = UNHEARD if earlier.has_missed else ""
        session.apply(updates.Reconnected(remembers=True, why=why, is_same=earlier.is_cut_off))
        try:
            return await self._reopen(session, workplace, self.connection.resume_session)
        except errors.ClientError as error:
            session.disconnect(str(error))
            raise

    async def open_session(
        self,
        session_id: facts.SessionId,
        cwd: Path,
        attend: Attend | None = None,
        *,
        earlier: Session | None = None,
        **added: Unpack[Added],
    ) -> Session:
        """Load a session if the agent can, otherwise resume it below the history of `earlier` (R-SESS-10).

        Raises Unsupported if it can do neither.
        """
        can_open = self.capabilities.load_session or self.capabilities.resume_session
        self._require(can_open, "opening old sessions (loadSession, sessionCapabilities.resume)")
        if self.capabilities.load_session:
            return await self.load_session(session_id, cwd, attend, **added)
        return await self.resume_session(session_id, cwd, attend, earlier=earlier, **added)

    def _session(
        self,
        session_id: facts.SessionId,
        workplace: roles.Workplace,
        attend: Attend | None,
        earlier: Session | None = None,
        conversation: Conversation | None = None,
    ) -> Session:
        session = Session(
            session_id,
            workplace.cwd,
            self.connection,
            self._table.quirks,
            self._explain,
            additional_directories=workplace.additional_directories,
            capabilities=self.capabilities,
            policy=self._policy,
            earlier=earlier,
            conversation=conversation,
            keys=self._question_keys,
            agent=self.command.name,
            sandbox=self.sandbox,
            is_boxed=bool(self.sandbox_name),
        )
        session.recorder = self._recorder
        session.borrow(self._lent(workplace))
        if attend is not None:
            attend(session)
        return session

    def _workplace(
        self, cwd: Path, additional_directories: Sequence[Path] = (), mcp_servers: Sequence[roles.McpServer] = ()
    ) -> roles.Workplace:
        """Check what would be sent. Raises Unsupported for what the agent must not be sent (R-DIR-1, R-MCP-2).

        A sandbox has the folders it was made with.
        """
        for folder in (cwd, *additional_directories):
            if not self.can_work_in(folder):
                raise errors.Unsupported(
                    f"{folder} isn't in the agent's sandbox",
                    hint="start another agent in that folder, or restart this one",
                )
        can_reach = {"http": self.capabilities.mcp_http, "sse": self.capabilities.mcp_sse}
        for server in mcp_servers:
            if isinstance(server, facts.StdioServer) and server.runs_here:
                self._require(self.capabilities.mcp_acp, "MCP servers that run here (mcpCapabilities.acp)")
            elif isinstance(server, facts.HttpServer):
                what = f"MCP servers over {server.kind} (mcpCapabilities.{server.kind})"
                self._require(can_reach[server.kind], what)
            else:
                self._require(self.capabilities.mcp_stdio, "MCP servers that it starts (mcp.stdio)")
        if additional_directories:
            what = "additional directories (sessionCapabilities.additionalDirectories)"
            self._require(self.capabilities.additional_directories, what)
        servers = (
            self._lend(cwd, server) if isinstance(server, facts.StdioServer) and server.runs_here else server
            for server in mcp_servers
        )
        return roles.Workplace(cwd, tuple(additional_directories), tuple(servers), self.system_prompt)

    async def _opened(self, workplace: roles.Workplace, request: Awaitable[Session]) -> Session:
        with self._in_phase(Phase.OPENING):
            self._table.early.await_new()
            try:
                session = await self._asked_to_open(workplace, request)
            finally:
                self._table.early.end_awaiting()
            await self._table.close_retired()
            self._set_phase(Phase.READY)
        return session

    async def _reopen(
        self, session: Session, workplace: roles.Workplace, request: Callable[..., Awaitable[None]]
    ) -> Session:
        on_opened = partial(self._table.finish, session)
        on_refused = partial(self._table.give_up, session)
        with self._in_phase(Phase.OPENING):
            try:
                self._table.begin(session)
                await self._ask(request(session.session_id, workplace, on_opened, on_refused))
            except errors.AgentLost:
                session.has_missed = True  # whoever shows it already lacks the rest of its history
                on_refused()  # no caller can answer them anymore
                raise
            except BaseException as error:
                if isinstance(error, errors.AgentRefused):
                    error.hint = "\n".join(filter(None, (error.hint, self._table.quirks.why_not_loaded)))
                await end_servers(self._lent(workplace))
                raise
            finally:
                await self._table.close_retired()
            self._set_phase(Phase.READY)
        return session

    async def _resume_open(self, session: Session, workplace: roles.Workplace, attend: Attend | None) -> Session:
        def resumed(state: tuple[updates.SessionUpdate, ...]) -> None:
            session.move(workplace.cwd, workplace.additional_directories)
            if attend is not None:
                attend(session)
            for update in state:
                session.apply(update)

        call = self.connection.resume_session(session.session_id, workplace, resumed, lambda: None)
        await self._asked_to_open(workplace, call)
        await end_servers(session.borrow(self._lent(workplace)))
        return session

    async def _asked_to_open(self, workplace: roles.Workplace, call: Awaitable[T]) -> T:
        """As `_ask`. If it fails, nothing needs the MCP servers that run here for the session."""
        try:
            return await self._ask(call)
        except BaseException:
            await end_servers(self._lent(workplace))
            raise

    async def list_sessions(self, cwd: Path | None = None, cursor: str | None = None) -> facts.SessionPage:
        """A page of the sessions that the agent knows: all of them, or those of `cwd`. Without a cursor, the first.

        Raises Unsupported. The agent refuses a cursor that it doesn't know, or no longer (R-SESS-9).
        """
        self._require(self.capabilities.list_sessions, "listing sessions (sessionCapabilities.list)")
        try:
            return await self._ask(self.connection.list_sessions(cwd, cursor))
        except errors.AgentRefused as error:
            if cursor is not None and error.code == ErrorCode.INVALID_PARAMS:
                error.hint = "list the sessions from the first page on"
            raise

    async def all_sessions(self, cwd: Path | None = None) -> list[facts.SessionSummary]:
        """All pages of its list. Raises Unsupported, AgentRefused, and AgentLost."""
        page = await self.list_sessions(cwd)
        listed = list(page.sessions)
        while page.sessions and page.next_cursor is not None:
            page = await self.list_sessions(cwd, page.next_cursor)
            listed += page.sessions
        return listed

    async def session_status(self, session_id: facts.SessionId) -> facts.SessionStatus | None:
        """What the agent says of a session now; None if it can't be asked, or doesn't say."""
        if not self.capabilities.session_status or self.lost is not None:
            return None
        with suppress(errors.AgentRefused):  # it may have been deleted meanwhile
            return await self._ask(self.connection.session_status(session_id))
        return None

    async def close_session(self, session: Session) -> None:
        """End a session here, and at the agent if possible. What was said stays readable.

        Cancels its turn, withdraws its questions, and ends its terminals. Raises nothing: an agent that no longer knows
        the session, is gone, or doesn't answer counts as having closed it (R-SESS-7).
        """
        if session.is_closed:
            return  # another session may be open under its ID
        if not self.capabilities.close_session:
            session.cancel()
        session.close()
        try:
            if self.capabilities.close_session and session.conversation.is_connected:
                # The request goes out before the answers to the questions, because their tasks haven't run yet.
                with suppress(errors.ClientError), anyio.move_on_after(CLOSE_LIMIT_S):
                    await self._ask(self.connection.close_session(session.session_id))
        finally:
            self._table.remove(session)
            if self._recorder is not None:
                self._recorder.closed(session.session_id)
            await session.aclose()

    async def delete_session(self, session_id: facts.SessionId) -> None:
        """Have the agent delete a session, closing it first if it's open (R-SESS-11). Raises Unsupported."""
        self._require(self.capabilities.delete_session, "deleting sessions (sessionCapabilities.delete)")
        session = self.sessions.get(session_id)
        if session is not None:
            await self.close_session(session)
        await self._ask(self.connection.delete_session(session_id))

    async def archive_session(self, session_id: facts.SessionId, is_archived: bool) -> None:
        """Have the agent archive or unarchive a session. Does nothing if the agent doesn't offer that."""
        if self.capabilities.archive and self.lost is None:
            await self._ask(self.connection.archive_session(session_id, is_archived))

    # Questions outside any session

    @property
    def elicitations(self) -> dict[facts.RequestKey, elicitation.Elicitation]:
        """Questions outside any session that wait for the user, oldest first. Read-only."""
        return self.outside.elicitations

    def _apply_outside(self, update: updates.SessionUpdate) -> None:
        self._start_limit.deadline = math.inf
        if self._recorder is not None:
            self._recorder.own(None, update)
        reducer.apply(self.outside, update)
        if self.on_elicitations is not None:
            self.on_elicitations()

    # Beyond the protocol

    async def send_extension(self, method: str, params: Any) -> Any:
        """Send an extension request with just these params; return its raw result. Raises ValueError without "_"."""
        _require_extension(method)
        return await self._ask(self.connection.peer.request(method, params))

    def notify_extension(self, method: str, params: Any) -> None:
        """Send an extension notification, unless the agent is lost. Raises ValueError for a name without "_"."""
        _require_extension(method)
        with suppress(RpcError):
            self.connection.peer.notify(method, params)

    # Errors

    async def _ask(self, call: Awaitable[T]) -> T:
        """Await a request and turn its errors into client errors."""
        try:
            return await call
        except (RpcError, MalformedMessage) as error:
            raise await self._explain(error) from error
        except UnsupportedVersion as error:
            self.lost = self._unsupported(error.versions)
            raise self.lost from error

    def _unsupported(self, theirs: Sequence[int]) -> errors.UnsupportedProtocol:
        asked = self.command.protocol
        ours = shown_versions(VERSIONS) if asked is None else f"only version {asked}, as you asked,"
        hint = "update the agent or acp-tui"
        if asked is not None and asked not in theirs:
            hint = "remove --protocol, or `protocol` in agents.toml"
        elif common := [version for version in VERSIONS if version in theirs]:
            hint = f"start it with --protocol {common[-1]}"
        return errors.UnsupportedProtocol(
            f"{self.title} speaks {shown_versions(theirs)} of ACP, and acp-tui speaks {ours}".rstrip(","), hint=hint
        )

    async def _explain(self, error: RpcError | MalformedMessage) -> errors.ClientError:
        """Turn a connection error into one for the user. For a lost connection, that's how the agent ended."""
        if isinstance(error, RequestFailed):
            return self._refused(error)
        if isinstance(error, MalformedMessage):
            return errors.AgentLost(f"{self.title} broke the protocol: {error}")
        if self.lost is None and not self.connection.is_lost:
            return errors.SessionClosed("the session was closed elsewhere", hint="open it again, or start a new one")
        # The task that reads the connection learns more than the lost request: the exit code and the rest of stderr.
        with anyio.move_on_after(2 * EXIT_GRACE_S):
            await self._lost_known.wait()
        return self.lost or self.give_up(f"{self.title} broke the protocol: {error}")

    def give_up(self, message: str, hint: str = "") -> errors.AgentLost:
        """End an agent that is alive but doesn't listen or respond."""
        lost = self._end(message, hint)
        self._scope.cancel()
        return lost

    def _refused(self, error: RequestFailed) -> errors.ClientError:
        detail, told = error.detail or "", read_error_facts(error.data)
        said = told.heard(time.time()) if told is not None else None
        if error.code != AUTH_REQUIRED:
            hint, message = "\n".join(wording.error_words(told)), f"{self.title}: {in_words(error.message)}"
            return errors.AgentRefused(message, code=error.code, hint=hint, detail=detail, said=said)
        needed = errors.AuthenticationRequired(
            f"{self.title} needs you to log in first", self.auth_methods, detail=detail or error.message, said=said
        )
        names = ", ".join(method.name for method in needed.methods) or "it doesn't list any"
        others = wording.error_words(told and replace(told, auth_methods=()))
        needed.hint = "\n".join((*others, f"its login methods: {names}"))
        return needed
