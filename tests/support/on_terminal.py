"""acp-tui as users run it: a process on its own terminal, which shows text, takes keys, resizes, and closes."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from typing import Any

import psutil  # type: ignore[import-untyped]
import pyte

from support.waiting import LIMIT_S

# A session of its own, whose terminal is its stdin.
LAUNCHER = """
import fcntl, os, sys, termios
os.setsid()
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
os.execv(sys.argv[1], sys.argv[1:])
"""

WITHOUT_CONTROL = """
import os, sys
os.setsid()
os.execv(sys.argv[1], sys.argv[1:])
"""


class OnTerminal:
    """A running acp-tui, and the user's side of its terminal."""

    def __init__(self, process: subprocess.Popen[bytes], master: int, slave: int, size: tuple[int, int]) -> None:
        self.process = process
        self.written = bytearray()
        """All that it has written."""
        self._master = master
        self._slave = slave
        self._modes = termios.tcgetattr(slave)
        self._screen = pyte.Screen(*size)
        self._stream = pyte.ByteStream(self._screen)

    @property
    def shown(self) -> str:
        """What stands on the screen."""
        return "\n".join(self._screen.display)

    def type(self, text: str) -> None:
        """Press keys."""
        os.write(self._master, text.encode())

    def prompt(self, text: str) -> None:
        """Write a prompt and send it."""
        self.wait_for("●")  # there is a session
        self.type(text)
        self.wait_for(text)
        self.type("\r")

    def resize(self, columns: int, rows: int) -> None:
        """Give the window another size."""
        self._screen.resize(rows, columns)
        set_size(self._master, (columns, rows))

    def read(self, limit_s: float = 0.0) -> bool:
        """Take what it has written by then; False where that is nothing, or it can write no more."""
        if not select.select([self._master], [], [], limit_s)[0]:
            return False
        try:
            data = os.read(self._master, 1 << 16)
        except OSError:  # EIO: nobody holds the other side
            return False
        self.written += data
        self._stream.feed(data)
        return bool(data)

    def until(self, is_so: Callable[[], bool]) -> None:
        """Read until it is so, which must not take too long, nor last beyond its end."""
        deadline = monotonic() + LIMIT_S
        while not is_so():
            has_ended = self.process.poll() is not None
            has_read = self.read(0.05)
            assert has_read or is_so() or not has_ended, self.shown
            assert monotonic() < deadline, self.shown

    def wait_for(self, text: str) -> None:
        """Until this stands on the screen."""
        self.until(lambda: text in self.shown)

    def wait_for_end(self) -> int:
        """Read to its end; its exit status."""
        self.until(lambda: self.process.poll() is not None)
        while self.read():
            pass
        return self.process.returncode

    def is_as_before(self) -> bool:
        """Whether the terminal works again as it did before: for one that still exists."""
        ends = self.written.rfind(b"\x1b[?1049l")
        begins = self.written.rfind(b"\x1b[?1049h")
        return ends > begins and termios.tcgetattr(self._slave) == self._modes

    def close_window(self) -> None:
        """Close the terminal: who runs in it gets SIGHUP, and can neither read nor write any more."""
        os.close(self._slave)
        os.close(self._master)
        self._slave = self._master = -1

    def close(self) -> None:
        """End what is left."""
        self.process.kill()
        self.process.wait()
        if self._master >= 0:
            self.close_window()


@contextmanager
def on_terminal(
    home: Path,
    *arguments: str,
    main: Sequence[str] = ("-m", "acp_tui"),
    size: tuple[int, int] = (80, 24),
    launcher: str = LAUNCHER,
) -> Iterator[OnTerminal]:
    """acp-tui with these arguments, and a home of its own."""
    master, slave = pty.openpty()
    set_size(master, size)
    process = subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", launcher, sys.executable, *main, *arguments],
        cwd=home,
        env=environment(home),
        stdin=slave,
        stdout=slave,
        stderr=slave,
    )
    opened = OnTerminal(process, master, slave, size)
    try:
        yield opened
    finally:
        opened.close()


def set_size(terminal: int, size: tuple[int, int]) -> None:
    """Columns and rows; who runs in it is told."""
    columns, rows = size
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


def environment(home: Path) -> dict[str, str]:
    """Nothing of the user's own: no settings, no history, no proxy for colors."""
    folders = {f"XDG_{name}_HOME": str(home / name.lower()) for name in ("CONFIG", "STATE", "CACHE", "DATA")}
    return {**os.environ, **folders, "HOME": str(home), "TERM": "xterm-256color", "COLORTERM": "truecolor"}


def below(process: subprocess.Popen[Any]) -> list[psutil.Process]:
    """The processes that it has started, and those that they have."""
    found: list[psutil.Process] = psutil.Process(process.pid).children(recursive=True)
    return found


def all_end(processes: list[psutil.Process], limit_s: float = LIMIT_S) -> bool:
    """Whether they end by then; what nobody reaps has ended too."""
    deadline = monotonic() + limit_s
    while left := [process for process in processes if _runs(process)]:
        if monotonic() > deadline:
            for process in left:
                process.send_signal(signal.SIGKILL)
            return False
        select.select([], [], [], 0.02)
    return True


def _runs(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
