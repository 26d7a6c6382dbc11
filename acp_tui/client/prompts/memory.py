"""Reads and writes past prompts, drafts, and drafts' pictures, and reports failures."""

from __future__ import annotations

import fcntl
import json
import os
import re
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, field
from hashlib import sha256
from io import FileIO
from pathlib import Path
from typing import Any, Final, NamedTuple

from anyio import Lock, to_thread

from acp_tui.client.private_files import encoded, locked, make_private, open_private, replace_file
from acp_tui.client.prompts.history import HistoryFile, PastPrompt, PromptHistory
from acp_tui.values import dataclass

MAX_DRAFTS: Final = 100
MAX_DRAFT_BYTES: Final = 1 << 20
"""Longer drafts aren't kept."""
MAX_DRAFTS_BYTES: Final = 8 << 20
MAX_PID: Final = 1 << 31


@dataclass(frozen=True, slots=True)
class DraftKey:
    folder: str
    session: str
    """The session's ID; "" while there is no session."""
    agent: str = field(default="", compare=False)
    """Whom it's for; "" if unknown. Untrusted."""


class SavedDraft(NamedTuple):
    text: str
    pid: int
    """The process that wrote it; 0 if unknown."""


class DraftFile:
    def __init__(self, path: Path) -> None:
        self.path = path
        self._processes: FileIO | None = None
        """Every acp-tui process locks its byte at the number of its ID. The system unlocks it when the process ends."""

    def read(self) -> dict[DraftKey, str]:
        """The drafts, most recently written last; none if the file has none. Raises OSError."""
        return {place: draft.text for place, draft in self._read().items()}

    def read_left(self) -> dict[DraftKey, str]:
        """Those that no other running acp-tui has written. Raises OSError."""
        return {place: draft.text for place, draft in self._read().items() if not self._is_running(draft.pid)}

    def _read(self) -> dict[DraftKey, SavedDraft]:
        try:
            content = json.loads(self.path.read_bytes())
        except (FileNotFoundError, ValueError, RecursionError):
            return {}
        return dict(_drafts(content))

    def change(self, changes: Mapping[DraftKey, str]) -> None:
        """Store these, and delete those that are empty. Drafts of other acp-tui processes stay. Raises OSError."""
        with locked(self.path):
            self._marked()
            drafts = self._read()
            for place, text in changes.items():
                drafts.pop(place, None)
                drafts[place] = SavedDraft(text, os.getpid())
            replace_file(self.path, _content(drafts))

    def _marked(self) -> FileIO:
        """The file of running processes, with this one in it. Raises OSError."""
        if self._processes is None:
            self._processes = FileIO(open_private(self.path.with_name(f"{self.path.name}.processes")), "r+")
            with suppress(OSError):  # a file system without locks
                fcntl.lockf(self._processes, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, os.getpid())
        return self._processes

    def let_go(self) -> None:
        """From now on, don't count as running: others take over the drafts of this process."""
        if self._processes is not None:
            self._processes.close()
            self._processes = None

    def _is_running(self, pid: int) -> bool:
        """Whether it's another acp-tui process that has written drafts and runs."""
        if pid in (0, os.getpid()):
            return False
        with suppress(OSError):
            processes = self._marked()
            try:
                fcntl.lockf(processes, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, pid)
                fcntl.lockf(processes, fcntl.LOCK_UN, 1, pid)
            except (BlockingIOError, PermissionError):
                return True
        return False


def _drafts(content: Any) -> Iterator[tuple[DraftKey, SavedDraft]]:
    records = content.get("drafts") if isinstance(content, dict) else None
    for record in records if isinstance(records, list) else ():
        if isinstance(record, dict):
            folder, session, text, pid = (record.get(name) for name in ("folder", "session", "text", "pid"))
            agent = record.get("agent")
            if isinstance(folder, str) and isinstance(session, str) and isinstance(text, str):
                yield (
                    DraftKey(folder, session, agent if isinstance(agent, str) else ""),
                    SavedDraft(text, pid if isinstance(pid, int) and 0 < pid < MAX_PID else 0),
                )


def _content(drafts: dict[DraftKey, SavedDraft]) -> bytes:
    """The latest drafts, as many as there is room for."""
    room = MAX_DRAFTS_BYTES
    kept: list[bytes] = []
    for place, (text, pid) in reversed(drafts.items()):
        record = encoded({**asdict(place), "text": text, "pid": pid})
        if text and len(record) <= MAX_DRAFT_BYTES and len(record) <= room and len(kept) < MAX_DRAFTS:
            room -= len(record)
            kept.append(record)
    return b'{"drafts": [\n' + b",\n".join(reversed(kept)) + b"\n]}\n"


class Drafts:
    def __init__(self) -> None:
        self._texts: dict[DraftKey, str] = {}
        """Without empty ones. The most recently changed draft is last."""
        self._left: set[DraftKey] = set()
        """Drafts of earlier runs that haven't been continued."""
        self._unsaved: dict[DraftKey, str] = {}

    def take_in(self, kept: Mapping[DraftKey, str]) -> None:
        """Add these. Drafts written in this run are newer and take precedence."""
        self._left |= kept.keys() - self._texts.keys()
        self._texts = {**kept, **self._texts}

    def left_for(self, folder: str, agent: str) -> DraftKey | None:
        """The place of the last draft that an earlier run left in this folder for this agent; None without one."""
        left = (place for place in reversed(self._texts) if place in self._left and place.folder == folder)
        return next((place for place in left if place.agent in ("", agent)), None)

    def is_left(self, place: DraftKey) -> bool:
        """Whether an earlier run has left it, and it's unchanged."""
        return place in self._left

    def text(self, place: DraftKey) -> str:
        """The draft; "" if there isn't one."""
        return self._texts.get(place, "")

    def put(self, place: DraftKey, text: str) -> None:
        """Set the draft. A blank one counts as none."""
        text = text if text.strip() else ""
        if text == self.text(place):
            return
        self._texts.pop(place, None)
        self._left.discard(place)
        if text:
            self._texts[place] = text
        self._unsaved[place] = text

    def move(self, source: DraftKey, target: DraftKey) -> None:
        text = self.text(source)
        self.put(source, "")
        self.put(target, text)

    def take_unsaved(self) -> Mapping[DraftKey, str]:
        """The changed drafts, empty if deleted. From now on they count as saved."""
        unsaved, self._unsaved = self._unsaved, {}
        return unsaved


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
        self._has_drafts = False
        self._offered: set[tuple[str, str]] = set()
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
                if self._draft_file is not None and not self._has_drafts:
                    self.drafts.take_in(await to_thread.run_sync(self._draft_file.read_left))
                    self._has_drafts = True
        except OSError as error:
            return self._said_once("read", error)
        return ""

    def offer(self, place: DraftKey) -> str:
        """The draft that was left in this folder for this agent, from now on for `place`; "" if there isn't one.

        It's offered once: drafts written later in the same folder belong to other sessions.
        """
        whom = place.folder, place.agent
        left = None if whom in self._offered else self.drafts.left_for(*whom)
        self._offered.add(whom)
        if left is not None:
            self.drafts.move(left, place)
        return self.drafts.text(place)

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
                    await to_thread.run_sync(self._write, prompts, drafts)
        except OSError as error:
            return self._said_once("kept", error)
        return ""

    async def keep_for_next(self, folder: str, draft: str) -> None:
        """Save a draft for which there is no session yet: the next one in this folder gets it."""
        self.drafts.put(DraftKey(folder, f"starting-{time.time_ns()}"), draft)  # of its own, so nothing replaces it
        await self.write()

    def let_go(self) -> None:
        """Leave what is kept to other acp-tui processes."""
        if self._draft_file is not None:
            self._draft_file.let_go()

    def _write(self, prompts: Sequence[PastPrompt], drafts: Mapping[DraftKey, str]) -> None:
        if self._history_file is not None and prompts:
            self._history_file.append(prompts)
        if self._draft_file is not None and drafts:
            self._draft_file.change(drafts)
            if self._pictures is not None:
                self._pictures.tidy(self._draft_file.read().values())

    def _said_once(self, what: str, error: OSError) -> str:
        """A sentence for the user; "" if it has been shown before."""
        has_failed, self._has_failed = self._has_failed, True
        if has_failed or self._history_file is None:
            return ""
        folder, why = self._history_file.path.parent, error.strerror or str(error)
        return f"Your prompts and drafts can't be {what} in {folder}: {why}. They are still sent."
