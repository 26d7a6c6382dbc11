"""The files as they were at each prompt, to list and revert what changed since. Only files are tracked."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from acp_tui.conversation.entries import EntryId
from acp_tui.ui.changes.follower import ChangesDesk, summary_of

if TYPE_CHECKING:
    from acp_tui.client.changes import FileChange, Hunk, Moment, Review
    from acp_tui.client.sessions.session import Session
    from acp_tui.conversation.conversation import Change

MOST_MOMENTS: Final = 200
ONLY_FILES: Final = (
    "Only files are listed, also those that others changed. The agent still remembers the turn."
)


class TurnMoments:
    """Remembers, at each prompt of one session, what the changed files are then."""

    def __init__(
        self, session: Session, changes: ChangesDesk, run: Callable[[Coroutine[Any, Any, None]], object]
    ) -> None:
        """`run` does work as long as the tab is there."""
        self._changes = changes
        self._run = run
        self._session = session
        self._last: EntryId | None = session.conversation.turn_start
        self._moments: dict[EntryId, Moment] = {}
        self.end = session.subscribe(self._hear)

    def is_of(self, session: Session) -> bool:
        """Whether it hears of that session's prompts already."""
        return self._session.conversation is session.conversation

    def _hear(self, _: Change) -> None:
        start = self._session.conversation.turn_start
        if start != self._last:
            self._last = start
            if start is not None:
                self._run(self._remember(start))

    async def _remember(self, prompt: EntryId) -> None:
        moment = await self._changes.remember()
        if moment is not None:
            self._moments[prompt] = moment
            if len(self._moments) > MOST_MOMENTS:
                del self._moments[next(iter(self._moments))]

    @property
    def prompts(self) -> Sequence[EntryId]:
        """Those whose turns can be undone, the last one first."""
        return tuple(reversed(self._moments))

    def since(self, prompt: EntryId, name: str) -> ChangesSince:
        """What changed since this prompt, which is called so."""
        return ChangesSince(self._changes, self._moments[prompt], name)


class ChangesSince:
    """The changes since one moment, as the list and the review of changes show them: see `ChangesDesk`."""

    def __init__(self, desk: ChangesDesk, moment: Moment, since: str) -> None:
        self.root: Path = desk.root
        self.since = since
        self.changes: Mapping[str, FileChange] = {}
        self._desk = desk
        self._moment = moment

    @property
    def notes(self) -> Sequence[str]:
        """What the list cannot know."""
        return (*self._desk.notes, ONLY_FILES)

    def summary(self) -> str:
        """All changes in a few words; "" where there are none."""
        return summary_of(self.changes)

    async def rescan(self) -> None:
        """Look at all files now. Raises ChangesError."""
        await self._desk.rescan()
        await self._list()

    async def _list(self) -> None:
        self.changes = await self._desk.changes_since(self._moment)

    async def review(self, path: str) -> Review:
        """Both states of a file. Raises ChangesError."""
        return await self._desk.review(path, self._moment)

    async def revert_file(self, shown: Review) -> None:
        """Make a file what it was. Raises ChangesError."""
        await self._desk.revert_file(shown)
        await self._list()

    async def revert_hunk(self, shown: Review, hunk: Hunk) -> None:
        """Make these lines what they were. Raises ChangesError."""
        await self._desk.revert_hunk(shown, hunk)
        await self._list()

    async def undo(self, path: str | None = None) -> str:
        """Undo the last revert: see `ChangesDesk.undo`."""
        undone = await self._desk.undo(path)
        await self._list()
        return undone

    def edit(self, path: str) -> str:
        """Open a file in the user's editor: see `ChangesDesk.edit`."""
        return self._desk.edit(path)
