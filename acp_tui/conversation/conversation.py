"""The state of one session: its entries and its facts. It does no I/O and knows nothing of wire or screen.

The last entries are in memory, those before them packed into a store; without a store all of them stay in memory. What
the store is, is not known here. `snapshot` makes an equal conversation, for an export that takes its time or a fork.
"""

from __future__ import annotations

import io
import pickle
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy
from dataclasses import field, fields, replace
from itertools import islice
from typing import Any, Final, NamedTuple, Protocol, TypeAlias, TypeGuard, cast, overload
from weakref import WeakValueDictionary

from acp_tui.conversation.buffers import ByteRing, TextBuffer
from acp_tui.conversation.elicitation import Elicitation, UrlVisit
from acp_tui.conversation.entries import (
    Compaction,
    Entry,
    EntryId,
    Failure,
    Message,
    Remark,
    TerminalState,
    ToolCallEntry,
)
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

KEPT: Final = 1_000
"""Of the last entries, so many at least are in memory; and of those before them that have changed since."""
PACKED_AT_ONCE: Final = 200
"""It takes some 2 ms, once in so many entries."""
KEPT_BYTES: Final = 32 << 20
"""Where the entries in memory take more, they are packed earlier."""
KEPT_HOWEVER_LONG: Final = 20
"""Of the last entries, which are in view."""
_TOUCHES_PER_WEIGHING: Final = 8

_PACKAGE: Final = "acp_tui.conversation"
_MODULES: Final = frozenset(
    (
        _PACKAGE,
        *(f"{_PACKAGE}.{name}" for name in ("buffers", "content", "elicitation", "entries", "tool_calls")),
    )
)
"""What an entry is made of."""

Changing: TypeAlias = Message | ToolCallEntry | Compaction
"""Those that go on after they were added; of the others no one is told from its equal."""


class Store(Protocol):
    """Keeps bytes outside of our memory."""

    def put(self, data: bytes) -> int:
        """Keep them; gives the place at which they are found again. Raises OSError; ValueError where it is full."""

    def get(self, place: int, size: int) -> bytes:
        """So many bytes of a place. Raises OSError."""


class EntryList(Sequence[Entry]):
    """As a list of entries, to which one appends; reading one that is packed takes some 10 us.

    Whoever holds an entry holds the one that changes, whether it is packed or not: only an entry that nobody holds is
    made anew when it is read. One that is to be changed is asked for by `changing`.
    """

    def __init__(self, entries: Iterable[Entry] = (), store: Store | None = None) -> None:
        self._store = store
        self._places, self._sizes = array("Q"), array("Q")
        """Of the packed ones: all before the recent ones."""
        self._recent = list(entries)
        self._changed: dict[int, Entry] = {}
        """Packed ones that the store has not as they are now, the latest at the end."""
        self._held: WeakValueDictionary[int, Changing] = WeakValueDictionary()
        """Packed ones that somebody still holds."""
        self._weights: dict[int, int] = {}
        """How many bytes those in memory took when they were weighed."""
        self._weight = 0
        """All of them."""
        self._touched: dict[int, None] = {}
        """Those that were added or changed since; the latest, which may go on changing, at the end."""
        self._touches = 0

    def __len__(self) -> int:
        return len(self._places) + len(self._recent)

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
            return self._recent[index - len(self._places)]
        if index < 0:
            raise IndexError(index)
        entry = self._changed.get(index) or self._held.get(index)
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
        """A list without entries that packs into the same store."""
        return EntryList(store=self._store)

    def append(self, entry: Entry) -> None:
        """Add one at the end."""
        self._recent.append(entry)
        if self._store is not None:
            if len(self._recent) >= KEPT + PACKED_AT_ONCE:
                self._pack(self._store)
            self._touch(self._store, len(self) - 1)

    def changing(self, index: int) -> Entry:
        """The entry, which the caller is about to change."""
        entry = self[index]
        if index < len(self._places):
            self._changed.pop(index, None)
            self._changed[index] = entry
        if self._store is not None:
            self._touch(self._store, index)
        return entry

    def copied(self, copy: Callable[[Entry], Entry]) -> EntryList:
        """Another list with the same entries: those in memory as `copy` gives them, the others from the same store."""
        other = EntryList(map(copy, self._recent), self._store)
        other._places, other._sizes = self._places[:], self._sizes[:]
        other._changed = {index: copy(entry) for index, entry in self._changed.items()}
        other._weights, other._weight = self._weights.copy(), self._weight
        other._touched = self._touched.copy()
        return other

    # Packing

    def _pack(self, store: Store) -> None:
        """Put what is far above the end into the store."""
        self._pack_recent(store, PACKED_AT_ONCE)
        too_many = min(len(self._changed) - KEPT, PACKED_AT_ONCE)
        for index in list(islice(self._changed, max(too_many, 0))):
            self._put(store, index, self._changed.pop(index))

    def _pack_recent(self, store: Store, count: int) -> None:
        for entry in self._recent[:count]:
            index = len(self._places)
            self._places.append(0)
            self._sizes.append(0)
            if _changes(entry):
                self._held[index] = entry
            self._put(store, index, entry)
        del self._recent[:count]

    def _put(self, store: Store, index: int, entry: Entry) -> bool:
        """Whether the store has it now."""
        try:
            data = pickle.dumps(entry, pickle.HIGHEST_PROTOCOL)
            self._places[index], self._sizes[index] = store.put(data), len(data)
        except (OSError, ValueError, RecursionError):  # a full disk, or a raw value that is nested too deep
            self._changed[index] = entry
            return False
        self._weight -= self._weights.pop(index, 0)
        return True

    # Weighing

    def _touch(self, store: Store, index: int) -> None:
        """An entry was added or is about to be changed: now and then, see what those before it have become."""
        self._touched.pop(index, None)
        self._touched[index] = None
        self._touches += 1
        if self._touches < _TOUCHES_PER_WEIGHING or len(self._touched) == 1:
            return
        *grown, latest = self._touched
        self._touched, self._touches = {latest: None}, 0
        for each in grown:
            entry = self._changed.get(each) if each < len(self._places) else self[each]
            if entry is not None:
                weight = _weight(entry)
                self._weight += weight - self._weights.get(each, 0)
                self._weights[each] = weight
        if self._weight > KEPT_BYTES:
            self._lighten(store, latest)

    def _lighten(self, store: Store, latest: int) -> None:
        """Pack what is not the latest, the earliest first, until half as much is in memory."""
        for index in [each for each in self._changed if each != latest]:
            if self._weight <= KEPT_BYTES // 2 or not self._put(store, index, self._changed.pop(index)):
                return
        while self._weight > KEPT_BYTES // 2 and len(self._recent) > KEPT_HOWEVER_LONG:
            self._pack_recent(store, 1)

    def _unpacked(self, index: int) -> Entry:
        assert self._store is not None
        try:
            data = self._store.get(self._places[index], self._sizes[index])
            entry = cast(Entry, _OwnValues(io.BytesIO(data)).load())
        except Exception as error:  # noqa: BLE001 - whatever has become of the store
            return Failure("An earlier entry of this conversation can't be read back", str(error))
        if _changes(entry):
            self._held[index] = entry
        return entry


def _changes(entry: Entry) -> TypeGuard[Changing]:
    return isinstance(entry, Changing)


def _weight(entry: Entry) -> int:
    """About how many bytes an entry takes."""
    if isinstance(entry, Message) and all(isinstance(part, TextBuffer) for part in entry.parts):
        return sum(part.length for part in entry.parts if isinstance(part, TextBuffer))
    try:
        return len(pickle.dumps(entry, pickle.HIGHEST_PROTOCOL))
    except (ValueError, RecursionError):
        return 0


class _OwnValues(pickle.Unpickler):
    """Makes the plain values of a conversation and calls nothing else, whatever has become of the store."""

    def find_class(self, module: str, name: str) -> Any:
        found = super().find_class(module, name) if module in _MODULES else None
        if not isinstance(found, type) or found.__module__ != module:  # nothing that a module only imports
            raise pickle.UnpicklingError(f"{module}.{name} is no part of an entry")
        return found


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
    is_named: bool = False
    """The title is the user's own."""
    updated_at: str | None = None
    usage: Usage | None = None
    turn_usage: TurnUsage | None = None
    """Of the last turn that has ended, where the agent counts."""
    spent: TurnUsage | None = None
    """Of all turns that have ended here."""
    cost_before: float | None = None
    """What the session had cost when the last turn began; None where nobody knows."""
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
    joining: set[EntryId] = field(default_factory=set)
    """Those of them that were sent while a turn ran."""
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
    def turn_cost(self) -> float | None:
        """What the last turn, or the one that runs, has cost in the unit of `usage`; None where nobody knows."""
        if self.usage is None or self.usage.cost_amount is None or self.cost_before is None:
            return None
        cost = self.usage.cost_amount - self.cost_before
        return cost if cost >= 0 else None

    @property
    def plan(self) -> Plan | None:
        """The plan reported first, where there is one with steps."""
        return next(iter(self.plans.values()), None)

    def tool_call(self, call_id: ToolCallId) -> ToolCallEntry:
        """The entry of a call that was reported. Raises KeyError."""
        entry = self.entries[self.tool_call_entries[call_id]]
        assert isinstance(entry, ToolCallEntry)
        return entry


def snapshot(conversation: Conversation) -> Conversation:
    """An equal conversation that no update changes.

    To be called where the updates are applied. What never changes (texts, diffs, raw values) is shared: the cost is
    that of the entries, and of what the terminals have printed, which is copied.
    """
    values: dict[str, Any] = {
        field.name: copy(getattr(conversation, field.name)) for field in fields(Conversation)
    }
    values["entries"] = conversation.entries.copied(_entry)
    values["terminals"] = {key: _terminal(state) for key, state in conversation.terminals.items()}
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


def _terminal(state: TerminalState) -> TerminalState:
    return replace(state, output=_KeptRing(state.output))


class _KeptRing(ByteRing):
    """What a ring held at a time, at the offset where it stood."""

    __slots__ = ()

    def __init__(self, ring: ByteRing) -> None:
        super().__init__(ring.limit_bytes)
        self.append(ring.read_from(0)[1])
        self._end = ring.end
