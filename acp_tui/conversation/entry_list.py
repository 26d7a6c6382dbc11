"""The entries of a conversation: the latest in memory, earlier ones packed into a store.

The store is an interface (`Store`). Without one, all entries stay in memory.
"""

from __future__ import annotations

import io
import pickle
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, Final, Protocol, TypeAlias, TypeGuard, TypeVar, cast, overload
from weakref import WeakValueDictionary

from acp_tui.conversation.buffers import TextBuffer
from acp_tui.conversation.entries import Compaction, Entry, Failure, Message, ToolCallEntry

KEPT: Final = 1_000
"""At least this many of the last entries stay in memory if they may be looked at, and as many earlier changed ones."""
PACKED_AT_ONCE: Final = 200
"""How many entries are packed at once, which takes about 2 ms."""
KEPT_BYTES: Final = 32 << 20
"""If the entries in memory take more, they are packed earlier."""
KEPT_HOWEVER_LONG: Final = 20
"""This many of the last entries always stay in memory: they are in view."""
_TOUCHES_PER_WEIGHING: Final = 8

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
C = TypeVar("C", bound=Changing)


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
        return EntryList(store=self._store)

    def append(self, entry: Entry) -> None:
        self.recent.append(entry)
        if self._store is not None:
            at_once = min(self.kept, PACKED_AT_ONCE)
            if len(self.recent) >= self.kept + at_once:
                self._pack_recent(self._store, at_once)
                too_many = min(len(self.changed) - self.kept, at_once)
                for index in list(islice(self.changed, max(too_many, 0))):
                    self._put(self._store, index, self.changed.pop(index))
            self._touch(self._store, len(self) - 1)

    def changing(self, index: int, kind: type[C]) -> C:
        """Return the entry, which is of this kind, and which the caller is about to change."""
        entry = self[index]
        assert isinstance(entry, kind)
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
