"""Replaces a file of ours as a whole: another program sees the old content or the new, never a part.

What stands in it is not its matter.
"""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path


def replace_file(file: Path, content: bytes, is_still_wanted: Callable[[], bool] = lambda: True) -> bool:
    """Write it beside and rename it; False where, at the last moment, it is not wanted any more. It blocks.

    A new file is readable by the user only, and so are folders that have to be made; of a file that is there the mode
    stays. Raises OSError.
    """
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    fd, temporary = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")  # made with mode 0600
    try:
        with os.fdopen(fd, "wb") as opened:
            with suppress(FileNotFoundError):
                os.fchmod(fd, stat.S_IMODE(file.stat().st_mode))
            opened.write(content)
            opened.flush()
            os.fsync(fd)
        if not is_still_wanted():
            return False
        Path(temporary).replace(file)
        return True
    finally:
        with suppress(OSError):
            Path(temporary).unlink()
