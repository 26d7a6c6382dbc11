"""The prompts sent in this run and in earlier ones, in the order to recall them. Handles the history file, too."""

from __future__ import annotations

import errno
import json
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Final

from acp_tui.client.private_files import encoded, locked, open_private, replace_file
from acp_tui.client.secrets.masking import masked_text
from acp_tui.values import dataclass


@dataclass(frozen=True, slots=True)
class PastPrompt:
    text: str
    folder: str
    at: str
    """The UTC time in ISO 8601. Values from a file may be anything."""
    agent: str
    pasted: tuple[str, ...] = ()
    """The parts of the text that were pasted, and are shown by a label."""


def line_of(prompt: PastPrompt) -> bytes:
    """The prompt as a line, with its newline. What looks like a secret isn't kept."""
    text = masked_text(prompt.text)
    spans = spans_of(text, map(masked_text, prompt.pasted))
    fields: dict[str, object] = {"text": text, "folder": prompt.folder, "time": prompt.at, "agent": prompt.agent}
    fields |= {"pasted": spans} if spans else {}
    return encoded(fields) + b"\n"


def prompt_of(line: bytes) -> PastPrompt | None:
    try:
        fields = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(fields, dict) or not isinstance(fields.get("text"), str):
        return None
    folder, at, agent = (str(fields.get(name, "")) for name in ("folder", "time", "agent"))
    return PastPrompt(fields["text"], folder, at, agent, tuple(parts_at(fields["text"], fields.get("pasted"))))


def spans_of(text: str, parts: Iterable[str]) -> list[tuple[int, int]]:
    """Where these parts of a text begin, and how long they are."""
    return [(text.find(part), len(part)) for part in parts]


def parts_at(text: str, spans: object) -> Iterator[str]:
    """What `spans_of` has told the places of. Values from a file may be anything."""
    for span in spans if isinstance(spans, list) else ():
        match span:
            case [int(start), int(length)] if 0 <= start < start + length <= len(text):
                yield text[start : start + length]


def without_repeats(prompts: Iterable[PastPrompt]) -> list[PastPrompt]:
    """The prompts, oldest first, each only at its latest use in a folder."""
    latest: dict[tuple[str, str], PastPrompt] = {}
    for prompt in prompts:
        latest.pop((prompt.folder, prompt.text), None)
        latest[prompt.folder, prompt.text] = prompt
    return list(latest.values())


@dataclass(frozen=True)
class Query:
    """A prompt must contain each word. A lowercase word matches capitals, too."""

    text: str

    @cached_property
    def words(self) -> tuple[str, ...]:
        return tuple(self.text.split())

    def matches(self, text: str) -> bool:
        small = text.lower() if any(_is_small(word) for word in self.words) else ""
        return all(word in (small if _is_small(word) else text) for word in self.words)

    @cached_property
    def pattern(self) -> re.Pattern[str] | None:
        """Finds any of the words, to highlight them; None if there are none."""
        longest_first = sorted(self.words, key=len, reverse=True)
        found = (f"(?i:{re.escape(word)})" if _is_small(word) else re.escape(word) for word in longest_first)
        return re.compile("|".join(found)) if self.words else None


def _is_small(word: str) -> bool:
    return word == word.lower()


MAX_BYTES: Final = 8 << 20
KEPT_BYTES: Final = 6 << 20
"""What is left of a file that has grown too large."""
MAX_LINE_BYTES: Final = 256 << 10
"""Longer prompts aren't kept, because a few of them would leave no room for others."""
SLACK: Final = 1.1
"""The file may contain this many times the entries to keep before it's rewritten."""


class HistoryFile:
    def __init__(self, path: Path, max_entries: int = 10_000) -> None:
        self.path = path
        self._max_entries = max_entries

    def version(self) -> tuple[int, int] | None:
        """Changes when the file changes; None if there is no readable file."""
        try:
            found = self.path.stat()
        except OSError:
            return None
        return found.st_ino, found.st_size

    def read(self) -> list[PastPrompt]:
        """The prompts, oldest first, each only at its latest use. Skips invalid lines.

        Shrinks a file that has grown too large. Raises OSError.
        """
        lines = self._lines()
        if len(lines) > self._max_entries * SLACK or sum(map(len, lines)) > MAX_BYTES:
            with suppress(OSError), locked(self.path):
                self._shrink()  # if that isn't possible, what was read is still valid
        return self._kept(lines)

    def append(self, prompts: Sequence[PastPrompt]) -> None:
        """Append these. Raises OSError; the earlier content stays intact in any case."""
        lines = [line for line in map(line_of, prompts) if len(line) <= MAX_LINE_BYTES]
        if not lines:
            return
        with locked(self.path):
            if _append(self.path, b"".join(lines)) > MAX_BYTES:
                self._shrink()

    def _lines(self) -> list[bytes]:
        try:
            with self.path.open("rb") as file:
                # For a file that is far too large, for whatever reason, the end is enough.
                file.seek(max(file.seek(0, os.SEEK_END) - 2 * MAX_BYTES, 0))
                return file.read().splitlines(keepends=True)
        except FileNotFoundError:
            return []

    def _kept(self, lines: Sequence[bytes]) -> list[PastPrompt]:
        prompts = [prompt for line in lines if (prompt := prompt_of(line)) is not None]
        return without_repeats(prompts)[-self._max_entries :]

    def _shrink(self) -> None:
        """Rewrite it with only as much as there is room for."""
        room, kept = KEPT_BYTES, []
        for prompt in reversed(self._kept(self._lines())):
            line = line_of(prompt)
            room -= len(line)
            if room < 0:
                break
            kept.append(line)
        replace_file(self.path, b"".join(reversed(kept)))


def _append(path: Path, lines: bytes) -> int:
    """Append these lines in one piece or not at all. Returns the file's size."""
    fd = open_private(path)
    try:
        size = os.fstat(fd).st_size
        # An incomplete line left by a crash must not spoil the next one.
        if size and os.pread(fd, 1, size - 1) != b"\n":
            lines = b"\n" + lines
        if os.write(fd, lines) < len(lines):
            os.ftruncate(fd, size)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
        return size + len(lines)
    finally:
        os.close(fd)


class PromptHistory:
    def __init__(self) -> None:
        self._prompts: list[PastPrompt] = []
        """Oldest first."""
        self._said: list[PastPrompt] = []
        """Those of this run, which can be recalled whether or not they could be kept."""
        self._unkept: list[PastPrompt] = []

    def take_in(self, kept: Sequence[PastPrompt]) -> None:
        """Replace the kept prompts with these, oldest first."""
        # The file contains them without secrets. In this run, they're recalled as they were sent.
        said = {(prompt.folder, masked_text(prompt.text)): prompt for prompt in self._said}
        prompts = [said.pop((each.folder, each.text), each) for each in kept]
        self._prompts = sorted(without_repeats((*prompts, *said.values())), key=lambda prompt: prompt.at)

    def add(self, text: str, folder: str, agent: str, pasted: Sequence[str] = (), *, is_sent: bool = True) -> None:
        """Add a prompt being sent, or a draft. As in shells, prompts that begin with a space aren't remembered."""
        is_private = text.startswith(" ")
        if (is_private and is_sent) or not text.strip():
            return
        now = datetime.now(UTC).isoformat(timespec="seconds")
        prompt = PastPrompt(text, folder, now, agent, tuple(pasted))
        for prompts in (self._prompts, self._said, *[self._unkept] * (not is_private)):
            prompts.append(prompt)

    def take_unkept(self) -> list[PastPrompt]:
        """The prompts that still have to be kept, oldest first. From now on they count as kept."""
        unkept, self._unkept = self._unkept, []
        return unkept

    def texts_of(self, folder: str) -> list[str]:
        """The prompts of a project, each once, latest first. Those of this run come before those of other terminals."""
        latest = (*reversed(self._said), *reversed(self._prompts))
        return list(dict.fromkeys(prompt.text for prompt in latest if prompt.folder == folder))

    def pasted_in(self, text: str) -> Sequence[str]:
        return next((prompt.pasted for prompt in reversed(self._prompts) if prompt.text == text), ())

    def find(self, query: Query, folder: str | None, limit: int) -> list[PastPrompt]:
        """At most `limit` matching prompts of a project, or of all for None: each once, latest first."""
        found: dict[str, PastPrompt] = {}
        for prompt in reversed(self._prompts):
            if len(found) < limit and folder in (None, prompt.folder) and query.matches(prompt.text):
                found.setdefault(prompt.text, prompt)
        return [*found.values()]
