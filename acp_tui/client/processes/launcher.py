"""Turns a process that was just forked into a program: the leader of a session, on its own streams, in its folder.

The folder comes as an open file, and each program with its identity from when the user was asked. Neither is looked up
by name again, because another process may have replaced it.
"""

from __future__ import annotations

import fcntl
import os
import termios

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal
    from collections.abc import Callable, Sequence
    from typing import TypeAlias

    Program: TypeAlias = tuple[bytes, tuple[int, ...] | None, list[bytes]]
    """What to execute: its path, its identity or None if any will do, and its words."""
else:
    import _signal as signal

STDIN = 0


def launch(
    programs: list[Program],
    environment: dict[bytes, bytes],
    folder: int,
    streams: Sequence[int],
    confine: Callable[[], Sequence[bytes]],
    *,
    on_terminal: bool,
) -> bytes:
    """Execute the first of `programs` that can be executed. Returns only if none can, with what `failure` says.

    `confine` gives up rights, and returns the words that lead into a sandbox, or none. `streams` are stdin, stdout,
    and stderr. With `on_terminal`, the first is the controlling terminal from now on.
    """
    try:
        os.setsid()
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
        if on_terminal:
            fcntl.ioctl(STDIN, termios.TIOCSCTTY, 0)
        restore_signals()
    except OSError as error:
        return failure(b"terminal", error)
    try:
        os.fchdir(folder)
    except OSError as error:
        return failure(b"directory", error)
    try:
        way = confine()
    except OSError as error:
        return failure(b"sandbox", error)
    return exec_first(programs, environment, way)


def exec_first(programs: list[Program], environment: dict[bytes, bytes], way: Sequence[bytes] = ()) -> bytes:
    """Try one after the other. Only the last one's failure counts, because the earlier ones were guesses."""
    reason = b""
    for path, identity, words in programs:
        try:
            if identity is not None and identity_of(os.stat(path)) != identity:  # noqa: PTH116 - the guardian has no pathlib
                return b"changed\0" + b"0\0" + path
            if not way:
                os.execve(path, words, environment)
            # What leads in would report a missing program in its own way.
            os.stat(path)  # noqa: PTH116
            if not os.access(path, os.X_OK):
                raise PermissionError(13, os.strerror(13))
            os.execve(way[0], [*way, path, *words[1:]], environment)
        except (OSError, ValueError) as error:
            reason = failure(b"program", error)
    return reason


def identity_of(status: os.stat_result) -> tuple[int, ...]:
    """Distinguishes one state of a file from all others.

    Forging the modification time still changes the inode's time.
    """
    times = (status.st_mtime_ns, status.st_ctime_ns)
    return (status.st_dev, status.st_ino, status.st_mode, status.st_size, *times)


def restore_signals() -> None:
    """Restore signals that we and our parents ignore, block, or handle: SIGPIPE and SIGINT have to end programs."""
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, [])


def failure(what: bytes, error: Exception) -> bytes:
    """What failed, the error's number or 0, and the reason, with NUL between them."""
    number = error.errno if isinstance(error, OSError) and error.errno else 0
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return b"\0".join((what, str(number).encode(), reason.encode("utf-8", "replace")))
