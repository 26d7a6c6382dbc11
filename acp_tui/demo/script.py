"""The content of a scenario as values: its turns, their steps, and what the agent declares about itself.

Neither reads files (`reading`) nor plays anything (`playing`). Values for the wire (tool calls, content blocks, config
options) have their wire format; `session` fills in placeholders and absolute paths.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any, Final, Literal, TypeAlias

from acp_tui.values import dataclass

STORED_SESSION_METHODS: Final = ("list", "load", "resume", "delete")
"""The methods that may be offered for stored sessions."""

Wire: TypeAlias = Mapping[str, Any]
"""An object in the protocol's own format."""

DEFAULT_CHUNK_S = 0.07
DEFAULT_OPTIONS: tuple[Wire, ...] = (
    {"optionId": "allow", "name": "Allow once", "kind": "allow_once"},
    {"optionId": "always", "name": "Allow always", "kind": "allow_always"},
    {"optionId": "reject", "name": "Reject", "kind": "reject_once"},
)


@dataclass(frozen=True, slots=True)
class Say:
    """Stream Markdown: a message of the agent, a thought, or a message attributed to the user."""

    text: str
    update: Literal["agent_message_chunk", "agent_thought_chunk", "user_message_chunk"] = "agent_message_chunk"
    repeat: int = 1
    chunk_s: float = DEFAULT_CHUNK_S
    id: str | None = None
    """The scenario's name for the message. Steps with the same name share one message. None: no message ID."""


@dataclass(frozen=True, slots=True)
class Tool:
    """Announce a tool call, or change one; the first change creates it, too."""

    id: str | None
    """The scenario's name for the call. Each turn gives it a new ID. None: a call that isn't mentioned again."""
    fields: Wire
    update: Literal["tool_call", "tool_call_update"] = "tool_call_update"


@dataclass(frozen=True, slots=True)
class Read:
    """Read a file through the client, as a tool call."""

    path: str
    id: str | None = None
    line: int | None = None
    limit: int | None = None
    missing: tuple[Step, ...] = ()


@dataclass(frozen=True, slots=True)
class Write:
    """Write a file through the client, as a tool call."""

    path: str
    content: str
    id: str | None = None


@dataclass(frozen=True, slots=True)
class Permission:
    """Ask for permission, and continue with the branch that the answer chooses."""

    tool: Tool
    options: tuple[Wire, ...]
    allowed: tuple[Step, ...] = ()
    rejected: tuple[Step, ...] = ()


@dataclass(frozen=True, slots=True)
class Run:
    """Run a command to its end in a terminal of the client, embedded in a tool call."""

    command: str
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    cwd: str | None = None
    title: str | None = None
    id: str | None = None
    output_limit_bytes: int | None = None
    kill_after_s: float | None = None
    """Kills a command that doesn't end. Being killed then counts as success."""
    succeeded: tuple[Step, ...] = ()
    failed: tuple[Step, ...] = ()


@dataclass(frozen=True, slots=True)
class Elicit:
    """Ask the user a question, and continue with the branch for the answer."""

    question: Wire
    """The question in its wire format: mode, message, and the form's schema or the page's address."""
    id: str | None = None
    """The scenario's name for a page, used to complete it."""
    tool_call: str | None = None
    scope: Literal["session", "request"] = "session"
    """What the question belongs to: the session, or the prompt request and so no session."""
    accepted: tuple[Step, ...] = ()
    declined: tuple[Step, ...] = ()
    cancelled: tuple[Step, ...] = ()


@dataclass(frozen=True, slots=True)
class Complete:
    """Report that a page is complete."""

    name: str


@dataclass(frozen=True, slots=True)
class CallExtension:
    """Send an extension request, and continue with the branch for the answer."""

    method: str
    params: Wire
    answered: tuple[Step, ...] = ()
    refused: tuple[Step, ...] = ()


@dataclass(frozen=True, slots=True)
class NotifyExtension:
    method: str
    params: Wire


@dataclass(frozen=True, slots=True)
class SendNotice:
    """Send a notice, which isn't part of the history."""

    fields: Wire


@dataclass(frozen=True, slots=True)
class Compact:
    """Compact the context: begin, stream a summary, and end."""

    summary: str
    error: str | None = None
    """The error with which it fails; None: it succeeds."""
    chunk_s: float = DEFAULT_CHUNK_S


@dataclass(frozen=True, slots=True)
class Wait:
    """Wait. The speed shortens it."""

    seconds: float


@dataclass(frozen=True, slots=True)
class SendUpdate:
    """Send a session update with fixed content: a plan, an image, usage, commands, or a title."""

    update: Wire


@dataclass(frozen=True, slots=True)
class SwitchMode:
    """Change the session's mode on the agent's initiative."""

    mode_id: str


@dataclass(frozen=True, slots=True)
class ChangeConfig:
    """Change config options on the agent's initiative."""

    values: Mapping[str, str | bool]


@dataclass(frozen=True, slots=True)
class Together:
    """Play steps at the same time. Done when all are."""

    together: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class StartSubagent:
    """Start a subagent, which plays steps in its own session. Done when it is."""

    title: str
    does: tuple[Step, ...]
    description: str | None = None
    cancel: bool = False
    """Whether it can be stopped separately."""


@dataclass(frozen=True, slots=True)
class Stop:
    """End the turn here, for this reason."""

    reason: str


@dataclass(frozen=True, slots=True)
class PrintStderr:
    """Print a line on stderr."""

    text: str


@dataclass(frozen=True, slots=True)
class Fault:
    """Misbehave on purpose. `playing` defines each kind and its parameters."""

    kind: str
    parameters: Mapping[str, Any]
    late: tuple[Step, ...] = ()


Step: TypeAlias = (
    Say
    | Tool
    | Read
    | Write
    | Permission
    | Run
    | Elicit
    | Complete
    | CallExtension
    | NotifyExtension
    | SendNotice
    | Compact
    | Wait
    | SendUpdate
    | SwitchMode
    | ChangeConfig
    | Together
    | StartSubagent
    | Stop
    | PrintStderr
    | Fault
)

ASKING_STEPS: Final = (Read, Write, Permission, Run, Elicit, CallExtension)
"""The steps that wait for a response of the client."""


@dataclass(frozen=True, slots=True)
class ScriptedTurn:
    """The answer to one prompt."""

    match: re.Pattern[str] | None
    """Which prompts it answers; None: the next one that no pattern matches."""
    steps: tuple[Step, ...]
    play: str | None = None
    """The name of another scenario that answers instead."""


@dataclass(frozen=True, slots=True)
class Initialize:
    hang: bool = False
    wait_s: float = 0
    protocol_version: int | None = None
    """Always answer with this version, in the format of version 1; None: negotiate."""


@dataclass(frozen=True, slots=True)
class Auth:
    """The login. `required` refuses sessions until the user has logged in."""

    required: bool = False
    methods: tuple[Wire, ...] = ()
    logout: bool = False


@dataclass(frozen=True, slots=True)
class SessionTerms:
    """What every new session declares."""

    commands: tuple[Wire, ...] = ()
    modes: Wire | None = None
    config: tuple[Wire, ...] = ()


@dataclass(frozen=True, slots=True)
class KeptSession:
    session_id: str
    title: str | None = None
    updated_at: str | None = None
    cwd: str = "."
    """Relative to the folder of the most recently opened session."""
    history: tuple[Step, ...] = ()
    """Its history: steps that ask nothing of the client."""


@dataclass(frozen=True, slots=True)
class StoredSessions:
    """What the agent offers for stored sessions; nothing if it stores none."""

    offers: frozenset[str] = frozenset()
    """A subset of STORED_SESSION_METHODS."""
    page_size: int = 10
    sessions: tuple[KeptSession, ...] = ()


@dataclass(frozen=True, slots=True)
class Scenario:
    """One scripted agent."""

    name: str
    description: str
    turns: tuple[ScriptedTurn, ...]
    initialize: Initialize = field(default_factory=Initialize)
    auth: Auth = field(default_factory=Auth)
    session: SessionTerms = field(default_factory=SessionTerms)
    keeping: StoredSessions = field(default_factory=StoredSessions)
    texts: Mapping[str, str] = field(default_factory=dict)
    """Long texts by name, for `{name}` in any step."""
    include: tuple[str, ...] = ()
    """The names of other scenarios whose first turns are prepended as one turn."""

    @property
    def unmatched(self) -> Sequence[ScriptedTurn]:
        return [turn for turn in self.turns if turn.match is None]

    def matching(self, text: str) -> ScriptedTurn | None:
        return next((turn for turn in self.turns if turn.match and turn.match.search(text)), None)
