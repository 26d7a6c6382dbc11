"""Looks into one folder anywhere on the disk, for paths that the user writes out: `~/x`, `/abs`, `../`, `./`."""

from __future__ import annotations

import os
from itertools import islice
from pathlib import Path
from typing import Final

from acp_tui.client.completion.matching import Match, fit
from acp_tui.client.completion.path_index import best

MOST_ENTRIES: Final = 10_000
_BEGINNINGS: Final = ("/", "~/", "./", "../")


def is_written_out(path: str) -> bool:
    """Whether a path says where it begins, instead of being looked for in the workspace."""
    return path.startswith(_BEGINNINGS) or path in ("~", "..")


def look_into_folder(path: str, cwd: Path) -> list[Match]:
    """What of the folder that `path` names fits the name behind its last slash; folders end in one.

    It reads the disk, so run it in a thread.
    """
    if path in ("~", ".."):
        return [Match(f"{path}/", places=tuple(range(len(path))))]
    folder, _, name = path.rpartition("/")
    written = f"{folder}/"
    try:
        with os.scandir(_place(written, cwd)) as entries:
            names = [_shown(entry) for entry in islice(entries, MOST_ENTRIES)]
    except (OSError, RuntimeError):  # no such folder; no home
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
