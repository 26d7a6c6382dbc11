"""Recalls earlier prompts by walking and searching, and the unsent draft. `client.prompts` stores them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from textual import events
from textual.screen import Screen
from textual.timer import Timer

from acp_tui.client.prompts import Place, PromptMemory
from acp_tui.client.sessions.prompt_queue import PastedImage, Prompt
from acp_tui.ui.commands.keys import keys_in_force
from acp_tui.ui.prompt import PromptInput
from acp_tui.ui.prompt.history_search import HistorySearch

if TYPE_CHECKING:
    from acp_tui.client.sessions.session import Session


class Walk:
    """Walks from the draft to older prompts and back. Changes made on the way are kept until the end of the walk."""

    def __init__(self, draft: str, past: Sequence[str]) -> None:
        """`past` begins with the latest."""
        self._texts = [draft, *past]
        self._at = 0

    @property
    def text(self) -> str:
        """The text at the current position, with changes from the last visit."""
        return self._texts[self._at]

    def step(self, text: str, step: int) -> bool:
        """Store `text` and go `step` prompts into the past, or back if negative; return False at the end."""
        to = self._at + step
        if not 0 <= to < len(self._texts):
            return False
        self._texts[self._at] = text
        self._at = to
        return True

    def go_to(self, text: str) -> None:
        """Go to this prompt. If it isn't there, as for one of another project, insert it after the draft."""
        if text not in self._texts[1:]:
            self._texts.insert(1, text)
        self._at = self._texts.index(text, 1)


DRAFT_IS_BACK: Final = "Your draft from last time is back; {interrupt} clears it"
PAUSE_S: Final = 1.0
"""The draft is saved after this long without typing."""


class Recall:
    """Assists one prompt."""

    def __init__(
        self,
        screen: Screen[None],
        prompt: PromptInput,
        memory: PromptMemory,
        cwd: Path,
        queued: Callable[[], Sequence[Prompt]],
    ) -> None:
        """`cwd` is the folder of the session that will start; `queued` returns what waits to be sent."""
        self._queued = queued
        self._screen = screen
        self._prompt = prompt
        self._memory = memory
        self._place = Place(str(cwd), "")
        self._walk: Walk | None = None
        self._put_at: tuple[int, int] | None = None
        """Where the cursor was after an earlier prompt was put into the draft."""
        self.pause: Timer | None = None
        self._has_changed = False
        """Since the timer was started."""
        self._search: HistorySearch | None = None
        self._has_told_back = False
        self._session: Session | None = None
        """The session that the prompt is for."""
        self._coming = ""
        """A saved draft whose pictures are being read."""

    async def begin(self, is_new: Callable[[], bool] = lambda: True) -> None:
        """Load earlier prompts, and restore the saved draft unless a new one was begun.

        `is_new` is called after loading; it tells whether nothing has been sent yet.
        """
        self._say(await self._memory.load())
        left = self._memory.offer(self._place) if is_new() and not self._prompt.text else ""
        if left:
            self._bring_back(left)
            self._tell_back()
        self._prompt.assistants.append(self)
        self.draft_changed()

    def show_session(self, session: Session) -> None:
        """Switch to this session and its own draft.

        A new session, and one that continues the conversation of the last one, take over the text being written.
        """
        place = Place(str(session.cwd), str(session.session_id))
        before_it, self._session = self._session, session
        goes_on = before_it is not None and before_it.conversation is session.conversation
        is_new = session.conversation.is_blank or goes_on
        was_left = self._memory.drafts.is_left(place)
        if place == self._place:
            return
        before, self._place = self._place, place
        self._walk = None
        self._memory.drafts.put(before, self._with_coming(self._prompt.draft))
        own = self._memory.drafts.text(place)
        if not before.session or (is_new and not own):
            self._memory.drafts.move(before, place)
        else:
            self._coming = ""  # it stays with the session that it is for
            self._prompt.set_draft("")
        self._bring_back(own)
        if own and was_left:
            self._tell_back()

    def _bring_back(self, kept: str) -> None:
        """Put a saved draft before what is written: its text together with its pictures, so that it is sent whole."""
        kept = self._with_coming(kept)
        words, files = self._memory.split(kept)
        if files:
            self._coming = kept
            self._screen.run_worker(self._bring_back_with_pictures(kept, words, files))
        elif words and words != self._prompt.draft:
            self._prompt.put_before(words)

    async def _bring_back_with_pictures(self, kept: str, words: str, files: Sequence[Path]) -> None:
        pictures = await self._memory.read_pictures(files)
        if self._coming == kept:  # otherwise the prompt is for another session by now
            self._coming = ""
            if words:
                self._prompt.put_before(words)
            self._prompt.attach(*(PastedImage(name, data) for name, data in pictures))

    def _with_coming(self, kept: str) -> str:
        """Return a draft in its saved form together with the one whose pictures are being read."""
        coming, coming_files = self._memory.split(self._coming)
        words, files = self._memory.split(kept)
        return "\n".join(filter(None, (coming, words, *(f"@{file}" for file in (*coming_files, *files)))))

    def _tell_back(self) -> None:
        """Tell the user, once, that the text in the prompt is from last time."""
        if not self._has_told_back:
            self._has_told_back = True
            self._screen.notify(keys_in_force(self._screen).hint(DRAFT_IS_BACK), markup=False)

    def sent(self, text: str, agent: str) -> None:
        """Record a sent prompt."""
        self._walk = None
        self._memory.history.add(text, self._place.folder, agent)
        self._screen.run_worker(self._write())

    async def keep(self) -> None:
        """Save the draft with its images, and the queued prompts before it."""
        place, queued = self._place, self._queued()
        draft = "\n\n".join(filter(None, (*(prompt.text for prompt in queued), self._prompt.draft)))
        images = (*(image for prompt in queued for image in prompt.images), *self._prompt.images)
        kept = await self._memory.with_pictures(draft, [(image.name, image.data) for image in images])
        self._memory.drafts.put(place, self._with_coming(kept))
        self._say(await self._memory.write())

    # While a prompt is written

    def takes_key(self, event: events.Key) -> bool:
        """Recall prompts if Up or Down would leave the draft. If a search is open, close it."""
        if self._close_search():
            return event.key == "escape"
        match event.key:
            case "up":
                return self._may_walk(0) and self._step(1)
            case "down":
                return self._may_walk(self._prompt.wrapped_document.height - 1) and self._step(-1)
            case _:
                return False

    def draft_changed(self) -> None:
        """Save the draft at the next pause."""
        self._has_changed = self.pause is not None
        if self.pause is None:
            self.pause = self._prompt.set_timer(PAUSE_S, self._look)

    def _look(self) -> None:
        """Keep waiting if a key came in the meantime. No timer runs otherwise."""
        self.pause = None
        if self._has_changed:
            self.draft_changed()
            return
        self._screen.run_worker(self.keep())

    async def _write(self) -> None:
        self._say(await self._memory.write())

    def _say(self, what: str) -> None:
        if what and self._screen.is_attached:  # otherwise it's being closed
            self._screen.notify(what, severity="warning", markup=False)

    # Walking

    def _may_walk(self, edge_row: int) -> bool:
        """Whether the cursor is in this row, the first or the last one, or where the last step left it."""
        prompt, cursor = self._prompt, self._prompt.cursor_location
        if not prompt.selection.is_empty:
            return False
        if prompt.wrapped_document.location_to_offset(cursor).y == edge_row:
            return True
        return self._walk is not None and cursor == self._put_at and prompt.draft == self._walk.text

    def _step(self, step: int) -> bool:
        """Go to an older prompt, or with -1 to a newer one; return whether the key is handled."""
        walk = self._walk or self._new_walk()
        if walk is None or (step < 0 and self._walk is None):
            return False
        if walk.step(self._prompt.draft, step):
            self._put(walk)
            return True
        return step > 0

    def _new_walk(self) -> Walk | None:
        past = self._memory.history.texts_of(self._place.folder)
        return Walk(self._prompt.draft, past) if past else None

    def _put(self, walk: Walk) -> None:
        self._walk = walk
        self._prompt.set_draft(walk.text)
        self._put_at = self._prompt.cursor_location

    # Searching

    async def search(self) -> None:
        """Open the search, or go to an older match. Prompts that others send in the meantime are included."""
        if self._search is not None and self._search.is_attached:
            await self._search.action_move(-1)
            return
        search = self._search = HistorySearch(self._memory.history, self._place.folder)
        await self._screen.mount(search, before="#prompt-frame")
        search.begin()
        self._screen.run_worker(self._look_again(search))

    async def _look_again(self, search: HistorySearch) -> None:
        self._say(await self._memory.load())
        if search.is_attached:
            search.look()

    def choose(self, text: str) -> None:
        """Put an earlier prompt into the draft. Down leads back to the previous text."""
        walk = self._walk or self._new_walk() or Walk(self._prompt.draft, ())
        walk.step(self._prompt.draft, 0)
        walk.go_to(text)
        self._put(walk)

    def _close_search(self) -> bool:
        """Close the search; return whether it was open."""
        search, self._search = self._search, None
        is_open = search is not None and search.is_attached
        if search is not None and is_open:
            search.close()
        return is_open
