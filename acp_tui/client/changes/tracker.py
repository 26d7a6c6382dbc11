"""Keeps the list of what differs in a workspace since its session began, and reverts changes."""

from __future__ import annotations

import os
import stat
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Final, TypeAlias

import anyio
from anyio import from_thread, to_thread
from anyio.abc import TaskStatus

from acp_tui.client.changes import (
    ChangedMeanwhile,
    ChangedPath,
    ChangeLimits,
    FileState,
    Review,
    Swapped,
    put_back,
    review,
    without_hunk,
)
from acp_tui.client.changes.baseline import Baseline
from acp_tui.client.changes.capture import begin_with, capture, open_area
from acp_tui.client.changes.pace import Pace
from acp_tui.client.changes.records import FileRecord
from acp_tui.client.changes.survey import MANY, possibly_changed
from acp_tui.client.changes.tree import SKIPPED_DIRECTORIES, Tree, is_within, name_of, signature, swap
from acp_tui.client.line_comparison import LineChange
from acp_tui.client.safe_git import GitFailed

DEFAULT_LIMITS: Final = ChangeLimits()

STILL_READING: Final = "Not all files have been read yet, so changes may be missing."

WATCHES_USED_UP: Final = "The system's watch limit is used up, so acp-tui can't watch this folder."
_USED_UP: Final = ("watch limit reached", "Too many open files")

MAX_MOMENTS: Final = 200
"""How many prompts of a session keep their files."""
LOOK_LIMIT_S: Final = 0.5
"""How long a write waits for files to be read."""
REMEMBER_LIMIT_S: Final = 0.1
"""How long a prompt waits until all files are examined, so that the changes before it are known."""
NOTICE_LIMIT_S: Final = 1.0
"""How long it waits in addition for the watch, in a folder in which that takes longer."""
_NOTICED_S: Final = 0.5
"""What is older has been noticed by the watch."""

_MAX_WATCH_FAILURES: Final = 3
_WATCH_AGAIN_S: Final = 0.5
_BATCH_FILES: Final = 256
_BATCH_BYTES: Final = 16 << 20
# After examining the disk, pause for twice as long as that took.
_REST_RATIO: Final = 2
_MIN_REST_S: Final = 0.05
_GIT_ENDS_S: Final = 0.5
"""While git replaces an index, wait this long, so that the last files of a checkout come with the others."""


Moment: TypeAlias = Mapping[str, FileRecord]
"""The states of the files that had changed by then, by path. All others were as the session found them."""
_BEGINNING: Final[Moment] = {}


class ChangeTracker:
    def __init__(
        self, root: Path, on_change: Callable[[], None] = lambda: None, limits: ChangeLimits = DEFAULT_LIMITS
    ) -> None:
        self.root = root.resolve()
        self.is_live = False
        """Whether it watches, and so detects changes automatically; otherwise only by `rescan`."""
        self._on_change = on_change
        self._limits = limits
        self._changes: dict[str, ChangedPath] = {}
        self._notes: dict[str, None] = {}
        self._baseline: Baseline | None = None
        self._ready = anyio.Event()
        self.captured = anyio.Event()
        """Set when all files have been read."""
        self.pace = Pace()
        self._released_ns: int | None = None
        self._is_start_known = False
        """Whether nothing had changed yet when the session began."""
        self._has_compared_all = False
        self._one_at_a_time = anyio.Lock()
        self._marked: set[str] | None = set()  # None means everything
        self._new_directories: set[str] = set()
        self._anything_marked = anyio.Event()
        self._is_behind = False
        """Whether something is marked that hasn't been examined."""
        self._worked_at_s: float | None = None
        self._watching = anyio.CancelScope()
        self._watched: tuple[int, int] | None = None
        """The directory that was at `root` when the watch began."""
        self._moments: list[Moment] = []

    @property
    def changes(self) -> Mapping[str, ChangedPath]:
        """The changed files by path, in no particular order. The mapping stays current."""
        return MappingProxyType(self._changes)

    @property
    def notes(self) -> Sequence[str]:
        """What the list doesn't have, in sentences for the user."""
        checkouts = () if self._baseline is None else self._baseline.areas.checkouts.values()
        notes = (*self._notes, *(checkout.sentence for checkout in checkouts))
        return notes if self._has_compared_all else (*notes, STILL_READING)

    @property
    def is_in_git(self) -> bool:
        return self._baseline is not None and self._baseline.areas.gits.get("") is not None

    async def run(self, commit: str = "", *, task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED) -> None:
        """Remember the current workspace, or what it was in a commit, then follow its changes until cancelled.

        When it has started (`await tasks.start(tracker.run)`), it knows what git knows, and reads the rest. Call
        `release` before the agent can change anything.
        """
        try:
            tree = await to_thread.run_sync(Tree, self.root, abandon_on_cancel=True)
            self._baseline = Baseline(tree, self._limits)
            if self._released_ns is not None:
                self._baseline.release(self._released_ns)
            await open_area(self._baseline, "", self._note)
            self._is_start_known = not commit
            self._ready.set()
            task_status.started()
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._keep_current)
                tasks.start_soon(self._keep_watching, commit)
        finally:
            self.pace.stop()
            self._ready.set()  # tell tasks that wait for a baseline that never comes
            self.captured.set()
            self.is_live = False
            if self._baseline is not None:
                self._baseline.close()
                self._baseline = None

    def release(self) -> None:
        """From now on, the agent may change files. Those that haven't been read yet are known only if they're older."""
        if self._released_ns is None:
            self._released_ns = time.time_ns()
        if self._baseline is not None:
            self._baseline.release(self._released_ns)

    def hurry(self) -> None:
        """Read files without long rests, because somebody needs to know."""
        self.pace.hurry()

    async def look_first(self, paths: Iterable[str]) -> None:
        """Read these files before all others, because the agent names them: it may be about to change them."""
        self.hurry()
        baseline = await self._held()
        below = self._below_root(paths)

        def look() -> None:
            for path in below:
                with suppress(GitFailed):
                    baseline.look_first(path)

        if below:
            await to_thread.run_sync(look, abandon_on_cancel=True)
            self._mark(below)

    async def rescan(self) -> None:
        """Examine the whole workspace now. `changes` is current when this returns."""
        with self.pace.awaited():
            await self.captured.wait()
            await self._refresh(None)

    async def review(self, path: str) -> Review:
        """Both states of a file at this moment, and where they differ."""
        return await self.review_since(_BEGINNING, path)

    async def revert_file(self, shown: Review) -> Swapped:
        """Restore a file's earlier state; remove it if it didn't exist.

        Raises: ChangedMeanwhile if it's no longer as shown, CannotRevert.
        """
        return await self._swap(shown.path, shown.after, shown.before)

    async def revert_hunk(self, shown: Review, hunk: LineChange) -> Swapped:
        """Restore these lines of a file. Raises: ChangedMeanwhile if the file is no longer as shown, CannotRevert."""
        return await self._swap(shown.path, shown.after, without_hunk(shown, hunk))

    async def undo(self, swapped: Swapped) -> Swapped:
        """Undo a revert, also if the file has changed elsewhere since. The result can be undone in turn.

        Raises: ChangedMeanwhile, with what was reverted, if the file has changed where the revert was; CannotRevert.
        """
        try:
            return await self._swap(swapped.path, swapped.left, swapped.found)
        except ChangedMeanwhile as error:
            now = error.now
            wanted = await to_thread.run_sync(put_back, swapped, now)
            error.reverted = await to_thread.run_sync(review, swapped.path, swapped.left, swapped.found)
            if wanted is None:
                raise
            reverted = error.reverted
        try:
            return await self._swap(swapped.path, now, wanted)
        except ChangedMeanwhile as error:
            error.reverted = reverted
            raise

    def note_work(self) -> None:
        """The agent does something: it may have changed files just now."""
        self._worked_at_s = time.monotonic()

    async def remember(self) -> Moment | None:
        """Keep the current state of the changed files, to distinguish later changes from earlier ones.

        None if it can't be known at once what the agent has just changed.
        """
        with anyio.move_on_after(REMEMBER_LIMIT_S):
            await self._held()
            if not self._has_noticed_all:
                await self.rescan()
            return await self._remembered()
        with anyio.move_on_after(NOTICE_LIMIT_S):
            while self.is_live:
                if self._has_noticed_all:
                    return await self._remembered()
                await anyio.sleep(_MIN_REST_S)
        return None

    @property
    def _has_noticed_all(self) -> bool:
        if self._worked_at_s is None:
            return self._is_start_known or self._has_compared_all
        return self.is_live and not self._is_behind and time.monotonic() - self._worked_at_s > _NOTICED_S

    async def _remembered(self) -> Moment:
        baseline = await self._held()
        async with self._one_at_a_time:
            paths = tuple(self._changes)
            last = self._moments[-1] if self._moments else _BEGINNING
            moment = await to_thread.run_sync(self._kept_now, baseline, paths, last, abandon_on_cancel=True)
        self._moments.append(moment)
        return moment

    async def since(self, moment: Moment, until: Moment | None = None) -> dict[str, ChangedPath]:
        """What differs between that moment and a later one, or now, by path."""
        if until is None:
            paths = {*self._changes, *moment}
        else:
            paths = {path for path, _ in moment.items() ^ until.items()}
        return {
            path: review.change
            for path in sorted(paths)
            if (review := await self.review_since(moment, path, until)).change is not None
        }

    async def review_since(self, moment: Moment, path: str, until: Moment | None = None) -> Review:
        """The states of a file at that moment and at a later one, or now, and where they differ."""
        baseline = await self._held()
        before = await self._state_at(baseline, moment, path)
        if until is None:
            return await to_thread.run_sync(self._reviewed, baseline.tree, path, before, abandon_on_cancel=True)
        after = await self._state_at(baseline, until, path)
        return await to_thread.run_sync(review, path, before, after, abandon_on_cancel=True)

    async def _state_at(self, baseline: Baseline, moment: Moment, path: str) -> FileState | None:
        kept = moment.get(path)
        if kept is None:  # at that moment, it was as when the session began
            return (await baseline.states([path]))[path]
        return await to_thread.run_sync(kept.state, baseline.copies, abandon_on_cancel=True)

    def _kept_now(self, baseline: Baseline, paths: Iterable[str], last: Moment) -> Moment:
        states: dict[str, FileRecord] = {}
        for path in paths:
            status = baseline.tree.status(path)
            mark = 0 if status is None else signature(status)
            kept = last.get(path)
            if kept is None or not mark or kept.signature != mark:
                kept = baseline.keep(baseline.tree.read(path, self._limits.max_review_bytes), mark)
            states[path] = kept
        return states

    async def _swap(self, path: str, expected: FileState | None, wanted: FileState | None) -> Swapped:
        baseline = await self._held()
        async with self._one_at_a_time:
            await to_thread.run_sync(swap, baseline.tree, path, expected, wanted)
        await self._refresh({path})
        return Swapped(path, expected, wanted)

    async def _held(self) -> Baseline:
        await self._ready.wait()
        if self._baseline is None:
            raise RuntimeError("the tracker is no longer running")
        return self._baseline

    def _note(self, sentence: str) -> None:
        if sentence not in self._notes:
            self._notes[sentence] = None
            self._on_change()

    # Following

    async def _keep_current(self) -> None:
        """Examine what is marked. Paths that are marked during that come next, all together."""
        baseline = await self._held()
        while True:
            await self._anything_marked.wait()
            while await to_thread.run_sync(baseline.areas.is_git_writing, abandon_on_cancel=True):
                await anyio.sleep(_GIT_ENDS_S)
            self._anything_marked = anyio.Event()
            marked, self._marked = self._marked, set()
            directories, self._new_directories = self._new_directories, set()
            began = anyio.current_time()
            if self._has_many(marked):
                with self.pace.awaited():
                    await self._refresh(None)
            else:
                await self._refresh(marked)
            await self._watch_new_directories(directories)
            # That it's deleted is no event while a process, such as acp-tui itself, is in it.
            found = await to_thread.run_sync(self._identity, abandon_on_cancel=True)
            if self.is_live and found != self._watched:
                self._watched = found
                self._watching.cancel()
                self._mark(None)
            self._is_behind = self._anything_marked.is_set()
            await anyio.sleep(max(_MIN_REST_S, _REST_RATIO * (anyio.current_time() - began)))

    def _identity(self) -> tuple[int, int] | None:
        status = _status_of(str(self.root))
        return None if status is None else (status.st_dev, status.st_ino)

    def _mark(self, paths: Iterable[str] | None) -> None:
        if paths is None:
            self._marked = None
        elif self._marked is not None and not self._has_many(self._marked):
            self._marked.update(paths)
        self._is_behind = True
        self._anything_marked.set()

    def _has_many(self, marked: set[str] | None) -> bool:
        """Whether one walk through git's index costs less than to find each path in it."""
        has_index = self._baseline is not None and self._baseline.areas.indexes
        return bool(has_index) and marked is not None and len(marked) > MANY

    async def _keep_watching(self, commit: str) -> None:
        """Read all files. Then watch, again whenever there are new directories or the watch fails.

        Gives up if it can't even begin.
        """
        baseline = await self._held()
        directories = await capture(baseline, self.pace, self._note)
        self._is_start_known = not commit or await begin_with(baseline, commit, self._note)
        self.captured.set()
        self._on_change()
        failures = 0
        while failures < _MAX_WATCH_FAILURES:
            self.is_live = False
            reason = await self._watch(directories)
            failures = failures + 1 if reason and not self.is_live else 0
            if reason and self.is_live:  # a name that isn't UTF-8 causes this, perhaps repeatedly
                await anyio.sleep(_WATCH_AGAIN_S)
            while not await to_thread.run_sync(self.root.is_dir, abandon_on_cancel=True):
                await anyio.sleep(_WATCH_AGAIN_S)  # it's deleted, and may be made again
            directories = await baseline.areas.directories(self.pace)
        self._mark(None)
        why = WATCHES_USED_UP if any(words in reason for words in _USED_UP) else f"{reason}."
        self._note(f"Changes are noticed only in files that tool calls name; refresh the list to see all. {why}")

    async def _watch(self, below_root: Sequence[str]) -> str:
        """Follow these directories. Returns "" when there are new ones, otherwise why it can't continue."""
        self._watched = await to_thread.run_sync(self._identity, abandon_on_cancel=True)
        with anyio.CancelScope() as self._watching:
            directories = [_absolute(self.root, path) for path in below_root]
            encodable = [path for path in directories if _is_encodable(path)]
            if len(encodable) < len(directories):
                self._note("Folders whose names aren't UTF-8 are only read by a rescan.")
            return await watch(encodable, self._started, self._happened)
        return ""

    def _started(self) -> None:
        self.is_live = True
        self._mark(None)  # something may have happened since the baseline or the previous watch

    def _happened(self, happened: set[str], new_directories: set[str]) -> None:
        paths = self._below_root(happened)
        self._new_directories |= self._below_root(new_directories)
        self._mark(paths)
        is_root_gone = str(self.root) in happened  # deleted or moved; a watch doesn't follow what replaces it
        if is_root_gone or any(name_of(path) == ".gitignore" for path in paths):
            self._watching.cancel()  # now other directories are ignored; a new watch examines everything

    def _below_root(self, paths: Iterable[str]) -> set[str]:
        """Relative paths, without those of version control itself."""
        prefix = f"{self.root}/"
        inside = (path.removeprefix(prefix) for path in paths if path.startswith(prefix))
        return {path for path in inside if SKIPPED_DIRECTORIES.isdisjoint(path.split("/"))}

    async def _watch_new_directories(self, new: set[str]) -> None:
        baseline = await self._held()
        if new and await baseline.areas.without_ignored(sorted(new)):
            self._watching.cancel()

    # Comparing

    async def _refresh(self, marked: set[str] | None) -> None:
        """Compare what is at or below these paths, or everything, with the baseline."""
        baseline = await self._held()
        listed = {path for path in self._changes if marked is None or is_within(path, marked)}
        try:
            touched = await self._touched(baseline, marked)
            batches = await to_thread.run_sync(_batches, baseline, touched, abandon_on_cancel=True)
        except GitFailed as failure:
            self._note(f"The list may be wrong: {failure}.")
            return
        for batch in batches:
            async with self._one_at_a_time:
                await self._compare(baseline, batch)
        for path in listed.difference(touched):
            self._changes.pop(path, None)
        if baseline.areas.shortfall:
            self._note(f"The list may be wrong: {baseline.areas.shortfall}.")
        self._has_compared_all |= marked is None and self.captured.is_set()
        self._on_change()

    async def _touched(self, baseline: Baseline, marked: set[str] | None) -> list[str]:
        """The files at or below these paths that aren't certainly as at the start."""
        if marked is None:
            paths = await possibly_changed(baseline, self.pace)
        else:
            known, new = await to_thread.run_sync(_known_and_new, baseline, marked, abandon_on_cancel=True)
            paths = known.union(await baseline.areas.files(new) if new else ())
        return await to_thread.run_sync(
            lambda: sorted(path for path in paths if not baseline.is_untouched(path)), abandon_on_cancel=True
        )

    async def _compare(self, baseline: Baseline, paths: Sequence[str]) -> None:
        before = await baseline.states(paths)
        found = await to_thread.run_sync(self._compared, baseline.tree, before, abandon_on_cancel=True)
        for path, change in found.items():
            if change is None:
                self._changes.pop(path, None)
            elif path in self._changes or len(self._changes) < self._limits.max_files:
                self._changes[path] = change
            else:
                self._note(f"More than {self._limits.max_files:,} files have changed; the rest aren't listed.")
        self._on_change()

    def _compared(self, tree: Tree, before: dict[str, FileState | None]) -> dict[str, ChangedPath | None]:
        return {path: self._reviewed(tree, path, state).change for path, state in before.items()}

    def _reviewed(self, tree: Tree, path: str, before: FileState | None) -> Review:
        return review(path, before, tree.read(path, self._limits.max_review_bytes))


def _known_and_new(baseline: Baseline, paths: set[str]) -> tuple[set[str], list[str]]:
    """The files at or below these paths that existed at the start, and the paths where there may be others."""
    known = {path for path in paths if baseline.entry(path) is not None}
    new = sorted(path for path in paths if path not in known or _is_directory(f"{baseline.tree.root}/{path}"))
    return known.union(*map(baseline.under, new)), new


def _batches(baseline: Baseline, paths: Sequence[str]) -> list[list[str]]:
    """The paths, in parts whose content may be in memory at the same time."""
    batches: list[list[str]] = [[]]
    size = 0
    for path in paths:
        if len(batches[-1]) >= _BATCH_FILES or size >= _BATCH_BYTES:
            batches.append([])
            size = 0
        batches[-1].append(path)
        entry = baseline.entry(path)
        size += entry.size if entry else 0
    return batches


def _is_directory(path: str) -> bool:
    """Whether it's one itself, and not a link to one."""
    status = _status_of(path)
    return status is not None and stat.S_ISDIR(status.st_mode)


def _status_of(path: str) -> os.stat_result | None:
    try:
        return os.lstat(path)
    except OSError:
        return None


def _absolute(root: Path, path: str) -> str:
    return os.path.join(root, path) if path else str(root)  # noqa: PTH118 - creating path objects would be slow


def _is_encodable(path: str) -> bool:
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True


_DEBOUNCE_MS: Final = 200
_STEP_MS: Final = 50
_TIMEOUT_MS: Final = 100
"""The longest wait for the first answer, which shows that the watch has begun."""


OnEvents: TypeAlias = Callable[[set[str], set[str]], None]
"""Gets the paths at which something happened within a fraction of a second, as given to `watch`; and those of them that
are directories, new under this name."""


async def watch(directories: Sequence[str], on_started: Callable[[], None], on_events: OnEvents) -> str:
    """Report on this event loop until cancelled or until the watch fails. Returns why it failed.

    Each directory is watched separately, not recursively, so links aren't followed, and ignored directories cost
    nothing. After a failure, the last events may be lost.
    """
    stop = threading.Event()
    reason = ""
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_set_when_cancelled, stop)
        try:
            # A separate thread, so that it doesn't occupy one of those shared by all short work.
            own = anyio.CapacityLimiter(1)
            await to_thread.run_sync(partial(_follow, directories, stop, on_started, on_events), limiter=own)
        except (OSError, RuntimeError, ImportError) as error:
            reason = str(error)
        tasks.cancel_scope.cancel()
    return reason or "it stopped on its own"


async def _set_when_cancelled(stop: threading.Event) -> None:
    try:
        await anyio.sleep_forever()
    finally:
        stop.set()


def _follow(
    directories: Sequence[str], stop: threading.Event, on_started: Callable[[], None], on_events: OnEvents
) -> None:
    import watchfiles  # loads a native library, which must not delay the start

    started = False
    for events in watchfiles.watch(
        *directories,
        watch_filter=None,
        debounce=_DEBOUNCE_MS,
        step=_STEP_MS,
        stop_event=stop,
        rust_timeout=_TIMEOUT_MS,
        yield_on_timeout=True,
        raise_interrupt=False,
        recursive=False,
    ):
        if not started:
            started = True
            from_thread.run_sync(on_started)
        if events:
            added = (path for change, path in events if change is watchfiles.Change.added)
            from_thread.run_sync(on_events, {path for _, path in events}, set(filter(_is_directory, added)))
