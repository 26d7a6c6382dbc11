"""Replaces files whole: who reads one meanwhile, or after a crash, finds the old content or the new, never a part.

The content goes to a file beside, down to the disk, which is then renamed. Where that fails, on a full disk or in a
folder that takes no file, all is as it was. A symbolic link is replaced itself: who means the file that it leads to
gives that one. What stands in a file is not known here, nor which of them an agent may touch (`workspace`).
"""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, Final

PRIVATE: Final = 0o600
"""For the user's eyes only."""
_NEW: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def replace_file(file: Path, content: bytes, is_still_wanted: Callable[[], bool] = lambda: True) -> bool:
    """Make `content` all of a file of ours; False where, at the last moment, it is not wanted any more. It blocks.

    A new file is readable by the user only, and so are folders that have to be made; of a file that is there the mode
    stays. Raises OSError.
    """

    def check() -> None:
        if not is_still_wanted():
            raise _Unwanted

    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        with replacing(file, check=check) as opened:
            opened.write(content)
    except _Unwanted:
        return False
    return True


@contextmanager
def replacing(
    file: Path, *, new_mode: int = PRIVATE, check: Callable[[], object] = lambda: None
) -> Iterator[BinaryIO]:
    """What to write the new content to; when the block ends, it is what `file` holds. It blocks. Raises OSError.

    `new_mode` is for a file that is not there yet, less what the umask takes. `check` is called at the last moment:
    what it raises leaves the file as it was, as does what the block raises.
    """
    temporary = file.with_name(f".acp-tui-{secrets.token_hex(8)}.tmp")
    fd = os.open(temporary, _NEW, new_mode)
    try:
        with os.fdopen(fd, "wb") as opened:
            with suppress(FileNotFoundError):
                os.fchmod(fd, stat.S_IMODE(file.stat().st_mode))
            yield opened
            opened.flush()
            os.fsync(fd)
        check()
        temporary.replace(file)
    finally:
        with suppress(OSError):  # it has been renamed
            temporary.unlink()


class _Unwanted(Exception):
    """The new content is not wanted any more."""
