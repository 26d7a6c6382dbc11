"""Reads a file that a project brings along: it may come with any clone, and be anything.

Whether the user trusts what stands in it is `trust`'s matter.
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import Final

from acp_tui.client.errors import SettingsError

MAX_BYTES: Final = 1 << 20

# O_NONBLOCK: opening a named pipe must not wait for its other end.
_OPEN: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def read_project_file(file: Path) -> bytes | None:
    """Its bytes, None where there is none. Raises SettingsError for one that had better not be used."""
    try:
        fd = os.open(file, _OPEN)
        try:
            return _read_opened(file, fd)
        finally:
            os.close(fd)
    except FileNotFoundError:
        return None
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise SettingsError(f"{file} is not used: it is a symbolic link") from error
        raise SettingsError(f"{file} cannot be read: {error.strerror}") from error


def _read_opened(file: Path, fd: int) -> bytes:
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        raise SettingsError(f"{file} is not used: it is not a regular file")
    with os.fdopen(fd, "rb", closefd=False) as opened:
        content = opened.read(MAX_BYTES + 1)
    if len(content) > MAX_BYTES:
        raise SettingsError(f"{file} is not used: it is larger than {MAX_BYTES:,} bytes")
    return content
