"""Reads and writes past prompts, drafts and drafts' pictures, and reports failures."""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, NamedTuple

from anyio import Lock, to_thread

from acp_tui.client.files import encoded, locked, make_private, replace_file
from acp_tui.client.prompts.history import HistoryFile, PastPrompt, PromptHistory

MAX_DRAFTS: Final = 100
MAX_DRAFT_BYTES: Final = 1 << 20
"""A longer one is not kept."""
MAX_DRAFTS_BYTES: Final = 8 << 20


class Place(NamedTuple):
    """What a draft is written for."""

    folder: str
    session: str
    """Its id; "" while there is no session yet."""


class DraftFile:
    """One file of drafts."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self) -> dict[Place, str]:
        """The drafts, the one that was written last at the end; a file that holds none is none. Raises OSError."""
        try:
            content = json.loads(self.path.read_bytes())
        except (FileNotFoundError, ValueError, RecursionError):
            return {}
        return dict(_drafts(content))

    def change(self, changes: Mapping[Place, str]) -> None:
        """Keep these, and drop those that are empty; what another acp-tui has kept stays. Raises OSError."""
        with locked(self.path):
            drafts = self.read()
            for place, text in changes.items():
                drafts.pop(place, None)
                drafts[place] = text
            replace_file(self.path, _content(drafts))


def _drafts(content: Any) -> Iterator[tuple[Place, str]]:
    records = content.get("drafts") if isinstance(content, dict) else None
    for record in records if isinstance(records, list) else ():
        if isinstance(record, dict):
            folder, session, text = (record.get(name) for name in ("folder", "session", "text"))
            if isinstance(folder, str) and isinstance(session, str) and isinstance(text, str):
                yield Place(folder, session), text


def _content(drafts: dict[Place, str]) -> bytes:
    """The latest drafts, as many as there is room for."""
    room = MAX_DRAFTS_BYTES
    kept: list[bytes] = []
    for place, text in reversed(drafts.items()):
        record = encoded({**place._asdict(), "text": text})
        if text and len(record) <= MAX_DRAFT_BYTES and len(record) <= room and len(kept) < MAX_DRAFTS:
            room -= len(record)
            kept.append(record)
    return b'{"drafts": [\n' + b",\n".join(reversed(kept)) + b"\n]}\n"


class Drafts:
    """The drafts of this run and of earlier ones."""

    def __init__(self) -> None:
        self._texts: dict[Place, str] = {}
        """None of them is empty; the one that was changed last is at the end."""
        self._left: set[Place] = set()
        """Those of earlier runs that nobody has gone on with."""
        self._unsaved: dict[Place, str] = {}

    def take_in(self, kept: Mapping[Place, str]) -> None:
        """Know these as well; what was written meanwhile is newer."""
        self._left |= kept.keys() - self._texts.keys()
        self._texts = {**kept, **self._texts}

    def left_in(self, folder: str) -> Place | None:
        """For what the last draft was written that an earlier run has left in this folder; None where there is none."""
        return next(
            (place for place in reversed(self._texts) if place in self._left and place.folder == folder), None
        )

    def is_left(self, place: Place) -> bool:
        """Whether an earlier run has left it, and it is as it was."""
        return place in self._left

    def text(self, place: Place) -> str:
        """The draft; "" where there is none."""
        return self._texts.get(place, "")

    def put(self, place: Place, text: str) -> None:
        """This is the draft now; a blank one is none."""
        text = text if text.strip() else ""
        if text == self.text(place):
            return
        self._texts.pop(place, None)
        self._left.discard(place)
        if text:
            self._texts[place] = text
        self._unsaved[place] = text

    def move(self, source: Place, target: Place) -> None:
        """What was written for the one is for the other now."""
        text = self.text(source)
        self.put(source, "")
        self.put(target, text)

    def take_unsaved(self) -> Mapping[Place, str]:
        """The drafts that have changed, empty where they are no more; they count as saved from now on."""
        unsaved, self._unsaved = self._unsaved, {}
        return unsaved


MAX_BYTES: Final = 16 << 20
"""A larger picture is not kept."""
UNNAMED_S: Final = 86_400.0
"""So long a file stays that no draft names: another acp-tui may be about to write the draft."""


class DraftPictures:
    """One folder of pictures."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def keep(self, pictures: Iterable[tuple[str, bytes]]) -> list[str]:
        """The lines for a draft with these pictures, given by name and content. Raises OSError."""
        lines = []
        for name, content in pictures:
            if len(content) <= MAX_BYTES:
                plain_name = re.sub(r"[^\w.-]", "_", name)
                file = self._folder / f"{sha256(content).hexdigest()[:16]}-{plain_name}"
                make_private(self._folder, is_ours=True)
                if file.exists():
                    os.utime(file)
                else:
                    replace_file(file, content)
                lines.append(f"@{file}")
        return lines

    def split(self, draft: str) -> tuple[str, Sequence[Path]]:
        """The words of a draft, and the files of its pictures."""
        lines = draft.split("\n")
        files: list[Path] = []
        while lines and lines[-1].startswith(f"@{self._folder}/") and ".." not in lines[-1]:
            files.insert(0, Path(lines.pop()[1:]))
        return "\n".join(lines), files

    def read(self, files: Iterable[Path]) -> list[tuple[str, bytes]]:
        """Name and content of each that is there still. Raises OSError for one that cannot be read."""
        return [(file.name.partition("-")[2], file.read_bytes()) for file in files if file.exists()]

    def tidy(self, drafts: Iterable[str]) -> None:
        """Remove those that no draft names any more. Raises OSError."""
        named = {file for draft in drafts for file in self.split(draft)[1]}
        for file in self._folder.glob("*"):
            if file not in named and time.time() - file.stat().st_mtime > UNNAMED_S:
                file.unlink(missing_ok=True)


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
        return f"Your prompts and drafts can't be {what} in {folder}: {why}. They are still sent."
