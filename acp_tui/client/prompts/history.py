"""The prompts that were sent, in this run and in earlier ones, as they are recalled. It reads and writes no file."""

from __future__ import annotations

import errno
import json
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Final

from acp_tui.client.files import encoded, locked, open_private, replace_file
from acp_tui.client.secrets.masking import masked_text
from acp_tui.values import dataclass


@dataclass(frozen=True, slots=True)
class PastPrompt:
    """What was sent, and where, when and to whom."""

    text: str
    folder: str
    """Where the session worked."""
    at: str
    """The time in UTC, as ISO 8601 has it; what was read from a file may be anything."""
    agent: str


def said_now(text: str, folder: str, agent: str) -> PastPrompt:
    """A prompt that is being sent."""
    return PastPrompt(text, folder, datetime.now(UTC).isoformat(timespec="seconds"), agent)


def line_of(prompt: PastPrompt) -> bytes:
    """The prompt as a line, with its end. What looks like a secret is not kept."""
    fields = {
        "text": masked_text(prompt.text),
        "folder": prompt.folder,
        "time": prompt.at,
        "agent": prompt.agent,
    }
    return encoded(fields) + b"\n"


def prompt_of(line: bytes) -> PastPrompt | None:
    """What stands in the line; None where it is no prompt."""
    try:
        fields = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(fields, dict) or not isinstance(fields.get("text"), str):
        return None
    folder, at, agent = (str(fields.get(name, "")) for name in ("folder", "time", "agent"))
    return PastPrompt(fields["text"], folder, at, agent)


def without_repeats(prompts: Iterable[PastPrompt]) -> list[PastPrompt]:
    """The prompts, oldest first, each in the place of its last time in a folder."""
    latest: dict[tuple[str, str], PastPrompt] = {}
    for prompt in prompts:
        latest.pop((prompt.folder, prompt.text), None)
        latest[prompt.folder, prompt.text] = prompt
    return list(latest.values())


@dataclass(frozen=True)
class Query:
    """Each word has to stand in a prompt; a word in small letters stands for capitals too."""

    text: str

    @cached_property
    def words(self) -> tuple[str, ...]:
        """What to look for."""
        return tuple(self.text.split())

    def matches(self, text: str) -> bool:
        """Whether all the words stand in it."""
        small = text.lower() if any(_is_small(word) for word in self.words) else ""
        return all(word in (small if _is_small(word) else text) for word in self.words)

    @cached_property
    def pattern(self) -> re.Pattern[str] | None:
        """Finds any of the words, to show where they stand; None where nothing is looked for."""
        longest_first = sorted(self.words, key=len, reverse=True)
        found = (f"(?i:{re.escape(word)})" if _is_small(word) else re.escape(word) for word in longest_first)
        return re.compile("|".join(found)) if self.words else None


def _is_small(word: str) -> bool:
    return word == word.lower()


MAX_BYTES: Final = 8 << 20
KEPT_BYTES: Final = 6 << 20
"""So much is left of a file that has grown too large."""
MAX_LINE_BYTES: Final = 256 << 10
"""A longer prompt is not kept: a few of them would leave no room for any other."""
SLACK: Final = 1.1
"""So many times the entries that are kept may stand in the file before it is written anew."""


class HistoryFile:
    """One file of prompts."""

    def __init__(self, path: Path, max_entries: int) -> None:
        self.path = path
        self._max_entries = max_entries

    def version(self) -> tuple[int, int] | None:
        """Another one when the file has changed; None where there is no file to be read."""
        try:
            found = self.path.stat()
        except OSError:
            return None
        return found.st_ino, found.st_size

    def read(self) -> list[PastPrompt]:
        """The prompts, oldest first, each in the place of its last time. Lines that are none are passed over.

        A file that has grown too large is made smaller. Raises OSError.
        """
        lines = self._lines()
        if len(lines) > self._max_entries * SLACK or sum(map(len, lines)) > MAX_BYTES:
            with suppress(OSError), locked(self.path):
                self._shrink()  # where that cannot be, what was read is none the worse
        return self._kept(lines)

    def append(self, prompts: Sequence[PastPrompt]) -> None:
        """Add these at the end. Raises OSError; what stood there before is whole in any case."""
        lines = [line for line in map(line_of, prompts) if len(line) <= MAX_LINE_BYTES]
        if not lines:
            return
        with locked(self.path):
            if _append(self.path, b"".join(lines)) > MAX_BYTES:
                self._shrink()

    def _lines(self) -> list[bytes]:
        try:
            with self.path.open("rb") as file:
                # Of a file that is far too large, for whatever reason, the end is enough.
                file.seek(max(file.seek(0, os.SEEK_END) - 2 * MAX_BYTES, 0))
                return file.read().splitlines(keepends=True)
        except FileNotFoundError:
            return []

    def _kept(self, lines: Sequence[bytes]) -> list[PastPrompt]:
        prompts = [prompt for line in lines if (prompt := prompt_of(line)) is not None]
        return without_repeats(prompts)[-self._max_entries :]

    def _shrink(self) -> None:
        """Write it anew with no more than there is room for."""
        room, kept = KEPT_BYTES, []
        for prompt in reversed(self._kept(self._lines())):
            line = line_of(prompt)
            room -= len(line)
            if room < 0:
                break
            kept.append(line)
        replace_file(self.path, b"".join(reversed(kept)))


def _append(path: Path, lines: bytes) -> int:
    """Add these lines in one piece, or nothing; gives the file's size."""
    fd = open_private(path)
    try:
        size = os.fstat(fd).st_size
        # What a crash has left of a line must not spoil the next one.
        if size and os.pread(fd, 1, size - 1) != b"\n":
            lines = b"\n" + lines
        if os.write(fd, lines) < len(lines):
            os.ftruncate(fd, size)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
        return size + len(lines)
    finally:
        os.close(fd)


class PromptHistory:
    """Past prompts of all projects."""

    def __init__(self) -> None:
        self._prompts: list[PastPrompt] = []
        """Oldest first."""
        self._said: list[PastPrompt] = []
        """Those of this run: they are recalled whether they could be kept or not."""
        self._unkept: list[PastPrompt] = []

    def take_in(self, kept: Sequence[PastPrompt]) -> None:
        """Know these, oldest first, instead of what was kept before."""
        # In the file it stands without its secrets; in this run it is recalled as it was said.
        said = {(prompt.folder, masked_text(prompt.text)): prompt for prompt in self._said}
        self._prompts = without_repeats([said.pop((each.folder, each.text), each) for each in kept])
        self._prompts += without_repeats(said.values())

    def add(self, text: str, folder: str, agent: str) -> None:
        """This is being sent. As in shells, what begins with a space is not remembered."""
        if text.startswith(" ") or not text.strip():
            return
        prompt = said_now(text, folder, agent)
        for prompts in (self._prompts, self._said, self._unkept):
            prompts.append(prompt)

    def take_unkept(self) -> list[PastPrompt]:
        """What is to be kept and is not yet, oldest first; it counts as kept from now on."""
        unkept, self._unkept = self._unkept, []
        return unkept

    def texts_of(self, folder: str) -> list[str]:
        """The prompts of a project, each once, latest first."""
        return list(dict.fromkeys(p.text for p in reversed(self._prompts) if p.folder == folder))

    def find(self, query: Query, folder: str | None, limit: int) -> list[PastPrompt]:
        """At most `limit` prompts of a project, or of all for None, that match: each once, latest first."""
        return list(islice(self._found(query, folder), limit))

    def _found(self, query: Query, folder: str | None) -> Iterator[PastPrompt]:
        seen = set()
        for prompt in reversed(self._prompts):
            if folder in (None, prompt.folder) and prompt.text not in seen and query.matches(prompt.text):
                seen.add(prompt.text)
                yield prompt
