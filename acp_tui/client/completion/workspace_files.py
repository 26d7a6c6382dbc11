"""The files of one workspace as they were a moment ago, listed and ready for looking among them.

It decides nothing about when: its owner asks whether they are old, and has them read.
"""

from __future__ import annotations

import os
import stat
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Final

from anyio import to_thread

from acp_tui.client.completion.matching import Match
from acp_tui.client.completion.path_index import (
    MOST_MATCHES,
    IsStale,
    PathIndex,
    is_written_out,
    look_into_folder,
)
from acp_tui.client.safe_git import GitFailed, ask_git

FRESH_S: Final = 3.0
"""So long what was read is believed."""
MOST_NEWEST: Final = 8
MOST_LOOKED_AT: Final = 20_000
"""In a larger workspace nothing is said to be the newest: it would take too long to find out."""


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
        """Whether there is anything to look among."""
        return self._index is not None

    @property
    def is_old(self) -> bool:
        """Whether they should be read (again)."""
        return self._index is None or self._clock() - self._read_at > FRESH_S

    async def read(self) -> bool:
        """Read which files there are; True where they are others than before."""
        listed = await list_files(self.root)
        self._newest = await to_thread.run_sync(self._find_newest, listed, abandon_on_cancel=True)
        is_other = listed != self._listed
        if is_other:
            self._index = await to_thread.run_sync(PathIndex, listed, abandon_on_cancel=True)
            self._listed = listed
        self._read_at = self._clock()
        return is_other

    def _find_newest(self, listed: list[str]) -> list[str]:
        if len(listed) > MOST_LOOKED_AT:
            return []
        times = {path: found.st_mtime for path in listed if (found := self._status(path)) is not None}
        return sorted(times, key=lambda path: -times[path])[:MOST_NEWEST]

    def find(self, path: str, recent: Iterable[str] = (), is_stale: IsStale = lambda: False) -> list[Match]:
        """What may be meant by `path`, the best first; without any, `recent` ones and the newest go first.

        For a thread. Where nothing is read yet only paths that are written out are found.
        """
        if is_written_out(path):
            return look_into_folder(path, self.root)[:MOST_MATCHES]
        if self._index is None:
            return []
        found = self._index.search(path, is_stale)
        if not path:
            first = (Match(each) for each in (*recent, *self._newest) if each in self._index)
            found = [*dict.fromkeys(first), *found]
        return list(self._existing(dict.fromkeys(found[: 2 * MOST_MATCHES])))

    def _existing(self, found: Iterable[Match]) -> Iterator[Match]:
        """Git lists what was deleted too, and submodules like files; a folder called `~` would be read as the home."""
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


MOST_FILES: Final = 200_000
MOST_BYTES: Final = 64 << 20
WALK_LIMIT_S: Final = 5.0

_SKIPPED_FOLDERS: Final = frozenset({"__pycache__", "node_modules", "target", "venv"})
"""What hardly ever is meant and often is large; hidden folders are skipped too."""


async def list_files(root: Path) -> list[str]:
    """The files below `root`, relative to it; no more than `MOST_FILES`, and nothing that cannot be read."""
    listed = await _listed_by_git(root)
    if listed is not None:
        return await to_thread.run_sync(_parse, listed)
    return await to_thread.run_sync(_walked, root, abandon_on_cancel=True)


async def _listed_by_git(root: Path) -> bytes | None:
    """What git prints; None where it is no repository, has nothing to list, or fails."""
    options = ("-z", "--cached", "--others", "--exclude-standard")
    try:
        answer = await ask_git(root, "ls-files", *options, most_bytes=MOST_BYTES)
    except GitFailed:
        return None
    # What was cut off is good as far as it goes. An ignored folder of a repository has nothing.
    return answer.output or None if answer.code == 0 or answer.is_cut else None


def _parse(listed: bytes) -> list[str]:
    """From NUL-terminated paths, of which the last may be cut off."""
    names = os.fsdecode(listed[: listed.rfind(b"\0") + 1]).split("\0")[:-1]
    return names[:MOST_FILES]


def _walked(root: Path) -> list[str]:
    return list(islice(_walk(root, time.monotonic() + WALK_LIMIT_S), MOST_FILES))


def _walk(root: Path, until: float) -> Iterator[str]:
    """Files, the shallow ones first; links to folders are not followed."""
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
