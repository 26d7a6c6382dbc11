"""Folders for one run, in the system's folder for temporary files. What a killed run has left, the next one deletes."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Final

from acp_tui.client.private_files import open_private

LOCK: Final = "lock"


class TemporaryFolder:
    """A new folder that only the user can access, and a lock in it for as long as this process lives."""

    def __init__(self, prefix: str) -> None:
        """Also delete the folders of runs with this prefix that were killed. Blocks. Raises OSError."""
        _remove_leftovers(prefix)
        while True:
            self.path = Path(tempfile.mkdtemp(prefix=prefix)).resolve()
            self._lock = -1
            with suppress(OSError):  # another start has deleted it, or the file system has no locks
                self._lock = open_private(self.path / LOCK)
                fcntl.flock(self._lock, fcntl.LOCK_EX)
            if self.path.exists():  # otherwise, another start took it for a leftover before we had the lock
                return

    def remove(self) -> None:
        """Delete it with all that is in it. Blocks. May be called twice."""
        shutil.rmtree(self.path, ignore_errors=True)
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1


def _remove_leftovers(prefix: str) -> None:
    """Delete the folders of runs that were killed, and of no others: their lock is free."""
    for found in os.scandir(tempfile.gettempdir()):
        if not found.name.startswith(prefix):
            continue
        with suppress(OSError):  # it isn't such a folder, is someone else's, or its run is still going on
            lock = os.open(Path(found.path, LOCK), os.O_RDONLY | os.O_NOFOLLOW)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if found.stat(follow_symlinks=False).st_uid == os.getuid():
                    shutil.rmtree(found.path, ignore_errors=True)
            finally:
                os.close(lock)
