"""The roles of agent and client, as plain values for all protocol versions.

The agent says who it is and what it can do. The client says where a session works and what it offers, and does it:
the protocol adapters call its `ClientHandler`.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Any, Final, Literal, Protocol, TypeAlias

from acp_tui.conversation.content import Meta
from acp_tui.conversation.elicitation import Elicitation, FormValues
from acp_tui.conversation.facts import AuthMethod, AuthStatus, HttpServer, SessionId, StdioServer
from acp_tui.conversation.tool_calls import TerminalId
from acp_tui.conversation.updates import ElicitationAction, PermissionAsked, SessionUpdate, TerminalExit
from acp_tui.values import dataclass

PromptMode: TypeAlias = Literal["append", "override"]
"""Whether a system prompt follows the agent's own instructions or replaces them."""


@dataclass(frozen=True, slots=True)
class AgentCapabilities:
    """What the agent supports. What it doesn't mention is unsupported (R-INIT-5)."""

    load_session: bool = False
    list_sessions: bool = False
    delete_session: bool = False
    resume_session: bool = False
    close_session: bool = False
    fork_session: bool = False
    """A draft that agents ship, like `steering`."""
    set_title: bool = False
    archive: bool = False
    """Drafts, too: the client can rename and archive sessions."""
    session_status: bool = False
    auth_status: bool = False
    """Drafts: the client can ask what a session does, and who is logged in."""
    steering: bool = False
    """Whether a prompt can join the running turn (`_session/steering`)."""
    more_prompts: bool = False
    """Whether you can send a prompt during a turn; the agent accepts it when it can."""
    additional_directories: bool = False
    image: bool = False
    audio: bool = False
    embedded_context: bool = False
    mcp_stdio: bool = True
    mcp_http: bool = False
    mcp_sse: bool = False
    mcp_acp: bool = False
    """Whether it reaches MCP servers that the client runs, over its connection to the client; a draft."""
    logout: bool = False
    system_prompt: frozenset[PromptMode] = frozenset()
    """How it can use a system prompt of the client's; empty if it takes none."""
    providers: bool = False
    """Whether the client can choose who serves its models; a draft."""
    acts_itself: bool = False
    """Whether it accesses files and runs commands itself, never through the client, so the client can't confine it."""
    meta: Meta | None = None

    @property
    def takes_prompts_at_work(self) -> bool:
        return self.steering or self.more_prompts


GEMINI_LOSES: Final = (
    "Gemini CLI loses sessions: one that is resumed in the minute in which it began; and one that was resumed, when"
    " Gemini starts again. Against the second, set"
    ' "general": {"sessionRetention": {"enabled": false}} in ~/.gemini/settings.json.'
)
CLAUDE_LAGS: Final = (
    "After a canceled turn, this version of Claude Agent may answer each prompt one prompt late:"
    " restart it (/restart), then send yours again."
)


@dataclass(frozen=True, slots=True)
class Quirks:
    """Deviations from what others do. All are off for an agent that isn't listed."""

    missing_file_reads_empty: bool = False
    """Answer fs/read_text_file for a missing file with "" instead of an error."""
    tells_own_words: bool = False
    """Leave out chunks of the user's words that consist of nothing but the agent's own marks."""
    why_not_loaded: str = ""
    """What the user should know when it refuses to load a session."""
    login_notes: Mapping[str, str] = field(default_factory=dict)
    """What the user should know about a login method, by its ID."""
    why_silent: str = ""
    """What the user should know when the turn after a canceled one ends without a word."""

    def leaves_out(self, words: str) -> bool:
        """Whether this chunk of the user's words isn't theirs. A text that only contains such marks is."""
        return self.tells_own_words and _consists_of_marks(words.strip())


def quirks_of(agent_name: str) -> Quirks:
    """The quirks for the name that an agent reports in its initialize response."""
    # gemini-cli 0.61.0 reads a file before writing it, and on any error gives up writing a *new* file. Editors happen
    # to answer "" because they open an empty buffer. A loaded session begins with its own context, as the user's words.
    # When it loads a session, it first writes an empty file of the same name, but for the minute. In the same minute,
    # that empties the session. Later, it takes the empty file for a session to delete at its next start, and deletes
    # all files with this ID.
    if agent_name == "gemini-cli":
        return Quirks(
            missing_file_reads_empty=True,
            tells_own_words=True,
            why_not_loaded=GEMINI_LOSES,
            login_notes={"gemini-api-key": "set GEMINI_API_KEY before you start"},
        )
    # @zed-industries/claude-agent-acp 0.23.1 tells a loaded session from Claude's own record, in which setting a model
    # is a command that the user typed, and a canceled turn ends with a line. Its successor, @agentclientprotocol's
    # 0.101.0, leaves out the commands, but not the line. After a cancel while it asks, the former ends the next turn
    # with the end of the canceled one, and so on: each answer comes with the prompt after its own.
    if agent_name in ("@zed-industries/claude-agent-acp", "@agentclientprotocol/claude-agent-acp"):
        return Quirks(tells_own_words=True, why_silent=CLAUDE_LAGS if agent_name.startswith("@zed-") else "")
    return Quirks()


_MARK: Final = re.compile(
    r"\s*(?:<(command-(?:name|message|args)|local-command-(?:stdout|stderr|caveat)|session_context)>"
    r"|\[(?:Function Response: |Request interrupted by user)[^\]]*\])"
)


def _consists_of_marks(words: str) -> bool:
    at = 0
    while at < len(words):
        opened = _MARK.match(words, at)
        if opened is None:
            return False
        close = f"</{opened[1]}>" if opened[1] else ""
        end = words.find(close, opened.end())
        if end < 0:
            return False
        at = end + len(close)
    return bool(words)


@dataclass(frozen=True, slots=True)
class AgentIdentity:
    """The agent's name and version, as it reports them."""

    name: str
    version: str
    title: str | None = None

    @property
    def quirks(self) -> Quirks:
        return quirks_of(self.name)


@dataclass(frozen=True, slots=True)
class Agreement:
    version: int
    """The protocol version, as the agent wrote it."""
    identity: AgentIdentity | None
    capabilities: AgentCapabilities
    auth_methods: tuple[AuthMethod, ...]
    modes: tuple[SessionUpdate, ...] = ()
    """The modes of a new session, if the agent says them before there is one."""


@dataclass(frozen=True, slots=True)
class AcpServer:
    """An MCP server that the client runs, and that the agent reaches over its connection to the client."""

    name: str
    server_id: str


McpServer: TypeAlias = StdioServer | HttpServer | AcpServer


@dataclass(frozen=True, slots=True)
class SystemPrompt:
    """Instructions of the client's for all of a session."""

    text: str
    mode: PromptMode = "append"


@dataclass(frozen=True, slots=True)
class Workplace:
    cwd: Path
    """Absolute."""
    additional_directories: tuple[Path, ...] = ()
    """Absolute. The full list, each time a session is opened (R-DIR-1)."""
    mcp_servers: tuple[McpServer, ...] = ()
    system_prompt: SystemPrompt | None = None
    """The same one each time a session is opened."""

    def __post_init__(self) -> None:
        relative = [path for path in self.directories if not path.is_absolute()]
        if relative:
            raise ValueError(f"not an absolute path: {', '.join(map(str, relative))}")

    @property
    def directories(self) -> tuple[Path, ...]:
        """All folders, the working directory first."""
        return (self.cwd, *self.additional_directories)


@dataclass(frozen=True, slots=True)
class ClientOffer:
    """What the client offers to agents, besides what it always shows. What is off is neither advertised nor served."""

    read_text_file: bool = True
    write_text_file: bool = True
    terminal: bool = True
    elicitation_form: bool = False
    """Whether the user can be shown a form; only where something draws one."""
    elicitation_url: bool = False
    """Whether the user can be asked to visit a page."""
    auth_terminal: bool = False
    """Whether the user can log in to the agent in a terminal, on the agent's machine (R-AUTH-8)."""
    is_for_host: bool = False
    """The agent is a host of ours. Only from a host is our own key in a question's `_meta` read: it has our words."""
    trace_context: Mapping[str, str] = field(default_factory=dict)
    """For every request to the agent: traceparent, tracestate, baggage, and requestId. Other keys aren't sent."""
    meta: Meta = field(default_factory=dict)
    """Additions to these capabilities beyond the protocol."""


@dataclass(frozen=True, slots=True)
class ElicitationAnswer:
    action: ElicitationAction
    values: FormValues | None = None
    """The values a form was accepted with; None for anything else."""


@dataclass(frozen=True, slots=True)
class TerminalSnapshot:
    """What a terminal has printed so far, for an agent."""

    output: str
    """Plain text: see `plain_text`. Never longer than the limit, in bytes of UTF-8."""
    truncated: bool
    """Whether anything was dropped at the start of `output`."""
    exit_status: TerminalExit | None
    """None while the command runs."""


class FilesAndTerminals(Protocol):
    """What an agent may use in one session. Methods raise RequestFailed to refuse."""

    async def read_text_file(self, path: str, line: int | None, limit: int | None) -> str:
        """Return the text of a file, or `limit` lines from the 1-based `line` on."""

    async def write_text_file(self, path: str, content: str) -> None: ...

    async def create_terminal(
        self,
        command: str,
        args: Sequence[str],
        env: Sequence[tuple[str, str]],
        cwd: str | None,
        output_limit_bytes: int | None,
    ) -> TerminalId: ...

    def terminal_output(self, terminal_id: TerminalId) -> TerminalSnapshot: ...

    async def wait_for_terminal_exit(self, terminal_id: TerminalId) -> TerminalExit: ...

    async def kill_terminal(self, terminal_id: TerminalId) -> None:
        """End a terminal's command. The terminal stays."""

    async def release_terminal(self, terminal_id: TerminalId) -> None:
        """End a terminal's command and forget the terminal."""


class ClientHandler(Protocol):
    """The client role. Methods raise RequestFailed to refuse. Sync methods run inside the read loop, in wire order."""

    def on_update(self, session_id: SessionId, update: SessionUpdate) -> None:
        """Handle an update of a session, which may still be opening."""

    def on_dropped(self, what: str, why: str, raw: bytes | None = None) -> None:
        """Handle invalid input that was dropped. `raw` is the line if it wasn't JSON."""

    def request_permission(self, session_id: SessionId, asked: PermissionAsked) -> Awaitable[str | None]:
        """Ask the user now. The awaitable returns the ID of the chosen option, or None if canceled."""

    def elicit(self, session_id: SessionId | None, elicitation: Elicitation) -> Awaitable[ElicitationAnswer]:
        """Ask the user now. The client assigns the question's key. `session_id` is None if it belongs to no session."""

    def on_auth_status(self, status: AuthStatus) -> None:
        """Handle the agent's report of who is logged in."""

    def ask_mcp_server(
        self, server_id: str, request_id: str, method: str, params: Mapping[str, Any] | None
    ) -> Awaitable[Any]:
        """Pass a request on to an MCP server that the agent was given. The awaitable returns its outcome."""

    def on_elicitation_complete(self, elicitation_id: str) -> None:
        """Handle the agent's report that a page is done. The ID may be unknown."""

    def on_extension(self, method: str, params: Any) -> None:
        """Handle a notification beyond the protocol."""

    def client_tools(self, session_id: SessionId) -> FilesAndTerminals: ...
