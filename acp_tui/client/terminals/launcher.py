"""Turns itself into a terminal's command; run as a script of its own, it knows nothing of the package.

It is started in a new session with the PTY as its standard streams, makes the PTY its controlling terminal, and execs.
A process between us and the command, because the way without one is a `preexec_fn`: Python code between fork and
exec in a process with threads, which may deadlock. `posix_spawn` cannot set a controlling terminal or a directory.

Usage: launcher.py FD. FD is one end of a socket pair: in comes the order, marshalled, up to the end of file; out goes
why the exec failed, as `what NUL reason`. A successful exec closes FD, so that silence means success.

The folder comes as an open file, and each program with what it was when the user was asked: neither is looked up again
by its name, which another process may have given to something else.
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
    """Read the order from `fd` and become what it says."""
    os.set_inheritable(fd, False)
    failure = run(read_to_end(fd))
    os.write(fd, failure)


def read_to_end(fd: int) -> bytes:
    """All that comes before the end of file."""
    chunks = []
    while chunk := os.read(fd, 65536):
        chunks.append(chunk)
    return b"".join(chunks)


def run(order: bytes) -> bytes:
    """Exec the first of the order's command lines that can be executed; comes back only with why not."""
    # marshal, since both ends are the same interpreter and the json module costs as much as all the rest here
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


def exec_first(
    programs: list[tuple[bytes, tuple[int, ...], list[bytes]]], environment: dict[bytes, bytes]
) -> bytes:
    """Try one after the other. The last one's failure counts: the earlier were guesses."""
    reason = b""
    for path, identity, words in programs:
        try:
            if identity_of(os.stat(path)) != identity:  # noqa: PTH116 - pathlib costs more than all the rest here
                return b"changed\0" + path
            os.execve(path, words, environment)
        except (OSError, ValueError) as error:
            reason = failure(b"program", error)
    return reason


def identity_of(status: os.stat_result) -> tuple[int, ...]:
    """What tells one state of one file from all others: a forged time of content still changes that of the inode."""
    times = (status.st_mtime_ns, status.st_ctime_ns)
    return (status.st_dev, status.st_ino, status.st_mode, status.st_size, *times)


def restore_signals() -> None:
    """Undo what Python and our parents ignore or block: a command expects SIGPIPE and SIGINT to end it."""
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
        signal.signal(number, signal.SIG_DFL)


def failure(what: bytes, error: Exception) -> bytes:
    """What `main` reports for `error`."""
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return what + b"\0" + reason.encode("utf-8", "replace")


if __name__ == "__main__":
    main(int(sys.argv[1]))
