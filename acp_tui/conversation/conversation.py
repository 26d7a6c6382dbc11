"""The state of one session: its entries and its facts. No I/O, no wire types, no screen.

`snapshot` makes an equal copy, for a slow export or for a fork.
"""

from __future__ import annotations

import re
from copy import copy
from dataclasses import field, fields, replace
from typing import Any, Final, NamedTuple

from acp_tui.conversation.buffers import ByteRing, TextBuffer
from acp_tui.conversation.content import title_in_line
from acp_tui.conversation.elicitation import Elicitation, UrlVisit
from acp_tui.conversation.entries import (
    Compaction,
    Entry,
    EntryId,
    Failure,
    Message,
    OwnCommand,
    TerminalState,
    ToolCallEntry,
)
from acp_tui.conversation.entry_list import EntryList
from acp_tui.conversation.facts import (
    BackgroundWork,
    ConfigOption,
    Fact,
    OfferedCommand,
    PermissionRequest,
    Plan,
    RequestKey,
    SessionId,
    TurnPhase,
    TurnSpent,
    TurnUsage,
    Usage,
)
from acp_tui.conversation.tool_calls import TerminalId, ToolCallId
from acp_tui.conversation.updates import (
    ClientRemark,
    MessageChunk,
    MessageReplaced,
    NoticeShown,
    Reconnected,
    Role,
    StateReported,
)
from acp_tui.conversation.visible import make_visible_line
from acp_tui.values import dataclass

_PREAMBLE: Final = re.compile(r"(?:\s*<([\w-]+)>.*?</\1>)+", re.DOTALL)
"""What some agents put before or in place of the user's words, and return when they load a session."""

MAX_NOTICES: Final = 50
MAX_NOTICE_CHARACTERS: Final = 10_000
"""The most characters of a notice's title, and of its description."""


class Change(NamedTuple):
    """What an update changed: a view only needs to read these again."""

    entries: tuple[EntryId, ...] = ()
    facts: tuple[Fact, ...] = ()
    terminal: TerminalId | None = None
    """The terminal with new output, or that ended."""
    subagent: tuple[SessionId, Change] | None = None
    """What changed in a subagent's conversation."""


NOTHING: Final = Change()


@dataclass(slots=True)
class Echo:
    """How much of the user's prompt the agent has repeated so far."""

    expected: str
    matched: int = 0


@dataclass(slots=True)
class SubagentState:
    """Another agent that works for this one, and its conversation."""

    session_id: SessionId
    entry: EntryId
    """Its entry in the parent's conversation."""
    conversation: Conversation
    """Has the subagent's own title and turn. Shares the terminals of the parent."""
    description: str | None = None
    is_cancellable: bool = False


@dataclass(slots=True)
class Conversation:
    """Everything a session has said. Read it freely; only `reducer.apply` changes it."""

    entries: EntryList = field(default_factory=EntryList)
    turn: TurnPhase = TurnPhase.IDLE
    last_stop_reason: str | None = None
    plans: dict[str, Plan] = field(default_factory=dict)
    has_old_plans: bool = field(default=False, compare=False)
    """Whether the agent has told no plan since the user began a turn. A late client isn't told."""
    commands: tuple[OfferedCommand, ...] = ()
    options: tuple[ConfigOption, ...] = ()
    title: str | None = None
    is_named: bool = False
    """Whether the user chose the title."""
    is_fork: bool = False
    """Whether it goes on from another session's conversation."""
    updated_at: str | None = None
    usage: Usage | None = None
    turn_usage: TurnUsage | None = None
    """The usage of the last turn that ended, if the agent counts it."""
    spent: TurnUsage | None = None
    """The usage of all turns that ended here."""
    cost_before: float | None = None
    """The session's cost when the last turn began; None if unknown."""
    turns: list[TurnSpent] = field(default_factory=list, compare=False)
    """The turns that ended here, oldest first. A session that is told again has none of them."""
    state: str | None = None
    """The state the agent last reported; None if it doesn't report states."""
    background: tuple[BackgroundWork, ...] = ()
    """Work that goes on beside the turn."""
    permissions: dict[RequestKey, PermissionRequest] = field(default_factory=dict)
    """Requests waiting for the user, oldest first."""
    elicitations: dict[RequestKey, Elicitation] = field(default_factory=dict)
    """Forms and pages waiting for the user, oldest first."""
    visits: dict[str, UrlVisit] = field(default_factory=dict)
    """Pages the user agreed to visit, by elicitation ID, until the agent says they're done."""
    terminals: dict[TerminalId, TerminalState] = field(default_factory=dict)
    subagents: dict[SessionId, SubagentState] = field(default_factory=dict)
    """In the order they started."""
    notices: list[NoticeShown] = field(default_factory=list)
    """The latest notices, at most `MAX_NOTICES`."""
    notice_count: int = 0
    is_connected: bool = True

    # Where to find things among the entries.
    tool_call_entries: dict[ToolCallId, EntryId] = field(default_factory=dict)
    message_entries: dict[tuple[Role, str], EntryId] = field(default_factory=dict)
    compaction_entries: dict[str, EntryId] = field(default_factory=dict)
    terminal_entries: dict[TerminalId, tuple[EntryId, ...]] = field(default_factory=dict)
    """For each terminal, the entries that have shown it."""
    subagent_calls: dict[ToolCallId, SessionId] = field(default_factory=dict)
    """Tool calls of subagents without a session of their own: the agent reports them like its own calls."""
    open_message: EntryId | None = None
    """The message that a chunk without an ID joins."""
    unsettled_calls: set[ToolCallId] = field(default_factory=set)
    turn_start: EntryId | None = None
    """The entry of the last prompt sent; None before the first. Entries above it belong to earlier turns."""
    last_prompt: EntryId = EntryId(0)
    """The last message of the user's that began a turn, sent or told again."""
    reopened: set[tuple[Role, str]] = field(default_factory=set)
    """The IDs of messages that the agent has replaced since then, which go on."""
    echo: Echo | None = None

    # For agents that accept prompts by ID and report states.
    unaccepted: list[EntryId] = field(default_factory=list)
    """Prompts the agent hasn't accepted yet, oldest first."""
    joining: set[EntryId] = field(default_factory=set)
    """Those that were sent during a turn."""
    held: list[MessageChunk | MessageReplaced] = field(default_factory=list)
    """User messages received while prompts wait to be accepted: one may turn out to be such a prompt."""
    echoes: dict[str, Echo] = field(default_factory=dict)
    """How much of each accepted prompt the agent has repeated, by message ID."""
    has_run: bool = False
    """Whether the agent was busy after the last prompt was sent."""
    idle_report: StateReported | None = None
    """The report that made the agent idle again; None if it's busy, or hasn't been busy yet."""

    @property
    def is_blank(self) -> bool:
        """Whether nothing has been said or done yet. The client's remarks don't count."""
        return all(isinstance(entry, ClientRemark) for entry in self.entries)

    @property
    def is_begun(self) -> bool:
        """Whether anything has been said since the agent began it, also as a fork, or below an earlier one.

        Most agents keep a session only then.
        """
        is_resumed = False
        for entry in reversed(self.entries):
            if isinstance(entry, Reconnected) and (entry.forked_from or not entry.remembers):
                return False
            if not isinstance(entry, ClientRemark | Reconnected | Failure | OwnCommand):
                return True
            is_resumed |= isinstance(entry, Reconnected)  # the agent may tell nothing of it
        return is_resumed

    @property
    def last_reply(self) -> str:
        """The text of the agent's last message that has any."""
        for entry in reversed(self.entries):
            if isinstance(entry, Message) and entry.role == "agent" and entry.text.strip():
                return entry.text
        return ""

    @property
    def shown_title(self) -> str:
        """The title, or the first line of the first prompt, safe to show on one line; "" if there is neither."""
        if self.title:
            return make_visible_line(self.title)
        prompts = (
            said
            for entry in self.entries
            if isinstance(entry, Message) and entry.role == "user"
            for said in (entry.typed, entry.text)
        )
        return make_visible_line(title_in_line(next(filter(None, map(_first_line, prompts)), "")))

    @property
    def is_idle(self) -> bool:
        """Whether no turn is running, so you can send a prompt."""
        return self.turn is TurnPhase.IDLE

    @property
    def is_cancelling(self) -> bool:
        return self.turn is TurnPhase.CANCELLING

    @property
    def is_asking(self) -> bool:
        """Whether a permission request or a form of the agent waits for the user, also without a turn."""
        return bool(self.permissions or self.elicitations)

    @property
    def last_failure(self) -> EntryId | None:
        """The error that ended the last turn, or the loss of its agent; None if it ended otherwise, or one runs."""
        if not (self.is_idle and self.is_connected and self.turns and self.turns[-1].stop_reason is None):
            return None
        end = self.turns[-1].end  # a loss is told after the turn
        near = range(max(end - 1, 0), min(end + 1, len(self.entries)))
        return next((EntryId(at) for at in near if isinstance(self.entries[at], Failure)), None)

    @property
    def own_command(self) -> TerminalState | None:
        """The newest of the user's own commands that run; None if none does."""
        for terminal_id, state in reversed(self.terminals.items()):
            shown_by = self.terminal_entries.get(terminal_id)
            if not state.has_exited and shown_by and isinstance(self.entries[shown_by[0]], OwnCommand):
                return state
        return None

    def runs(self, state: TerminalState) -> bool:
        """Whether its command runs. Agents don't always tell that theirs ended: it did with its call, or the turn."""
        if state.has_exited or state.is_ours:
            return not state.has_exited
        shown_by = [self.entries[entry_id] for entry_id in self.terminal_entries.get(state.terminal_id, ())]
        calls = [entry.call for entry in shown_by if isinstance(entry, ToolCallEntry)]
        if {work.reference for work in self.background} & {state.terminal_id, *(call.tool_call_id for call in calls)}:
            return True
        return not self.is_idle and not (calls and all(call.is_settled for call in calls))

    @property
    def turn_cost(self) -> float | None:
        """The cost of the current or last turn, in the unit of `usage`; None if unknown."""
        if self.usage is None or self.usage.cost_amount is None or self.cost_before is None:
            return None
        cost = self.usage.cost_amount - self.cost_before
        return cost if cost >= 0 else None

    @property
    def is_past_plans(self) -> bool:
        """Whether the plans say nothing of what goes on: they are older, or done, and so is the turn."""
        return self.has_old_plans or (self.is_idle and all(plan.current is None for plan in self.plans.values()))

    @property
    def plan(self) -> Plan | None:
        """The plan reported first; None if there isn't one."""
        return next(iter(self.plans.values()), None)

    def tool_call(self, call_id: ToolCallId) -> ToolCallEntry:
        """Return the entry of a reported call. Raises KeyError if the call is unknown."""
        entry = self.entries[self.tool_call_entries[call_id]]
        assert isinstance(entry, ToolCallEntry)
        return entry


def _first_line(prompt: str) -> str:
    """The first line of the user's own words; "" if there are none."""
    preamble = _PREAMBLE.match(prompt)
    return prompt[preamble.end() if preamble else 0 :].strip().partition("\n")[0]


def snapshot(conversation: Conversation) -> Conversation:
    """Return an equal conversation that no update changes.

    Call it on the task that applies the updates. It shares immutable values (texts, diffs, raw values). It costs a
    copy of the entries in memory and of the terminals' output.
    """
    values: dict[str, Any] = {field.name: copy(getattr(conversation, field.name)) for field in fields(Conversation)}
    values["entries"] = conversation.entries.copied(_entry)
    values["terminals"] = {
        key: replace(state, output=_KeptRing(state.output)) for key, state in conversation.terminals.items()
    }
    copied = Conversation(**values)
    copied.subagents = {key: _subagent(state, copied) for key, state in conversation.subagents.items()}
    return copied


def _subagent(state: SubagentState, parent: Conversation) -> SubagentState:
    conversation = replace(snapshot(state.conversation), terminals=parent.terminals)
    return replace(state, conversation=conversation)


def _entry(entry: Entry) -> Entry:
    match entry:
        case Message(parts=parts):
            copies = [TextBuffer(part.text) if isinstance(part, TextBuffer) else part for part in parts]
            return replace(entry, parts=copies)
        case ToolCallEntry(call):
            return replace(entry, call=replace(call, meta=dict(call.meta)))
        case Compaction(summary=summary):
            return replace(entry, summary=list(summary))
        case _:
            return entry


class _KeptRing(ByteRing):
    """A copy of a ring's current content, at the same offset."""

    __slots__ = ()

    def __init__(self, ring: ByteRing) -> None:
        super().__init__(ring.limit_bytes)
        self.append(ring.read_from(0)[1])
        self.end = ring.end


class TurnTime:
    """How long the turns of a session take, in seconds, without the time that the user is asked."""

    def __init__(self) -> None:
        self._began_s: float | None = None
        self._asked_s: float | None = None
        """Since when the user is asked."""
        self.of_last: float | None = None
        """The time of the last turn; None while one runs, and if none was seen."""

    def note_change(self, conversation: Conversation, now_s: float) -> None:
        """Note that the agent or the user has just done something."""
        if self._asked_s is not None and self._began_s is not None and not conversation.is_asking:
            self._began_s += now_s - self._asked_s
        self._asked_s = (now_s if self._asked_s is None else self._asked_s) if conversation.is_asking else None
        if not conversation.is_idle and self._began_s is None:
            self._began_s, self.of_last = now_s, None
        elif conversation.is_idle and self._began_s is not None:
            self.of_last, self._began_s = self.so_far(now_s), None

    def so_far(self, now_s: float) -> float:
        """The time of the turn that runs; 0 if none does."""
        until_s = now_s if self._asked_s is None else self._asked_s
        return until_s - self._began_s if self._began_s is not None else 0.0
