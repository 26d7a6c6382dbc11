"""What agent and client are to each other, as plain values of any protocol version.

The agent says who it is and what it can do; the client says where a session works, what it offers, and does that: the
protocol adapters call its `ClientHandler`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Any, Literal, Protocol, TypeAlias, runtime_checkable

from acp_tui.conversation.content import Meta
from acp_tui.conversation.elicitation import Elicitation, FormValues
from acp_tui.conversation.facts import (
    AskedCommand,
    PermissionOption,
    PermissionRequest,
    RequestKey,
    SessionId,
)
from acp_tui.conversation.tool_calls import TerminalId, ToolCallPatch
from acp_tui.conversation.updates import ElicitationAction, SessionUpdate
from acp_tui.values import dataclass


@dataclass(frozen=True, slots=True)
class AgentCapabilities:
    """What the agent supports; what it did not mention is unsupported (R-INIT-5)."""

    load_session: bool = False
    list_sessions: bool = False
    delete_session: bool = False
    resume_session: bool = False
    close_session: bool = False
    fork_session: bool = False
    """A draft that agents ship, as is `steering`."""
    set_title: bool = False
    archive: bool = False
    """Drafts, too: sessions are renamed and put away by the client."""
    steering: bool = False
    """A prompt may join the turn that runs (`_session/steering`)."""
    more_prompts: bool = False
    """A prompt may be sent while a turn runs; the agent takes it up when it can."""
    additional_directories: bool = False
    image: bool = False
    audio: bool = False
    embedded_context: bool = False
    mcp_stdio: bool = True
    mcp_http: bool = False
    mcp_sse: bool = False
    logout: bool = False
    acts_itself: bool = False
    """It reads and writes files and runs commands itself, never through the client, which cannot confine it."""
    meta: Meta | None = None

    @property
    def takes_prompts_at_work(self) -> bool:
        """Whether one may be sent while a turn runs, in one way or the other."""
        return self.steering or self.more_prompts


@dataclass(frozen=True, slots=True)
class AgentIdentity:
    """Who the agent says it is."""

    name: str
    version: str
    title: str | None = None


@dataclass(frozen=True, slots=True)
class AuthMethod:
    """One way to log in to the agent."""

    method_id: str
    name: str
    description: str | None = None
    kind: Literal["agent", "terminal"] = "agent"
    """"agent": the agent does it itself when asked; "terminal": the user does it in a terminal of its own."""
    args: tuple[str, ...] = ()
    """Appended to the agent's own arguments; only for "terminal"."""
    env: Mapping[str, str] = field(default_factory=dict)
    """Added to the agent's own environment; only for "terminal"."""
    meta: Meta | None = None


@dataclass(frozen=True, slots=True)
class Agreement:
    """What a handshake has brought."""

    version: int
    """Of the protocol, as the agent wrote it."""
    identity: AgentIdentity | None
    capabilities: AgentCapabilities
    auth_methods: tuple[AuthMethod, ...]


class StdioServer(Protocol):
    """An MCP server that the agent starts."""

    @property
    def name(self) -> str: ...
    @property
    def command(self) -> str: ...
    @property
    def args(self) -> Sequence[str]: ...
    @property
    def env(self) -> Sequence[tuple[str, str]]: ...


@runtime_checkable
class HttpServer(Protocol):
    """An MCP server that the agent reaches over the network."""

    @property
    def kind(self) -> Literal["http", "sse"]: ...
    @property
    def name(self) -> str: ...
    @property
    def url(self) -> str: ...
    @property
    def headers(self) -> Sequence[tuple[str, str]]: ...


McpServer: TypeAlias = StdioServer | HttpServer


@dataclass(frozen=True, slots=True)
class Workplace:
    """The directories of a session and its MCP servers."""

    cwd: Path
    """Absolute."""
    additional_directories: tuple[Path, ...] = ()
    """Absolute too; all of them, each time a session is opened (R-DIR-1)."""
    mcp_servers: tuple[McpServer, ...] = ()

    def __post_init__(self) -> None:
        relative = [path for path in self.directories if not path.is_absolute()]
        if relative:
            raise ValueError(f"not an absolute path: {', '.join(map(str, relative))}")

    @property
    def directories(self) -> tuple[Path, ...]:
        """All of them, the working directory first."""
        return (self.cwd, *self.additional_directories)


@dataclass(frozen=True, slots=True)
class ClientOffer:
    """What the client does for agents; what is off here is neither advertised nor served."""

    read_text_file: bool = True
    write_text_file: bool = True
    terminal: bool = True
    boolean_options: bool = True
    """Options of a session that are on or off are shown."""
    notices: bool = True
    compaction: bool = True
    subagents: bool = True
    """What the agent's own agents say is shown; a draft."""
    elicitation_form: bool = False
    """The user can be shown a form: only where something draws one."""
    elicitation_url: bool = False
    """The user can be asked to visit a page."""
    auth_terminal: bool = False
    """The user can be given a terminal to log in to the agent, on the machine that the agent runs on (R-AUTH-8)."""
    trace_context: Mapping[str, str] = field(default_factory=dict)
    """W3C trace context for every request to the agent: traceparent, tracestate, baggage; no other key is sent."""
    meta: Meta = field(default_factory=dict)
    """What is said of these capabilities beyond the protocol."""


@dataclass(frozen=True, slots=True)
class PermissionQuestion:
    """What an agent asks the user to allow; `PermissionRequest` says what the fields mean."""

    patch: ToolCallPatch
    """What the question says of its tool call; for one that is about none, of what stands for it."""
    options: tuple[PermissionOption, ...]
    meta: Meta | None = None
    title: str | None = None
    description: str | None = None
    command: AskedCommand | None = None
    is_alone: bool = False

    def parked(self, key: RequestKey) -> PermissionRequest:
        """As it waits for the user."""
        return PermissionRequest(
            key,
            self.patch.tool_call_id,
            self.options,
            self.meta,
            title=self.title,
            description=self.description,
            command=self.command,
            is_alone=self.is_alone,
        )


@dataclass(frozen=True, slots=True)
class ElicitationAnswer:
    """What the user made of an elicitation."""

    action: ElicitationAction
    values: FormValues | None = None
    """What a form was accepted with; None for everything else."""


class ExitStatus(Protocol):
    """How a terminal's command ended; just one of the two is set."""

    @property
    def exit_code(self) -> int | None: ...
    @property
    def signal(self) -> str | None: ...


class TerminalSnapshot(Protocol):
    """What a terminal printed so far."""

    @property
    def output(self) -> str: ...
    @property
    def truncated(self) -> bool: ...
    @property
    def exit_status(self) -> ExitStatus | None: ...


class ClientHandler(Protocol):
    """The client role. Methods raise RequestFailed to refuse; plain methods run inside the read loop, in wire order."""

    def on_update(self, session_id: SessionId, update: SessionUpdate) -> None:
        """A session says something; the session may be one that is only about to be opened."""

    def on_dropped(self, what: str, why: str, raw: bytes | None = None) -> None:
        """Something came that cannot be understood, and was left out; `raw` is the line where it was not JSON."""

    def request_permission(
        self, session_id: SessionId, question: PermissionQuestion
    ) -> Awaitable[str | None]:
        """Ask the user, now; the awaitable gives the id of the chosen option, or None for cancelled."""

    def elicit(self, session_id: SessionId | None, elicitation: Elicitation) -> Awaitable[ElicitationAnswer]:
        """Put a question to the user, now; its key is the client's to give. None: it belongs to no session."""

    def on_elicitation_complete(self, elicitation_id: str) -> None:
        """The agent says that what was to be done on a page is done; it may be one that we do not know."""

    def serve_extension(self, method: str, params: Any) -> Awaitable[Any]:
        """Take up a request beyond the protocol, now; the awaitable gives the result."""

    def on_extension(self, method: str, params: Any) -> None:
        """A notification beyond the protocol."""

    async def read_text_file(
        self, session_id: SessionId, path: str, line: int | None, limit: int | None
    ) -> str:
        """The text of a file, or of `limit` lines from the 1-based `line` on."""

    async def write_text_file(self, session_id: SessionId, path: str, content: str) -> None:
        """Write a file, whole."""

    async def create_terminal(
        self,
        session_id: SessionId,
        command: str,
        args: Sequence[str],
        env: Sequence[tuple[str, str]],
        cwd: str | None,
        output_limit_bytes: int | None,
    ) -> TerminalId:
        """Start a command in a terminal."""

    def terminal_output(self, session_id: SessionId, terminal_id: TerminalId) -> TerminalSnapshot:
        """What a terminal printed so far."""

    async def wait_for_terminal_exit(self, session_id: SessionId, terminal_id: TerminalId) -> ExitStatus:
        """Wait until a terminal's command has ended."""

    async def kill_terminal(self, session_id: SessionId, terminal_id: TerminalId) -> None:
        """End a terminal's command; the terminal stays."""

    async def release_terminal(self, session_id: SessionId, terminal_id: TerminalId) -> None:
        """End a terminal's command and forget the terminal."""
