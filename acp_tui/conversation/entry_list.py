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

from acp_tui.conversation.entries import Compaction, Entry, Failure, Message, ToolCallEntry

KEPT: Final = 1_000
"""Of the last entries, so many at least are in memory; and of those before them that have changed since."""
PACKED_AT_ONCE: Final = 200
"""It takes some 2 ms, once in so many entries."""

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

    def append(self, entry: Entry) -> None:
        """Add one at the end."""
        self._recent.append(entry)
        if self._store is not None and len(self._recent) >= KEPT + PACKED_AT_ONCE:
            self._pack(self._store)

    def changing(self, index: int) -> Entry:
        """The entry, which the caller is about to change."""
        entry = self[index]
        if index < len(self._places):
            self._changed.pop(index, None)
            self._changed[index] = entry
        return entry

    def copied(self, copy: Callable[[Entry], Entry]) -> EntryList:
        """Another list with the same entries: those in memory as `copy` gives them, the others from the same store."""
        other = EntryList(map(copy, self._recent), self._store)
        other._places, other._sizes = self._places[:], self._sizes[:]
        other._changed = {index: copy(entry) for index, entry in self._changed.items()}
        return other

    # Packing

    def _pack(self, store: Store) -> None:
        """Put what is far above the end into the store."""
        for entry in self._recent[:PACKED_AT_ONCE]:
            index = len(self._places)
            self._places.append(0)
            self._sizes.append(0)
            if _changes(entry):
                self._held[index] = entry
            self._put(store, index, entry)
        del self._recent[:PACKED_AT_ONCE]
        too_many = min(len(self._changed) - KEPT, PACKED_AT_ONCE)
        for index in list(islice(self._changed, max(too_many, 0))):
            self._put(store, index, self._changed.pop(index))

    def _put(self, store: Store, index: int, entry: Entry) -> None:
        try:
            data = pickle.dumps(entry, pickle.HIGHEST_PROTOCOL)
            self._places[index], self._sizes[index] = store.put(data), len(data)
        except (OSError, ValueError, RecursionError):  # a full disk, or a raw value that is nested too deep
            self._changed[index] = entry

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


class _OwnValues(pickle.Unpickler):
    """Makes the plain values of a conversation and calls nothing else, whatever has become of the store."""

    def find_class(self, module: str, name: str) -> Any:
        found = super().find_class(module, name) if module in _MODULES else None
        if not isinstance(found, type) or found.__module__ != module:  # nothing that a module only imports
            raise pickle.UnpicklingError(f"{module}.{name} is no part of an entry")
        return found
