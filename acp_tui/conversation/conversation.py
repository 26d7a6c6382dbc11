"""The state of one session: its entries and its facts. No I/O, no wire types, no screen.

The latest entries are in memory; earlier ones are packed into a store. Without a store, all entries stay in memory.
The store is an interface (`Store`). `snapshot` makes an equal copy, for a slow export or for a fork.
"""

from __future__ import annotations

import io
import pickle
import re
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy
from dataclasses import field, fields, replace
from itertools import islice
from typing import Any, Final, NamedTuple, Protocol, TypeAlias, TypeGuard, cast, overload
from weakref import WeakValueDictionary

from acp_tui.conversation.buffers import ByteRing, TextBuffer
from acp_tui.conversation.elicitation import Elicitation, UrlVisit
from acp_tui.conversation.entries import Compaction, Entry, EntryId, Failure, Message, TerminalState, ToolCallEntry
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
    TurnSpent,
    TurnUsage,
    Usage,
)
from acp_tui.conversation.tool_calls import TerminalId, ToolCallId
from acp_tui.conversation.updates import ClientRemark, MessageChunk, MessageReplaced, Role, StateReported
from acp_tui.conversation.visible import make_visible_line
from acp_tui.values import dataclass

KEPT: Final = 1_000
"""At least this many of the last entries stay in memory if they may be looked at, and as many earlier changed ones."""
PACKED_AT_ONCE: Final = 200
"""How many entries are packed at once, which takes about 2 ms."""
KEPT_BYTES: Final = 32 << 20
"""If the entries in memory take more, they are packed earlier."""
KEPT_HOWEVER_LONG: Final = 20
"""This many of the last entries always stay in memory: they are in view."""
_TOUCHES_PER_WEIGHING: Final = 8

_PREAMBLE: Final = re.compile(r"(?:\s*<([\w-]+)>.*?</\1>)+", re.DOTALL)
"""What some agents put before or in place of the user's words, and return when they load a session."""

_PACKAGE: Final = "acp_tui.conversation"
_MODULES: Final = frozenset(
    (
        _PACKAGE,
        *(f"{_PACKAGE}.{name}" for name in ("buffers", "content", "elicitation", "entries", "tool_calls", "updates")),
    )
)
"""The modules of the values that an entry consists of."""

Changing: TypeAlias = Message | ToolCallEntry | Compaction
"""Entries that may change after they were added. The others are interchangeable with their equals."""


class Store(Protocol):
    """Keeps bytes outside the process's memory."""

    def put(self, data: bytes) -> int:
        """Store `data` and return its position. Raises OSError; ValueError if the store is full."""

    def get(self, place: int, size: int) -> bytes:
        """Return `size` bytes at a position. Raises OSError."""


class EntryList(Sequence[Entry]):
    """A sequence of entries you can append to. Reading a packed entry takes about 10 us.

    An entry that something still holds is always the same object, packed or not; only an entry that nothing holds is
    recreated when it's read. To change an entry, get it with `changing`.
    """

    def __init__(self, entries: Iterable[Entry] = (), store: Store | None = None) -> None:
        self._store = store
        self._places, self._sizes = array("Q"), array("Q")
        """Positions and sizes of the packed entries, which are all before the recent ones."""
        self.recent = list(entries)
        self.changed: dict[int, Entry] = {}
        """Packed entries whose stored form is out of date, the latest last."""
        self.held: WeakValueDictionary[int, Changing] = WeakValueDictionary()
        """Packed entries that something still holds."""
        self._weights: dict[int, int] = {}
        """The size in bytes of each entry in memory when it was last weighed."""
        self._weight = 0
        """The sum of `_weights`."""
        self._touched: dict[int, None] = {}
        """Entries added or changed since the last weighing. The latest, which may still change, is last."""
        self._touches = 0
        self.kept = KEPT
        """How many of the last entries stay in memory."""

    def __len__(self) -> int:
        return len(self._places) + len(self.recent)

    @overload
    def __getitem__(self, index: int) -> Entry: ...
    @overload
    def __getitem__(self, index: slice) -> list[Entry]: ...
    def __getitem__(self, index: int | slice) -> Entry | list[Entry]:
        if isinstance(index, slice):
            return [self[each] for each in range(*index.indices(len(self)))]
        if index < 0:
            index += len(self)
        if index >= len(self._places):
            return self.recent[index - len(self._places)]
        if index < 0:
            raise IndexError(index)
        entry = self.changed.get(index) or self.held.get(index)
        return self._unpacked(index) if entry is None else entry

    def __iter__(self) -> Iterator[Entry]:
        return map(self.__getitem__, range(len(self)))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, EntryList | list):
            return NotImplemented
        return len(self) == len(other) and all(a == b for a, b in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"EntryList({list(self)!r})"

    def empty(self) -> EntryList:
        """Return an empty list that packs into the same store."""
        return EntryList(store=self._store)

    def append(self, entry: Entry) -> None:
        self.recent.append(entry)
        if self._store is not None:
            at_once = min(self.kept, PACKED_AT_ONCE)
            if len(self.recent) >= self.kept + at_once:
                self._pack(self._store, at_once)
            self._touch(self._store, len(self) - 1)

    def changing(self, index: int) -> Entry:
        """Return the entry, which the caller is about to change."""
        entry = self[index]
        if index < len(self._places):
            self.changed.pop(index, None)
            self.changed[index] = entry
        if self._store is not None:
            self._touch(self._store, index)
        return entry

    def copied(self, copy: Callable[[Entry], Entry]) -> EntryList:
        """Return another list with the same entries: those in memory through `copy`, the others from the store."""
        other = EntryList(map(copy, self.recent), self._store)
        other.kept = self.kept
        other._places, other._sizes = self._places[:], self._sizes[:]
        other.changed = {index: copy(entry) for index, entry in self.changed.items()}
        other._weights, other._weight = self._weights.copy(), self._weight
        other._touched = self._touched.copy()
        return other

    # Packing

    def _pack(self, store: Store, at_once: int) -> None:
        """Move entries far above the end into the store."""
        self._pack_recent(store, at_once)
        too_many = min(len(self.changed) - self.kept, at_once)
        for index in list(islice(self.changed, max(too_many, 0))):
            self._put(store, index, self.changed.pop(index))

    def _pack_recent(self, store: Store, count: int) -> None:
        for entry in self.recent[:count]:
            index = len(self._places)
            self._places.append(0)
            self._sizes.append(0)
            if _changes(entry):
                self.held[index] = entry
            self._put(store, index, entry)
        del self.recent[:count]

    def _put(self, store: Store, index: int, entry: Entry) -> bool:
        """Store an entry. Returns whether that worked."""
        try:
            data = pickle.dumps(entry, pickle.HIGHEST_PROTOCOL)
            self._places[index], self._sizes[index] = store.put(data), len(data)
        except (OSError, ValueError, RecursionError):  # a full disk, or a raw value nested too deep
            self.changed[index] = entry
            return False
        self._weight -= self._weights.pop(index, 0)
        return True

    # Weighing

    def _touch(self, store: Store, index: int) -> None:
        """Note that an entry was added or is about to change. Every few times, weigh the entries touched before it."""
        self._touched.pop(index, None)
        self._touched[index] = None
        self._touches += 1
        if self._touches < _TOUCHES_PER_WEIGHING or len(self._touched) == 1:
            return
        *grown, latest = self._touched
        self._touched, self._touches = {latest: None}, 0
        for each in grown:
            entry = self.changed.get(each) if each < len(self._places) else self[each]
            if entry is not None:
                weight = weight_of(entry)
                self._weight += weight - self._weights.get(each, 0)
                self._weights[each] = weight
        if self._weight > KEPT_BYTES:
            self._lighten(store, latest)

    def _lighten(self, store: Store, latest: int) -> None:
        """Pack entries except the latest, earliest first, until memory use is half the limit."""
        for index in [each for each in self.changed if each != latest]:
            if self._weight <= KEPT_BYTES // 2 or not self._put(store, index, self.changed.pop(index)):
                return
        while self._weight > KEPT_BYTES // 2 and len(self.recent) > KEPT_HOWEVER_LONG:
            self._pack_recent(store, 1)

    def _unpacked(self, index: int) -> Entry:
        assert self._store is not None
        try:
            data = self._store.get(self._places[index], self._sizes[index])
            entry = cast(Entry, _OwnValues(io.BytesIO(data)).load())
        except Exception as error:  # noqa: BLE001 - the store may hold anything by now
            return Failure("An earlier entry of this conversation can't be read back", str(error))
        if _changes(entry):
            self.held[index] = entry
        return entry


def _changes(entry: Entry) -> TypeGuard[Changing]:
    return isinstance(entry, Changing)


def weight_of(entry: Entry) -> int:
    """Return about how many bytes an entry takes."""
    if isinstance(entry, Message) and all(isinstance(part, TextBuffer) for part in entry.parts):
        return sum(part.length for part in entry.parts if isinstance(part, TextBuffer))
    try:
        return len(pickle.dumps(entry, pickle.HIGHEST_PROTOCOL))
    except (ValueError, RecursionError):
        return 0


class _OwnValues(pickle.Unpickler):
    """Unpickles the plain values of a conversation and nothing else, so a damaged store can't call code."""

    def find_class(self, module: str, name: str) -> Any:
        found = super().find_class(module, name) if module in _MODULES else None
        if not isinstance(found, type) or found.__module__ != module:  # not a name the module only imports
            raise pickle.UnpicklingError(f"{module}.{name} isn't part of an entry")
        return found


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
    turn: Turn = Turn.IDLE
    last_stop_reason: str | None = None
    plans: dict[str, Plan] = field(default_factory=dict)
    commands: tuple[Command, ...] = ()
    options: tuple[ConfigOption, ...] = ()
    title: str | None = None
    is_named: bool = False
    """Whether the user chose the title."""
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
    notices: list[Notice] = field(default_factory=list)
    """The latest notices, at most `MAX_NOTICES`."""
    notice_count: int = 0
    """The total number of notices."""
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
    def shown_title(self) -> str:
        """The title, or the first line of the first prompt, safe to show on one line; "" if there is neither."""
        if self.title:
            return make_visible_line(self.title)
        prompts = (entry.text for entry in self.entries if isinstance(entry, Message) and entry.role == "user")
        return make_visible_line(next(filter(None, map(_first_line, prompts)), ""))

    @property
    def is_idle(self) -> bool:
        """Whether no turn is running, so you can send a prompt."""
        return self.turn is Turn.IDLE

    @property
    def is_cancelling(self) -> bool:
        """Whether the agent was told to stop and hasn't stopped yet."""
        return self.turn is Turn.CANCELLING

    @property
    def turn_cost(self) -> float | None:
        """The cost of the current or last turn, in the unit of `usage`; None if unknown."""
        if self.usage is None or self.usage.cost_amount is None or self.cost_before is None:
            return None
        cost = self.usage.cost_amount - self.cost_before
        return cost if cost >= 0 else None

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
        self._end = ring.end
