"""Replaces itself with a terminal's command. It runs as a script and imports nothing from the package.

It starts in a new session with the PTY as its standard streams, makes the PTY its controlling terminal, and execs. It's
a separate process because the alternative is a `preexec_fn`: Python code between fork and exec, which may deadlock in a
process with threads. `posix_spawn` can't set a controlling terminal or a directory.

Usage: launcher.py FD. FD is one end of a socket pair. It receives the marshalled order, up to the end of file, and
sends why the exec failed, as `what NUL reason`. A successful exec closes FD, so no data means success.

The folder comes as an open file, and each program with its identity from when the user was asked. Neither is looked up
by name again, because another process may have replaced it.
"""

from __future__ import annotations

import fcntl
import marshal
import os
import signal
import sys
import termios

STDIN = 0


def main(fd: int) -> None:
    """Read the order from `fd` and execute it."""
    os.set_inheritable(fd, False)
    failure = run(read_to_end(fd))
    os.write(fd, failure)


def read_to_end(fd: int) -> bytes:
    """Everything up to the end of file."""
    chunks = []
    while chunk := os.read(fd, 65536):
        chunks.append(chunk)
    return b"".join(chunks)


def run(order: bytes) -> bytes:
    """Exec the first of the order's command lines that can be executed. Returns only if none can, with the reason."""
    # marshal, because both ends are the same interpreter and importing json would double the launcher's cost
    folder, programs, environment = marshal.loads(order)
    try:
        fcntl.ioctl(STDIN, termios.TIOCSCTTY, 0)
        restore_signals()
    except OSError as error:
        return failure(b"terminal", error)
    try:
        os.fchdir(folder)
        os.close(folder)
    except OSError as error:
        return failure(b"directory", error)
    return exec_first(programs, environment)


def exec_first(programs: list[tuple[bytes, tuple[int, ...], list[bytes]]], environment: dict[bytes, bytes]) -> bytes:
    """Try one after the other. Only the last one's failure counts, because the earlier ones were guesses."""
    reason = b""
    for path, identity, words in programs:
        try:
            if identity_of(os.stat(path)) != identity:  # noqa: PTH116 - importing pathlib would double the launcher's cost
                return b"changed\0" + path
            os.execve(path, words, environment)
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
    """Restore signals that Python and our parents ignore or block. Commands expect SIGPIPE and SIGINT to end them."""
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
        signal.signal(number, signal.SIG_DFL)


def failure(what: bytes, error: Exception) -> bytes:
    """What `main` reports for `error`."""
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return what + b"\0" + reason.encode("utf-8", "replace")


if __name__ == "__main__":
    main(int(sys.argv[1]))
