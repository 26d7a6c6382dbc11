"""The one door to files that hold what the user and the agents say: only the user reads them, whatever the umask is.

Every new one is made with 0600, in folders with 0700, and one that others could read is closed to them when it is
written again. `replacing` writes a file whole: who reads it meanwhile, or after a crash, finds the old content or the
new, never a part.

The content goes to a file beside, down to the disk, which is then renamed. Where that fails, on a full disk or in a
folder that takes no file, all is as it was. A symbolic link is replaced itself: who means the file that it leads to
gives that one. What stands in a file is not known here, nor which of them an agent may touch (`workspace`).
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import secrets
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO, Final

LOCK_TRIES: Final = 100
LOCK_RETRY_S: Final = 0.02


@contextmanager
def locked(file: Path) -> Iterator[None]:
    """No other acp-tui changes `file` meanwhile; its folder is made where there is none.

    Raises: OSError, TimeoutError too where another does not let go.
    """
    make_private(file.parent, is_ours=True)
    # A file of its own: the other is replaced, and a lock would stay with what it was.
    lock = open_private(file.with_name(f"{file.name}.lock"))
    try:
        _take(lock, file)
        yield
    finally:
        os.close(lock)


def _take(lock: int, file: Path) -> None:
    for _ in range(LOCK_TRIES):
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            time.sleep(LOCK_RETRY_S)  # flock can wait for ever or not at all
        except OSError:
            return  # a file system without locks: writing unguarded is better than losing all
    raise TimeoutError(errno.ETIMEDOUT, "another acp-tui is using it", str(file))


def encoded(value: Any) -> bytes:
    """JSON in one line, of halves of characters too: `json.loads` reads them back."""
    return json.dumps(value, ensure_ascii=False).encode(errors="surrogatepass")


PRIVATE: Final = 0o600
"""For the user's eyes only."""
PRIVATE_FOLDER: Final = 0o700
_OTHERS: Final = 0o077
_NEW: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def make_private(folder: Path, *, is_ours: bool = False) -> None:
    """Make a folder, and those above it that are missing, for their owner only. It blocks. Raises OSError.

    One that is there is closed to others too where it is ours alone, not one that the user keeps other things in.
    """
    for each in reversed((folder, *folder.parents)):
        each.mkdir(mode=PRIVATE_FOLDER, exist_ok=True)
    if is_ours:
        close_to_others(folder)


def close_to_others(path: Path | int) -> None:
    """Take the rights of all but the owner from a file or folder that is there, as far as that is ours to do."""
    with suppress(OSError):
        mode = stat.S_IMODE(os.stat(path).st_mode)  # noqa: PTH116 - or a descriptor
        if mode & _OTHERS:
            os.chmod(path, mode & ~_OTHERS)  # noqa: PTH101


def create_private(file: Path, *, mode: int = PRIVATE, folder: int | None = None) -> BinaryIO:
    """A new file to write to; it is not itself a link. Raises OSError, FileExistsError among them.

    `folder`: a descriptor of the directory that a relative path begins in.
    """
    return open(file, "xb", opener=lambda name, _: os.open(name, _NEW | os.O_APPEND, mode, dir_fd=folder))


def open_private(file: Path) -> int:
    """A descriptor to read from and append to, of a new file or the one that is there. Raises OSError."""
    fd = os.open(file, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, PRIVATE)
    close_to_others(fd)
    return fd


def replace_file(
    file: Path, content: bytes, is_still_wanted: Callable[[], bool] = lambda: True, *, is_ours: bool = True
) -> bool:
    """Make `content` all of a file; False where, at the last moment, it is not wanted any more. It blocks.

    Where it is not ours but one that the user writes too, such as their settings, its mode and its folder stay as they
    are. Raises OSError.
    """

    def check() -> None:
        if not is_still_wanted():
            raise _Unwanted

    make_private(file.parent, is_ours=is_ours)
    try:
        with replacing(file, keeps_mode=not is_ours, check=check) as opened:
            opened.write(content)
    except _Unwanted:
        return False
    return True


@contextmanager
def replacing(
    file: Path, *, keeps_mode: bool = False, check: Callable[[], object] = lambda: None
) -> Iterator[BinaryIO]:
    """What to write the new content to; when the block ends, it is what `file` holds. It blocks. Raises OSError.

    With `keeps_mode`, one that is there keeps its rights. `check` is called at the last moment: what it raises leaves
    the file as it was, as does what the block raises.
    """
    temporary = file.with_name(f".acp-tui-{secrets.token_hex(8)}.tmp")
    fd = os.open(temporary, _NEW, PRIVATE)
    try:
        with os.fdopen(fd, "wb") as opened:
            if keeps_mode:
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
