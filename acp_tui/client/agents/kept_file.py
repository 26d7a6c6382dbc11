"""A small JSON file that acp-tui keeps for itself: for the user's eyes only, written whole or not at all."""

from __future__ import annotations

import json
import os
import tempfile
from contextlib import suppress
from pathlib import Path


def read_kept(file: Path) -> object:
    """What it holds; None where there is none, or it is of no use."""
    try:
        content: object = json.loads(file.read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    return content


def write_kept(file: Path, content: object) -> None:
    """Replace what it holds. Of two that write at once the last wins. Raises OSError."""
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    fd, temporary = tempfile.mkstemp(dir=file.parent, prefix=f"{file.name}.")  # made with mode 0600
    try:
        with os.fdopen(fd, "w", encoding="utf-8") as opened:
            json.dump(content, opened)
            opened.flush()
            os.fsync(fd)
        Path(temporary).replace(file)
    except BaseException:
        with suppress(OSError):
            Path(temporary).unlink()
        raise
