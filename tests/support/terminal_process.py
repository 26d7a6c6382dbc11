"""acp-tui as a process on its own terminal: its output is read as it arrives, and keys are typed.

Callers decide what terminal it is and what it should show.
"""

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
from contextlib import contextmanager
from pathlib import Path

from support.waiting import LIMIT_S, TEST_LIMIT_S


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
) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """acp-tui with these arguments, and our side of its terminal with this many columns and rows."""
    master, slave = pty.openpty()
    columns, rows = size
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
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
        yield process, master
    finally:
        process.kill()
        process.wait()
        os.close(master)


class LineTerminal(TerminalProcess):
    """Waits for its text in the order in which it arrives."""

    _seen = 0

    def shows(self, text: str) -> None:
        """Wait until this appears, after what was awaited before. No bell before a line counts: long turns ring it."""
        wanted = text.encode().replace(b"\n", b"\r\n")
        while (at := self.said.replace(b"\n\a", b"\n").find(wanted, self._seen)) < 0:
            assert self.read(), f"it ended without {text!r}:\n{self.text}"
        self._seen = at + len(wanted)


@contextmanager
def line_terminal(*argv: str, cwd: Path, env: Mapping[str, str] | None = None) -> Iterator[LineTerminal]:
    """acp-tui with these arguments on a dumb terminal; it stores everything below `cwd`."""
    environ = {"TERM": "dumb", "HOME": str(cwd), **(env or {})}
    with process_on_terminal(argv, environ, cwd) as (process, fd):
        yield LineTerminal(process, fd)
