"""acp-tui as users run it: a process on its own terminal."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from time import monotonic
from typing import TypeVar

import pyte

from support.waiting import LIMIT_S, TEST_LIMIT_S

T = TypeVar("T", bound="TerminalProcess")


# With a screen: it shows text, takes keys, resizes, and closes

ANSWER_PAUSE_S = 1.5
"""Long enough for a repeated key to count."""

# A process session of its own, whose terminal is its stdin.
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


class AnsweringScreen(pyte.Screen):
    """Answers questions about its state, as terminals do."""

    def __init__(self, master: int, columns: int, lines: int) -> None:
        self._master = master
        super().__init__(columns, lines)

    def write_process_input(self, data: str) -> None:
        """Send it as if it was typed."""
        with suppress(OSError):  # the process has ended
            os.write(self._master, data.encode())


class OnTerminal:
    """A running acp-tui, and the user's side of its terminal."""

    def __init__(self, process: subprocess.Popen[bytes], master: int, slave: int, size: tuple[int, int]) -> None:
        self.process = process
        self.written = bytearray()
        """Everything it has written."""
        self._master = master
        self._slave = slave
        self._modes = termios.tcgetattr(slave)
        self._screen = AnsweringScreen(master, *size)
        self._stream = pyte.ByteStream(self._screen)

    @property
    def shown(self) -> str:
        """What the screen shows."""
        return "\n".join(self._screen.display)

    def type(self, text: str) -> None:
        """Press keys."""
        os.write(self._master, text.encode())

    def prompt(self, text: str) -> None:
        """Type a prompt and send it."""
        self.wait_for("●")  # there is a session
        self.type(text)
        self.wait_for(text)
        self.type("\r")

    def resize(self, columns: int, rows: int) -> None:
        """Resize the window."""
        self._screen.resize(rows, columns)
        set_size(self._master, (columns, rows))

    def read(self, limit_s: float = 0.0) -> bool:
        """Take what it has written by then; return False if that is nothing, or nothing more can come."""
        if not select.select([self._master], [], [], limit_s)[0]:
            return False
        try:
            data = os.read(self._master, 1 << 16)
        except OSError:  # EIO: nobody holds the other side open
            return False
        self.written += data
        self._stream.feed(data)
        return bool(data)

    def until(self, is_so: Callable[[], bool]) -> None:
        """Read until the condition holds. Fails if that takes too long, or if the output ends first."""
        deadline = monotonic() + LIMIT_S
        while not is_so():
            has_ended = self.process.poll() is not None
            has_read = self.read(0.05)
            assert has_read or is_so() or not has_ended, self.shown
            assert monotonic() < deadline, self.shown

    def fill(self) -> None:
        """Read nothing until nothing more can be written."""
        deadline = monotonic() + LIMIT_S
        while select.select([], [self._slave], [], 0)[1]:
            assert monotonic() < deadline
            select.select([], [], [], 0.02)

    def insist(self, key: str, is_so: Callable[[], bool]) -> None:
        """Press a key until the condition holds: an answer counts only after a pause. Each is pressed after one."""
        deadline = monotonic() + LIMIT_S
        while not is_so():
            assert monotonic() < deadline, self.shown
            next_s = monotonic() + ANSWER_PAUSE_S
            while not is_so() and monotonic() < next_s:
                self.read(0.05)
            if not is_so():
                self.type(key)
                self.read(0.05)

    def wait_for(self, text: str) -> None:
        """Wait until the screen shows these words, wrapped or not."""
        self.until(lambda: " ".join(text.split()) in " ".join(self.shown.split()))

    def wait_for_end(self) -> int:
        """Read to its end; return its exit status."""
        self.until(lambda: self.process.poll() is not None)
        while self.read():
            pass
        return self.process.returncode

    def is_as_before(self) -> bool:
        """Whether the terminal, if it still exists, works again as before."""
        ends = self.written.rfind(b"\x1b[?1049l")
        begins = self.written.rfind(b"\x1b[?1049h")
        return ends > begins and termios.tcgetattr(self._slave) == self._modes

    def close_window(self) -> None:
        """Close the terminal: its process gets SIGHUP, and can no longer read or write."""
        os.close(self._slave)
        os.close(self._master)
        self._slave = self._master = -1

    def close(self) -> None:
        """End whatever is left."""
        self.process.kill()
        self.process.wait()
        if self._master >= 0:
            self.close_window()


@contextmanager
def on_terminal(
    home: Path,
    *arguments: str,
    program: str | Path = sys.executable,
    main: Sequence[str] = ("-m", "acp_tui"),
    environ: Mapping[str, str] | None = None,
    size: tuple[int, int] = (80, 24),
    launcher: str = LAUNCHER,
) -> Iterator[OnTerminal]:
    """acp-tui with these arguments and its own home."""
    master, slave = pty.openpty()
    set_size(master, size)
    process = subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", launcher, str(program), *main, *arguments],
        cwd=home,
        env=environ or environment(home),
        stdin=slave,
        stdout=slave,
        stderr=slave,
    )
    opened = OnTerminal(process, master, slave, size)
    try:
        yield opened
    finally:
        opened.close()


def set_size(terminal: int, size: tuple[int, int], cell: tuple[int, int] = (0, 0)) -> None:
    """Columns and rows, and how many pixels a cell has; its process is notified."""
    columns, rows = size
    sizes = struct.pack("HHHH", rows, columns, columns * cell[0], rows * cell[1])
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, sizes)


def environment(home: Path) -> dict[str, str]:
    """The environment of a user with an empty home, and a terminal with all colors."""
    folders = {f"XDG_{name}_HOME": str(home / name.lower()) for name in ("CONFIG", "STATE", "CACHE", "DATA")}
    return {**os.environ, **folders, "HOME": str(home), "TERM": "xterm-256color", "COLORTERM": "truecolor"}


# With its output: read as it arrives. Callers decide what terminal it is and what it should show


def kept() -> dict[str, str]:
    """Variables that every process gets: it runs the code beside the tests, whichever copy is installed."""
    return {name: os.environ[name] for name in ("PATH", "PYTHONPATH") if name in os.environ}


def answers_to(written: bytes) -> str:
    """What a terminal answers to the questions in what a program has written."""
    return "".join({b"5n": "\x1b[0n", b"c": "\x1b[?62;4c"}[asked] for asked in re.findall(rb"\x1b\[(5n|c)", written))


class TerminalProcess:
    """The process, and everything its terminal was sent."""

    def __init__(self, process: subprocess.Popen[bytes], fd: int) -> None:
        self.process = process
        self.said = b""
        """Everything received, raw."""
        self.answers = False
        """Whether it answers each question for its status."""
        self._fd = fd
        self._seen = 0
        self._deadline = time.monotonic() + TEST_LIMIT_S

    @property
    def text(self) -> str:
        """All of it, in lines."""
        return self.said.decode("utf-8", "replace").replace("\r\n", "\n")

    def type(self, keys: str) -> None:
        """Type it."""
        os.write(self._fd, keys.encode())

    def until(self, is_so: Callable[[], object]) -> None:
        """Read until it is so."""
        while not is_so():
            assert self.read(), f"it ended before:\n{self.text}"

    def shows(self, text: str) -> None:
        """Wait until this appears, after what was awaited before. No bell before a line counts: long turns ring it."""
        wanted = text.encode().replace(b"\n", b"\r\n")
        while (at := self.said.replace(b"\n\a", b"\n").find(wanted, self._seen)) < 0:
            assert self.read(), f"it ended without {text!r}:\n{self.text}"
        self._seen = at + len(wanted)

    def end(self) -> int:
        """Wait for its end; return the status."""
        while self.read():
            pass
        return self.process.wait(LIMIT_S)

    def read(self) -> bytes:
        """The next output; empty at the end."""
        ready = select.select([self._fd], [], [], max(0.0, self._deadline - time.monotonic()))[0]
        assert ready, f"nothing more came:\n{self.text}"
        try:
            data = os.read(self._fd, 1 << 16)
        except OSError:  # Linux, once nobody holds the other end
            return b""
        self.said += data
        if self.answers:
            self.type(answers_to(data))
        return data


@contextmanager
def process_on_terminal(
    argv: Sequence[str],
    environ: Mapping[str, str],
    cwd: Path,
    size: tuple[int, int] = (80, 24),
    command: Sequence[str] = (sys.executable, "-m", "acp_tui"),
    terminal: Callable[[subprocess.Popen[bytes], int], T] = TerminalProcess,
) -> Iterator[T]:
    """acp-tui with these arguments, on a terminal with this many columns and rows."""
    master, slave = pty.openpty()
    set_size(slave, size)
    process = subprocess.Popen(
        [*command, *argv],
        stdin=slave,
        stdout=slave,
        stderr=slave,
        env={"LANG": "C.UTF-8", **kept(), **environ},
        cwd=cwd,
        start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # Ctrl+C is for it
    )
    os.close(slave)
    try:
        yield terminal(process, master)
    finally:
        process.kill()
        process.wait()
        os.close(master)


@contextmanager
def line_terminal(*argv: str, cwd: Path, env: Mapping[str, str] | None = None) -> Iterator[TerminalProcess]:
    """acp-tui with these arguments on a dumb terminal; it stores everything below `cwd`."""
    environ = {"TERM": "dumb", "HOME": str(cwd), **(env or {})}
    with process_on_terminal(argv, environ, cwd) as terminal:
        yield terminal


# A program that queries its terminal and waits for the answer, as vim, fzf, and shells do

_SOURCE = """
import os, time, tty
tty.setraw(0)
{before}
for piece in {writes!r}:
    os.write(1, piece)
    time.sleep({pause_s})
answer = b''
while not answer.endswith({until!r}):
    answer += os.read(0, 1000)
os.write(1, b'\\r\\ngot ' + answer.hex().encode() + b'\\r\\n')
"""


def asking(*writes: bytes, until: bytes, before: str = "") -> str:
    """Its source: it writes these pieces separately, and prints in hexadecimal what it gets, up to `until`."""
    return _SOURCE.format(writes=writes, until=until, before=before, pause_s=0.05 if len(writes) > 1 else 0)
