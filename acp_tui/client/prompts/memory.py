"""Past prompts and drafts together with their files: when these are read and written, and what is said of failures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from anyio import Lock, to_thread

from acp_tui.client.prompts.draft_pictures import DraftPictures
from acp_tui.client.prompts.drafts import DraftFile, Drafts, Place
from acp_tui.client.prompts.history import HistoryFile, PastPrompt, PromptHistory


class PromptMemory:
    """What was written in prompts, in all sessions of this run and in earlier runs."""

    def __init__(self, folder: Path | None, max_entries: int) -> None:
        """With `folder`, it is kept there over restarts."""
        self.history = PromptHistory()
        self.drafts = Drafts()
        self._history_file = HistoryFile(folder / "history.jsonl", max_entries) if folder else None
        self._draft_file = DraftFile(folder / "drafts.json") if folder else None
        self._pictures = DraftPictures(folder / "draft-pictures") if folder else None
        self._version: tuple[int, int] | None = None
        """Of the history file, when it was read."""
        self._has_drafts = False
        self._offered: set[str] = set()
        self._lock = Lock()
        self._has_failed = False

    async def load(self) -> str:
        """Read what is kept, as far as it is not known yet; gives what there is to say."""
        try:
            async with self._lock:
                await self._load_history()
                await self._load_drafts()
        except OSError as error:
            return self._said_once("read", error)
        return ""

    async def _load_history(self) -> None:
        file = self._history_file
        if file is None:
            return
        version = await to_thread.run_sync(file.version)
        if version != self._version:
            self.history.take_in(await to_thread.run_sync(file.read))
            self._version = version

    async def _load_drafts(self) -> None:
        if self._draft_file is not None and not self._has_drafts:
            self.drafts.take_in(await to_thread.run_sync(self._draft_file.read))
            self._has_drafts = True

    def offer(self, place: Place) -> str:
        """The draft that was left in this folder, written for `place` from now on; "" where there is none.

        It is offered once: what is written later in the same folder is another session's.
        """
        left = None if place.folder in self._offered else self.drafts.left_in(place.folder)
        self._offered.add(place.folder)
        if left is not None:
            self.drafts.move(left, place)
        return self.drafts.text(place)

    async def with_pictures(self, draft: str, pictures: Sequence[tuple[str, bytes]]) -> str:
        """The draft as it is kept with these pictures, each a name with its content."""
        if self._pictures is None or not pictures:
            return draft
        try:
            lines = await to_thread.run_sync(self._pictures.keep, pictures)
        except OSError:
            return draft  # that nothing can be kept there is said of the draft itself
        return "\n".join(filter(None, (draft, *lines)))

    def split(self, kept: str) -> tuple[str, Sequence[Path]]:
        """The words of a draft as it is kept, and the files of its pictures."""
        return (kept, ()) if self._pictures is None else self._pictures.split(kept)

    async def read_pictures(self, files: Sequence[Path]) -> Sequence[tuple[str, bytes]]:
        """Name and content of each that can be read."""
        try:
            return [] if self._pictures is None else await to_thread.run_sync(self._pictures.read, files)
        except OSError:
            return []

    async def write(self) -> str:
        """Keep what is new; gives what there is to say. What could not be written is not tried again."""
        try:
            async with self._lock:
                prompts, drafts = self.history.take_unkept(), self.drafts.take_unsaved()
                if prompts or drafts:
                    await to_thread.run_sync(self._write, prompts, drafts)
        except OSError as error:
            return self._said_once("kept", error)
        return ""

    def _write(self, prompts: Sequence[PastPrompt], drafts: Mapping[Place, str]) -> None:
        if self._history_file is not None and prompts:
            self._history_file.append(prompts)
        if self._draft_file is not None and drafts:
            self._draft_file.change(drafts)
            if self._pictures is not None:
                self._pictures.tidy(self._draft_file.read().values())

    def _said_once(self, what: str, error: OSError) -> str:
        """A sentence for the user; "" where it was said already."""
        has_failed, self._has_failed = self._has_failed, True
        if has_failed or self._history_file is None:
            return ""
        folder, why = self._history_file.path.parent, error.strerror or str(error)
        return f"Your prompts and drafts cannot be {what} in {folder}: {why}. They are sent all the same."
