"""The only access to files that contain what the user and the agents say.

Only the user can read them, whatever the umask.

Every new file is created with mode 0600, in folders with mode 0700. A file that others could read becomes private when
it's written again. `replacing` writes a complete file: readers always find either the old or the new content, even
after a crash, never a part.

The content is written to another file in the same folder, synced to the disk, and then renamed. If that fails, on a
full disk or in a folder that accepts no file, everything stays as it was. A symbolic link itself is replaced; to
replace its target, pass the target. This module doesn't know what the files contain, or which of them an agent may
access (`workspace`).
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO, Final

LOCK_TRIES: Final = 100
LOCK_RETRY_S: Final = 0.02

SPECIAL_KINDS: Final = {
    stat.S_IFIFO: "named pipe",
    stat.S_IFSOCK: "socket",
    stat.S_IFCHR: "character device",
    stat.S_IFBLK: "block device",
}
"""What is neither a file nor a folder. Opening it could wait forever."""


@contextmanager
def locked(file: Path) -> Iterator[None]:
    """Keep other acp-tui processes from changing `file`. Creates its folder if necessary.

    Raises: OSError, including TimeoutError if another process keeps the lock.
    """
    make_private(file.parent, is_ours=True)
    # A separate file, because `file` gets replaced, and a lock would stay with the old one.
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
            time.sleep(LOCK_RETRY_S)  # flock can only wait forever or not at all
        except OSError:
            return  # a file system without locks: writing without one is better than losing everything
    raise TimeoutError(errno.ETIMEDOUT, "another acp-tui is using it", str(file))


def read_regular(path: Path, most_bytes: int) -> bytes | None:
    """The beginning of a file; None if there is no regular file, or it can't be read. Blocks, but never on a pipe."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
        with os.fdopen(descriptor, "rb") as file:
            return file.read(most_bytes) if stat.S_ISREG(os.fstat(descriptor).st_mode) else None
    except (OSError, ValueError):
        return None


def encoded(value: Any) -> bytes:
    """JSON on one line. Lone surrogates are kept, and `json.loads` restores them."""
    return json.dumps(value, ensure_ascii=False).encode(errors="surrogatepass")


PRIVATE: Final = 0o600
"""Only the user can read it."""
PRIVATE_FOLDER: Final = 0o700
_OTHERS: Final = 0o077
_NEW: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def make_private(folder: Path, *, is_ours: bool = False) -> None:
    """Create a folder and its missing parents, accessible only to their owner. Blocks. Raises OSError.

    With `is_ours`, an existing folder becomes private, too. Don't set it for folders with other content of the user's.
    """
    for each in reversed((folder, *folder.parents)):
        each.mkdir(mode=PRIVATE_FOLDER, exist_ok=True)
    if is_ours:
        close_to_others(folder)


def close_to_others(path: Path | int) -> None:
    """Remove all permissions of other users from an existing file or folder, as far as we're allowed to."""
    with suppress(OSError):
        mode = stat.S_IMODE(os.stat(path).st_mode)  # noqa: PTH116 - it may also be a descriptor
        if mode & _OTHERS:
            os.chmod(path, mode & ~_OTHERS)  # noqa: PTH101


def create_private(file: Path, *, mode: int = PRIVATE, folder: int | None = None) -> BinaryIO:
    """Create a file to write to, never through a link. Raises OSError, including FileExistsError.

    `folder` is a descriptor of the directory that a relative path begins in.
    """
    return open(file, "xb", opener=lambda name, _: os.open(name, _NEW | os.O_APPEND, mode, dir_fd=folder))


def open_private(file: Path) -> int:
    """A descriptor of a new or existing file, to read and append. Raises OSError."""
    fd = os.open(file, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, PRIVATE)
    close_to_others(fd)
    return fd


def replace_file(
    file: Path, content: bytes, is_still_wanted: Callable[[], bool] = lambda: True, *, is_ours: bool = True
) -> bool:
    """Replace the whole content of a file. False if, at the last moment, it's no longer wanted. Blocks.

    If the file isn't ours, because the user writes it, too, such as the settings, its mode and folder don't change.
    Raises OSError.
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
    """A file to write the new content to. At the end of the block, it becomes `file`. Blocks. Raises OSError.

    With `keeps_mode`, an existing file keeps its permissions. `check` is called at the last moment. If it or the block
    raises an error, the file stays as it was.
    """
    temporary = file.with_name(f".acp-tui-{os.urandom(8).hex()}.tmp")
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
        with suppress(OSError):  # already renamed
            temporary.unlink()


class _Unwanted(Exception):
    """The new content is no longer wanted."""


# State as JSON


def read_json_state(file: Path) -> object:
    """The content of the file; None if it doesn't exist or can't be used."""
    try:
        content: object = json.loads(file.read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    return content


def read_json_object(file: Path) -> dict[str, Any]:
    """The same if it's an object; otherwise an empty one."""
    content = read_json_state(file)
    return content if isinstance(content, dict) else {}


def write_json_state(file: Path, content: object) -> None:
    """Replace the content of the file. If two write at once, the last one wins. Raises OSError."""
    replace_file(file, json.dumps(content).encode())


def decisions(file: Path) -> dict[str, dict[str, object]]:
    """What the user has decided of things by name, each by a digest of what they saw.

    Invalid content counts as no decision, so the user is asked again.
    """
    return {name: decided for name, decided in read_json_object(file).items() if isinstance(decided, dict)}


def decide(file: Path, name: str, digest: str, decision: str, most: int = 0) -> None:
    """Keep a decision, and of the same name at most the last `most`; 0 for all.

    If two write at once, the last one wins, and the user of the other is asked again. Raises OSError.
    """
    decided = decisions(file)
    of_name = {**decided.get(name, {}), digest: decision}
    decided[name] = dict(list(of_name.items())[-most:])
    write_json_state(file, decided)
