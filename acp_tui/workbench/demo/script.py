"""What a scenario says, as values: its turns, their steps and what the agent declares of itself.

It neither reads files (`reading`) nor plays anything (`playing`). What goes out on the wire as it stands (tool calls,
content blocks, config options) is kept in the shape of the wire; `session` fills in placeholders and absolute paths.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any, Final, Literal, TypeAlias

from acp_tui.values import dataclass

KEEPING_OFFERS: Final = ("list", "load", "resume", "delete")
"""What may be offered of sessions that are kept."""

Wire: TypeAlias = Mapping[str, Any]
"""An object in the protocol's own spelling."""

DEFAULT_CHUNK_S = 0.07
DEFAULT_OPTIONS: tuple[Wire, ...] = (
    {"optionId": "allow", "name": "Allow once", "kind": "allow_once"},
    {"optionId": "always", "name": "Allow always", "kind": "allow_always"},
    {"optionId": "reject", "name": "Reject", "kind": "reject_once"},
)


@dataclass(frozen=True, slots=True)
class Say:
    """Stream Markdown: the agent's message, its thought, or what the user is said to have said."""

    text: str
    update: Literal["agent_message_chunk", "agent_thought_chunk", "user_message_chunk"] = (
        "agent_message_chunk"
    )
    repeat: int = 1
    chunk_s: float = DEFAULT_CHUNK_S
    id: str | None = None
    """The scenario's own name for the message; those of one name are one. None: its chunks have no message id."""


@dataclass(frozen=True, slots=True)
class Block:
    """Send one content block that is not text: an image, a link to a resource."""

    block: Wire


@dataclass(frozen=True, slots=True)
class Plan:
    """Replace the plan."""

    entries: tuple[Wire, ...]


@dataclass(frozen=True, slots=True)
class ToolPatch:
    """What is to be said about one tool call."""

    id: str | None
    """The scenario's own name for the call; each turn gives it a fresh id. None: a call that is not named again."""
    fields: Wire


@dataclass(frozen=True, slots=True)
class Tool:
    """Announce a tool call."""

    patch: ToolPatch


@dataclass(frozen=True, slots=True)
class Update:
    """Change a tool call, or make one by its first update."""

    patch: ToolPatch


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
    """Ask the user, and go on along the branch that the answer chooses."""

    patch: ToolPatch
    options: tuple[Wire, ...]
    allowed: tuple[Step, ...] = ()
    rejected: tuple[Step, ...] = ()


@dataclass(frozen=True, slots=True)
class Run:
    """Run a command in a terminal of the client's, embedded in a tool call, to its end."""

    command: str
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    cwd: str | None = None
    title: str | None = None
    id: str | None = None
    output_limit_bytes: int | None = None
    kill_after_s: float | None = None
    """For a command that does not end by itself; being killed then counts as success."""
    succeeded: tuple[Step, ...] = ()
    failed: tuple[Step, ...] = ()


@dataclass(frozen=True, slots=True)
class Elicit:
    """Put a question to the user, and go on along the branch of the answer."""

    question: Wire
    """What is asked, in the shape of the wire: mode, message, and the form's schema or the page's address."""
    id: str | None = None
    """The scenario's own name for a page, to complete it by."""
    tool_call: str | None = None
    scope: Literal["session", "request"] = "session"
    """What the question belongs to: the session, or the prompt's request and so no session."""
    accepted: tuple[Step, ...] = ()
    declined: tuple[Step, ...] = ()
    cancelled: tuple[Step, ...] = ()


@dataclass(frozen=True, slots=True)
class Complete:
    """Say that what was to be done on a page is done."""

    name: str


@dataclass(frozen=True, slots=True)
class CallExtension:
    """Send a request beyond the protocol, and go on along the branch of the answer."""

    method: str
    params: Wire
    answered: tuple[Step, ...] = ()
    refused: tuple[Step, ...] = ()


@dataclass(frozen=True, slots=True)
class NotifyExtension:
    """Send a notification beyond the protocol."""

    method: str
    params: Wire


@dataclass(frozen=True, slots=True)
class Notice:
    """Say something that is for now and not for history."""

    fields: Wire


@dataclass(frozen=True, slots=True)
class Compact:
    """Shorten the context: begin, stream a summary, end."""

    summary: str
    error: str | None = None
    """Why it fails in the end; None: it does not."""
    chunk_s: float = DEFAULT_CHUNK_S


@dataclass(frozen=True, slots=True)
class Wait:
    """Do nothing for a while; speed shortens it."""

    seconds: float


@dataclass(frozen=True, slots=True)
class SendUpdate:
    """Send a session update that is wholly known in advance: usage, commands, a title."""

    update: Wire


@dataclass(frozen=True, slots=True)
class SwitchMode:
    """The agent changes the session's mode by itself."""

    mode_id: str


@dataclass(frozen=True, slots=True)
class ChangeConfig:
    """The agent changes config options by itself."""

    values: Mapping[str, str | bool]


@dataclass(frozen=True, slots=True)
class Together:
    """Play steps at the same time; done when all are."""

    together: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Subagent:
    """Begin another agent, which plays steps in a session of its own; done when it is."""

    title: str
    does: tuple[Step, ...]
    description: str | None = None
    cancel: bool = False
    """It can be stopped alone."""


@dataclass(frozen=True, slots=True)
class Stop:
    """End the turn here, for this reason."""

    reason: str


@dataclass(frozen=True, slots=True)
class Stderr:
    """Print a line on stderr."""

    text: str


@dataclass(frozen=True, slots=True)
class Fault:
    """Misbehave on purpose; `faults` knows what each kind does with which parameters."""

    kind: str
    parameters: Mapping[str, Any]
    late: tuple[Step, ...] = ()


Step: TypeAlias = (
    Say
    | Block
    | Plan
    | Tool
    | Update
    | Read
    | Write
    | Permission
    | Run
    | Elicit
    | Complete
    | CallExtension
    | NotifyExtension
    | Notice
    | Compact
    | Wait
    | SendUpdate
    | SwitchMode
    | ChangeConfig
    | Together
    | Subagent
    | Stop
    | Stderr
    | Fault
)

ASKING_STEPS: Final = (Read, Write, Permission, Run, Elicit, CallExtension)
"""Those that wait for an answer of the client's."""


@dataclass(frozen=True, slots=True)
class ScriptedTurn:
    """The answer to one prompt."""

    match: re.Pattern[str] | None
    """Which prompts it answers; None: the next one that nothing else answers."""
    steps: tuple[Step, ...]
    play: str | None = None
    """The name of another scenario that answers instead."""


@dataclass(frozen=True, slots=True)
class Initialize:
    """How the agent behaves at the first request."""

    hang: bool = False
    wait_s: float = 0
    protocol_version: int | None = None
    """What it answers whatever it is asked, with the words of version 1; None: the version is agreed on."""


@dataclass(frozen=True, slots=True)
class Auth:
    """How one logs in; `required` refuses sessions until that has happened."""

    required: bool = False
    methods: tuple[Wire, ...] = ()
    logout: bool = False
    """One can log out again."""


@dataclass(frozen=True, slots=True)
class SessionSetup:
    """What every new session declares."""

    commands: tuple[Wire, ...] = ()
    modes: Wire | None = None
    config: tuple[Wire, ...] = ()


@dataclass(frozen=True, slots=True)
class KeptSession:
    """A session of an earlier day."""

    session_id: str
    title: str | None = None
    updated_at: str | None = None
    cwd: str = "."
    """Relative to the folder of the session that was opened last."""
    history: tuple[Step, ...] = ()
    """What was said in it: steps that ask nothing of the client."""


@dataclass(frozen=True, slots=True)
class Keeping:
    """What the agent does with sessions beside opening and closing them: nothing, where it keeps none."""

    offers: frozenset[str] = frozenset()
    """Of KEEPING_OFFERS."""
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
    session: SessionSetup = field(default_factory=SessionSetup)
    keeping: Keeping = field(default_factory=Keeping)
    texts: Mapping[str, str] = field(default_factory=dict)
    """Long texts by name, for `{name}` in any step."""
    include: tuple[str, ...] = ()
    """The names of other scenarios, of which the first turns are joined to the first one here."""

    @property
    def unmatched(self) -> Sequence[ScriptedTurn]:
        """The turns that are played in order, for prompts that no `match` answers."""
        return [turn for turn in self.turns if turn.match is None]

    def matching(self, text: str) -> ScriptedTurn | None:
        """The first turn whose `match` is found in a prompt."""
        return next((turn for turn in self.turns if turn.match and turn.match.search(text)), None)
