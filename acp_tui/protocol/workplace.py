"""Where a session works and what it can reach, as a client tells any agent; which version writes it does not matter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol, TypeAlias, runtime_checkable


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
