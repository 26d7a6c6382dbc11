"""Our side of a pseudo-terminal: what comes out of it, what is typed into it, and its size; knows no process.

What can go wrong with a terminal, each said so that an agent can act on it:

    TerminalError
    ├── UnknownTerminal       no such terminal in this session, or it was released
    ├── TerminalSpawnFailed   the command could not be started; `reason` says why
    ├── TerminalInputFull     what was typed is not taken: the program reads nothing
    └── TerminalsClosed       the session has ended
"""

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
    """`str()` of it says what failed, on what."""


class UnknownTerminal(TerminalError):
    """There is no terminal of that id in this session."""

    def __init__(self, terminal_id: str) -> None:
        super().__init__(f"No terminal {terminal_id!r} in this session: it never existed, or it was released")
        self.terminal_id = terminal_id


class TerminalSpawnFailed(TerminalError):
    """The command could not be started; nothing of it is left running."""

    def __init__(self, command: str, reason: str) -> None:
        super().__init__(f"Can't start {command!r}: {reason}")
        self.command = command
        self.reason = reason


class TerminalInputFull(TerminalError):
    """So much waits to be read by the program that nothing more is taken; this piece was dropped, whole."""

    def __init__(self, waiting_bytes: int) -> None:
        super().__init__(f"The program isn't reading: {waiting_bytes:,} typed bytes are waiting for it")


class TerminalsClosed(TerminalError):
    """The session has ended, and starts no more commands."""

    def __init__(self, command: str) -> None:
        super().__init__(f"Can't start {command!r}: its session has ended")


# The kernel says in which system call a process sleeps, and on which file. A process of the terminal's foreground
# group that sleeps in a `read` of the terminal, or in a `select` without a time limit on nothing but its standard
# input, which is the terminal, waits for input and for nothing else: shells, `read`, `input()`, password prompts,
# `less`. One that waits for the terminal among other things (`poll`, `epoll`: node) is not told from one that waits
# for the network, and is never said to wait. Known on Linux for the two architectures below; elsewhere nothing is
# said to wait.

PROC: Final = Path("/proc")
MAX_PROCESSES: Final = 16
"""As many of a command are looked at, in less than a millisecond."""
CONTROLLING_TERMINAL: Final = "/dev/tty"

QUIET_S: Final = 1.0
"""A command that has printed something so lately works."""
LONGEST_PAUSE_S: Final = 8.0
"""Between two looks at one that is silent for long."""

# The numbers of read, and of select and pselect6.
_READS, _SELECTS = {
    "x86_64": ({0}, {23, 270}),
    "aarch64": ({63}, {72}),
}.get(platform.machine(), (set[int](), set[int]()))


class InputWatch:
    """Tells when a command that has fallen silent waits for input, and when it does so no longer.

    It looks a second after the last output or input, and while the command is silent at ever longer intervals; never
    while it is known to wait.
    """

    def __init__(self, waits: Callable[[], bool], on_change: Callable[[bool], None]) -> None:
        self._waits = waits
        self._on_change = on_change
        self._loop = asyncio.get_running_loop()
        self._last_sign = 0.0
        self._is_waiting = False
        self._timer: asyncio.TimerHandle | None = None

    def note_sign_of_life(self) -> None:
        """It was started, or has printed something, or something was typed into it."""
        self._last_sign = self._loop.time()
        if self._is_waiting:
            self._is_waiting = False
            self._on_change(False)
        if self._timer is None:
            self._look_in(QUIET_S)

    def stop(self) -> None:
        """It has ended: look no more."""
        if self._timer is not None:
            self._timer.cancel()

    def _look_in(self, pause_s: float) -> None:
        self._timer = self._loop.call_later(pause_s, self._look)

    def _look(self) -> None:
        self._timer = None
        silent_s = self._loop.time() - self._last_sign
        if silent_s < QUIET_S:
            self._look_in(QUIET_S - silent_s)
        elif self._waits():
            self._is_waiting = True
            self._on_change(True)
        else:
            self._look_in(min(silent_s, LONGEST_PAUSE_S))


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
    return False  # it has ended meanwhile, or is another user's


def _family(leader: int) -> Iterator[int]:
    """`leader` and its descendants, as far as they are not too many."""
    found = [leader]
    for process in found:
        yield process
        with suppress(OSError):
            children = (PROC / str(process) / "task" / str(process) / "children").read_text().split()
            found += map(int, children[: MAX_PROCESSES - len(found)])


def _sleeps_on(task: Path, terminal: str) -> bool:
    # proc(5): the number and the arguments in hexadecimal, "running", or "-1" where it sleeps outside of a call.
    number, *arguments = (task / "syscall").read_text().split()
    if number == "running":
        return False
    call, first = int(number), int(arguments[0], 16)
    if call in _READS:
        fd = first
    elif call in _SELECTS and first == 1 and int(arguments[4], 16) == 0:
        fd = 0  # the only descriptor below 1; with a time limit, as `top` sets it, it goes on by itself
    else:
        return False
    return str((task / "fd" / str(fd)).readlink()) in (terminal, CONTROLLING_TERMINAL)


READ_BYTES: Final = 4096
"""As much as one read of a PTY gives on Linux, whatever is asked for."""
WAKE_BYTES: Final = 64 * 1024
"""How much is read at one turn of the event loop, in about 2 ms: commands fill their PTYs while they are emptied, so
that one wake does the work of many, and a flood leaves the loop to others all the same."""
LAST_READ_BYTES: Final = 1024 * 1024
"""How much is read at once at the end, so that a flood by whoever still holds the PTY cannot stop the event loop."""

MAX_WAITING_BYTES: Final = 4 * 1024 * 1024
"""Of what was typed, and not read by the program; one paste of any size is taken, where nothing waits."""


class ReadBudget:
    """Shares what is read at one turn of the event loop among the PTYs that would have more to give."""

    def __init__(self) -> None:
        self._flooding: set[int] = set()

    @property
    def for_each(self) -> int:
        """How many bytes one PTY may read now."""
        return max(READ_BYTES, WAKE_BYTES // max(1, len(self._flooding)))

    def note(self, fd: int, *, has_more: bool) -> None:
        """A PTY has read all that there was, or all that it might."""
        if has_more:
            self._flooding.add(fd)
        else:
            self._flooding.discard(fd)


class Pty:
    """A pseudo-terminal: `on_data` gets what is written to it, `on_end` comes once when nobody can write any more.

    Nothing is read before `start`, and nothing is called after `close`.
    """

    def __init__(
        self,
        on_data: Callable[[bytes], None],
        on_end: Callable[[], None],
        budget: ReadBudget,
        columns: int,
        rows: int,
    ) -> None:
        self._on_data = on_data
        self._on_end = on_end
        self._budget = budget
        self._loop = asyncio.get_running_loop()
        self._typed = bytearray()
        self._master, self._slave = os.openpty()
        os.set_blocking(self._master, False)
        self.path = os.ttyname(self._slave)
        """Of the command's side."""
        self.has_ended = False
        self.resize(columns, rows)

    @property
    def slave(self) -> int:
        """The command's side: ours to hand on until `start`."""
        return self._slave

    def waits_for_input(self, leader: int) -> bool:
        """Whether the command of process `leader` sleeps until something is typed here."""
        return self._master >= 0 and waits_for_input(leader, self._master, self.path)

    def start(self) -> None:
        """Read from now on, and hold the command's side no longer: the end comes when its last process ends."""
        self._close_slave()
        self._loop.add_reader(self._master, self._on_readable)

    def resize(self, columns: int, rows: int) -> None:
        """Give it another size; who runs in it gets SIGWINCH."""
        if self._master >= 0:
            size = struct.pack("HHHH", max(1, rows), max(1, columns), 0, 0)
            fcntl.ioctl(self._master, termios.TIOCSWINSZ, size)

    def write(self, data: bytes) -> None:
        """Type `data`; what the PTY does not take now waits, and is lost where nobody is left to read it.

        Raises TerminalInputFull where too much waits already: all of `data` is dropped, since half of a key would be
        another.
        """
        if self.has_ended or self._master < 0:
            return
        if self._typed and len(self._typed) + len(data) > MAX_WAITING_BYTES:
            raise TerminalInputFull(len(self._typed))
        self._typed += data
        self._flush()

    def forget_typed(self) -> None:
        """Drop what was typed and not taken yet."""
        self._typed.clear()

    def drain(self) -> None:
        """Read what is there now, without waiting for more."""
        if not self.has_ended:
            self._read(LAST_READ_BYTES)

    def close(self) -> None:
        """Hang up: whoever still runs in the foreground gets SIGHUP. May be called twice."""
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
        """Hand on what is there now, as one piece of about `most` bytes at the most; whether there may be more."""
        pieces: list[bytes] = []
        piece: bytes | None = None
        while most > 0 and (piece := self._read_piece()):
            pieces.append(piece)
            most -= len(piece)
        if pieces:
            self._on_data(b"".join(pieces))
        if piece == b"" and self._master >= 0:
            self._end()
        return bool(piece)

    def _read_piece(self) -> bytes | None:
        """What one read gives: nothing at the end, None where there is nothing yet."""
        try:
            return os.read(self._master, READ_BYTES)
        except BlockingIOError:
            return None
        except OSError:  # EIO: Linux' way to say that nobody holds the other side
            return b""

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
        self._budget.note(self._master, has_more=False)
        self._loop.remove_reader(self._master)
        self._loop.remove_writer(self._master)

    def _close_slave(self) -> None:
        if self._slave >= 0:
            with suppress(OSError):
                os.close(self._slave)
            self._slave = -1
