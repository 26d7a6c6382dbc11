"""The table of processes: which are below or beside one that we started, and how to signal only those.

The guardian imports this module, too, so it avoids `pathlib`, `typing`, and `signal` with its enumerations: loading
them took twice as long as everything else.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal
    from collections.abc import Callable, Iterable
    from typing import Final
else:
    import _signal as signal

HAS_PROC: Final = os.access("/proc/self/stat", os.R_OK)
PS_LIMIT_S: Final = 2.0


class Process:
    """One row of the table, for a process that hasn't ended. Zombies can be neither ended nor waited for."""

    __slots__ = ("group", "parent", "pid", "session", "started")

    def __init__(self, pid: int, parent: int, group: int, session: int, started: str) -> None:
        self.pid = pid
        self.parent = parent
        self.group = group
        self.session = session
        """The leader's process ID; 0 if the system doesn't say."""
        self.started = started
        """When it started, in the system's unit."""

    def __eq__(self, other: object) -> bool:
        """Whether this is `other`, possibly with a new parent or group, rather than a new process with the same ID."""
        return isinstance(other, Process) and (self.pid, self.started) == (other.pid, other.started)

    def __hash__(self) -> int:
        return hash((self.pid, self.started))

    def __repr__(self) -> str:
        return f"Process{self.pid, self.parent, self.group, self.session, self.started}"


def process_table() -> list[Process]:
    """Every visible process. Reads many files, so call it in a thread."""
    if not HAS_PROC:
        return _rows_of_ps("-ax")
    names = os.listdir("/proc")  # noqa: PTH208 - hundreds of names; no path is needed for most
    return [row for name in names if name.isdigit() and (row := _row_of_proc(int(name)))]


def row_of(pid: int) -> Process | None:
    if HAS_PROC:
        return _row_of_proc(pid)
    return next(iter(_rows_of_ps("-p", str(pid))), None)


def is_running(process: Process) -> bool:
    """Whether it hasn't ended. Without /proc, this can't detect a new process with the same ID."""
    if HAS_PROC:
        return row_of(process.pid) == process
    try:
        os.kill(process.pid, 0)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def session_of(leader: int, table: Iterable[Process]) -> list[Process]:
    return [row for row in table if leader in (row.pid, row.group, row.session)]


def with_descendants(members: Iterable[Process], table: Iterable[Process]) -> list[Process]:
    """`members` and all their descendants, even in other sessions (`setsid`), as long as their parents live."""
    rows = list(table)
    pids = {row.pid for row in members}
    count = 0
    while count != len(pids):
        count = len(pids)
        pids.update(row.pid for row in rows if row.parent in pids)
    return [row for row in rows if row.pid in pids]


def children_of(pid: int) -> list[int]:
    """The IDs of its children, with zombies. May miss some of a process that starts or loses others meanwhile."""
    if not HAS_CHILDREN:
        return [row.pid for row in process_table() if row.parent == pid]
    found: list[int] = []
    try:
        for thread in os.listdir(f"/proc/{pid}/task"):  # noqa: PTH208 - see `process_table`
            with open(f"/proc/{pid}/task/{thread}/children", encoding="ascii") as file:  # noqa: PTH123
                found += map(int, file.read().split())
    except OSError:  # it has ended
        pass
    return found


def below(pid: int, is_spared: Callable[[int], bool]) -> list[Process]:
    """Its descendants, each after its parent, without those that are spared and what is below them."""
    found: list[Process] = []
    parents = [pid]
    while parents:
        children = [child for parent in parents for child in children_of(parent) if not is_spared(child)]
        found += [row for child in children if (row := row_of(child))]
        parents = children
    return found


def _row_of_proc(pid: int) -> Process | None:
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:  # noqa: PTH123 - once per process; a Path costs more than the read
            stat = file.read()
    except OSError:  # it has ended
        return None
    # proc(5): pid (command) state ppid pgrp session ... the 22nd is starttime. The command may contain anything.
    state, parent, group, session, *more = stat.rpartition(")")[2].split()
    if state in "ZX":
        return None
    return Process(pid, int(parent), int(group), int(session), more[15])


def _rows_of_ps(*which: str) -> list[Process]:
    import subprocess  # only without /proc; it costs as much as everything else

    command = ["ps", *which, "-o", "pid=,ppid=,pgid=,stat=,lstart="]
    try:
        listing = subprocess.run(command, capture_output=True, text=True, timeout=PS_LIMIT_S, check=False).stdout
    except (OSError, subprocess.TimeoutExpired):
        return []
    rows = (line.split(maxsplit=4) for line in listing.splitlines())
    return [
        Process(int(pid), int(parent), int(group), _session(int(pid)), started)
        for pid, parent, group, state, started in rows
        if not state.startswith("Z")
    ]


def _session(pid: int) -> int:
    try:
        return os.getsid(pid)
    except OSError:  # it has ended, or the system doesn't say
        return 0


HAS_CHILDREN: Final = os.access(f"/proc/self/task/{os.getpid()}/children", os.R_OK)


def _can_hold_processes() -> bool:
    try:
        os.close(os.pidfd_open(os.getpid()))
    except (AttributeError, OSError):  # not Linux, an old one, or a sandbox that forbids it
        return False
    return HAS_PROC


CAN_HOLD: Final = _can_hold_processes()


def signal_group(leader: int, number: int) -> None:
    """Signal everything in the group of `leader`, as far as we can."""
    # PermissionError: a set-uid program, or on macOS a zombie. We can't end either.
    try:  # noqa: SIM105
        os.killpg(leader, number)
    except (ProcessLookupError, PermissionError):
        pass


def signal_each(processes: Iterable[Process], number: int) -> None:
    """Signal these one by one, except those that have ended, even if their IDs are in use again."""
    for process in processes:
        try:  # noqa: SIM105
            _signal(process, number)
        except (ProcessLookupError, PermissionError):
            pass  # it has ended, or we can't end it


def _signal(process: Process, number: int) -> None:
    if not CAN_HOLD:
        if is_running(process):
            os.kill(process.pid, number)
        return
    fd = os.pidfd_open(process.pid)  # from here on, it refers to a single process
    try:
        if is_running(process):
            signal.pidfd_send_signal(fd, number)
    finally:
        os.close(fd)
