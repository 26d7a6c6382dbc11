"""What an agent says of itself in the handshake, as plain values; which protocol version said it does not matter."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

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
