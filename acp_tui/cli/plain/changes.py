"""What changed in the folder since the session began or a prompt was sent, in lines, and how to undo it."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Sequence
from pathlib import Path

import anyio
from anyio import to_thread

from acp_tui.cli.plain.tool_call_text import spoken_diff
from acp_tui.client.changes import ChangedPath, ChangesError, Review
from acp_tui.client.changes.tracker import LOOK_LIMIT_S, MAX_MOMENTS, ChangeTracker, Moment
from acp_tui.client.worktrees import commit_of
from acp_tui.conversation.visible import make_visible_line

log = logging.getLogger(__name__)


class PlainChanges:
    def __init__(self, root: Path, *, is_elsewhere: bool = False) -> None:
        """`run` follows the folder, unless that is on another machine."""
        self._root = root
        self._tracker = ChangeTracker(root)
        self._moments: deque[Moment | None] = deque(maxlen=MAX_MOMENTS)
        """The files at the last prompts, the latest last; None where they weren't read by then."""
        self._failure = "changes aren't listed: the folder is on another machine" if is_elsewhere else ""

    async def run(self) -> None:
        if self._failure:
            return
        try:
            await self._tracker.run(await to_thread.run_sync(commit_of, self._root))
        except Exception as error:  # the session works without the list of changes
            log.exception("The changes can't be followed")
            self._failure = f"changes aren't listed: {error or type(error).__name__}"

    async def begin_turn(self) -> None:
        """Remember how the files are now: the agent may change them next."""
        self._moments.append(None)
        if not self._failure:
            self._tracker.release()
            self._moments[-1] = await self._tracker.remember()

    def note_work(self) -> None:
        """The agent does something, and may change files."""
        if self._moments:
            self._tracker.note_work()

    async def look_first(self, paths: Sequence[str]) -> None:
        """Read these files, which are about to be written."""
        if not self._failure:
            with anyio.move_on_after(LOOK_LIMIT_S):
                await self._tracker.look_first(paths)

    async def all(self) -> list[ChangedPath]:
        """Return what changed since the session began. Raises ChangesError."""
        self._require()
        await self._tracker.rescan()
        return sorted(self._tracker.changes.values(), key=lambda change: change.path)

    async def of_turns(self, count: int) -> list[Review]:
        """Return what changed in the last turns, so many of them. Raises ChangesError."""
        self._require()
        moment = self._moments[-count] if 0 < count <= len(self._moments) else None
        if moment is None:
            raise ChangesError("", "there was no such prompt yet, or the files weren't read by then")
        await self._tracker.rescan()
        changed = await self._tracker.since(moment)
        return [await self._tracker.review_since(moment, path) for path in changed]

    def _require(self) -> None:
        if self._failure:
            raise ChangesError("", self._failure)

    async def diff_of(self, path: str) -> str:
        """Return what changed in a file since the session began."""
        review = await self._tracker.review(path)
        for state in (review.before, review.after):
            if state is not None and state.data is None:
                return f"{make_visible_line(path)}: {state.unknown or 'unknown'}"
        old = None if review.before is None else _text(review.before.data)
        return spoken_diff(path, old, "" if review.after is None else _text(review.after.data))

    async def undo(self, shown: Review) -> None:
        """Revert a file. Raises ChangesError, also if the file is no longer as shown."""
        await self._tracker.revert_file(shown)


def _text(data: bytes | None) -> str:
    return (data or b"").decode("utf-8", "replace")


def change_words(change: ChangedPath) -> str:
    """Return a change as a sentence, without its number."""
    facts: list[str] = [change.kind]
    if change.added:
        facts.append("1 line added" if change.added == 1 else f"{change.added:,} lines added")
    if change.removed:
        facts.append(f"{change.removed:,} removed")
    if change.before_unknown is not None:
        facts.append(f"before unknown: {change.before_unknown}")
    return make_visible_line(f"{change.path}: {', '.join(facts)}")
