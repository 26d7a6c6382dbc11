"""What only the main thread can do for the console: handle signals, look at the terminal, lend it to a program."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import termios
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress


def is_canonical() -> bool:
    """Whether the terminal keeps a line until it is complete."""
    try:
        return bool(termios.tcgetattr(sys.stdin.fileno())[3] & termios.ICANON)
    except termios.error:
        return True


def forget_typed() -> None:
    """Drop what was typed and has not been read."""
    with suppress(termios.error):
        termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)


def run_program(argv: Sequence[str], env: Mapping[str, str]) -> int:
    """Give it the terminal; gives its exit status."""
    # Ctrl+C belongs to the program; it would inherit SIG_IGN, but not a handler.
    before = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        return subprocess.call(argv, env={**os.environ, **env})
    except OSError as error:
        return error.errno or 1
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def handled_signals(
    on_wake: Callable[..., None],
    on_interrupt: Callable[..., None],
    on_hangup: Callable[..., None],
    told_fd: int,
) -> Iterator[None]:
    """Handled like this within, and told to `told_fd`."""
    handlers = {
        signal.SIGUSR1: on_wake,
        signal.SIGINT: on_interrupt,
        signal.SIGTERM: on_hangup,
        signal.SIGHUP: on_hangup,
    }
    before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    told_before = signal.set_wakeup_fd(told_fd, warn_on_full_buffer=False)
    try:
        yield
    finally:
        signal.set_wakeup_fd(told_before)
        for number, handler in before.items():
            signal.signal(number, handler)


def open_pipe() -> tuple[int, int]:
    """Both ends of one that never blocks."""
    ends = os.pipe()
    for end in ends:
        os.set_blocking(end, False)
    return ends
