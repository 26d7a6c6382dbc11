"""Says when settings files change on disk; what stands in them is not its matter."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Iterable, Sequence
from pathlib import Path
from typing import Final

DEBOUNCE_MS: Final = 900
STEP_MS: Final = 300
"""How often watchfiles' own thread looks at what the system has told it: seldom, since settings seldom change."""
_NO_TIMEOUT: Final = 0


async def changes_of(files: Sequence[Path]) -> AsyncIterator[frozenset[Path]]:
    """Those of the files that were written, made or removed, until cancelled.

    Their folders are watched, and where links lead: an editor replaces a file, and a folder may have yet to be made.
    Raises OSError or RuntimeError where the system does not let us watch.
    """
    import watchfiles  # loads a native library, for which no start should wait

    while True:
        folders = _folders(files)
        async for events in watchfiles.awatch(
            *folders,
            watch_filter=None,
            recursive=False,
            debounce=DEBOUNCE_MS,
            step=STEP_MS,
            rust_timeout=_NO_TIMEOUT,
        ):
            paths = {path for _, path in events}
            has_moved = _folders(files) != folders
            touched = frozenset(
                file
                for file in files
                if has_moved or not paths.isdisjoint((str(file), os.path.realpath(file)))
            )
            if touched:
                yield touched
            if has_moved:
                break


def _folders(files: Iterable[Path]) -> frozenset[str]:
    """Where something happens when one of the files changes."""
    places = (place for file in files for place in (file.parent, Path(os.path.realpath(file)).parent))
    return frozenset(str(next(each for each in (place, *place.parents) if each.is_dir())) for place in places)
