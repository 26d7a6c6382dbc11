"""Our side of a pseudo-terminal: its output, its input, and its size. Knows nothing about processes."""

from __future__ import annotations

import asyncio
import fcntl
import os
import platform
import struct
import termios
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final


class TerminalError(Exception):
    """Its `str()` says what failed, and on what, so that an agent can react."""


class UnknownTerminal(TerminalError):
    """This session has no terminal with that ID."""

    def __init__(self, terminal_id: str) -> None:
        super().__init__(f"No terminal {terminal_id!r} in this session: it never existed, or it was released")


class TerminalSpawnFailed(TerminalError):
    """The command couldn't be started; none of its processes is left running."""

    def __init__(self, command: str, reason: str) -> None:
        super().__init__(f"Can't start {command!r}: {reason}")
        self.reason = reason


CLOSED: Final = "its session has ended"


class TerminalInputFull(TerminalError):
    """So much input is waiting for the program that this piece was dropped completely."""

    def __init__(self, waiting_bytes: int) -> None:
        super().__init__(f"The program isn't reading: {waiting_bytes:,} typed bytes are waiting for it")


# The kernel reports in which system call a process sleeps, and on which file. A process in the terminal's foreground
# group waits only for input if it sleeps in a `read` of the terminal, or in a `select` without a time limit on nothing
# but its standard input, which is the terminal. Shells, `read`, `input()`, password prompts, and `less` do this. A
# process that waits for the terminal among other things (`poll`, `epoll`: node) looks the same as one that waits for
# the network, so it's never reported as waiting. This works on Linux for the two architectures below. Elsewhere,
# nothing is reported as waiting.

PROC: Final = Path("/proc")
MAX_PROCESSES: Final = 16
"""Processes of a command to check, which takes less than a millisecond."""
CONTROLLING_TERMINAL: Final = "/dev/tty"

QUIET_S: Final = 1.0
"""A command that has printed something this recently is working."""
LONGEST_PAUSE_S: Final = 8.0
"""The longest interval between two checks of a silent command."""

# The system call numbers of read, and of select and pselect6.
_READS, _SELECTS = {"x86_64": ({0}, {23, 270}), "aarch64": ({63}, {72})}.get(
    platform.machine(), (set[int](), set[int]())
)


class InputWatch:
    """Reports when a silent command begins to wait for input, and when it stops waiting.

    It checks a second after the last output or input, then at growing intervals while the command stays silent. It
    doesn't check while the command is known to wait.
    """

    def __init__(self, waits: Callable[[], bool], on_change: Callable[[bool], None]) -> None:
        self._waits = waits
        self._on_change = on_change
        self._loop = asyncio.get_running_loop()
        self._last_sign = 0.0
        self._is_waiting = False
        self._timer: asyncio.TimerHandle | None = None

    def note_sign_of_life(self) -> None:
        """The command has started, printed something, or received input."""
        self._last_sign = self._loop.time()
        if self._is_waiting:
            self._is_waiting = False
            self._on_change(False)
        if self._timer is None:
            self._check_in(QUIET_S)

    def stop(self) -> None:
        """The command has ended: stop checking."""
        if self._timer is not None:
            self._timer.cancel()

    def _check_in(self, pause_s: float) -> None:
        self._timer = self._loop.call_later(pause_s, self._check)

    def _check(self) -> None:
        self._timer = None
        silent_s = self._loop.time() - self._last_sign
        if silent_s < QUIET_S:
            self._check_in(QUIET_S - silent_s)
        elif self._waits():
            self._is_waiting = True
            self._on_change(True)
        else:
            self._check_in(min(silent_s, LONGEST_PAUSE_S))


def waits_for_input(leader: int, terminal_fd: int, terminal: str) -> bool:
    """Whether the command of process `leader` sleeps until something is typed.

    `terminal_fd` is our side of its PTY, `terminal` the path of the other.
    """
    if not _READS:
        return False
    with suppress(OSError):
        foreground = os.tcgetpgrp(terminal_fd)
        return any(
            _sleeps_on(task, terminal)
            for process in _family(leader)
            if os.getpgid(process) == foreground
            for task in (PROC / str(process) / "task").iterdir()
        )
    return False  # it has ended, or belongs to another user


def _family(leader: int) -> Iterator[int]:
    """`leader` and its descendants, up to a limit."""
    found = [leader]
    for process in found:
        yield process
        with suppress(OSError):
            children = (PROC / str(process) / "task" / str(process) / "children").read_text().split()
            found += map(int, children[: MAX_PROCESSES - len(found)])


def _sleeps_on(task: Path, terminal: str) -> bool:
    # proc(5): the number and the arguments in hexadecimal, "running", or "-1" if it sleeps outside a system call.
    number, *arguments = (task / "syscall").read_text().split()
    if number == "running":
        return False
    call, first = int(number), int(arguments[0], 16)
    if call in _READS:
        fd = first
    elif call in _SELECTS and first == 1 and int(arguments[4], 16) == 0:
        fd = 0  # the only descriptor below 1; with a time limit, as in `top`, it continues without input
    else:
        return False
    return str((task / "fd" / str(fd)).readlink()) in (terminal, CONTROLLING_TERMINAL)


READ_BYTES: Final = 4096
"""The most that one read of a PTY returns on Linux, whatever the requested size."""
WAKE_BYTES: Final = 64 * 1024
"""How much to read in one turn of the event loop, in about 2 ms.

Commands refill their PTYs while we read, so one wakeup does the work of many, and the loop stays responsive during a
flood of output.
"""
LAST_READ_BYTES: Final = 1024 * 1024
"""How much to read at once at the end, so that a process that still writes to the PTY can't block the event loop."""

MAX_WAITING_BYTES: Final = 4 * 1024 * 1024
"""Limit for input that the program hasn't read. If none is waiting, one paste of any size is accepted."""


class ReadBudget:
    """Shares what is read in one turn of the event loop among the PTYs that have more data."""

    def __init__(self) -> None:
        self._flooding: set[int] = set()

    @property
    def for_each(self) -> int:
        """How many bytes one PTY may read now."""
        return max(READ_BYTES, WAKE_BYTES // max(1, len(self._flooding)))

    def note(self, fd: int, *, has_more: bool) -> None:
        if has_more:
            self._flooding.add(fd)
        else:
            self._flooding.discard(fd)


class Pty:
    """A pseudo-terminal. `on_data` gets its output; `on_end` is called once, when no process can write to it anymore.

    Nothing is read before `start`, and nothing is called after `close`.
    """

    def __init__(
        self, on_data: Callable[[bytes], None], on_end: Callable[[], None], budget: ReadBudget, columns: int, rows: int
    ) -> None:
        self._on_data = on_data
        self._on_end = on_end
        self._budget = budget
        self._loop = asyncio.get_running_loop()
        self._typed = bytearray()
        self._master, self.slave = os.openpty()
        """`slave` is the command's side, which we hold until `start`."""
        os.set_blocking(self._master, False)
        self.path = os.ttyname(self.slave)
        """The path of the command's side."""
        self.has_ended = False
        self.resize(columns, rows)

    def waits_for_input(self, leader: int) -> bool:
        """Whether the command of process `leader` sleeps until something is typed here."""
        return self._master >= 0 and waits_for_input(leader, self._master, self.path)

    def start(self) -> None:
        """Start reading. Close our copy of the command's side, so that the output ends with its last process."""
        self._close_slave()
        self._loop.add_reader(self._master, self._on_readable)

    def resize(self, columns: int, rows: int) -> None:
        """Change the size. The programs in it get SIGWINCH."""
        if self._master >= 0:
            size = struct.pack("HHHH", max(1, rows), max(1, columns), 0, 0)
            fcntl.ioctl(self._master, termios.TIOCSWINSZ, size)

    def write(self, data: bytes) -> None:
        """Type `data`. What the PTY doesn't accept yet waits; it's lost if no process is left to read it.

        Raises TerminalInputFull if too much is waiting, and drops all of `data`, because part of a key would be another
        key.
        """
        if self.has_ended or self._master < 0:
            return
        if self._typed and len(self._typed) + len(data) > MAX_WAITING_BYTES:
            raise TerminalInputFull(len(self._typed))
        self._typed += data
        self._flush()

    def forget_typed(self) -> None:
        """Drop input that the PTY hasn't accepted yet."""
        self._typed.clear()

    def drain(self) -> None:
        """Read what is available now, without waiting for more."""
        if not self.has_ended:
            self._read(LAST_READ_BYTES)

    def close(self) -> None:
        """Hang up: the foreground processes get SIGHUP. May be called twice."""
        self._close_slave()
        if self._master >= 0:
            self._stop()
            os.close(self._master)
            self._master = -1

    def _on_readable(self) -> None:
        has_more = self._read(self._budget.for_each)
        if self._master >= 0:
            self._budget.note(self._master, has_more=has_more)

    def _read(self, most: int) -> bool:
        """Pass on what is available as one piece of about `most` bytes at most. Returns whether there may be more."""
        pieces: list[bytes] = []
        piece: bytes | None = None
        while most > 0 and (piece := self._read_piece()):
            pieces.append(piece)
            most -= len(piece)
        if pieces:
            self._on_data(b"".join(pieces))
        if piece == b"" and self._master >= 0:
            self._stop()
            self.has_ended = True
            self._on_end()
        return bool(piece)

    def _read_piece(self) -> bytes | None:
        """The result of one read: empty at the end, None if nothing is available yet."""
        try:
            return os.read(self._master, READ_BYTES)
        except BlockingIOError:
            return None
        except OSError:  # EIO: on Linux, no process has the other side open
            return b""

    def _flush(self) -> None:
        try:
            written = os.write(self._master, self._typed)
        except BlockingIOError:
            written = 0
        except OSError:  # no process has the other side open
            written = len(self._typed)
        del self._typed[:written]
        if self._typed:
            self._loop.add_writer(self._master, self._flush)
        else:
            self._loop.remove_writer(self._master)

    def _stop(self) -> None:
        self._typed.clear()
        self._budget.note(self._master, has_more=False)
        self._loop.remove_reader(self._master)
        self._loop.remove_writer(self._master)

    def _close_slave(self) -> None:
        if self.slave >= 0:
            with suppress(OSError):
                os.close(self.slave)
            self.slave = -1
