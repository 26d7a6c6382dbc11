"""Keeps what is known of many files in little memory: about 40 bytes and the name for each."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Final, NamedTuple, TypeAlias

from acp_tui.client.changes import FileState
from acp_tui.client.changes.tree import join
from acp_tui.client.spill import Copies


class Copied(NamedTuple):
    """Where `Copies` has the content."""

    place: int
    size: int


Source: TypeAlias = bytes | Copied | str
"""Where the content is: the ID of a git blob, a copy, or why there is none."""


class FileRecord(NamedTuple):
    mode: int
    """0 if nothing is known, not even whether anything existed."""
    size: int
    signature: int
    """0 if it proves nothing, because the file was too recent."""
    source: Source

    def state(self, copies: Copies) -> FileState | None:
        """The state if git needn't be asked for it; None if nothing existed there. Blocks."""
        if self == NOTHING:
            return None
        if not isinstance(self.source, Copied):
            assert isinstance(self.source, str)
            return unknown(self.mode, self.size, self.source)
        try:
            return FileState(self.mode, self.size, copies.get(*self.source))
        except OSError as error:
            return unknown(self.mode, self.size, f"its copy can't be read: {error.strerror}")


NOTHING: Final = FileRecord(0, 0, 0, "")
"""Nothing existed there."""
IN_INDEX: Final = b""
"""In place of the ID of a blob: the one that the index names."""


def unknown(mode: int, size: int, reason: str) -> FileState:
    return FileState(mode, size, None, reason)


_RECORD: Final = struct.Struct("<qqqI")
"""Signature, size, where the content is, and mode."""


class Records:
    """Entries by path, grouped by folder. One thread at a time may add to them."""

    def __init__(self) -> None:
        self._folders: dict[str, tuple[bytearray, bytearray]] = {}
        """The names, each between NULs, as surrogate-escaped UTF-8, and the records in the same order."""
        self._count = 0
        self._sources: list[bytes | str] = []
        self._numbers: dict[bytes | str, int] = {}
        """Of reasons and blobs. A negative place is one of them."""

    def __len__(self) -> int:
        return self._count

    def __contains__(self, path: str) -> bool:
        return self._find(path) is not None

    def __iter__(self) -> Iterator[str]:
        """All paths, folder by folder."""
        for folder in list(self._folders):
            yield from (join(folder, name) for name in self.in_folder(folder))

    def put(self, path: str, entry: FileRecord) -> None:
        """Add an entry, or replace the earlier one."""
        folder, _, name = path.rpartition("/")
        names, records = self._folders.setdefault(folder, (bytearray(b"\0"), bytearray()))
        packed = _RECORD.pack(entry.signature, entry.size, self._place_of(entry.source), entry.mode)
        at = _index_of(names, name)
        if at is None:
            # The record first: a reader in another thread must not find a name without one.
            records += packed
            names += _encoded(name) + b"\0"
            self._count += 1
        else:
            records[at * _RECORD.size : (at + 1) * _RECORD.size] = packed

    def get(self, path: str) -> FileRecord | None:
        found = self._find(path)
        return None if found is None else self._entry(*found)

    def in_folder(self, folder: str) -> dict[str, FileRecord]:
        names, records = self._folders.get(folder, (b"\0", b""))
        each = bytes(names).split(b"\0")[1:-1]
        return {name.decode("utf-8", "surrogateescape"): self._entry(records, at) for at, name in enumerate(each)}

    def folders(self) -> list[str]:
        return list(self._folders)

    def under(self, path: str) -> Iterator[str]:
        prefix = f"{path}/"
        for folder in self.folders():
            if folder == path or folder.startswith(prefix):
                yield from (join(folder, name) for name in self.in_folder(folder))

    def _find(self, path: str) -> tuple[bytearray, int] | None:
        folder, _, name = path.rpartition("/")
        if folder not in self._folders:
            return None
        names, records = self._folders[folder]
        at = _index_of(names, name)
        return None if at is None else (records, at)

    def _entry(self, records: bytes | bytearray, at: int) -> FileRecord:
        signature, size, place, mode = _RECORD.unpack_from(records, at * _RECORD.size)
        return FileRecord(mode, size, signature, Copied(place, size) if place >= 0 else self._sources[-1 - place])

    def _place_of(self, source: Source) -> int:
        if isinstance(source, Copied):
            return source.place
        if source not in self._numbers:
            self._sources.append(source)
            self._numbers[source] = len(self._sources)
        return -self._numbers[source]


def _index_of(names: bytearray, name: str) -> int | None:
    at = names.find(b"\0" + _encoded(name) + b"\0")
    return None if at < 0 else names.count(b"\0", 0, at)


def _encoded(name: str) -> bytes:
    return name.encode("utf-8", "surrogateescape")
