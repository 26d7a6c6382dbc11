"""What an agent says of itself in the handshake, and where a session works, as plain values of any protocol version."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol, TypeAlias, runtime_checkable

from acp_tui.conversation.content import Meta


@dataclass(frozen=True, slots=True)
class AgentCapabilities:
    """What the agent supports; what it did not mention is unsupported (R-INIT-5)."""

    load_session: bool = False
    list_sessions: bool = False
    delete_session: bool = False
    resume_session: bool = False
    close_session: bool = False
    additional_directories: bool = False
    image: bool = False
    audio: bool = False
    embedded_context: bool = False
    mcp_http: bool = False
    mcp_sse: bool = False
    logout: bool = False
    meta: Meta | None = None


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
