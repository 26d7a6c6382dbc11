"""What a recording contains, as values. `lines` writes and reads them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any, TypeAlias

from acp_tui.conversation.facts import SessionId
from acp_tui.conversation.updates import SessionUpdate
from acp_tui.rpc import Direction
from acp_tui.values import dataclass


@dataclass(frozen=True, slots=True)
class Header:
    """The first line: what was recorded, where, and by which version."""

    agent: str
    """The name of its command. The agent's own name is in its answer to `initialize`."""
    argv: tuple[str, ...]
    """Without secrets."""
    env_names: tuple[str, ...] = ()
    """The names of the variables set for the command. The values aren't kept."""
    client: str = ""
    """acp-tui's version."""
    cwd: str = ""
    screen: tuple[int, int] | None = None
    """Columns and rows; None if there was no screen."""
    started_at: str = ""
    """ISO 8601, UTC."""
    is_raw: bool = False
    """Secrets weren't masked."""
    version: int = 1
    sandbox: str = ""
    """The name of the sandbox that the agent ran in; "" for none."""
    pid: int | None = None
    """The process that recorded; None if it isn't known."""


@dataclass(frozen=True, slots=True)
class Frame:
    """A line on the agent's stdin or stdout, even if invalid, as bytes without the newline."""

    at: float
    """Seconds since the start, here and below."""
    direction: Direction
    data: bytes


@dataclass(frozen=True, slots=True)
class Stderr:
    """A line on the agent's stderr, without the newline."""

    at: float
    data: bytes


@dataclass(frozen=True, slots=True)
class OwnAction:
    """An action by the user or acp-tui that isn't in any frame: an answer, a cancel, bytes of one of our terminals."""

    at: float
    session_id: SessionId | None
    """None if it belongs to no session."""
    update: SessionUpdate
    """For a PromptSent, only the notes if the frame after it contains the prompt."""


@dataclass(frozen=True, slots=True)
class Closed:
    """The user closed a session. What the agent says about it afterward is ignored."""

    at: float
    session_id: SessionId


@dataclass(frozen=True, slots=True)
class Resized:
    at: float
    columns: int
    rows: int


@dataclass(frozen=True, slots=True)
class TerminalCut:
    """This many bytes of a terminal's output were left out, from here to its end."""

    at: float
    terminal_id: str
    dropped_bytes: int


@dataclass(frozen=True, slots=True)
class Dropped:
    """This many events are missing here: they came faster than they could be written, or exceeded the file's limit."""

    at: float
    events: int
    why: str


@dataclass(frozen=True, slots=True)
class Restarted:
    """Another recording begins: the agent was started again. Its times follow those before."""

    at: float
    header: Header


@dataclass(frozen=True, slots=True)
class Exited:
    """The agent's process has ended."""

    at: float
    how: str


@dataclass(frozen=True, slots=True)
class UnknownEvent:
    """An event of a kind that this version doesn't know or can't read."""

    at: float
    kind: str
    fields: Mapping[str, Any] = field(default_factory=dict)


Event: TypeAlias = (
    Frame | Stderr | OwnAction | Closed | Resized | TerminalCut | Dropped | Restarted | Exited | UnknownEvent
)
