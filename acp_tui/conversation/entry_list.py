"""The entries of a conversation in their order: the last ones in memory, those before them packed into a store.

It opens no file: what the store is, is not known here. Without a store all of them stay in memory.
"""

from __future__ import annotations

import io
import pickle
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, Final, Protocol, TypeAlias, TypeGuard, cast, overload
from weakref import WeakValueDictionary

from acp_tui.conversation.buffers import TextBuffer
from acp_tui.conversation.entries import Compaction, Entry, Failure, Message, ToolCallEntry

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
            return Failure("An earlier entry of this conversation cannot be read back", str(error))
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
