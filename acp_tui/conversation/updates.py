"""Everything that can happen to a session, one frozen value each; what is said, not how it came over the wire.

The protocol adapters make these from the agent's messages, the client from the user's actions and from its own
terminals. Folding them with `reducer.apply` gives the same conversation live and in a replay.
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from acp_tui.conversation import UNSET, UnsetType
from acp_tui.conversation.content import ContentBlock, Meta
from acp_tui.conversation.elicitation import Elicitation, FilledIn
from acp_tui.conversation.facts import (
    BackgroundWork,
    Command,
    ConfigOption,
    PermissionRequest,
    PlanStep,
    RequestKey,
    SessionId,
    TurnUsage,
    Usage,
)
from acp_tui.conversation.tool_calls import TerminalId, ToolCallContent, ToolCallId, ToolCallPatch
from acp_tui.values import dataclass

Role: TypeAlias = Literal["user", "agent", "thought"]
ElicitationAction: TypeAlias = Literal["accept", "decline", "cancel"]
"""Yes, no, and no answer: closed, or taken back."""


@dataclass(frozen=True, slots=True)
class PromptSent:
    """The user sent a prompt; the turn runs from here."""

    blocks: tuple[ContentBlock, ...]
    notes: tuple[str, ...] = ()
    """What the user should know of it, one sentence each; the agent does not get them."""
    awaits_id: bool = False
    """The agent will say when it has taken it up, and under which id (`PromptAccepted`); states tell of the turn."""


@dataclass(frozen=True, slots=True)
class PromptJoined:
    """The user sent a prompt into the turn that runs, and the agent took it."""

    blocks: tuple[ContentBlock, ...]
    notes: tuple[str, ...] = ()
    """As of a PromptSent."""


@dataclass(frozen=True, slots=True)
class PromptAccepted:
    """The agent has taken up the prompt that has waited longest for it; its message has this id from now on."""

    message_id: str


@dataclass(frozen=True, slots=True)
class PromptRefused:
    """The agent has not taken up the prompt that was sent last; a turn that runs for another goes on."""

    failure: TurnFailed | None = None
    """Why; None: the turn that it waited for was cancelled."""


@dataclass(frozen=True, slots=True)
class CancelRequested:
    """The user asked the agent to stop the turn."""


@dataclass(frozen=True, slots=True)
class TurnEnded:
    """The agent's turn is over."""

    stop_reason: str
    """end_turn, max_tokens, max_turn_requests, refusal, cancelled, or one we do not know."""
    meta: Meta | None = None
    usage: TurnUsage | None = None


@dataclass(frozen=True, slots=True)
class TurnFailed:
    """The agent answered the prompt with an error."""

    message: str
    detail: str | None = None
    code: int | None = None


@dataclass(frozen=True, slots=True)
class StateReported:
    """The agent says what the session is doing. An idle that follows work ends the turn; a repeated one does not."""

    state: str
    """running, idle, requires_action, or one we do not know: the agent is busy then."""
    stop_reason: str | None = None
    """Why the work ended; only with idle."""
    failure: TurnFailed | None = None
    """The error that ended the work; only with idle."""
    background: tuple[BackgroundWork, ...] | UnsetType = UNSET
    """All that goes on beside the turn; UNSET: the agent does not say."""
    usage: TurnUsage | None = None
    meta: Meta | None = None


@dataclass(frozen=True, slots=True)
class MessageChunk:
    """A piece of a message or a thought."""

    role: Role
    block: ContentBlock
    message_id: str | None = None
    meta: Meta | None = None


@dataclass(frozen=True, slots=True)
class MessageReplaced:
    """A message, whole, in place of what was said under its id."""

    role: Role
    message_id: str
    blocks: tuple[ContentBlock, ...]
    meta: Meta | None = None


@dataclass(frozen=True, slots=True)
class ToolCallReported:
    """A tool call began or changed: the same patch semantics for both."""

    patch: ToolCallPatch


@dataclass(frozen=True, slots=True)
class ToolCallContentAdded:
    """More content of a tool call, behind what it has."""

    tool_call_id: ToolCallId
    content: tuple[ToolCallContent, ...]


@dataclass(frozen=True, slots=True)
class PlanReplaced:
    """A plan, whole; no steps clears it."""

    steps: tuple[PlanStep, ...]
    plan_id: str = "plan"
    meta: Meta | None = None


@dataclass(frozen=True, slots=True)
class CommandsReplaced:
    """The agent's slash commands, all of them."""

    commands: tuple[Command, ...]
    meta: Meta | None = None


@dataclass(frozen=True, slots=True)
class OptionsReplaced:
    """The session's options, all of them."""

    options: tuple[ConfigOption, ...]
    meta: Meta | None = None


@dataclass(frozen=True, slots=True)
class OptionChanged:
    """One option has a new value; one that is not known is ignored."""

    option_id: str
    value: str | bool
    source: str = "config"
    meta: Meta | None = None


@dataclass(frozen=True, slots=True)
class InfoChanged:
    """Facts on the session itself: UNSET stays, None clears."""

    title: str | None | UnsetType = UNSET
    updated_at: str | None | UnsetType = UNSET
    meta: Meta | None = None


@dataclass(frozen=True, slots=True)
class Renamed:
    """The user has given the session a title, which the agent does not change any more."""

    title: str


@dataclass(frozen=True, slots=True)
class UsageReported:
    """Context used and cost so far; replaces the last report."""

    usage: Usage
    meta: Meta | None = None
    keeps_cost: bool = False
    """The cost is as it was said last."""


@dataclass(frozen=True, slots=True)
class NoticeShown:
    """A word for now, without a place in the conversation."""

    severity: str
    title: str
    description: str | None = None
    meta: Meta | None = None


@dataclass(frozen=True, slots=True)
class CompactionChanged:
    """The agent shortens its context; the first report fixes the place in the conversation."""

    compaction_id: str
    status: str | UnsetType = UNSET
    summary: tuple[ContentBlock, ...] | UnsetType = UNSET
    error: str | None | UnsetType = UNSET
    meta: Meta | None = None


@dataclass(frozen=True, slots=True)
class CompactionChunk:
    """A piece of a compaction's summary."""

    compaction_id: str
    block: ContentBlock
    meta: Meta | None = None


@dataclass(frozen=True, slots=True)
class SubagentReported:
    """The agent has begun another one for a part of its work, or says more of it: UNSET stays, None clears."""

    session_id: SessionId
    title: str | None | UnsetType = UNSET
    description: str | None | UnsetType = UNSET
    """What it is for."""
    state: StateReported | None | UnsetType = UNSET
    """None: what it does is not known."""
    is_cancellable: bool | UnsetType = UNSET
    meta: Meta | None = None


@dataclass(frozen=True, slots=True)
class SubagentSaid:
    """What happens in the conversation of a subagent; one that was not reported before is from here on."""

    session_id: SessionId
    """Where `is_of_call`, the id of the tool call whose work the subagent does."""
    update: SessionUpdate
    is_of_call: bool = False


@dataclass(frozen=True, slots=True)
class PermissionAsked:
    """The agent waits for the user's decision about a tool call."""

    request: PermissionRequest
    patch: ToolCallPatch


@dataclass(frozen=True, slots=True)
class PermissionAnswered:
    """A request was decided by the user, or cancelled with its turn."""

    key: RequestKey
    option_id: str | None
    """None: cancelled."""
    at: float | None = None
    """Seconds since the epoch, where it is known."""
    rule: str | None = None
    """The standing rule of the user's that refused it, in a line; None: the user answered."""
    is_withdrawn: bool = False
    """The agent took it back."""


@dataclass(frozen=True, slots=True)
class PermissionNoted:
    """What the user is to know beside a request that waits."""

    key: RequestKey
    note: str


@dataclass(frozen=True, slots=True)
class ElicitationAsked:
    """The agent waits for the user to fill in a form, or to agree to visit a page."""

    elicitation: Elicitation


@dataclass(frozen=True, slots=True)
class ElicitationAnswered:
    """An elicitation waits no more."""

    key: RequestKey
    action: ElicitationAction
    at: float | None = None
    """Seconds since the epoch, where it is known."""
    values: tuple[FilledIn, ...] = ()
    """What a form was accepted with. A recording masks them."""


@dataclass(frozen=True, slots=True)
class ElicitationCompleted:
    """Nothing is left to be done on a page: the agent said so, or the user no longer wants to hear of it."""

    elicitation_id: str


@dataclass(frozen=True, slots=True)
class CommandRun:
    """The user runs a command of their own beside the agent; its terminal is opened with it."""

    line: str
    terminal_id: TerminalId


@dataclass(frozen=True, slots=True)
class TerminalOpened:
    """A terminal exists: one of ours on a PTY, or one that the agent only shows us."""

    terminal_id: TerminalId
    command: str | None = None
    cwd: str | None = None
    is_ours: bool = True
    columns: int = 120
    rows: int = 30


@dataclass(frozen=True, slots=True)
class TerminalOutput:
    """Bytes that a terminal printed."""

    terminal_id: TerminalId
    data: bytes


@dataclass(frozen=True, slots=True)
class TerminalExited:
    """A terminal's command ended."""

    terminal_id: TerminalId
    exit_code: int | None
    signal: str | None
    seconds: float | None = None
    """How long it ran; None where nobody has measured it."""


@dataclass(frozen=True, slots=True)
class TerminalReported:
    """What an agent says of a terminal of its own: UNSET stays, None clears."""

    terminal_id: TerminalId
    command: str | None | UnsetType = UNSET
    cwd: str | None | UnsetType = UNSET
    output: bytes | UnsetType = UNSET
    """All of it, in place of what was printed before."""
    exit: TerminalExit | None | UnsetType = UNSET
    size: tuple[int, int] | UnsetType = UNSET
    """Columns and rows."""
    is_cancellable: bool | UnsetType = UNSET


@dataclass(frozen=True, slots=True)
class TerminalExit:
    """How a terminal's command ended; neither is set where the agent does not know."""

    exit_code: int | None = None
    signal: str | None = None


@dataclass(frozen=True, slots=True)
class TerminalWaiting:
    """A terminal's command waits for the user to type, or does so no longer."""

    terminal_id: TerminalId
    is_waiting: bool


@dataclass(frozen=True, slots=True)
class TerminalResized:
    """A terminal of ours has another size; what it shows flows anew."""

    terminal_id: TerminalId
    columns: int
    rows: int


@dataclass(frozen=True, slots=True)
class Disconnected:
    """The agent is gone, or the connection to it broke; the conversation stays."""

    reason: str
    stderr_tail: str = ""


@dataclass(frozen=True, slots=True)
class Reconnected:
    """An agent goes on where the one that is gone left off."""

    remembers: bool
    """Whether it has the session of before; otherwise it knows nothing of what was said."""
    is_loaded: bool = False
    """What was said stands here as the agent kept it, not as it was heard before."""
    why: str = ""
    """Why it remembers nothing though it was asked to, or what it has said unheard."""
    forked_from: str = ""
    """The title of the session that this one was forked from; what was said there stands above."""
    is_same: bool = False
    """Only the connection is another one: what it says of what stands above is about the same things."""


@dataclass(frozen=True, slots=True)
class Remarked:
    """The client has something to say about the session, in one line."""

    text: str


@dataclass(frozen=True, slots=True)
class UnknownUpdate:
    """An update of a kind we do not know, whole."""

    kind: str
    raw: Any


SessionUpdate: TypeAlias = (
    PromptSent
    | PromptAccepted
    | PromptRefused
    | PromptJoined
    | CancelRequested
    | TurnEnded
    | TurnFailed
    | StateReported
    | MessageChunk
    | MessageReplaced
    | ToolCallReported
    | ToolCallContentAdded
    | PlanReplaced
    | CommandsReplaced
    | OptionsReplaced
    | OptionChanged
    | InfoChanged
    | Renamed
    | UsageReported
    | NoticeShown
    | CompactionChanged
    | CompactionChunk
    | SubagentReported
    | SubagentSaid
    | PermissionAsked
    | PermissionAnswered
    | PermissionNoted
    | ElicitationAsked
    | ElicitationAnswered
    | ElicitationCompleted
    | CommandRun
    | TerminalOpened
    | TerminalOutput
    | TerminalExited
    | TerminalReported
    | TerminalWaiting
    | TerminalResized
    | Disconnected
    | Reconnected
    | Remarked
    | UnknownUpdate
)
