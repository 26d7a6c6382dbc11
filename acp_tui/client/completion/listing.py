"""Lists the files of a folder that a user may mean: those that git tracks or would, else those of a bounded walk.

It keeps nothing; `workspace_files` does. The repository may be hostile: `safe_git` is the only way to ask git.
"""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Final

from anyio import to_thread

from acp_tui.client.safe_git import GitFailed, ask_git

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
