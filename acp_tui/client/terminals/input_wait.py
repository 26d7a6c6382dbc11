"""Whether a terminal's command waits for somebody to type: what it does now, not what it might do; it reads no output.

The kernel says in which system call a process sleeps, and on which file. A process of the terminal's foreground
group that sleeps in a `read` of the terminal, or in a `select` without a time limit on nothing but its standard input,
which is the terminal, waits for input and for nothing else: shells, `read`, `input()`, password prompts, `less`. One
that waits for the terminal among other things (`poll`, `epoll`: node) is not told from one that waits for the network,
and is never said to wait. Known on Linux for the two architectures below; elsewhere nothing is said to wait.
"""

from __future__ import annotations

import asyncio
import os
import platform
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

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
