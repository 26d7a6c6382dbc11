"""The state of every file when the session began, with its content if it was kept or git has it. `capture` fills it."""

from __future__ import annotations

import re
import time
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import Final, NamedTuple, TypeAlias

from anyio import to_thread

from acp_tui.client.changes.git import Git, blob_id
from acp_tui.client.changes.model import ChangeLimits, FileState
from acp_tui.client.changes.tree import FolderListing, Tree, is_within, join, signature, too_large
from acp_tui.client.safe_git import GitFailed
from acp_tui.client.spill import Copies


class Copied(NamedTuple):
    """Where `Copies` has the content."""

    place: int
    size: int


Source: TypeAlias = bytes | Copied | str
"""Where the content is: the ID of a git blob, a copy, or why there is none."""

# File system clocks are coarse: a write soon after another may leave the timestamps unchanged.
_SETTLED_NS: Final = 100_000_000


class Entry(NamedTuple):
    """One path at some moment. A tuple, because up to 100,000 of them are created while the user waits."""

    mode: int
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
            return _unknown(self.mode, self.size, self.source)
        try:
            return FileState(self.mode, self.size, copies.get(*self.source))
        except OSError as error:
            return _unknown(self.mode, self.size, f"its copy can't be read: {error.strerror}")


NOTHING: Final = Entry(0, 0, 0, "")
"""Nothing existed there."""


class Baseline:
    """The state at the start, for one workspace and one session."""

    def __init__(self, tree: Tree, areas: Areas, limits: ChangeLimits) -> None:
        self.tree = tree
        self.areas = areas
        self.limits = limits
        self.copies = Copies(limits.max_total_bytes)
        self.doubt = ""
        """Why a path without an entry may have existed; "" if all paths were examined."""
        self.ignored: set[str] = set()
        """What git ignored at the start. For a directory ignored as a whole, only the directory."""
        self.began_ns = time.time_ns()
        self.entries: dict[str, Entry] = {}
        self._sorted: list[str] = []

    def remember(self, path: str, blob: bytes | None = None, *, is_sure: bool = False) -> None:
        """Add an entry for the file at a path.

        Its content is this blob if that's certain or confirmed, otherwise a copy.
        """
        status = self.tree.status(path)
        if status is None:
            return
        if len(self.entries) >= self.limits.max_files:
            self.doubt = f"more than {self.limits.max_files:,} files existed when the session began"
            return
        settled = status.st_mtime_ns < self.began_ns - _SETTLED_NS
        mark = signature(status)
        if blob is not None and is_sure:
            self.entries[path] = Entry(status.st_mode, status.st_size, mark if settled else 0, blob)
            return
        state = self.tree.read(path, self.limits.max_file_bytes)
        if state is not None:
            source = blob if blob is not None and _is_blob(state, blob) else self._copied(state)
            trusted = settled or isinstance(source, str)  # there's no other evidence
            self.entries[path] = Entry(state.mode, state.size, mark if trusted else 0, source)

    def keep(self, state: FileState | None, mark: int) -> Entry:
        """Keep the state of a file, with its current signature."""
        return NOTHING if state is None else Entry(state.mode, state.size, mark, self._copied(state))

    def complete(self) -> None:
        """Declare that all entries have been made."""
        self._sorted = sorted(self.entries)

    def close(self) -> None:
        """Delete the copies."""
        self.copies.close()

    def under(self, path: str) -> Iterator[str]:
        prefix = f"{path}/"
        for index in range(bisect_left(self._sorted, prefix), len(self._sorted)):
            if not self._sorted[index].startswith(prefix):
                return
            yield self._sorted[index]

    def is_untouched(self, path: str) -> bool:
        """Whether the file is certainly unchanged. A quick check: False may mean nothing."""
        entry, status = self.entries.get(path), self.tree.status(path)
        if status is None:
            return False
        if entry is None:
            return self._doubt_about(path) != "" and status.st_ctime_ns < self.began_ns
        return entry.signature != 0 and signature(status) == entry.signature

    async def states(self, paths: Iterable[str]) -> dict[str, FileState | None]:
        """The states at these paths; None if nothing existed there."""
        entries = {path: self.entries.get(path) for path in paths}
        states = await to_thread.run_sync(self._kept, entries)
        wanted: dict[str, dict[str, Entry]] = {}
        for path, entry in entries.items():
            if entry is not None and path not in states:
                wanted.setdefault(self.areas.area_of(path), {})[path] = entry
        for area, group in wanted.items():
            git = self.areas.gits[area]
            assert git is not None
            states |= await _from_git(git, group)
        return states

    def _doubt_about(self, path: str) -> str:
        """Why a path without an entry may have existed; "" if it didn't."""
        if self.doubt or not is_within(path, self.ignored):
            return self.doubt
        return "git ignored it when the session began"

    def _copied(self, state: FileState) -> Copied | str:
        if state.data is None:
            return state.unknown
        if state.size > self.copies.room:
            return "acp-tui's copies had reached their size limit"
        try:
            return Copied(self.copies.put(state.data), len(state.data))
        except OSError as error:
            return f"it couldn't be copied: {error.strerror}"

    def _kept(self, entries: dict[str, Entry | None]) -> dict[str, FileState | None]:
        """The states of all entries except those whose content git has."""
        states: dict[str, FileState | None] = {}
        for path, entry in entries.items():
            if entry is None:
                doubt = self._doubt_about(path)
                states[path] = _unknown(0, 0, doubt) if doubt else None
            elif not isinstance(entry.source, bytes):
                states[path] = entry.state(self.copies)
            elif entry.size > self.limits.max_review_bytes:
                states[path] = _unknown(entry.mode, entry.size, too_large(self.limits.max_review_bytes))
        return states


def _unknown(mode: int, size: int, reason: str) -> FileState:
    return FileState(mode, size, None, reason)


def _is_blob(state: FileState, blob: bytes) -> bool:
    """Whether git would store exactly these bytes under this ID."""
    return state.data is not None and blob_id(state.data, len(blob)) == blob


async def _from_git(git: Git, entries: dict[str, Entry]) -> dict[str, FileState | None]:
    """The states of files whose content git has.

    A git blob is the content that was on disk if it has the same size, because attributes that change content without
    changing its size were checked at the start. Otherwise git had converted line endings. We do that here, because git
    itself would run the filters that the repository configures.
    """
    try:
        blobs = await git.blobs({entry.source for entry in entries.values() if isinstance(entry.source, bytes)})
    except GitFailed as failure:
        return {path: _unknown(entry.mode, entry.size, str(failure)) for path, entry in entries.items()}
    states: dict[str, FileState | None] = {}
    for path, entry in entries.items():
        assert isinstance(entry.source, bytes)
        data = blobs.get(entry.source)
        if data is not None and len(data) != entry.size:
            data = _LONE_LINE_FEED.sub(b"\r\n", data)
        if data is None or len(data) != entry.size:
            states[path] = _unknown(entry.mode, entry.size, "git doesn't return it unchanged")
        else:
            states[path] = FileState(entry.mode, entry.size, data)
    return states


_LONE_LINE_FEED: Final = re.compile(rb"(?<!\r)\n")


class Areas:
    """The parts of a workspace: the root and every repository inside, each identified by its path."""

    def __init__(self, tree: Tree, max_walked: int) -> None:
        self._tree = tree
        self._max_walked = max_walked
        self.gits: dict[str, Git | None] = {}
        """By path, "" for the root; None if there is no git."""
        self.shortfall = ""
        """Why the list is incomplete; "" if it isn't."""

    def area_of(self, path: str) -> str:
        """The innermost part that a path belongs to."""
        while path and path not in self.gits:
            path = path.rpartition("/")[0]
        return path

    async def files(self, under: Sequence[str] | None = None) -> list[str]:
        """Files that aren't ignored, all or only those at or below these paths. Some may not exist."""
        wanted: dict[str, list[str]] = {area: [] for area in self.gits} if under is None else self._by_area(under)
        return [file for area, paths in wanted.items() for file in await self._files(area, paths)]

    async def directories(self) -> list[str]:
        """Every directory that can be listed and isn't ignored."""
        pruned = set(self.gits)
        for area, git in self.gits.items():
            if git is not None:
                pruned |= {join(area, path) for path in await _ignored(git)}
        return await to_thread.run_sync(partial(self._walked_directories, pruned), abandon_on_cancel=True)

    async def without_ignored(self, directories: Sequence[str]) -> list[str]:
        """Those of these directories that aren't ignored as a whole."""
        kept: list[str] = []
        for area, paths in self._by_area(directories).items():
            git = self.gits[area]
            ignored = set() if git is None else await _ignored(git, [below(area, path) for path in paths])
            kept += [path for path in paths if below(area, path) not in ignored]
        return kept

    def _by_area(self, paths: Sequence[str]) -> dict[str, list[str]]:
        groups: dict[str, list[str]] = {}
        for path in paths:
            groups.setdefault(self.area_of(path), []).append(path)
        return groups

    async def _files(self, area: str, under: list[str]) -> list[str]:
        git = self.gits[area]
        if git is None:
            walk = partial(self._walked_files, under or [area])
            return await to_thread.run_sync(walk, abandon_on_cancel=True)
        inside = [] if area in under else [below(area, path) for path in under]
        try:
            listed = await git.not_ignored(inside)
        except GitFailed as failure:
            self.shortfall = f"can't read git's ignored files: {failure}"
            walk = partial(self._walked_files, under or [area])
            return await to_thread.run_sync(walk, abandon_on_cancel=True)
        return await to_thread.run_sync(partial(self._expanded, area, listed), abandon_on_cancel=True)

    def _expanded(self, area: str, listed: list[str]) -> list[str]:
        """Git's list, plus the files of repositories that were created since."""
        files: list[str] = []
        for name in listed:
            path = join(area, name.removesuffix("/"))
            if name.endswith("/"):
                files += [] if path in self.gits else self._walked_files([path])
            else:
                files.append(path)
        return files

    def _walked_files(self, under: Sequence[str]) -> list[str]:
        pruned = set(self.gits)
        files = [*under]  # in case one isn't a directory; reading a directory as a file does no harm
        for start in under:
            for listing in self._walk(start, pruned):
                files += (join(listing.path, name) for name in listing.others)
                if len(files) > self._max_walked:
                    self.shortfall = f"there are more than {self._max_walked:,} files to look at"
                    return files
        return files

    def _walked_directories(self, pruned: set[str]) -> list[str]:
        listings = (listing for area in self.gits for listing in self._walk(area, pruned))
        return [listing.path for listing in islice(listings, self._max_walked) if not listing.unreadable]

    def _walk(self, start: str, pruned: set[str]) -> Iterator[FolderListing]:
        for listing in self._tree.walk(start):
            listing.directories[:] = [name for name in listing.directories if join(listing.path, name) not in pruned]
            yield listing


async def _ignored(git: Git, under: Sequence[str] = ()) -> set[str]:
    """What git ignores; nothing if git doesn't say, so that we watch too much rather than too little."""
    try:
        return await git.ignored([path for path in under if path])
    except GitFailed:
        return set()


def below(area: str, path: str) -> str:
    """The path relative to its area."""
    return path.removeprefix(area).removeprefix("/")
