"""Everything that can happen to a session, as one frozen class each: what was said, not how it was sent.

The protocol adapters create updates from the agent's messages. The client creates them from the user's actions and
from its own terminals. Folding them with `reducer.apply` gives the same conversation live and in a replay.
"""

from __future__ import annotations

from dataclasses import field, replace
from typing import Any, Final, Literal, TypeAlias

from acp_tui.conversation import UNSET, UnsetType, facts
from acp_tui.conversation.content import ContentBlock, Meta
from acp_tui.conversation.elicitation import Elicitation, FieldAnswer
from acp_tui.conversation.tool_calls import FilePart, TerminalId, ToolCallContent, ToolCallId, ToolCallPatch
from acp_tui.values import dataclass

Role: TypeAlias = Literal["user", "agent", "thought"]
ElicitationAction: TypeAlias = Literal["accept", "decline", "cancel"]
"""Yes, no, and no answer: closed or withdrawn."""


@dataclass(frozen=True, slots=True)
class PromptSent:
    """The user sent a prompt, which starts a turn."""

    blocks: tuple[ContentBlock, ...]
    notes: tuple[str, ...] = ()
    """What the user should know about it, one sentence each. The agent doesn't get them."""
    awaits_id: bool = False
    """Whether the agent will accept the prompt under an ID (`PromptAccepted`) and report states during the turn."""


@dataclass(frozen=True, slots=True)
class PromptJoined:
    """The user sent a prompt during a turn, and the agent took it."""

    blocks: tuple[ContentBlock, ...]
    notes: tuple[str, ...] = ()
    """Like `PromptSent.notes`."""


@dataclass(frozen=True, slots=True)
class PromptAccepted:
    """The agent accepted the oldest waiting prompt; its message has this ID from now on."""

    message_id: str


@dataclass(frozen=True, slots=True)
class PromptRefused:
    """The agent didn't accept the last prompt. A turn running for another prompt continues."""

    failure: TurnFailed | None = None
    """The reason; None if the turn it waited for was canceled."""


@dataclass(frozen=True, slots=True)
class CancelRequested:
    """The user asked the agent to stop the turn."""


@dataclass(frozen=True, slots=True)
class TurnEnded:
    stop_reason: str
    """end_turn, max_tokens, max_turn_requests, refusal, cancelled, or an unknown one."""
    meta: Meta | None = None
    usage: facts.TurnUsage | None = None


@dataclass(frozen=True, slots=True)
class TurnFailed:
    """The agent answered the prompt with an error."""

    message: str
    detail: str | None = None
    code: int | None = None
    said: facts.ErrorFacts | None = None

    def heard(self, now: float | None) -> TurnFailed:
        """Return it with the time of the next try, if it was heard at this time."""
        return self if self.said is None else replace(self, said=self.said.heard(now))


@dataclass(frozen=True, slots=True)
class StateReported:
    """The agent reports what the session is doing. The first idle after work ends the turn; further ones don't."""

    state: str
    """running, idle, requires_action, or an unknown one, which counts as busy."""
    stop_reason: str | None = None
    """Why the work ended; only for idle."""
    failure: TurnFailed | None = None
    """The error that ended the work; only for idle."""
    background: tuple[facts.BackgroundWork, ...] | UnsetType = UNSET
    """All work that goes on beside the turn; UNSET if the agent doesn't say."""
    usage: facts.TurnUsage | None = None
    meta: Meta | None = None


@dataclass(frozen=True, slots=True)
class MessageChunk:
    role: Role
    block: ContentBlock
    message_id: str | None = None
    meta: Meta | None = None


@dataclass(frozen=True, slots=True)
class MessageReplaced:
    """A whole message, which replaces what was said under its ID."""

    role: Role
    message_id: str
    blocks: tuple[ContentBlock, ...]
    meta: Meta | None = None


@dataclass(frozen=True, slots=True)
class ToolCallReported:
    """A tool call began or changed; both use the same patch."""

    patch: ToolCallPatch
    begins: bool = False
    """Whether the agent announces it: then it isn't an earlier call that had its ID."""


@dataclass(frozen=True, slots=True)
class DiffsPlaced:
    """acp-tui found in the files what some diffs of a call change."""

    tool_call_id: ToolCallId
    parts: tuple[FilePart, ...]


@dataclass(frozen=True, slots=True)
class ToolCallContentAdded:
    tool_call_id: ToolCallId
    content: tuple[ToolCallContent, ...]


ONLY_PLAN: Final = "plan"
"""The ID of a plan that has none, because its agent has one at most."""


@dataclass(frozen=True, slots=True)
class PlanReplaced:
    """A whole plan; no steps clears it."""

    steps: tuple[facts.PlanStep, ...]
    plan_id: str = ONLY_PLAN
    meta: Meta | None = None


BREAK: Final = PlanReplaced((), "")
"""Clears no plan, as none has this ID: it only ends the message that chunks without an ID join."""


@dataclass(frozen=True, slots=True)
class CommandsReplaced:
    commands: tuple[facts.OfferedCommand, ...]
    meta: Meta | None = None


@dataclass(frozen=True, slots=True)
class OptionsReplaced:
    options: tuple[facts.ConfigOption, ...]
    meta: Meta | None = None


@dataclass(frozen=True, slots=True)
class OptionChanged:
    """One option has a new value; an unknown option is ignored."""

    option_id: str
    value: str | bool
    source: str = "config"
    meta: Meta | None = None


@dataclass(frozen=True, slots=True)
class InfoChanged:
    """Facts about the session itself: UNSET keeps, None clears."""

    title: str | None | UnsetType = UNSET
    updated_at: str | None | UnsetType = UNSET
    meta: Meta | None = None


@dataclass(frozen=True, slots=True)
class Renamed:
    """The user gave the session a title, which the agent can't change anymore."""

    title: str


@dataclass(frozen=True, slots=True)
class UsageReported:
    """Context used and cost so far; replaces the last report."""

    usage: facts.Usage
    meta: Meta | None = None
    keeps_cost: bool = False
    """Whether the cost stays as last reported."""


@dataclass(frozen=True, slots=True)
class NoticeShown:
    """A short-lived message from the agent, not part of the conversation."""

    severity: str
    title: str
    description: str | None = None
    meta: Meta | None = None


@dataclass(frozen=True, slots=True)
class CompactionChanged:
    """The agent compacts its context. The first report sets its place in the conversation."""

    compaction_id: str
    status: str | UnsetType = UNSET
    summary: tuple[ContentBlock, ...] | UnsetType = UNSET
    error: str | None | UnsetType = UNSET
    meta: Meta | None = None


@dataclass(frozen=True, slots=True)
class CompactionChunk:
    compaction_id: str
    block: ContentBlock
    meta: Meta | None = None


@dataclass(frozen=True, slots=True)
class SubagentReported:
    """The agent started a subagent for part of its work, or reports more about it: UNSET keeps, None clears."""

    session_id: facts.SessionId
    title: str | None | UnsetType = UNSET
    description: str | None | UnsetType = UNSET
    state: StateReported | None | UnsetType = UNSET
    """What the subagent does; None if unknown."""
    is_cancellable: bool | UnsetType = UNSET
    meta: Meta | None = None


@dataclass(frozen=True, slots=True)
class SubagentSaid:
    """Something happened in a subagent's conversation. Creates the subagent if it's unknown."""

    session_id: facts.SessionId
    """With `is_of_call`, the ID of the tool call the subagent works for."""
    update: SessionUpdate
    is_of_call: bool = False


@dataclass(frozen=True, slots=True)
class PermissionAsked:
    """The agent waits for the user's decision about a tool call."""

    request: facts.PermissionRequest
    patch: ToolCallPatch


@dataclass(frozen=True, slots=True)
class PermissionAnswered:
    """The user decided about a request, or it was canceled with its turn."""

    key: facts.RequestKey
    option_id: str | None
    """None if canceled."""
    at: float | None = None
    """Seconds since the epoch, if known."""
    rule: str | None = None
    """The user's rule that refused it, in one line; None if the user answered."""
    is_withdrawn: bool = False
    """Whether the agent withdrew it."""
    is_passed_on: bool = False
    """Whether a host took it back here, which asks it anew or tells how it ended. That alone decides nothing."""


@dataclass(frozen=True, slots=True)
class PermissionNoted:
    """A note for the user about a waiting request, in place of the one before; "" for none."""

    key: facts.RequestKey
    note: str


@dataclass(frozen=True, slots=True)
class ElicitationAsked:
    """The agent waits for the user to fill in a form or to agree to visit a page."""

    elicitation: Elicitation


@dataclass(frozen=True, slots=True)
class ElicitationAnswered:
    """A form or page no longer waits for the user."""

    key: facts.RequestKey
    action: ElicitationAction
    at: float | None = None
    """Seconds since the epoch, if known."""
    values: tuple[FieldAnswer, ...] = ()
    """The values the form was accepted with. A recording masks all but choices."""


@dataclass(frozen=True, slots=True)
class ElicitationCompleted:
    """Nothing is left to do on a page: the agent said so, or the user dismissed it."""

    elicitation_id: str


@dataclass(frozen=True, slots=True)
class CommandRun:
    """The user runs a command of their own beside the agent, which opens its terminal."""

    line: str
    terminal_id: TerminalId


MAX_CELLS: Final = 2_000
"""The largest width and height of a terminal. No screen is larger, and a large emulator takes memory."""


@dataclass(frozen=True, slots=True)
class TerminalOpened:
    """A terminal exists: ours, on a PTY, or one that the agent only shows."""

    terminal_id: TerminalId
    command: str | None = None
    cwd: str | None = None
    is_ours: bool = True
    columns: int = 120
    rows: int = 30


@dataclass(frozen=True, slots=True)
class TerminalOutput:
    terminal_id: TerminalId
    data: bytes


@dataclass(frozen=True, slots=True)
class TerminalExited:
    terminal_id: TerminalId
    exit_code: int | None
    signal: str | None
    seconds: float | None = None
    """How long it ran; None if not measured."""


@dataclass(frozen=True, slots=True)
class TerminalReported:
    """The agent's report about its own terminal: UNSET keeps, None clears."""

    terminal_id: TerminalId
    command: str | None | UnsetType = UNSET
    cwd: str | None | UnsetType = UNSET
    output: bytes | UnsetType = UNSET
    """The whole output; replaces earlier output."""
    exit: TerminalExit | None | UnsetType = UNSET
    size: tuple[int, int] | UnsetType = UNSET
    """Columns and rows."""
    is_cancellable: bool | UnsetType = UNSET


@dataclass(frozen=True, slots=True)
class TerminalExit:
    """How a terminal's command ended. If an agent reports it and doesn't know, both are None."""

    exit_code: int | None = None
    signal: str | None = None
    """The name of the signal that ended it, such as `SIGKILL`."""
    seconds: float | None = field(default=None, compare=False)
    """How long it ran; None if its end couldn't be observed. It doesn't affect equality."""


@dataclass(frozen=True, slots=True)
class TerminalWaiting:
    """A terminal's command started or stopped waiting for the user's input."""

    terminal_id: TerminalId
    is_waiting: bool


@dataclass(frozen=True, slots=True)
class TerminalResized:
    """One of our terminals has a new size; its output reflows."""

    terminal_id: TerminalId
    columns: int
    rows: int


@dataclass(frozen=True, slots=True)
class Disconnected:
    """The agent is gone, or the connection broke; the conversation stays."""

    reason: str
    """"" if nothing is said of it, because the user wanted it."""
    stderr_tail: str = ""
    is_fault: bool = True
    """Whether what it was at has failed by that. Otherwise, nobody knows how it ended."""
    is_again: bool = False
    """Whether it was gone before, and couldn't be started again."""


@dataclass(frozen=True, slots=True)
class Reconnected:
    """From here on another process speaks for the agent, or the same one over another connection. Also an entry."""

    remembers: bool
    """Whether it has the previous session; otherwise it doesn't know what was said."""
    is_loaded: bool = False
    """Whether the conversation was loaded from the agent, not kept from before."""
    why: str = ""
    """Why it remembers nothing although asked to, or what it said unheard."""
    forked_from: str = ""
    """The title of the session this one was forked from, whose conversation is above."""
    is_same: bool = False
    """Whether only the connection is new, so the agent's IDs still refer to the entries above."""


@dataclass(frozen=True, slots=True)
class ClientRemark:
    text: str


@dataclass(frozen=True, slots=True)
class UnknownUpdate:
    kind: str
    raw: Any


PromptUpdate: TypeAlias = PromptSent | PromptAccepted | PromptRefused | PromptJoined
TurnUpdate: TypeAlias = CancelRequested | TurnEnded | TurnFailed | StateReported
MessageUpdate: TypeAlias = MessageChunk | MessageReplaced
OptionUpdate: TypeAlias = OptionsReplaced | OptionChanged
FactUpdate: TypeAlias = (
    PlanReplaced | CommandsReplaced | OptionUpdate | InfoChanged | Renamed | UsageReported | NoticeShown
)
CompactionUpdate: TypeAlias = CompactionChanged | CompactionChunk
WorkUpdate: TypeAlias = (
    ToolCallReported | DiffsPlaced | ToolCallContentAdded | CompactionUpdate | SubagentReported | SubagentSaid
)
PermissionUpdate: TypeAlias = PermissionAsked | PermissionAnswered | PermissionNoted
ElicitationUpdate: TypeAlias = ElicitationAsked | ElicitationAnswered | ElicitationCompleted
TerminalUpdate: TypeAlias = (
    TerminalOpened | TerminalOutput | TerminalExited | TerminalReported | TerminalWaiting | TerminalResized
)
QuestionUpdate: TypeAlias = PermissionUpdate | ElicitationUpdate
EntryUpdate: TypeAlias = CommandRun | Disconnected | Reconnected | ClientRemark | UnknownUpdate
SessionUpdate: TypeAlias = (
    PromptUpdate | TurnUpdate | MessageUpdate | WorkUpdate | FactUpdate | QuestionUpdate | TerminalUpdate | EntryUpdate
)
