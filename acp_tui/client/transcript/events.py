"""What a recording holds, as values; how they are written is `lines`'."""

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
    """The first line: what was recorded, where and by whom."""

    agent: str
    """The name of its command; what it calls itself stands in its answer to `initialize`."""
    argv: tuple[str, ...]
    """Without secrets."""
    env_names: tuple[str, ...] = ()
    """Of what was set for the command; the values are not kept."""
    client: str = ""
    """acp-tui's version."""
    cwd: str = ""
    screen: tuple[int, int] | None = None
    """Columns and rows; None: there was none."""
    started_at: str = ""
    """ISO 8601, UTC."""
    is_raw: bool = False
    """Secrets were not masked."""
    version: int = 1


@dataclass(frozen=True, slots=True)
class Frame:
    """A line on the agent's stdin or stdout, junk too, as its bytes without the line end."""

    at: float
    """Seconds since the start, here and below."""
    direction: Direction
    data: bytes


@dataclass(frozen=True, slots=True)
class Stderr:
    """A line that the agent wrote to stderr, without the line end."""

    at: float
    data: bytes


@dataclass(frozen=True, slots=True)
class Own:
    """What the user did, or acp-tui itself, and no frame tells: an answer, a cancel, bytes of a terminal of ours."""

    at: float
    session_id: SessionId | None
    """None: it belongs to no session."""
    update: SessionUpdate
    """Of a PromptSent only the notes, where the frame behind it holds the prompt."""


@dataclass(frozen=True, slots=True)
class Closed:
    """The user closed a session: what the agent still says of it is ignored."""

    at: float
    session_id: SessionId


@dataclass(frozen=True, slots=True)
class Resized:
    """The screen has another size."""

    at: float
    columns: int
    rows: int


@dataclass(frozen=True, slots=True)
class TerminalCut:
    """Of a terminal's output so much was left out, from here to its end."""

    at: float
    terminal_id: str
    dropped_bytes: int


@dataclass(frozen=True, slots=True)
class Dropped:
    """So many events came faster than they could be written, or were too many for the file, and are missing here."""

    at: float
    events: int
    why: str


@dataclass(frozen=True, slots=True)
class Exited:
    """The agent's process has ended."""

    at: float
    how: str


@dataclass(frozen=True, slots=True)
class UnknownEvent:
    """An event of a kind that this version does not know, or cannot read."""

    at: float
    kind: str
    fields: Mapping[str, Any] = field(default_factory=dict)


Event: TypeAlias = Frame | Stderr | Own | Closed | Resized | TerminalCut | Dropped | Exited | UnknownEvent
