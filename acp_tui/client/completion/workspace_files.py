"""The files of a workspace, indexed for a search at every key. The owner decides when to read them again.

All paths form one text, short ones first, so a single call searches thousands and finds the short ones first.
"""

from __future__ import annotations

import os
import re
import stat
import time
from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import accumulate, islice
from pathlib import Path
from typing import Final, TypeAlias

from anyio import to_thread

from acp_tui.client.completion.matching import Match, fit, is_exact_case
from acp_tui.client.files import read_regular
from acp_tui.client.safe_git import GitFailed, ask_git
from acp_tui.values import dataclass

MAX_MATCHES: Final = 100
MAX_SCORED: Final = 300
"""How many to score for each kind of match: the shortest ones."""
MAX_SCATTERED: Final = 600
"""How many of these to check for ones with the letters in their names, which are preferred."""
LINES_AT_ONCE: Final = 2000
"""After this many paths, other threads may run, and the search checks whether it's still needed."""

IsStale: TypeAlias = Callable[[], bool]
"""Whether the answer is no longer needed."""


class PathIndex:
    """Paths below one folder, and the folders that contain them, which end with a slash."""

    def __init__(self, files: Iterable[str]) -> None:
        """Slow for many files, so use a thread. Omits paths with newlines, because they can't be mentioned."""
        found = dict.fromkeys(path for path in files if "\n" not in path)
        self.paths: Sequence[str] = sorted({**found, **dict.fromkeys(_folders_of(found))}, key=len)
        self._known = frozenset(self.paths)

    def __contains__(self, path: str) -> bool:
        return path in self._known

    def search(self, query: str, is_stale: IsStale = lambda: False) -> list[Match]:
        """The best matching paths, best first. Without a query, those at the top level."""
        if not query or (query.endswith("/") and query in self._known):
            return self._children(query)
        lines = dict.fromkeys(self._with_runs(query))
        if len(lines) < MAX_MATCHES:
            lines.update(dict.fromkeys(self._scattered(query, is_stale)))
        if is_stale():
            return []
        return best([match for line in lines if (match := fit(query, self.paths[line])) is not None])

    def _with_runs(self, query: str) -> Iterator[int]:
        """Lines that contain all letters as one run."""
        haystack = self._haystack(query)
        yield from islice(haystack.beginning(query), MAX_SCORED)
        yield from islice(haystack.holding(query), MAX_SCORED)

    def _scattered(self, query: str, is_stale: IsStale) -> list[int]:
        """Lines that contain the letters in this order."""
        found = list(islice(self._haystack(query).scattered(query, is_stale), MAX_SCATTERED))
        found.sort(key=self._is_not_in_name(query))
        return found[:MAX_SCORED]

    def _is_not_in_name(self, letters: str) -> Callable[[int], bool]:
        flags = re.NOFLAG if is_exact_case(letters) else re.IGNORECASE
        search = re.compile(_in_order(letters), flags).match

        def is_not_in_name(line: int) -> bool:
            path = self.paths[line]
            return search(path, path.rfind("/", 0, -1) + 1) is None

        return is_not_in_name

    def _children(self, folder: str) -> list[Match]:
        """The content of a folder, "" for the top level; folders first."""
        start = len(folder)
        here = (path for path in self.paths if path.startswith(folder) and len(path) > start)
        children = [path for path in here if path.find("/", start, -1) < 0]
        children.sort(key=lambda path: (not path.endswith("/"), path.lower()))
        return [Match(path, places=tuple(range(start))) for path in children]

    def _haystack(self, query: str) -> _Haystack:
        return self._exact if is_exact_case(query) else self._lowered

    @cached_property
    def _lowered(self) -> _Haystack:
        return _Haystack("\n".join(self.paths).lower())

    @cached_property
    def _exact(self) -> _Haystack:
        return _Haystack("\n".join(self.paths))


def best(fits: list[Match]) -> list[Match]:
    """The best matches, best first. If equal, the shorter one comes first."""
    fits.sort(key=lambda match: (-match.score, len(match.text), match.text))
    return fits[:MAX_MATCHES]


def _folders_of(paths: Iterable[str]) -> Iterator[str]:
    seen: set[str] = set()
    for path in paths:
        end = path.rfind("/", 0, -1) + 1
        while end and (folder := path[:end]) not in seen:
            seen.add(folder)
            yield folder
            end = path.rfind("/", 0, end - 1) + 1


class _Haystack:
    """Lines in one text."""

    def __init__(self, text: str) -> None:
        self._text = f"\n{text}\n"
        lengths = (len(line) + 1 for line in text.split("\n"))
        self._starts = [*accumulate(lengths, initial=1)]
        """The start of each line, plus the start of a line after the last."""

    def beginning(self, needle: str) -> Iterator[int]:
        """The lines that begin with it, or contain a path component that does."""
        yield from self.holding(f"\n{needle}")
        yield from self.holding(f"/{needle}")

    def holding(self, needle: str) -> Iterator[int]:
        at = 0
        inner = needle[0] == "\n"
        while (at := self._text.find(needle, at)) >= 0:
            line = bisect_right(self._starts, at + inner) - 1
            yield line
            at = self._starts[line + 1] - 1

    def scattered(self, letters: str, is_stale: IsStale) -> Iterator[int]:
        pattern = re.compile(rf"\n{_in_order(letters)}")
        for line in range(0, len(self._starts) - 1, LINES_AT_ONCE):
            if is_stale():
                return
            begin = self._starts[line] - 1
            end = self._starts[min(line + LINES_AT_ONCE, len(self._starts) - 1)]
            if any(self._text.find(letter, begin, end) < 0 for letter in letters):
                continue
            for found in pattern.finditer(self._text, begin, end):
                yield bisect_right(self._starts, found.start() + 1) - 1


def _in_order(letters: str) -> str:
    """A pattern for these letters with others between them, on one line.

    It's possessive: it never backtracks over what precedes a letter, so each line is read once.
    """
    return "".join(rf"[^\n{letter}]*+{letter}" for letter in map(re.escape, letters))


MAX_ENTRIES: Final = 10_000
_BEGINNINGS: Final = ("/", "~/", "./", "../")


def is_written_out(path: str) -> bool:
    """Whether a path says where it begins, so that it isn't searched for in the workspace."""
    return path.startswith(_BEGINNINGS) or path in ("~", "..")


def look_into_folder(path: str, cwd: Path) -> list[Match]:
    """The entries of the folder in `path` that match the name after its last slash. Folders end with a slash.

    Reads from the disk, so run it in a thread.
    """
    if path in ("~", ".."):
        return [Match(f"{path}/", places=tuple(range(len(path))))]
    folder, _, name = path.rpartition("/")
    written = f"{folder}/"
    try:
        with os.scandir(_place(written, cwd)) as entries:
            names = [_shown(entry) for entry in islice(entries, MAX_ENTRIES)]
    except (OSError, RuntimeError):  # no such folder, or no home
        return []
    names = [entry for entry in names if name.startswith(".") or not entry.startswith(".")]
    if not name:
        names.sort(key=lambda entry: (not entry.endswith("/"), entry.lower()))
        return [Match(written + entry) for entry in names]
    fits = (fit(name, entry) for entry in names)
    start = len(written)
    return best(
        [
            Match(written + found.text, found.score, tuple(start + at for at in found.places))
            for found in fits
            if found is not None
        ]
    )


def _place(written: str, cwd: Path) -> Path:
    return Path(written).expanduser() if written.startswith("~/") else cwd / written


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
MAX_NEWEST: Final = 8
MAX_EXAMINED_FILES: Final = 20_000
"""In a larger workspace, the newest files aren't determined, because that would take too long."""


class WorkspaceFiles:
    """Files and folders below `root`."""

    def __init__(self, root: Path, clock: Callable[[], float] = time.monotonic) -> None:
        self.root = root
        self._clock = clock
        self._listed: list[str] | None = None
        self._index: PathIndex | None = None
        self._newest: list[str] = []
        self._read_at = 0.0

    @property
    def is_read(self) -> bool:
        """Whether there is anything to search."""
        return self._index is not None

    @property
    def is_old(self) -> bool:
        return self._index is None or self._clock() - self._read_at > FRESH_S

    async def read(self) -> bool:
        """Read the list of files. True if it has changed."""
        listed = await list_files(self.root)
        self._newest = await to_thread.run_sync(self._find_newest, listed, abandon_on_cancel=True)
        is_other = listed != self._listed
        if is_other:
            self._index = await to_thread.run_sync(PathIndex, listed, abandon_on_cancel=True)
            self._listed = listed
        self._read_at = self._clock()
        return is_other

    def _find_newest(self, listed: list[str]) -> list[str]:
        if len(listed) > MAX_EXAMINED_FILES:
            return []
        times = {path: found.st_mtime for path in listed if (found := self._status(path)) is not None}
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


MAX_FILES: Final = 200_000
MAX_GIT_BYTES: Final = 64 << 20
WALK_LIMIT_S: Final = 5.0

_SKIPPED_FOLDERS: Final = frozenset({"__pycache__", "node_modules", "target", "venv"})
"""Folders that are rarely meant and often large. Hidden folders are skipped, too."""


async def list_files(root: Path) -> list[str]:
    """The files below `root`, relative to it; at most `MAX_FILES`, without those that can't be read."""
    listed = await _listed_by_git(root)
    if listed is not None:
        return await to_thread.run_sync(_parse, listed)
    return await to_thread.run_sync(_walked, root, abandon_on_cancel=True)


async def _listed_by_git(root: Path) -> bytes | None:
    """Git's output; None if it isn't a repository, has nothing to list, or fails."""
    options = ("-z", "--cached", "--others", "--exclude-standard")
    try:
        answer = await ask_git(root, "ls-files", *options, most_bytes=MAX_GIT_BYTES)
    except GitFailed:
        return None
    # Truncated output is good as far as it goes. In a repository, an ignored folder has no files.
    return answer.output or None if answer.code == 0 or answer.is_cut else None


def _parse(listed: bytes) -> list[str]:
    """From NUL-terminated paths, the last of which may be cut off."""
    names = os.fsdecode(listed[: listed.rfind(b"\0") + 1]).split("\0")[:-1]
    return names[:MAX_FILES]


def _walked(root: Path) -> list[str]:
    return list(islice(_walk(root, time.monotonic() + WALK_LIMIT_S), MAX_FILES))


def _walk(root: Path, until: float) -> Iterator[str]:
    """Files, shallow ones first. Doesn't follow links to folders."""
    folders = deque([""])
    while folders and time.monotonic() < until:
        folder = folders.popleft()
        try:
            entries = list(os.scandir(f"{root}/{folder}"))
        except OSError:
            continue
        for entry in entries:
            if not _is_folder(entry):
                yield folder + entry.name
            elif not entry.name.startswith(".") and entry.name not in _SKIPPED_FOLDERS:
                folders.append(f"{folder}{entry.name}/")


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir(follow_symlinks=False)
    except OSError:
        return False
