"""The files of a workspace, indexed for a search at every key. The owner decides when to read them again.

All paths are lines in one buffer, short ones first, so a single call searches thousands and finds the short ones first.
There is no object for each path.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
import time
from array import array
from bisect import bisect_right
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Final, TypeAlias

from anyio import to_thread

from acp_tui.client.completion.matching import Match, fit, is_exact_case
from acp_tui.client.private_files import read_regular
from acp_tui.client.safe_git import GitFailed, ask_git
from acp_tui.values import dataclass

MAX_MATCHES: Final = 100
MAX_SCORED: Final = 300
"""How many to score for each kind of match: the shortest ones."""
MAX_SCATTERED: Final = 600
"""How many of these to check for ones with the letters in their names, which are preferred."""
RARE_PART: Final = 8
"""Letters that together make up less than one in so many are searched for first."""
MISSES_PART: Final = 24
"""If more than one in so many lines has these letters, but not all, all letters are searched for at once."""
SAMPLE_BYTES: Final = 1 << 16
LINES_AT_ONCE: Final = 2000
"""After this many paths, other threads may run, and the search checks whether it's still needed."""

IsStale: TypeAlias = Callable[[], bool]
"""Whether the answer is no longer needed."""


class PathIndex:
    """Paths below one folder, and the folders that contain them, which end with a slash."""

    def __init__(self, files: Iterable[str]) -> None:
        """Slow for many files, so use a thread. Omits paths with newlines, because they can't be mentioned."""
        by_length: dict[int, bytearray] = {}
        for path in _with_folders(files):
            by_length.setdefault(len(path), bytearray()).extend(b"\n" + _encoded(path))
        self._exact = _Haystack(b"".join(by_length[length] for length in sorted(by_length)) + b"\n")

    def __contains__(self, path: str) -> bool:
        return self._exact.has_line(path)

    def search(self, query: str, is_stale: IsStale = lambda: False) -> list[Match]:
        """The best matching paths, best first. Without a query, those at the top level."""
        if not query or (query.endswith("/") and query in self):
            return self._children(query)
        lines = dict.fromkeys(self._with_runs(query))
        if len(lines) < MAX_MATCHES:
            lines.update(dict.fromkeys(self._scattered(query, is_stale)))
        if is_stale():
            return []
        return best([match for line in lines if (match := fit(query, self._exact.line(line))) is not None])

    def _with_runs(self, query: str) -> Iterator[int]:
        """Lines that contain all letters as one run."""
        haystack = self._haystack(query)
        if not any(True for _ in haystack.holding(query)):
            return  # one look at all lines instead of three
        yield from islice(haystack.beginning(query), MAX_SCORED)
        yield from islice(haystack.holding(query), MAX_SCORED)

    def _scattered(self, query: str, is_stale: IsStale) -> list[int]:
        """Lines that contain the letters in this order, first those with all of them in their names."""
        in_order = re.compile(_in_order(query), re.NOFLAG if is_exact_case(query) else re.IGNORECASE)

        def is_not_in_name(line: int) -> bool:
            path = self._exact.line(line)
            return in_order.match(path, path.rfind("/", 0, -1) + 1) is None

        found = islice(self._haystack(query).scattered(query, is_stale), MAX_SCATTERED)
        return sorted(found, key=is_not_in_name)[:MAX_SCORED]

    def _children(self, folder: str) -> list[Match]:
        start = len(folder)
        children = [self._exact.line(line) for line in self._exact.right_in(folder)]
        children.sort(key=lambda path: (not path.endswith("/"), path.lower()))
        return [Match(path, places=tuple(range(start))) for path in children]

    def _haystack(self, query: str) -> _Haystack:
        return self._exact if is_exact_case(query) else self._lowered

    @cached_property
    def _lowered(self) -> _Haystack:
        return self._exact.lowered()


def best(fits: list[Match]) -> list[Match]:
    """The best matches, best first. If equal, the shorter one comes first."""
    fits.sort(key=lambda match: (-match.score, len(match.text), match.text))
    return fits[:MAX_MATCHES]


def _with_folders(files: Iterable[str]) -> Iterator[str]:
    """The files, and once each folder that contains one. Equal files that follow each other count once."""
    seen: set[str] = set()
    last = ""
    for path in files:
        if "\n" in path or path == last:
            continue
        last = path
        yield path
        end = path.rfind("/", 0, -1) + 1
        while end and (folder := path[:end]) not in seen:
            seen.add(folder)
            yield folder
            end = path.rfind("/", 0, end - 1) + 1


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _decoded(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


class _Haystack:
    """Lines in one buffer, which begins and ends with a newline."""

    def __init__(self, buffer: bytes) -> None:
        self._buffer = buffer
        self._starts = array("Q", (found.end() for found in re.finditer(rb"\n", buffer)))
        """The start of each line, plus the start of a line after the last."""

    def lowered(self) -> _Haystack:
        if self._buffer.isascii():
            lowered = self._buffer.lower()
        else:
            lowered = _encoded(_decoded(self._buffer).lower())
        return self if lowered == self._buffer else _Haystack(lowered)

    def line(self, number: int) -> str:
        return _decoded(self._buffer[self._starts[number] : self._starts[number + 1] - 1])

    def has_line(self, text: str) -> bool:
        return b"\n" + _encoded(text) + b"\n" in self._buffer

    def beginning(self, needle: str) -> Iterator[int]:
        """The lines that begin with it, or contain a path component that does."""
        yield from self.holding(f"\n{needle}")
        yield from self.holding(f"/{needle}")

    def holding(self, needle: str) -> Iterator[int]:
        at = 0
        sought = _encoded(needle)
        inner = needle[0] == "\n"
        while (at := self._buffer.find(sought, at)) >= 0:
            line = bisect_right(self._starts, at + inner) - 1
            yield line
            at = self._starts[line + 1] - 1

    def right_in(self, folder: str) -> Iterator[int]:
        """The lines that are one component longer than this folder, which ends with a slash; "" for the top."""
        sought = b"\n" + _encoded(folder)
        at = -1
        while (at := self._buffer.find(sought, at + 1)) >= 0:
            start, stop = at + len(sought), self._buffer.find(b"\n", at + 1)
            if 0 <= start < stop and self._buffer.find(b"/", start, stop - 1) < 0:
                yield bisect_right(self._starts, start) - 1
            elif stop < 0:
                return
            at = stop - 1

    def scattered(self, letters: str, is_stale: IsStale) -> Iterator[int]:
        pattern = re.compile(b"\n" + _bytes_in_order(letters))
        rare = self._rare_of(letters)
        hint = re.compile(b"\n" + _bytes_in_order(letter for letter in letters if letter in rare))
        others = bytes(set(range(256)).difference(b"\n", _encoded("".join(rare))))
        misses = 0
        for line in range(0, len(self._starts) - 1, LINES_AT_ONCE):
            if is_stale():
                return
            begin = self._starts[line] - 1
            end = self._starts[min(line + LINES_AT_ONCE, len(self._starts) - 1)]
            if self._buffer.find(_encoded(rare[0]), begin, end) < 0:
                continue
            if misses * MISSES_PART > line:  # the rare letters tell too little
                for found in pattern.finditer(self._buffer, begin, end):
                    yield bisect_right(self._starts, found.start() + 1) - 1
                continue
            # Without all other letters, little is left of a line, and few such rests match.
            rests = self._buffer[begin:end].translate(None, others)
            number, counted = line - 1, 0
            for found in hint.finditer(rests):
                number += rests.count(b"\n", counted, found.start() + 1)
                counted = found.start() + 1
                if pattern.match(self._buffer, self._starts[number] - 1):
                    yield number
                else:
                    misses += 1

    def _rare_of(self, letters: str) -> list[str]:
        """The least frequent of these letters: as many as make up a small part of all, but at least three."""
        shares = {letter: self._frequencies[_encoded(letter)[-1]] for letter in letters}
        rare = sorted(shares, key=lambda letter: shares[letter])
        while len(rare) > 3 and sum(shares[letter] for letter in rare) * RARE_PART > self._frequencies.total():
            rare.pop()
        return rare

    @cached_property
    def _frequencies(self) -> Counter[int]:
        return Counter(self._buffer[:: len(self._buffer) // SAMPLE_BYTES + 1])


def _in_order(letters: str) -> str:
    """A pattern for these letters with others between them, on one line.

    It's possessive: it never backtracks over what precedes a letter, so each line is read once.
    """
    return "".join(rf"[^\n{letter}]*+{letter}" for letter in map(re.escape, letters))


def _bytes_in_order(letters: Iterable[str]) -> bytes:
    """The same for encoded text. A letter of several bytes is found by its first one, and all of them then match."""
    parts = []
    for letter in letters:
        data = re.escape(_encoded(letter))
        between = rb"[^\n" + data + rb"]*+" if letter.isascii() else rb"(?:(?!" + data + rb")[^\n])*+"
        parts.append(between + data)
    return b"".join(parts)


MAX_ENTRIES: Final = 10_000
_BEGINNINGS: Final = ("/", "~/", "./", "../")


def is_written_out(path: str) -> bool:
    """Whether a path says where it begins, so that it isn't searched for in the workspace."""
    return path.startswith(_BEGINNINGS) or path in ("~", "..")


_COMMAND: Final = re.compile(r"/([\w:-]+)(?=\s|$)")


def command_named_in(prompt: str) -> str:
    """The name of the slash command that a prompt begins with; "" for any other prompt, such as a path that exists."""
    begin = _COMMAND.match(prompt)
    return begin[1] if begin is not None and not Path(begin[0]).exists() else ""


def look_into_folder(path: str, cwd: Path) -> list[Match]:
    """The entries of the folder in `path` that match the name after its last slash. Folders end with a slash.

    Reads from the disk, so run it in a thread.
    """
    if path in ("~", ".."):
        return [Match(f"{path}/", places=tuple(range(len(path))))]
    folder, _, name = path.rpartition("/")
    written = f"{folder}/"
    try:
        place = Path(written).expanduser() if written.startswith("~/") else cwd / written
        with os.scandir(place) as entries:
            names = [_shown(entry) for entry in islice(entries, MAX_ENTRIES)]
    except (OSError, RuntimeError):  # no such folder, or no home
        return []
    names = [entry for entry in names if name.startswith(".") or not entry.startswith(".")]
    if not name:
        names.sort(key=lambda entry: (not entry.endswith("/"), entry.lower()))
        return [Match(written + entry) for entry in names]
    start = len(written)
    found = (match for entry in names if (match := fit(name, entry)) is not None)
    return best([Match(written + each.text, each.score, tuple(start + at for at in each.places)) for each in found])


def _shown(entry: os.DirEntry[str]) -> str:
    try:
        return f"{entry.name}/" if entry.is_dir() else entry.name
    except OSError:
        return entry.name


MAX_BYTES: Final = 4 << 20
MAX_LINE: Final = 400


@dataclass(frozen=True, slots=True)
class FileExcerpt:
    count: int
    """The number of lines in the file; if `is_cut`, at least this many."""
    is_cut: bool
    lines: tuple[tuple[int, str], ...]
    """Numbers, from 1, and texts of the requested lines, as far as they exist."""


def peek(path: Path, lines: str, most_lines: int) -> FileExcerpt | None:
    """The first lines of a range such as `10-20` or `10`, or of the file; None if it isn't a text file.

    Reads from the disk, so run it in a thread.
    """
    content = read_regular(path, MAX_BYTES + 1)
    if content is None or b"\0" in content:
        return None
    texts = content.decode(errors="replace").splitlines()
    first, last = _range(lines, len(texts))
    shown = texts[first - 1 : min(last, first - 1 + most_lines)]
    numbered = tuple((first + at, text[:MAX_LINE]) for at, text in enumerate(shown))
    return FileExcerpt(len(texts), len(content) > MAX_BYTES, numbered)


def _range(lines: str, count: int) -> tuple[int, int]:
    """The line numbers, read like `attachments` does, as far as they're written."""
    first, has_end, last = lines.partition("-")
    low = max(int(first or 1), 1)
    high = max(int(last), 1) if last else count if has_end or not first else low
    return min(low, high), max(low, high)


FRESH_S: Final = 3.0
"""How long the list of files stays valid."""
FRESH_RATIO: Final = 20
"""If reading it takes long, it stays valid for so many times as long."""
MAX_NEWEST: Final = 8
MAX_EXAMINED_FILES: Final = 20_000
"""In a larger workspace, the newest files aren't determined, because that would take too long."""


class WorkspaceFiles:
    """Files and folders below `root`."""

    def __init__(self, root: Path, clock: Callable[[], float] = time.monotonic) -> None:
        self.root = root
        self._clock = clock
        self._listed: bytes | None = None
        """A digest of the list of files."""
        self._index: PathIndex | None = None
        self._newest: list[str] = []
        self._read_at = 0.0
        self._fresh_s = FRESH_S

    @property
    def is_read(self) -> bool:
        return self._index is not None

    @property
    def is_old(self) -> bool:
        return self._index is None or self._clock() - self._read_at > self._fresh_s

    async def read(self) -> bool:
        """Read the list of files. True if it has changed."""
        began_s = self._clock()
        listed = await list_files(self.root)
        self._newest = await to_thread.run_sync(self._find_newest, listed, abandon_on_cancel=True)
        digest = (await to_thread.run_sync(hashlib.sha256, listed, abandon_on_cancel=True)).digest()
        is_other = digest != self._listed
        if is_other:
            self._index = await to_thread.run_sync(PathIndex, _paths_in(listed), abandon_on_cancel=True)
            self._listed = digest
        self._read_at = self._clock()
        self._fresh_s = max(FRESH_S, FRESH_RATIO * (self._read_at - began_s))
        return is_other

    def _find_newest(self, listed: bytes) -> list[str]:
        if listed.count(b"\0") > MAX_EXAMINED_FILES:
            return []
        times = {path: found.st_mtime for path in _paths_in(listed) if (found := self._status(path)) is not None}
        return sorted(times, key=lambda path: -times[path])[:MAX_NEWEST]

    def find(self, path: str, recent: Iterable[str] = (), is_stale: IsStale = lambda: False) -> list[Match]:
        """What `path` may mean, best first. If it's empty, `recent` and the newest ones come first.

        Use a thread. Before the first reading, only finds paths that say where they begin.
        """
        if is_written_out(path):
            return look_into_folder(path, self.root)[:MAX_MATCHES]
        if self._index is None:
            return []
        found = self._index.search(path, is_stale)
        if not path:
            first = (Match(each) for each in (*recent, *self._newest) if each in self._index)
            found = [*dict.fromkeys(first), *found]
        return list(self._existing(dict.fromkeys(found[: 2 * MAX_MATCHES])))

    def _existing(self, found: Iterable[Match]) -> Iterator[Match]:
        """Existing files, with a slash after folders. Git also lists deleted files, and submodules like files.

        A folder called `~` is skipped, because it would mean the home folder.
        """
        seen: set[str] = set()
        for match in found:
            status = self._status(match.text)
            if status is None or is_written_out(match.text):
                continue
            if stat.S_ISDIR(status.st_mode) and not match.text.endswith("/"):
                match = replace(match, text=f"{match.text}/")
            if match.text not in seen:
                seen.add(match.text)
                yield match

    def _status(self, path: str) -> os.stat_result | None:
        try:
            return os.lstat(f"{self.root}/{path}")
        except (OSError, ValueError):
            return None


MAX_FILES: Final = 1_000_000
MAX_GIT_BYTES: Final = 64 << 20
WALK_LIMIT_S: Final = 5.0

_SKIPPED_FOLDERS: Final = frozenset({"__pycache__", "node_modules", "target", "venv"})
"""Folders that are rarely meant and often large. Hidden folders are skipped, too."""


async def list_files(root: Path) -> bytes:
    """The files below `root`, relative to it and each followed by NUL, without those that can't be read."""
    options = ("-z", "--cached", "--others", "--exclude-standard")
    with suppress(GitFailed):
        answer = await ask_git(root, "ls-files", *options, most_bytes=MAX_GIT_BYTES)
        # Truncated output is good as far as it goes. In a repository, an ignored folder has no files.
        if answer.output and (answer.code == 0 or answer.is_cut):
            return answer.output
    return await to_thread.run_sync(_walked, root, abandon_on_cancel=True)


def _paths_in(listed: bytes) -> Iterator[str]:
    """At most `MAX_FILES` of them. The last one may be cut off."""
    start = 0
    for _ in range(MAX_FILES):
        end = listed.find(b"\0", start)
        if end < 0:
            return
        yield os.fsdecode(listed[start:end])
        start = end + 1


def _walked(root: Path) -> bytes:
    paths = islice(_walk(root, time.monotonic() + WALK_LIMIT_S), MAX_FILES)
    return b"".join(os.fsencode(path) + b"\0" for path in paths)


def _walk(root: Path, until: float) -> Iterator[str]:
    """Files, shallow ones first. Doesn't follow links to folders, or enter other file systems."""
    folders = deque([""])
    try:
        device = root.stat().st_dev
    except OSError:
        return
    while folders and time.monotonic() < until:
        folder = folders.popleft()
        try:
            entries = list(os.scandir(f"{root}/{folder}"))
        except OSError:
            continue
        for entry in entries:
            if not _is_folder(entry):
                yield folder + entry.name
            elif _is_entered(entry, device):
                folders.append(f"{folder}{entry.name}/")


def _is_entered(folder: os.DirEntry[str], device: int) -> bool:
    if folder.name.startswith(".") or folder.name in _SKIPPED_FOLDERS:
        return False
    try:
        return folder.stat(follow_symlinks=False).st_dev == device
    except OSError:
        return False


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir(follow_symlinks=False)
    except OSError:
        return False
