"""Our side of a pseudo-terminal: what comes out of it, what is typed into it, and its size; knows no process."""

from __future__ import annotations

import asyncio
import fcntl
import os
import struct
import termios
from collections.abc import Callable
from contextlib import suppress

READ_BYTES = 64 * 1024
LAST_READ_BYTES = 1024 * 1024
"""How much is read at once at the end, so that a flood by whoever still holds the PTY cannot stop the event loop."""


class Pty:
    """A pseudo-terminal: `on_data` gets what is written to it, `on_end` comes once when nobody can write any more.

    Nothing is read before `start`, and nothing is called after `close`.
    """

    def __init__(
        self, on_data: Callable[[bytes], None], on_end: Callable[[], None], columns: int, rows: int
    ) -> None:
        self._on_data = on_data
        self._on_end = on_end
        self._loop = asyncio.get_running_loop()
        self._typed = bytearray()
        self._master, self._slave = os.openpty()
        os.set_blocking(self._master, False)
        self.has_ended = False
        self.resize(columns, rows)

    @property
    def slave(self) -> int:
        """The command's side: ours to hand on until `start`."""
        return self._slave

    def start(self) -> None:
        """Read from now on, and hold the command's side no longer: the end comes when its last process ends."""
        self._close_slave()
        self._loop.add_reader(self._master, self._read)

    def resize(self, columns: int, rows: int) -> None:
        """Give it another size; who runs in it gets SIGWINCH."""
        if self._master >= 0:
            size = struct.pack("HHHH", max(1, rows), max(1, columns), 0, 0)
            fcntl.ioctl(self._master, termios.TIOCSWINSZ, size)

    def write(self, data: bytes) -> None:
        """Type `data`; what the PTY does not take now waits, and is lost where nobody is left to read it."""
        if self.has_ended or self._master < 0:
            return
        self._typed += data
        self._flush()

    def drain(self) -> None:
        """Read what is there now, without waiting for more."""
        budget = LAST_READ_BYTES
        while budget > 0 and not self.has_ended and (count := self._read()):
            budget -= count

    def close(self) -> None:
        """Hang up: whoever still runs in the foreground gets SIGHUP. May be called twice."""
        self._close_slave()
        if self._master >= 0:
            self._stop()
            os.close(self._master)
            self._master = -1

    def _read(self) -> int:
        """One read a wake, so that a flood leaves the loop to others; how many bytes there were."""
        try:
            data = os.read(self._master, READ_BYTES)
        except BlockingIOError:
            return 0
        except OSError:  # EIO: Linux' way to say that nobody holds the other side
            data = b""
        if data:
            self._on_data(data)
        else:
            self._end()
        return len(data)

    def _end(self) -> None:
        self._stop()
        self.has_ended = True
        self._on_end()

    def _flush(self) -> None:
        try:
            written = os.write(self._master, self._typed)
        except BlockingIOError:
            written = 0
        except OSError:  # nobody holds the other side
            written = len(self._typed)
        del self._typed[:written]
        if self._typed:
            self._loop.add_writer(self._master, self._flush)
        else:
            self._loop.remove_writer(self._master)

    def _stop(self) -> None:
        self._typed.clear()
        self._loop.remove_reader(self._master)
        self._loop.remove_writer(self._master)

    def _close_slave(self) -> None:
        if self._slave >= 0:
            with suppress(OSError):
                os.close(self._slave)
            self._slave = -1
