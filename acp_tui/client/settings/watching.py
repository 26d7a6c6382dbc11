"""Watches the settings files, and folders next to them, for changes. Loaded once the settings are followed."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Iterable, Sequence
from pathlib import Path
from typing import Final

import anyio
import watchfiles

DEBOUNCE_MS: Final = 900
STEP_MS: Final = 300
"""How often watchfiles' own thread checks for events. Settings seldom change."""
_NO_TIMEOUT: Final = 0
AGAIN_S: Final = 1.0
"""The pause before watching again after a failure."""


async def changes_of(files: Sequence[Path]) -> AsyncIterator[frozenset[Path]]:
    """Those of the files that were written, created, or deleted, until cancelled.

    Watches their folders and the targets of links, because editors replace files, and a folder may not exist yet.
    Raises OSError or RuntimeError if the system doesn't allow watching.
    """
    while True:
        folders = _folders(files)
        async for paths in events_in(folders):
            # A watch doesn't follow a folder that is deleted and made again.
            has_moved = _folders(files) != folders or (paths is not None and not paths.isdisjoint(folders))
            touched = frozenset(
                file
                for file in files
                if has_moved or paths is None or not paths.isdisjoint((str(file), os.path.realpath(file)))
            )
            if touched:
                yield touched
            if has_moved:
                break


async def events_in(folders: Iterable[str]) -> AsyncIterator[frozenset[str] | None]:
    """The paths directly in these folders that changed; None if any may have changed.

    Raises OSError or RuntimeError if the system doesn't allow watching.
    """
    while True:
        try:
            async for events in watchfiles.awatch(
                *folders,
                watch_filter=None,
                recursive=False,
                debounce=DEBOUNCE_MS,
                step=STEP_MS,
                rust_timeout=_NO_TIMEOUT,
            ):
                yield frozenset(path for _, path in events)
        except ExceptionGroup as failures:
            others = failures.split(RuntimeError)[1]
            if others is not None:
                raise RuntimeError(str(others.exceptions[0])) from failures
        # A name that isn't UTF-8 causes this, and a program that writes to the folder can create such names repeatedly.
        await anyio.sleep(AGAIN_S)
        yield None


def _folders(files: Iterable[Path]) -> frozenset[str]:
    """The folders in which events occur when one of the files changes."""
    places = (place for file in files for place in (file.parent, Path(os.path.realpath(file)).parent))
    return frozenset(str(next(each for each in (place, *place.parents) if each.is_dir())) for place in places)
