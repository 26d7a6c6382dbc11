"""Folders that no agent reaches, whatever its workspace is: those in which acp-tui keeps its settings, state and cache.

It knows them by more than their spelling: by device and inode, so that another case, a bind mount or a link is the same
folder; by where links in them lead, since settings are often kept elsewhere; and by name, as long as they are not there
yet. A file with more than one name is looked for in them. They are looked at anew for every request.
"""

from __future__ import annotations

import os
import stat
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import TypeAlias

_Id: TypeAlias = tuple[int, int]
"""Device and inode."""


class PrivateFolders:
    """The folders as they are at one moment."""

    def __init__(self, folders: Sequence[Path]) -> None:
        self._folders = tuple(folders)
        places = (*folders, *map(_resolved, folders), *(_resolved(link) for link in _links_in(folders)))
        self._names = tuple(map(_names, places))

    def are(self, status: os.stat_result) -> bool:
        """Whether this is one of them, or something that a link in one of them leads to."""
        return bool(self._folders) and _id(status) in self._ids

    def own(self, status: os.stat_result) -> bool:
        """The same; and for a file also whether one of its names lies in them."""
        if not self._folders:
            return False
        is_shared = stat.S_ISREG(status.st_mode) and status.st_nlink > 1
        return self.are(status) or (is_shared and _id(status) in self._files)

    def hold(self, path: Path) -> bool:
        """Whether a path without links leads into one of them by its names, whether anything is there or not."""
        names = _names(path)
        return any(names[: len(each)] == each for each in self._names)

    def hold_any_above(self, path: Path) -> bool:
        """Whether a folder that exists is, or lies in, one of them."""
        if not self._folders:
            return False
        for each in (path, *path.parents):
            with suppress(OSError):
                if self.are(each.stat()):
                    return True
        return False

    @cached_property
    def _ids(self) -> frozenset[_Id]:
        return frozenset(self._found())

    def _found(self) -> Iterator[_Id]:
        for folder in self._folders:
            with suppress(OSError):
                yield _id(folder.stat())
        for link in _links_in(self._folders):
            with suppress(OSError):
                yield _id(link.stat())

    @cached_property
    def _files(self) -> frozenset[_Id]:
        """All files in them, at any depth."""
        return frozenset(found for folder in self._folders for found in _files_below(folder))


def _links_in(folders: Sequence[Path]) -> Iterator[Path]:
    """The symbolic links right in the folders: settings are often kept elsewhere."""
    for folder in folders:
        with suppress(OSError), os.scandir(folder) as entries:
            yield from [Path(entry.path) for entry in entries if entry.is_symlink()]


def _files_below(folder: Path) -> Iterator[_Id]:
    for directory, _, files in os.walk(folder):
        for file in files:
            with suppress(OSError):
                yield _id(os.lstat(f"{directory}/{file}"))


def _id(status: os.stat_result) -> _Id:
    return status.st_dev, status.st_ino


def _resolved(folder: Path) -> Path:
    try:
        return folder.resolve()
    except (OSError, RuntimeError):  # links in a circle
        return folder


def _names(path: Path) -> tuple[str, ...]:
    """Without case and in one normal form, as most disks of macOS have it; elsewhere that refuses next to nothing."""
    return tuple(unicodedata.normalize("NFC", name).casefold() for name in path.parts)
