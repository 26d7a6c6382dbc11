"""Follows the changes in a folder while it has a tab: reverts, undo, and the files at each prompt.

Tracks only files. Draws nothing, and imports the file watcher only when started.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Collection, Coroutine, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Literal

import anyio
from anyio import to_thread
from textual.app import App
from textual.message import Message
from textual.worker import Worker

from acp_tui.client import line_comparison
from acp_tui.client.changes import ChangedMeanwhile, ChangedPath, ChangeLimits, ChangesError, Review, Swapped
from acp_tui.client.changes.tracker import LOOK_LIMIT_S, MAX_MOMENTS, STILL_READING, ChangeTracker, Moment
from acp_tui.client.worktrees import commit_of
from acp_tui.conversation.entries import EntryId, ToolCallEntry
from acp_tui.conversation.tool_calls import changed_paths
from acp_tui.conversation.visible import make_visible
from acp_tui.conversation.visible.confusables import make_visible_path
from acp_tui.ui.kit.desktop import edit

if TYPE_CHECKING:
    from acp_tui.client.sessions.session import Session
    from acp_tui.conversation.conversation import Change


log = logging.getLogger(__name__)

TAKING_STOCK: Final = "reading the files"
"""What it's doing until it's ready, worded like a phase."""
MIN_WAIT_S: Final = 0.02
REST_S: Final = 0.25
REST_S_PER_CHANGE: Final = 30e-6
"""Ten times the cost of listing a change, so that most of the time is left for other work."""

UNDOES: Final = ": {undo_revert} undoes that"
"""The end of a sentence about a revert, with its key as in `hint`."""

WATCHER: Final = "watchfiles"
"""Imported in a thread, because it loads a native library."""

_NONE: Final[Mapping[str, Any]] = MappingProxyType({})


class FolderChanges:
    """The changes in a folder since it was started, or since its worktree was made, whoever made them."""

    class Changed(Message):
        """The changes, the summary, or the notes changed. Sent to each screen of the stack."""

    def __init__(
        self,
        app: App[Any],
        cwd: Path,
        limits: ChangeLimits | None = None,
        *,
        now: Callable[[], datetime] = datetime.now,
    ) -> None:
        """Runs from `start` to `end`, or until the app exits. None for the tracker's default limits."""
        self.root = cwd
        self.since = ""
        """From when on changes are known: a time of day, or what was then; "" until it's known."""
        self._app = app
        self._limits = limits
        self._now = now
        self._tracker: ChangeTracker | None = None
        self._has_begun = anyio.Event()
        self._ready = anyio.Event()
        self.following: Worker[None] | None = None
        self._failure = ""
        self._done: list[list[Swapped]] = []
        """The reverts, each of one or more files, the last one at the end."""
        self._said: set[str] = set()
        self._summary: str | None = ""
        """None if it must be computed again."""
        self._is_telling = False
        self._telling_from_s = 0.0

    def start(self) -> None:
        self.following = self._app.run_worker(self._follow(), group="changes")

    def end(self) -> None:
        if self.following is not None:
            self.following.cancel()

    async def ready(self) -> None:
        """Wait until all files are read, or reading failed."""
        await self._ready.wait()

    def release(self) -> None:
        """Tell that the agent may change files from now on, whether or not all are read."""
        if self._tracker is not None:
            self._tracker.release()

    def is_listed_or_say(self) -> bool:
        """Whether there is a list. If not, tell the user why."""
        if not self._has_begun.is_set():
            self._say(f"acp-tui is still {TAKING_STOCK}.")
        elif self._failure:
            self._say(self._failure, severity="warning")
        elif self._tracker is not None:
            self._tracker.hurry()
        return self._has_begun.is_set() and not self._failure

    @property
    def misses_some(self) -> bool:
        """Whether there may be changes that aren't known, so that the paths in tool calls matter."""
        return self._tracker is not None and not (self._failure or self._tracker.is_live)

    async def look_first(self, paths: Sequence[str]) -> None:
        """Read these files before all others, because the agent names them."""
        if self._tracker is not None and not self._failure:
            await self._tracker.look_first(paths)

    def note_work(self) -> None:
        """Tell that the agent does something, and may change files."""
        if self._tracker is not None:
            self._tracker.note_work()

    # What is known

    def summary(self) -> str:
        """A short summary of all changes; "" if there are none."""
        if self._summary is None:
            self._summary = summary_of(self.changes.values())
        return self._summary

    @property
    def changes(self) -> Mapping[str, ChangedPath]:
        """The changed files by path, in no particular order."""
        return _NONE if self._tracker is None else self._tracker.changes

    @property
    def notes(self) -> Sequence[str]:
        """What the list can't include."""
        if self._failure or self._tracker is None:
            return tuple(filter(None, [self._failure]))
        return self._tracker.notes

    @property
    def is_in_git(self) -> bool:
        return self._tracker is not None and self._tracker.is_in_git

    async def rescan(self) -> None:
        """Read all files now. Raises ChangesError."""
        await self._held("").rescan()

    async def review(self, path: str, since: Moment | None = None) -> Review:
        """The states of a file: at that moment or when the session began, and now. Raises ChangesError."""
        tracker = self._held(path)
        return await (tracker.review(path) if since is None else tracker.review_since(since, path))

    async def remember(self) -> Moment | None:
        """Remember the current state of the changed files; None if it isn't known."""
        return None if self._tracker is None or self._failure else await self._tracker.remember()

    async def changes_since(self, moment: Moment, until: Moment | None = None) -> Mapping[str, ChangedPath]:
        """The changes since that moment, or between two of them, by path. Raises ChangesError."""
        return await self._held("").since(moment, until)

    # What the user changes

    async def revert(self, seen: Sequence[ChangedPath], since: Moment | None = None) -> list[ChangesError]:
        """Put these files back to what they were at that moment, or when the session began. `undo` takes it back.

        Returns what went wrong: a file that isn't as seen now, or isn't known as it was, is left alone.
        """
        failures: list[ChangesError] = []
        with self._doing() as done:
            for change in seen:
                try:
                    shown = await self.review(change.path, since)
                    if shown.change not in (None, change):
                        raise ChangedMeanwhile(change.path, shown.before, shown.after)
                    if shown.change is not None:
                        done.append(await self._held(change.path).revert_file(shown))
                except ChangesError as error:
                    failures.append(error)
        return failures

    async def revert_file(self, shown: Review) -> None:
        """Revert a file. Raises ChangesError."""
        with self._doing() as done:
            done.append(await self._held(shown.path).revert_file(shown))

    async def revert_hunk(self, shown: Review, hunk: line_comparison.LineChange) -> None:
        """Revert a hunk. Raises ChangesError."""
        with self._doing() as done:
            done.append(await self._held(shown.path).revert_hunk(shown, hunk))

    @contextmanager
    def _doing(self) -> Iterator[list[Swapped]]:
        """What is added is undone together."""
        done: list[Swapped] = []
        try:
            yield done
        finally:
            self._done += [done] * bool(done)

    @property
    def can_undo(self) -> bool:
        """Whether something was reverted here that isn't undone yet."""
        return bool(self._done)

    async def undo(self) -> str:
        """Undo the last revert of a hunk, a file, or several; return what to tell the user.

        Raises: ChangesError for the first file that isn't undone. You can try again after undoing earlier reverts.
        """
        if not self._done:
            return "Nothing to undo."
        last, rest, failures = self._done.pop(), [], []
        names = [make_visible_path(swapped.path) for swapped in last]
        try:
            while last:
                try:
                    await self._held(last[-1].path).undo(last[-1])
                except ChangesError as error:
                    failures.append(error)
                    rest.append(last[-1])
                last.pop()
        finally:  # the reverted content isn't stored anywhere else
            self._done[:0] = [[*last, *rest[::-1]]] * bool(last or rest)
        if failures:
            raise failures[0]
        return f"{names[0]} has its changes back" if len(names) == 1 else f"{files(len(names))} have their changes back"

    def at_prompts_of(self, session: Session, run: Callable[[Coroutine[Any, Any, None]], object]) -> TurnMoments:
        """Remember the files at each future prompt of this session. `run` runs work as long as the tab exists."""
        return TurnMoments(session, self, run, self._now)

    async def edit(self, path: str) -> str:
        """Open a file in the user's editor; return "" if it succeeds, or what failed."""
        return await edit(self._app.app, self.root / path)

    def _held(self, path: str) -> ChangeTracker:
        if self._tracker is None or self._failure:
            raise ChangesError(path, self._failure or f"Still {TAKING_STOCK}.")
        return self._tracker

    # Following

    async def _follow(self) -> None:
        tracker = self._tracker = ChangeTracker(self.root, self._mark, self._limits or ChangeLimits())
        try:
            await to_thread.run_sync(import_module, WATCHER)
            commit = await to_thread.run_sync(commit_of, self.root)
            async with anyio.create_task_group() as tasks:
                await tasks.start(tracker.run, commit)
                self.since = "the worktree was made" if commit else self._now().strftime("%H:%M")
                self._has_begun.set()
                await tracker.captured.wait()
                self._ready.set()
                self._mark()
        except Exception as error:  # the session works without the list of changes
            first: BaseException = error
            while isinstance(first, BaseExceptionGroup):
                first = first.exceptions[0]
            if not isinstance(first, OSError):
                log.exception("The changes in %s can't be followed", self.root)
            self._failure = f"Changes aren't listed: {str(first) or type(first).__name__}"
            self._mark()
        finally:
            self._has_begun.set()
            self._ready.set()

    def _mark(self) -> None:
        """Schedule one notification for this and all changes until then."""
        self._summary = None
        if not self._is_telling and self._app.is_running:
            self._is_telling = True
            self._app.set_timer(max(MIN_WAIT_S, self._telling_from_s - time.monotonic()), self._tell)

    def _tell(self) -> None:
        self._is_telling = False
        for note in self.notes:
            if note != STILL_READING and note not in self._said:
                self._said.add(note)
                self._say(note, severity="warning")
        for screen in self._app.screen_stack:
            screen.post_message(self.Changed())
        self._telling_from_s = time.monotonic() + max(REST_S, REST_S_PER_CHANGE * len(self.changes))

    def _say(self, text: str, severity: Literal["information", "warning"] = "information") -> None:
        self._app.notify(make_visible(text), title="Changes", severity=severity, markup=False)


def summary_of(changes: Collection[ChangedPath]) -> str:
    """A short summary of these changes; "" if there are none."""
    if not changes:
        return ""
    added = sum(change.added or 0 for change in changes)
    removed = sum(change.removed or 0 for change in changes)
    return " ".join([files(len(changes)), *[f"+{added:,}"] * bool(added), *[f"-{removed:,}"] * bool(removed)])


def files(count: int) -> str:
    return "1 file" if count == 1 else f"{count:,} files"


def failed(failures: Sequence[ChangesError]) -> str:
    """The first failure as a further sentence, and how many there are; "" without one."""
    more = f" And {len(failures) - 1:,} more." * (len(failures) > 1)
    return f". {failures[0]}{more}" if failures else ""


class TurnMoments:
    """Remembers when each prompt of one session was sent, and the state of the changed files at that time."""

    def __init__(
        self,
        session: Session,
        changes: FolderChanges,
        run: Callable[[Coroutine[Any, Any, None]], object],
        now: Callable[[], datetime] = datetime.now,
    ) -> None:
        """`run` runs work as long as the tab exists."""
        self.sent_at: dict[EntryId, datetime] = {}
        self._now = now
        self._changes = changes
        self._run = run
        self._session = session
        self._last: EntryId | None = session.conversation.turn_start
        self._is_idle = session.conversation.is_idle
        self._moments: dict[EntryId, Moment | None] = {}
        """None where it isn't known what had changed by then."""
        self._ends: dict[EntryId, Moment] = {}
        """The files when the turn of a prompt had ended, if it's known what had changed by then."""
        self._ahead: tuple[Moment | None] | None = None
        """Remembered for the next prompt, which is sent from here; None for one sent elsewhere."""
        self._unsubscribe = session.subscribe(self._hear)
        session.client_tools.before_write = self._read_ahead

    def end(self) -> None:
        self._unsubscribe()
        self._session.client_tools.before_write = None

    def is_of(self, session: Session) -> bool:
        return self._session.conversation is session.conversation

    def _hear(self, change: Change) -> None:
        if self._changes.misses_some:
            # Read what tool calls name, which comes before the call changes it, or note that it may have changed.
            entries = (self._session.conversation.entries[entry_id] for entry_id in change.entries)
            if calls := [entry.call for entry in entries if isinstance(entry, ToolCallEntry)]:
                places = [location.path for call in calls for location in call.locations]
                self._run(self._read_ahead(places + [path for call in calls for path in changed_paths(call.content)]))
        if self.sent_at:
            self._changes.note_work()
        start = self._session.conversation.turn_start
        if start != self._last:
            self._last = start
            if start is not None:
                self.sent_at[start] = self._now()
                self._changes.release()
                if self._ahead is not None:
                    self._keep(start, *self._ahead)
                    self._ahead = None
                else:  # it was sent elsewhere
                    self._run(self._remember(start))
        was_idle, self._is_idle = self._is_idle, self._session.conversation.is_idle
        if self._is_idle and not was_idle and start is not None:
            self._run(self._remember_end(start))

    async def _read_ahead(self, paths: Sequence[str]) -> None:
        with anyio.move_on_after(LOOK_LIMIT_S):
            await self._changes.look_first(paths)

    async def remember(self) -> None:
        """Remember the files for the prompt that is sent next, before its agent gets it. Takes little time."""
        moment = await self._changes.remember()
        if self._session.conversation.is_idle:
            self._ahead = (moment,)

    async def _remember(self, prompt: EntryId) -> None:
        self._keep(prompt, await self._changes.remember())

    async def _remember_end(self, prompt: EntryId) -> None:
        moment = await self._changes.remember()
        if moment is not None and self._session.conversation.is_idle:
            self._ends[prompt] = moment

    def _keep(self, prompt: EntryId, moment: Moment | None) -> None:
        self._moments[prompt] = moment
        if len(self._moments) > MAX_MOMENTS:
            oldest = next(iter(self._moments))
            del self._moments[oldest]
            self._ends.pop(oldest, None)

    def knows(self, prompt: EntryId) -> bool:
        """Whether the files can be put back to what they were at that prompt."""
        return self._moments.get(prompt) is not None

    async def catch_up(self) -> None:
        """Read all files now if changes aren't noticed by themselves. Raises ChangesError."""
        if self._changes.misses_some:
            await self._changes.rescan()

    async def changed(self, prompt: EntryId, *, until_next: bool = False) -> Mapping[str, ChangedPath] | None:
        """The changes since that prompt, or until the next one; None if they aren't known. Raises ChangesError."""
        return await self._changed(self._moments.get(prompt), prompt, until_next=until_next)

    async def changed_between_turns(self, prompt: EntryId) -> set[str]:
        """The files changed since that prompt while its session's agent had no turn. Raises ChangesError."""
        ends = [(turn, moment) for turn, moment in self._ends.items() if turn >= prompt]
        changes = [await self._changed(moment, turn, until_next=True) for turn, moment in ends]
        return {path for each in changes for path in each or ()}

    async def _changed(
        self, moment: Moment | None, prompt: EntryId, *, until_next: bool
    ) -> Mapping[str, ChangedPath] | None:
        later = [then for other, then in self._moments.items() if until_next and other > prompt][:1]
        if moment is None or None in later:
            return None
        return await self._changes.changes_since(moment, *later)

    async def put_back(self, prompt: EntryId, seen: Sequence[ChangedPath]) -> list[ChangesError]:
        """Put these files back to what they were at that prompt; return what went wrong."""
        moment = self._moments[prompt]
        assert moment is not None
        return await self._changes.revert(seen, moment)
