"""Reads and writes past prompts, drafts, and drafts' pictures, and reports failures."""

from __future__ import annotations

import fcntl
import json
import os
import re
import time
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from hashlib import sha256
from io import FileIO
from pathlib import Path
from typing import Any, Final, NamedTuple

from anyio import Lock, to_thread

from acp_tui.client.private_files import encoded, locked, make_private, open_private, replace_file
from acp_tui.client.prompts.history import HistoryFile, PastPrompt, PromptHistory, parts_at, spans_of

MAX_DRAFTS: Final = 100
MAX_DRAFT_BYTES: Final = 1 << 20
"""Longer drafts aren't kept."""
MAX_DRAFTS_BYTES: Final = 8 << 20
MAX_PID: Final = 1 << 31


class DraftKey(NamedTuple):
    """The session in whose prompt a draft was written, or the prompt itself, as long as that has no session."""

    folder: str
    session: str


class Draft(NamedTuple):
    text: str
    agent: str = ""
    """Whom it's for; "" if unknown. Untrusted."""
    is_blank: bool = True
    """Whether nothing had been said in its session (`is_begun`), so that any other blank one may take it over."""
    pasted: tuple[str, ...] = ()
    """The parts of the text that are folded."""
    pid: int = 0
    """In the file, the process whose prompt has it; 0 for none."""
    queued: int = 0
    """How many queued prompts it begins with."""

    def fits(self, agent: str) -> bool:
        """Whether it may be for a blank session of this agent."""
        return self.is_blank and self.text != "" and self.agent in ("", agent)


NO_DRAFT: Final = Draft("")


class DraftFile:
    def __init__(self, path: Path) -> None:
        self.path = path
        self._pid = os.getpid()
        self._processes: FileIO | None = None
        """Every acp-tui process locks its byte at the number of its ID. The system unlocks it when the process ends."""

    def read(self) -> dict[DraftKey, Draft]:
        """The drafts, most recently written last; none if the file has none. Raises OSError."""
        try:
            content = json.loads(self.path.read_bytes())
        except (FileNotFoundError, ValueError, RecursionError):
            return {}
        return dict(_drafts(content))

    def change(self, changes: Mapping[DraftKey, Draft], shown: Container[DraftKey] = ()) -> None:
        """Store these, and delete those that are empty. Drafts of other acp-tui processes stay. Raises OSError.

        Others leave those alone that are `shown` here, as long as this process runs.
        """
        with locked(self.path):
            self._marked()
            drafts = self.read()
            for place, draft in changes.items():
                drafts.pop(place, None)
                drafts[place] = draft._replace(pid=self._pid if place in shown else 0)
            replace_file(self.path, _content(drafts))

    def claim(self, is_wanted: Callable[[DraftKey, Draft], bool], known: Container[DraftKey]) -> dict[DraftKey, Draft]:
        """Take over those wanted that no other running acp-tui shows, and that aren't known. Raises OSError."""
        if not self.path.exists():
            return {}
        with locked(self.path):
            drafts = self.read()
            wanted = {place: draft for place, draft in drafts.items() if place not in known and is_wanted(place, draft)}
            ours = {place: draft for place, draft in wanted.items() if not self.is_running(draft.pid)}
            if ours:
                self._marked()
                drafts |= {place: draft._replace(pid=self._pid) for place, draft in ours.items()}
                replace_file(self.path, _content(drafts))
        return {place: draft._replace(pid=0) for place, draft in ours.items()}

    def _marked(self) -> FileIO:
        """The file of running processes, with this one in it. Raises OSError."""
        if self._processes is None:
            self._processes = FileIO(open_private(self.path.with_name(f"{self.path.name}.processes")), "r+")
            with suppress(OSError):  # a file system without locks
                fcntl.lockf(self._processes, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, self._pid)
        return self._processes

    def let_go(self) -> None:
        """From now on, don't count as running: others take over the drafts of this process."""
        if self._processes is not None:
            self._processes.close()
            self._processes = None

    def is_running(self, pid: int) -> bool:
        """Whether it's another acp-tui process, and runs."""
        if pid in (0, self._pid):
            return False
        with suppress(OSError):
            processes = self._marked()
            try:
                fcntl.lockf(processes, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, pid)
                fcntl.lockf(processes, fcntl.LOCK_UN, 1, pid)
            except (BlockingIOError, PermissionError):
                return True
        return False


def _drafts(content: Any) -> Iterator[tuple[DraftKey, Draft]]:
    records = content.get("drafts") if isinstance(content, dict) else None
    for record in records if isinstance(records, list) else ():
        if isinstance(record, dict) and all(isinstance(record.get(one), str) for one in ("folder", "session", "text")):
            text, pid = record["text"], record.get("pid")
            is_blank, pasted = record.get("is_blank") is not False, tuple(parts_at(text, record.get("pasted")))
            pid = pid if isinstance(pid, int) and 0 < pid < MAX_PID else 0
            queued = record.get("queued")
            queued = queued if isinstance(queued, int) else 0
            yield (
                DraftKey(record["folder"], record["session"]),
                Draft(text, str(record.get("agent", "")), is_blank, pasted, pid, queued),
            )


def _content(drafts: dict[DraftKey, Draft]) -> bytes:
    """The latest drafts, as many as there is room for."""
    room = MAX_DRAFTS_BYTES
    kept: list[bytes] = []
    for place, draft in reversed(drafts.items()):
        spans = spans_of(draft.text, draft.pasted)
        record = encoded({**place._asdict(), **draft._asdict(), "pasted": spans})
        if draft.text and len(record) <= MAX_DRAFT_BYTES and len(record) <= room and len(kept) < MAX_DRAFTS:
            room -= len(record)
            kept.append(record)
    return b'{"drafts": [\n' + b",\n".join(reversed(kept)) + b"\n]}\n"


class Drafts:
    """Those in prompts, and those that aren't saved yet."""

    def __init__(self) -> None:
        self._drafts: dict[DraftKey, Draft] = {}
        """With an empty one where one is to be deleted. The most recently changed draft is last."""
        self._unsaved: set[DraftKey] = set()

    def __iter__(self) -> Iterator[tuple[DraftKey, Draft]]:
        """All of them, the latest first."""
        return iter(tuple(reversed(self._drafts.items())))

    def __contains__(self, place: object) -> bool:
        """Whether it's known what is there, if anything."""
        return place in self._drafts

    def at(self, place: DraftKey) -> Draft:
        return self._drafts.get(place, NO_DRAFT)

    def take_in(self, kept: Mapping[DraftKey, Draft]) -> None:
        """Add these, unless newer ones are known."""
        self._drafts = {**{place: draft for place, draft in kept.items() if place not in self}, **self._drafts}

    def put(self, place: DraftKey, draft: Draft) -> None:
        """Set the draft. A blank one counts as none."""
        draft = draft if draft.text.strip() else NO_DRAFT
        if draft != self.at(place):
            self._drafts.pop(place, None)
            self._drafts[place] = draft
            self._unsaved.add(place)

    def release(self, place: DraftKey) -> None:
        """Save it again: from now on, others may take it over."""
        self._unsaved |= {place} & self._drafts.keys()

    def take_unsaved(self) -> Mapping[DraftKey, Draft]:
        """The changed drafts, empty if deleted. From now on they count as saved."""
        unsaved, self._unsaved = self._unsaved, set()
        return {place: draft for place, draft in self._drafts.items() if place in unsaved}

    def forget(self, places: Iterable[DraftKey]) -> None:
        """Leave these to the file, unless they have changed since they were saved."""
        for place in {*places} - self._unsaved:
            self._drafts.pop(place, None)


MAX_BYTES: Final = 16 << 20
"""Larger pictures aren't kept."""
UNNAMED_S: Final = 86_400.0
"""How long to keep a file that no draft names, because another acp-tui may be about to write the draft."""


class DraftPictures:
    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def keep(self, pictures: Iterable[tuple[str, bytes]]) -> list[str]:
        """Lines that attach these pictures, given by name and content. Raises OSError."""
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
                lines.append(f'@"{file}"')
        return lines

    def tidy(self, drafts: Iterable[str]) -> None:
        """Delete those that no draft names. Raises OSError."""
        named = "\n".join(drafts)
        for file in self._folder.glob("*"):
            if str(file) not in named and time.time() - file.stat().st_mtime > UNNAMED_S:
                file.unlink(missing_ok=True)


class PromptMemory:
    """What was written in prompts, in all sessions of this run and in earlier runs."""

    def __init__(self, folder: Path | None) -> None:
        """With `folder`, it's kept there over restarts."""
        self.history = PromptHistory()
        self.drafts = Drafts()
        self._history_file = HistoryFile(folder / "history.jsonl") if folder else None
        self._draft_file = DraftFile(folder / "drafts.json") if folder else None
        self._pictures = DraftPictures(folder / "draft-pictures") if folder else None
        self._version: tuple[int, int] | None = None
        """The version of the history file when it was read."""
        self.shown: set[DraftKey] = set()
        """The places of the prompts on the screen: no other one takes over what is written there."""
        self._lock = Lock()
        self._has_failed = False

    async def load(self) -> str:
        """Read what is kept and not known yet. Returns a message for the user, or ""."""
        try:
            async with self._lock:
                if self._history_file is not None:
                    version = await to_thread.run_sync(self._history_file.version)
                    if version != self._version:
                        self.history.take_in(await to_thread.run_sync(self._history_file.read))
                        self._version = version
        except OSError as error:
            return self._said_once("read", error)
        return ""

    async def take(self, place: DraftKey, agent: str, *, is_new: bool) -> tuple[Draft, int]:
        """The draft of this place. If it has none and `is_new`, the last one that was left in a blank session.

        Others that were left so are earlier prompts from then on. Returns how many, too.
        """

        def is_wanted(other: DraftKey, draft: Draft) -> bool:
            return other == place or (is_new and other.folder == place.folder and draft.fits(agent))

        with suppress(OSError):  # writing says what is wrong there
            async with self._lock:
                if self._draft_file is not None:
                    claim = partial(self._draft_file.claim, is_wanted, self.drafts)
                    self.drafts.take_in(await to_thread.run_sync(claim))
        left = [each for each in self.drafts if each[0] not in {*self.shown, place} and is_wanted(*each)]
        if self.drafts.at(place).text or not left:
            return self.drafts.at(place), 0
        (_, last), *others = left
        for other, draft in reversed(others):
            self.history.add(draft.text, other.folder, draft.agent, draft.pasted, is_sent=False)
        for other, _ in left:
            self.drafts.put(other, NO_DRAFT)
        self.drafts.put(place, last)
        return last, len(others)

    def leave(self, place: DraftKey) -> None:
        """Note that no prompt is there any more."""
        self.shown.discard(place)
        self.drafts.release(place)

    def places(self) -> Container[DraftKey]:
        """Where drafts are kept, also by other acp-tui processes. Blocks."""
        with suppress(OSError):
            return self._draft_file.read() if self._draft_file is not None else ()
        return ()

    async def with_pictures(self, draft: str, pictures: Sequence[tuple[str, bytes]]) -> str:
        """The draft in the form in which it's kept with these pictures, each a name and its content: as files."""
        if self._pictures is None or not pictures:
            return draft
        try:
            lines = await to_thread.run_sync(self._pictures.keep, pictures)
        except OSError:
            return draft  # the message about the draft itself says that nothing can be kept there
        return "\n".join(filter(None, (draft, *lines)))

    async def write(self) -> str:
        """Write what is new. Returns a message for the user, or "". Failed writes aren't repeated."""
        try:
            async with self._lock:
                prompts, drafts = self.history.take_unkept(), self.drafts.take_unsaved()
                if prompts or drafts:
                    await to_thread.run_sync(self._write, prompts, drafts, {*self.shown})
                    if self._draft_file is not None:
                        self.drafts.forget(drafts.keys() - self.shown)
        except OSError as error:
            return self._said_once("kept", error)
        return ""

    def let_go(self) -> None:
        """Leave what is kept to other acp-tui processes."""
        if self._draft_file is not None:
            self._draft_file.let_go()

    def _write(
        self, prompts: Sequence[PastPrompt], drafts: Mapping[DraftKey, Draft], shown: Container[DraftKey]
    ) -> None:
        if self._history_file is not None and prompts:
            self._history_file.append(prompts)
        if self._draft_file is not None and drafts:
            self._draft_file.change(drafts, shown)
            if self._pictures is not None:
                self._pictures.tidy(draft.text for draft in self._draft_file.read().values())

    def _said_once(self, what: str, error: OSError) -> str:
        """A sentence for the user; "" if it has been shown before."""
        has_failed, self._has_failed = self._has_failed, True
        if has_failed or self._history_file is None:
            return ""
        folder, why = self._history_file.path.parent, error.strerror or str(error)
        return f"Your prompts and drafts can't be {what} in {folder}: {why}. They are still sent."
