"""The table of processes: who belongs to one that we started, and signals to those, and never to a stranger.

The guardian loads it too, so it does without `pathlib`, `typing`, and `signal` with its enumerations: to load them took
it twice as long as all else.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal
    from collections.abc import Iterable
    from typing import Final
else:
    import _signal as signal

HAS_PROC: Final = os.access("/proc/self/stat", os.R_OK)
PS_LIMIT_S: Final = 2.0


class Process:
    """One row of the table, of a process that has not ended: zombies can be neither ended nor waited for."""

    __slots__ = ("group", "parent", "pid", "session", "started")

    def __init__(self, pid: int, parent: int, group: int, session: int, started: str) -> None:
        self.pid = pid
        self.parent = parent
        self.group = group
        self.session = session
        """The leader's pid; 0 where the system does not tell (macOS)."""
        self.started = started
        """When it started, in whatever unit the system tells it."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Process) and self._row == other._row

    def __hash__(self) -> int:
        return hash(self._row)

    def __repr__(self) -> str:
        return f"Process{self._row}"

    @property
    def _row(self) -> tuple[int, int, int, int, str]:
        return self.pid, self.parent, self.group, self.session, self.started

    def is_same(self, other: Process) -> bool:
        """Whether this is `other`, perhaps with a new parent or group, and not a new process of the same number."""
        return (self.pid, self.started) == (other.pid, other.started)


def process_table() -> list[Process]:
    """Every process that can be seen. Reads many files: call it in a thread."""
    if not HAS_PROC:
        return _rows_of_ps("-ax")
    names = os.listdir("/proc")  # noqa: PTH208
    return [row for name in names if name.isdigit() and (row := _row_of_proc(int(name)))]


def row_of(pid: int) -> Process | None:
    """The process of that number; None where there is none."""
    if HAS_PROC:
        return _row_of_proc(pid)
    return next(iter(_rows_of_ps("-p", str(pid))), None)


def is_running(process: Process) -> bool:
    """Whether it has not ended. Where the system has no /proc, a new process of its number passes for it."""
    if HAS_PROC:
        row = row_of(process.pid)
        return row is not None and row.is_same(process)
    try:
        os.kill(process.pid, 0)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def session_of(leader: int, table: Iterable[Process]) -> list[Process]:
    """`leader` and whoever shares its group or session."""
    return [row for row in table if leader in (row.pid, row.group, row.session)]


def with_descendants(members: Iterable[Process], table: Iterable[Process]) -> list[Process]:
    """`members` and all below them, also those in sessions of their own (`setsid`), as long as their parents live."""
    rows = list(table)
    pids = {row.pid for row in members}
    count = 0
    while count != len(pids):
        count = len(pids)
        pids.update(row.pid for row in rows if row.parent in pids)
    return [row for row in rows if row.pid in pids]


def family(leader: int, table: Iterable[Process]) -> list[Process]:
    """`leader`, whoever shares its group or session, and their descendants.

    One that was cut off before, by a double fork, is nobody's child and is not ours to hunt.
    """
    rows = list(table)
    return with_descendants(session_of(leader, rows), rows)


def _row_of_proc(pid: int) -> Process | None:
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:  # noqa: PTH123
            stat = file.read()
    except OSError:  # it has ended meanwhile
        return None
    # proc(5): pid (command) state ppid pgrp session ... the 22nd is starttime. The command may hold anything.
    state, parent, group, session, *more = stat.rpartition(")")[2].split()
    if state in "ZX":
        return None
    return Process(pid, int(parent), int(group), int(session), more[15])


def _rows_of_ps(*which: str) -> list[Process]:
    import subprocess  # where there is no /proc; it costs as much as all the rest

    command = ["ps", *which, "-o", "pid=,ppid=,pgid=,stat=,lstart="]
    try:
        listing = subprocess.run(
            command, capture_output=True, text=True, timeout=PS_LIMIT_S, check=False
        ).stdout
    except (OSError, subprocess.TimeoutExpired):
        return []
    rows = (line.split(maxsplit=4) for line in listing.splitlines())
    return [
        Process(int(pid), int(parent), int(group), 0, started)
        for pid, parent, group, state, started in rows
        if not state.startswith("Z")
    ]


def _can_hold_processes() -> bool:
    try:
        os.close(os.pidfd_open(os.getpid()))
    except (AttributeError, OSError):  # not Linux, or an old one, or a sandbox that forbids it
        return False
    return HAS_PROC


_CAN_HOLD: Final = _can_hold_processes()


def signal_all(leader: int, processes: Iterable[Process], number: int) -> None:
    """Signal the group of `leader` and those of `processes` that are not in it; stopped ones go on, so as to end.

    The number of the group has to be ours still: see `group_exists`.
    """
    others = [process for process in processes if process.group != leader]
    # The group first and as one, so that nothing forks away between two signals.
    for each in (number, signal.SIGCONT):
        signal_group(leader, each)
        signal_each(others, each)


def signal_group(leader: int, number: int) -> bool:
    """Signal all in the group of `leader`; False where there is nobody that could be."""
    # PermissionError: a set-uid program, or on macOS a zombie. Neither can be ended by us.
    try:
        os.killpg(leader, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def group_exists(leader: int) -> bool:
    """Whether any process, even one that nobody reaped, is in the group of `leader`.

    As long as one is, no other process gets its number.
    """
    return signal_group(leader, 0)


def signal_each(processes: Iterable[Process], number: int) -> None:
    """Signal these, one by one; those that have ended are left out, whoever has got their number."""
    for process in processes:
        try:  # noqa: SIM105
            _signal(process, number)
        except (ProcessLookupError, PermissionError):
            pass  # it has ended meanwhile, or cannot be ended by us


def _signal(process: Process, number: int) -> None:
    if not _CAN_HOLD:
        if is_running(process):
            os.kill(process.pid, number)
        return
    fd = os.pidfd_open(process.pid)  # whatever happens from here on, it stands for one process
    try:
        if is_running(process):
            signal.pidfd_send_signal(fd, number)
    finally:
        os.close(fd)
