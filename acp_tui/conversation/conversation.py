"""The state of one session: its entries and its facts. It does no I/O and knows nothing of wire or screen."""

from __future__ import annotations

from dataclasses import field
from typing import Final, NamedTuple

from acp_tui.conversation.elicitation import Elicitation, UrlVisit
from acp_tui.conversation.entries import EntryId, Remark, TerminalState, ToolCallEntry
from acp_tui.conversation.entry_list import EntryList
from acp_tui.conversation.facts import (
    BackgroundWork,
    Command,
    ConfigOption,
    Fact,
    Notice,
    PermissionRequest,
    Plan,
    RequestKey,
    SessionId,
    Turn,
    TurnUsage,
    Usage,
)
from acp_tui.conversation.tool_calls import TerminalId, ToolCallId
from acp_tui.conversation.updates import MessageChunk, MessageReplaced, Role, StateReported
from acp_tui.values import dataclass

MAX_NOTICES: Final = 50
MAX_NOTICE_CHARACTERS: Final = 10_000
"""Of its title, and of its description: a notice is a word for now."""


class Change(NamedTuple):
    """What an update touched: a view reads these again and nothing else."""

    entries: tuple[EntryId, ...] = ()
    facts: tuple[Fact, ...] = ()
    terminal: TerminalId | None = None
    """The terminal whose output grew or ended."""
    subagent: tuple[SessionId, Change] | None = None
    """What changed in the conversation of a subagent."""


NOTHING: Final = Change()


@dataclass(slots=True)
class Echo:
    """The part of the user's own prompt that the agent has said back so far."""

    expected: str
    matched: int = 0


@dataclass(slots=True)
class SubagentState:
    """Another agent that works for this one, and what it says."""

    session_id: SessionId
    entry: EntryId
    """Where it stands in the conversation of the agent that began it."""
    conversation: Conversation
    """Its title and its turn are the subagent's; its terminals are those of the agent that began it."""
    description: str | None = None
    is_cancellable: bool = False


@dataclass(slots=True)
class Conversation:
    """Everything a session has said. Read it freely; only `reducer.apply` changes it."""

    entries: EntryList = field(default_factory=EntryList)
    turn: Turn = Turn.IDLE
    last_stop_reason: str | None = None
    plans: dict[str, Plan] = field(default_factory=dict)
    commands: tuple[Command, ...] = ()
    options: tuple[ConfigOption, ...] = ()
    title: str | None = None
    updated_at: str | None = None
    usage: Usage | None = None
    turn_usage: TurnUsage | None = None
    """Of the last turn that has ended, where the agent counts."""
    spent: TurnUsage | None = None
    """Of all turns that have ended here."""
    state: str | None = None
    """What the session does, as its agent last said; None: it says nothing of the kind."""
    background: tuple[BackgroundWork, ...] = ()
    """What goes on beside the turn."""
    permissions: dict[RequestKey, PermissionRequest] = field(default_factory=dict)
    """Requests that wait for the user, oldest first."""
    elicitations: dict[RequestKey, Elicitation] = field(default_factory=dict)
    """Those that wait for the user, oldest first."""
    visits: dict[str, UrlVisit] = field(default_factory=dict)
    """By elicitation id: pages that the user agreed to visit, until the agent says that it is done there."""
    terminals: dict[TerminalId, TerminalState] = field(default_factory=dict)
    subagents: dict[SessionId, SubagentState] = field(default_factory=dict)
    """In the order in which they were begun."""
    notices: list[Notice] = field(default_factory=list)
    """The latest ones, at most `MAX_NOTICES`."""
    notice_count: int = 0
    """How many there were in all."""
    is_connected: bool = True

    # Where things stand among the entries.
    tool_call_entries: dict[ToolCallId, EntryId] = field(default_factory=dict)
    message_entries: dict[tuple[Role, str], EntryId] = field(default_factory=dict)
    compaction_entries: dict[str, EntryId] = field(default_factory=dict)
    terminal_entries: dict[TerminalId, EntryId] = field(default_factory=dict)
    """The tool call that shows a terminal last."""
    subagent_calls: dict[ToolCallId, SessionId] = field(default_factory=dict)
    """Tool calls of subagents that have no session of their own: the agent speaks of them as of its own."""
    open_message: EntryId | None = None
    """The message that a chunk without an id joins."""
    unsettled_calls: set[ToolCallId] = field(default_factory=set)
    turn_start: EntryId | None = None
    """The entry of the last prompt sent, None before any: what is above it belongs to earlier turns."""
    echo: Echo | None = None

    # Of agents that take up prompts by id, and report states.
    unaccepted: list[EntryId] = field(default_factory=list)
    """Prompts that the agent has not taken up, oldest first."""
    held: list[MessageChunk | MessageReplaced] = field(default_factory=list)
    """What was said of the user meanwhile: one of them may be such a prompt."""
    echoes: dict[str, Echo] = field(default_factory=dict)
    """By message id: what the agent has repeated of the prompts that it has taken up."""
    has_run: bool = False
    """The agent was busy after the last prompt was sent."""
    idle_report: StateReported | None = None
    """With which it said that it is no longer; None: it is, or was not yet."""

    @property
    def is_blank(self) -> bool:
        """Whether nothing was said or done yet; words of the client's do not count."""
        return all(isinstance(entry, Remark) for entry in self.entries)

    @property
    def is_idle(self) -> bool:
        """Whether no turn runs: a prompt can be sent."""
        return self.turn is Turn.IDLE

    @property
    def is_cancelling(self) -> bool:
        """Whether the agent was told to stop and has not done so yet."""
        return self.turn is Turn.CANCELLING

    @property
    def plan(self) -> Plan | None:
        """The plan reported first, where there is one with steps."""
        return next(iter(self.plans.values()), None)

    def tool_call(self, call_id: ToolCallId) -> ToolCallEntry:
        """The entry of a call that was reported. Raises KeyError."""
        entry = self.entries[self.tool_call_entries[call_id]]
        assert isinstance(entry, ToolCallEntry)
        return entry
