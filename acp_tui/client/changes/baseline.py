"""The state of every file when the session began, with its content if it was kept or git has it. `capture` fills it."""

from __future__ import annotations

import os
import re
import stat
import time
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from functools import partial
from itertools import islice
from typing import Final

from anyio import to_thread

from acp_tui.client.changes import ChangeLimits, FileState
from acp_tui.client.changes.git import Committed, Git, blob_id
from acp_tui.client.changes.git_index import GitIndex, IndexEntry
from acp_tui.client.changes.pace import Pace
from acp_tui.client.changes.records import IN_INDEX, NOTHING, Copied, FileRecord, Records, unknown
from acp_tui.client.changes.tree import FolderListing, Tree, is_within, join, signature, too_large
from acp_tui.client.safe_git import GitFailed
from acp_tui.client.spill import Copies
from acp_tui.values import dataclass

# File system clocks are coarse: a write soon after another may leave the timestamps unchanged.
_SETTLED_NS: Final = 100_000_000

NOT_READ: Final = "acp-tui had not read it yet"
CHANGED_EARLY: Final = "it changed before acp-tui had read it"


class Baseline:
    """The state at the start, for one workspace and one session.

    Until `release`, a file is as the session found it. From then on, others may change files, so a file that is read
    only later counts only if it provably hasn't changed since. For files that git knows, the index is the baseline.
    """

    def __init__(self, tree: Tree, limits: ChangeLimits) -> None:
        self.tree = tree
        self.areas = Areas(tree, 2 * limits.max_files)
        self.limits = limits
        self.copies = Copies(limits.max_total_bytes)
        self.doubt = ""
        """Why a path without an entry may have existed; "" if all paths were examined."""
        self.ignored: set[str] = set()
        """What git ignored at the start. For a directory ignored as a whole, only the directory."""
        self.unsure: set[str] = set()
        """Directories that changed before their files were listed."""
        self._listed: frozenset[str] = frozenset()
        """All directories, if some are unsure."""
        self.began_ns = time.time_ns()
        self.entries = Records()
        """Of all files except those that are as git's index says."""
        self.is_complete = False
        """Whether all files have been examined."""
        self._released_ns: int | None = None
        self._modes: dict[int, int] = {}
        """The permissions that most files with a mode of git's have."""

    def release(self, at_ns: int) -> None:
        """From this time on, others may change files."""
        if self._released_ns is None:
            self._released_ns = at_ns - _SETTLED_NS

    def is_from_before(self, index: GitIndex) -> bool:
        """Whether an index can't have been written by those who may change files."""
        return self._released_ns is None or index.written_ns < self._released_ns

    @property
    def is_released(self) -> bool:
        return self._released_ns is not None

    def is_settled(self, path: str, status: os.stat_result | None) -> bool:
        """Whether what is at this path is what was there when the session began. `status` is None if nothing is."""
        if self._released_ns is None:
            return True
        directory = path.rpartition("/")[0]
        if status is None:
            while directory and self.tree.status(directory) is None:
                directory = directory.rpartition("/")[0]
            return self.is_listing_settled(directory)
        return status.st_ctime_ns < self._released_ns and not self.may_have_moved(directory)

    def is_listing_settled(self, directory: str) -> bool:
        """Whether nothing that was in a directory when the session began can be missing from it."""
        found = self.tree.status(directory)
        if self._released_ns is None or found is None:
            return self._released_ns is None
        return found.st_mtime_ns < self._released_ns and not self.may_have_moved(directory)

    def may_have_moved(self, directory: str) -> bool:
        """Whether another directory may be here now, whose files have kept their times.

        Moving a directory changes its own time, and that of the one it's in.
        """
        released_ns, own = self._released_ns, self.tree.status(directory)
        while directory and released_ns is not None:
            directory = directory.rpartition("/")[0]
            outer = self.tree.status(directory)
            if own is None or outer is None or own.st_ctime_ns >= released_ns <= outer.st_mtime_ns:
                return True
            own = outer
        return False

    def remember(self, path: str, tracked: IndexEntry | None = None) -> None:
        """Add an entry for what is at a path, unless there is one.

        Its content is that of the index if these are the same bytes, otherwise a copy.
        """
        kept = self.entries.get(path)
        if kept is not None and (kept.source != IN_INDEX or tracked is None or tracked.is_plain):
            return
        status = self.tree.status(path)
        if status is not None and stat.S_ISDIR(status.st_mode):
            status = None
        if status is None and (tracked is None or tracked.is_skipped):
            return
        if tracked is None and len(self.entries) >= self.limits.max_files:
            self.doubt = f"more than {self.limits.max_files:,} files existed when the session began"
            return
        self.entries.put(path, self._examined(path, status, tracked))

    def _examined(self, path: str, status: os.stat_result | None, tracked: IndexEntry | None) -> FileRecord:
        if self._released_ns is not None and status is not None and status.st_ctime_ns >= self._released_ns:
            return FileRecord(0, 0, 0, CHANGED_EARLY)
        entry = NOTHING if status is None else self._record_of(path, status, tracked)
        if self._released_ns is None:
            return entry
        after = self.tree.status(path)
        if self.is_settled(path, after) and (status is None) == (after is None):
            return entry
        if status is None or after is None or after.st_ctime_ns >= self._released_ns:
            return FileRecord(0, 0, 0, CHANGED_EARLY)
        # Nobody has written to this file, but it may not be the one that was here.
        return FileRecord(after.st_mode, after.st_size, signature(after), CHANGED_EARLY)

    def look_first(self, path: str) -> None:
        """Examine a path before others do. Something may be about to change it."""
        if self.is_complete or path in self.entries:
            return
        area = self.areas.area_of(path)
        index = self.areas.indexes.get(area)
        tracked = None if index is None else index.find(below(area, path))
        if tracked is not None:
            tracked = tracked._replace(is_plain=False)  # it isn't known yet whether git converts it
        status = self.tree.status(path)
        if status is not None and stat.S_ISDIR(status.st_mode):
            return
        entry = self._examined(path, status, tracked)
        if entry.source != CHANGED_EARLY:
            self.entries.put(path, entry)

    def _record_of(self, path: str, status: os.stat_result, tracked: IndexEntry | None) -> FileRecord:
        is_old = status.st_mtime_ns < self.began_ns - _SETTLED_NS
        mark = signature(status)
        if tracked is not None and tracked.is_still(status) and status.st_size == tracked.size:
            return FileRecord(status.st_mode, status.st_size, mark if is_old else 0, IN_INDEX)
        has_no_room = stat.S_ISREG(status.st_mode) and self.copies.room < status.st_size <= self.limits.max_file_bytes
        if tracked is None and has_no_room:
            return FileRecord(status.st_mode, status.st_size, mark, _NO_ROOM)
        state = self.tree.read(path, self.limits.max_file_bytes)
        if state is None:
            return NOTHING
        source = IN_INDEX if tracked is not None and _is_blob(state, tracked.blob) else self._copied(state)
        trusted = is_old or isinstance(source, str)  # there's no other evidence
        return FileRecord(state.mode, state.size, mark if trusted else 0, source)

    def begin_with(self, committed: Mapping[str, Committed]) -> bool:
        """Let the earlier state be that of a commit of the root's repository, which has these files. Blocks.

        Returns whether nothing differs from it.
        """
        rest, found = dict(committed), set[str]()
        for tracked in self.areas.indexes[""].entries():
            stored, kept = rest.pop(tracked.path, None), self.entries.get(tracked.path)
            if tracked.is_repository:
                continue
            is_as_indexed = kept is None or kept.source == IN_INDEX
            mode = tracked.mode if kept is None else kept.mode
            if not (stored and is_as_indexed and tracked.blob == stored.blob and _is_same_mode(mode, stored.mode)):
                found.add(tracked.path)
        found.update(rest, (path for path in self.entries if not self.areas.area_of(path) and path not in committed))
        for path in found:
            stored, status = committed.get(path), self.tree.status(path)
            if stored is None:
                self.entries.put(path, NOTHING)
            else:  # git keeps no permissions except the one to execute
                is_same = status is not None and _is_same_mode(status.st_mode, stored.mode)
                mode = status.st_mode if status is not None and is_same else stored.mode
                self.entries.put(path, FileRecord(mode, stored.size, 0, stored.blob))
        return not found

    def note_mode(self, tracked: IndexEntry, status: os.stat_result) -> bool:
        """Whether an unchanged file has the usual permissions, so that it needs no entry."""
        return self._modes.setdefault(tracked.mode, status.st_mode) == status.st_mode and status.st_size == tracked.size

    def keep(self, state: FileState | None, mark: int) -> FileRecord:
        return NOTHING if state is None else FileRecord(state.mode, state.size, mark, self._copied(state))

    def close(self) -> None:
        """Delete the copies."""
        self.copies.close()
        self.areas.close()

    def entry(self, path: str) -> FileRecord | None:
        """What was there; None if nothing was, or if that isn't known. Blocks."""
        kept = self.entries.get(path)
        if kept is not None and kept.source != IN_INDEX:
            return kept
        tracked = self.areas.tracked(path)
        if kept is not None:
            return kept._replace(source="git's index can't be read" if tracked is None else tracked.blob)
        if tracked is None:
            return None
        if self.areas.area_of(path) not in self.areas.examined:
            return FileRecord(0, 0, 0, NOT_READ)
        mode = self._modes.get(tracked.mode, tracked.mode)
        return NOTHING if tracked.is_skipped else FileRecord(mode, tracked.size, 0, tracked.blob)

    def under(self, path: str) -> Iterator[str]:
        """The paths below this one at which something existed, some of them twice. Blocks."""
        yield from self.entries.under(path)
        yield from self.areas.tracked_under(path)

    def is_left_to_git(self, path: str) -> bool:
        """Whether nothing is known of a path but what git knows."""
        kept = self.entries.get(path)
        return kept is None or kept.source in (IN_INDEX, CHANGED_EARLY)

    def is_untouched(self, path: str) -> bool:
        """Whether the file is certainly unchanged, or came with a branch. A quick check: False may mean nothing."""
        status = self.tree.status(path)
        if self.areas.checkouts and self._came_with_branch(path, status):
            return True
        if status is None:
            return False
        if not self.is_complete and self.is_released and self.is_settled(path, status):
            return True
        kept = self.entries.get(path)
        if kept is not None:
            return kept.signature != 0 and signature(status) == kept.signature
        tracked = self.areas.tracked(path)
        if tracked is not None:
            return tracked.is_still(status) and self._modes.get(tracked.mode) == status.st_mode
        return self._doubt_about(path) != "" and status.st_ctime_ns < self.began_ns

    def _came_with_branch(self, path: str, status: os.stat_result | None) -> bool:
        area = self.areas.area_of(path)
        checkout, inside = self.areas.checkouts.get(area), below(area, path)
        if checkout is None or inside in checkout.others or not self.is_left_to_git(path):
            return False
        entry = checkout.index.find(inside)
        if entry is None or status is None:
            return entry is None and status is None
        return self.is_as_written(path, status, entry)

    def is_as_written(self, path: str, status: os.stat_result, entry: IndexEntry) -> bool:
        """Whether a file is as git has just written it. One as recent as the index is read."""
        if entry.mtime_ns or status.st_size != entry.size:
            return entry.is_still(status)
        state = self.tree.read(path, self.limits.max_file_bytes)
        return state is not None and entry.is_plain and _is_blob(state, entry.blob)

    async def states(self, paths: Iterable[str]) -> dict[str, FileState | None]:
        """The states at these paths; None if nothing existed there."""
        entries = await to_thread.run_sync(lambda: {path: self.entry(path) for path in paths}, abandon_on_cancel=True)
        states = await to_thread.run_sync(self._kept, entries, abandon_on_cancel=True)
        wanted: dict[str, dict[str, FileRecord]] = {}
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
        if not self.is_complete:
            return NOT_READ
        if self.unsure and self._is_in_unsure(path):
            return CHANGED_EARLY
        if self.doubt or not is_within(path, self.ignored):
            return self.doubt
        return "git ignored it when the session began"

    def note_unsure(self, directories: Sequence[str]) -> None:
        """Note which of all directories changed before they were listed. Files that were deleted are unknown."""
        if self.is_released:
            self.unsure.update(path for path in directories if not self.is_listing_settled(path))
            self._listed = frozenset(directories) if self.unsure else frozenset()

    def _is_in_unsure(self, path: str) -> bool:
        directory = path.rpartition("/")[0]
        while directory and directory not in self._listed:
            directory = directory.rpartition("/")[0]
        return directory in self.unsure

    def _copied(self, state: FileState) -> Copied | str:
        if state.data is None:
            return state.unknown
        if state.size > self.copies.room:
            return _NO_ROOM
        try:
            return Copied(self.copies.put(state.data), len(state.data))
        except OSError as error:
            return f"it couldn't be copied: {error.strerror}"

    def _kept(self, entries: dict[str, FileRecord | None]) -> dict[str, FileState | None]:
        """The states of all entries except those whose content git has."""
        states: dict[str, FileState | None] = {}
        for path, entry in entries.items():
            if entry is None:
                doubt = self._doubt_about(path)
                states[path] = unknown(0, 0, doubt) if doubt else None
            elif not isinstance(entry.source, bytes):
                states[path] = entry.state(self.copies)
            elif entry.size > self.limits.max_review_bytes:
                states[path] = unknown(entry.mode, entry.size, too_large(self.limits.max_review_bytes))
        return states


def _is_same_mode(mode: int, stored: int) -> bool:
    """Whether git would store this mode of a file like that."""
    return stat.S_IFMT(mode) == stat.S_IFMT(stored) and (stat.S_ISLNK(mode) or not (mode ^ stored) & 0o100)


_NO_ROOM: Final = "acp-tui's copies had reached their size limit"


def _is_blob(state: FileState, blob: bytes) -> bool:
    """Whether git would store exactly these bytes under this ID."""
    return state.data is not None and blob_id(state.data, len(blob)) == blob


async def _from_git(git: Git, entries: dict[str, FileRecord]) -> dict[str, FileState | None]:
    """The states of files whose content git has.

    A git blob is the content that was on disk if it has the same size, because attributes that change content without
    changing its size were checked at the start. Otherwise git had converted line endings. We do that here, because git
    itself would run the filters that the repository configures.
    """
    try:
        blobs = await git.blobs({entry.source for entry in entries.values() if isinstance(entry.source, bytes)})
    except GitFailed as failure:
        return {path: unknown(entry.mode, entry.size, str(failure)) for path, entry in entries.items()}
    states: dict[str, FileState | None] = {}
    for path, entry in entries.items():
        assert isinstance(entry.source, bytes)
        data = blobs.get(entry.source)
        if data is not None and len(data) != entry.size:
            data = _LONE_LINE_FEED.sub(b"\r\n", data)
        if data is None or len(data) != entry.size:
            states[path] = unknown(entry.mode, entry.size, "git doesn't return it unchanged")
        else:
            states[path] = FileState(entry.mode, entry.size, data)
    return states


_LONE_LINE_FEED: Final = re.compile(rb"(?<!\r)\n")


@dataclass(slots=True)
class Checkout:
    """What git had written, in a repository, when many files came with another branch."""

    index: GitIndex
    others: set[str] = field(default_factory=set)
    """Paths at which the index isn't as a commit from before the session."""
    sentence: str = ""


class Areas:
    """The parts of a workspace: the root and every repository inside, each identified by its path."""

    def __init__(self, tree: Tree, max_walked: int) -> None:
        self._tree = tree
        self._max_walked = max_walked
        self.gits: dict[str, Git | None] = {}
        """By path, "" for the root; None if there is no git."""
        self.indexes: dict[str, GitIndex] = {}
        """The indexes of repositories at the start."""
        self.checkouts: dict[str, Checkout] = {}
        self.examined: set[str] = set()
        """The repositories of which all differences from their index are known."""
        self.shortfall = ""
        """Why the list is incomplete; "" if it isn't."""

    def close(self) -> None:
        for index in (*self.indexes.values(), *(checkout.index for checkout in self.checkouts.values())):
            index.close()

    def forget_git(self, area: str) -> None:
        """Treat a repository as a part without git, because git's answers can't be had."""
        self.gits[area] = None
        self.indexes.pop(area).close()

    def is_git_writing(self) -> bool:
        """Whether git is about to replace an index, as at the end of a checkout. Blocks."""
        return any(git is not None and git.is_writing() for git in self.gits.values())

    def area_of(self, path: str) -> str:
        while path and path not in self.gits:
            path = path.rpartition("/")[0]
        return path

    def tracked(self, path: str) -> IndexEntry | None:
        """The file that git tracked at this path when the session began. Blocks."""
        area = self.area_of(path)
        index = self.indexes.get(area)
        found = None if index is None else index.find(below(area, path))
        return None if found is None or found.is_repository else found

    def tracked_under(self, path: str) -> Iterator[str]:
        """The files that git tracked below this path. Blocks."""
        own = self.area_of(path)
        for area, index in self.indexes.items():
            if area == own or is_within(area, (path,)):
                inside = below(area, path) if area == own else ""
                files = (entry.path for entry in index.entries(inside) if not entry.is_repository)
                yield from (join(area, file) for file in files if file != inside)

    async def files(self, under: Sequence[str]) -> list[str]:
        """Files that aren't ignored, at or below these paths. Some may not exist."""
        return [file for area, paths in self._by_area(under).items() for file in await self._files(area, paths)]

    async def directories(self, pace: Pace) -> list[str]:
        """Every directory that can be listed and isn't ignored."""
        pruned = set(self.gits)
        for area, git in self.gits.items():
            if git is not None:
                pruned |= {join(area, path) for path in await _ignored(git)}
        return await to_thread.run_sync(partial(self._walked_directories, pruned, pace), abandon_on_cancel=True)

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
            return await self.walked_files(*under)
        inside = [] if area in under else [below(area, path) for path in under]
        try:
            listed = await git.not_ignored(inside)
        except GitFailed as failure:
            self.shortfall = f"can't read git's ignored files: {failure}"
            return await self.walked_files(*under)
        return await self.expanded(area, listed)

    async def walked_files(self, *under: str) -> list[str]:
        """All files at or below these paths, ignored ones, too."""
        return await to_thread.run_sync(self._walked_files, under, abandon_on_cancel=True)

    async def expanded(self, area: str, listed: Sequence[str]) -> list[str]:
        """Git's list of files in a part, plus the files of repositories that were created since."""
        return await to_thread.run_sync(self._expanded, area, listed, abandon_on_cancel=True)

    def _expanded(self, area: str, listed: Sequence[str]) -> list[str]:
        files: list[str] = []
        for name in listed:
            path = join(area, name.removesuffix("/"))
            if name.endswith("/"):
                files += [] if path in self.gits else self._walked_files([path])
            else:
                files.append(path)
        return files

    def _walked_files(self, under: Sequence[str]) -> list[str]:
        files = [*under]  # in case one isn't a directory; reading a directory as a file does no harm
        for start in under:
            for listing in self.walked(start):
                files += (join(listing.path, name) for name in listing.others)
        return files

    def walked(self, start: str) -> Iterator[FolderListing]:
        """The directories from `start` down, without repositories, until there have been too many files. Blocks."""
        count = 0
        for listing in self.walk(start, set(self.gits)):
            yield listing
            count += len(listing.others)
            if count > self._max_walked:
                self.shortfall = f"there are more than {self._max_walked:,} files to look at"
                return

    def _walked_directories(self, pruned: set[str], pace: Pace) -> list[str]:
        listings = pace.spread(listing for area in list(self.gits) for listing in self.walk(area, pruned))
        return [listing.path for listing in islice(listings, self._max_walked) if not listing.unreadable]

    def walk(self, start: str, pruned: Container[str]) -> Iterator[FolderListing]:
        """The directories from `start` down, without these. Blocks."""
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
    return path.removeprefix(area).removeprefix("/")
