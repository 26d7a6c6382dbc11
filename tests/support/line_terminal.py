"""acp-tui as a process on a terminal of its own, read as text and typed on; it says nothing of what should be there."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import subprocess
import sys
import termios
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

WAIT_S: Final = 60.0


class LineTerminal:
    """The process, and all that its terminal was sent."""

    def __init__(self, process: subprocess.Popen[bytes], fd: int) -> None:
        self.process = process
        self.said = b""
        self._fd = fd
        self._seen = 0
        self._deadline = time.monotonic() + WAIT_S

    @property
    def text(self) -> str:
        """All of it, in lines."""
        return self.said.decode("utf-8", "replace").replace("\r\n", "\n")

    def shows(self, text: str) -> None:
        """Wait until it comes, behind what was waited for before."""
        wanted = text.encode().replace(b"\n", b"\r\n")
        while (at := self.said.find(wanted, self._seen)) < 0:
            assert self._read(), f"it ended without {text!r}:\n{self.text}"
        self._seen = at + len(wanted)

    def type(self, keys: str) -> None:
        """Type it."""
        os.write(self._fd, keys.encode())

    def end(self) -> int:
        """Wait for its end; gives the status."""
        while self._read():
            pass
        return self.process.wait(WAIT_S)

    def _read(self) -> bool:
        ready = select.select([self._fd], [], [], max(0.0, self._deadline - time.monotonic()))[0]
        assert ready, f"nothing more came:\n{self.text}"
        try:
            data = os.read(self._fd, 1 << 16)
        except OSError:  # Linux, where nobody holds the other end any more
            return False
        self.said += data
        return bool(data)


@contextmanager
def line_terminal(*argv: str, cwd: Path, env: Mapping[str, str] | None = None) -> Iterator[LineTerminal]:
    """acp-tui with these arguments, on a dumb terminal; whatever it keeps, it keeps below `cwd`."""
    master, slave = pty.openpty()
    environ = {"PATH": os.environ["PATH"], "TERM": "dumb", "LANG": "C.UTF-8", "HOME": str(cwd), **(env or {})}
    process = subprocess.Popen(
        [sys.executable, "-m", "acp_tui", *argv],
        stdin=slave,
        stdout=slave,
        stderr=slave,
        env=environ,
        cwd=cwd,
        start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # Ctrl+C is for it
    )
    os.close(slave)
    try:
        yield LineTerminal(process, master)
    finally:
        process.kill()
        process.wait()
        os.close(master)
