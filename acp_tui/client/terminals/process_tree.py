"""Which processes a terminal's command has started, and how they end for certain; no PTY and no output.

A command's processes are found by parent, group and session, so that one which left the group (`setsid`) is found
while its parents live. One that was cut off before, by a double fork, is nobody's child and is not ours to hunt.
"""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import anyio
import anyio.to_thread

PROC = Path("/proc")
HAS_PROC = (PROC / "self" / "stat").exists()
POLL_S = 0.01
PS_LIMIT_S = 2.0


@dataclass(frozen=True, slots=True)
class Process:
    """One row of the process table, of a process that has not ended: zombies can be neither ended nor waited for."""

    pid: int
    parent: int
    group: int
    session: int
    """The leader's pid; 0 where the system does not tell (macOS)."""
    started: str
    """When it started, in whatever unit the system tells it."""

    def is_same(self, other: Process) -> bool:
        """Whether this is `other`, perhaps with a new parent or group, and not a new process of the same number."""
        return (self.pid, self.started) == (other.pid, other.started)


async def terminate(leader: int, *, grace_s: float) -> None:
    """End the processes of `leader`: SIGTERM, and SIGKILL to what is left of them after `grace_s`.

    `leader` is the first process of a session; it may have ended, if its group has not.
    """
    asked = await anyio.to_thread.run_sync(family, leader)
    _signal_all(leader, asked, signal.SIGTERM)
    with anyio.move_on_after(grace_s):
        while any(_is_running(process) for process in asked):
            await anyio.sleep(POLL_S)
    left = await anyio.to_thread.run_sync(_survivors, leader, asked)
    _signal_all(leader, left, signal.SIGKILL)


def family(leader: int, table: Iterable[Process] | None = None) -> list[Process]:
    """`leader`, its descendants, and whoever shares its group or session. Reads files: call it in a thread."""
    rows = list(process_table() if table is None else table)
    members = {leader}
    count = 0
    while count != len(members):
        count = len(members)
        members.update(row.pid for row in rows if leader in (row.group, row.session) or row.parent in members)
    return [row for row in rows if row.pid in members]


def _survivors(leader: int, asked: list[Process]) -> list[Process]:
    """Those of `asked` that are still there, and whoever has joined the family since."""
    table = process_table()
    known = {row.pid: row for row in asked}
    remaining = [row for row in table if row.pid in known and row.is_same(known[row.pid])]
    return [*remaining, *(row for row in family(leader, table) if row not in remaining)]


def _signal_all(leader: int, processes: Iterable[Process], number: signal.Signals) -> None:
    # The group first and as one, so that nothing forks away between two signals; a stopped process has to run to end.
    for send in (number, signal.SIGCONT):
        _quietly(os.killpg, leader, send)
        for process in processes:
            if process.group != leader:
                _quietly(os.kill, process.pid, send)


def group_exists(leader: int) -> bool:
    """Whether any process, even one that nobody reaped, is in the group of `leader`."""
    return _quietly(os.killpg, leader, 0)


def _quietly(send: Callable[[int, int], None], target: int, number: int) -> bool:
    # PermissionError: a set-uid program, or on macOS a zombie. Neither can be ended by us.
    with suppress(ProcessLookupError, PermissionError):
        send(target, number)
        return True
    return False


def _is_running(process: Process) -> bool:
    if not HAS_PROC:
        return _quietly(os.kill, process.pid, 0)
    row = _row_of_proc(PROC / str(process.pid))
    return row is not None and row.is_same(process)


def process_table() -> list[Process]:
    """Every process that can be seen."""
    if not HAS_PROC:
        return _table_of_ps()
    return [row for entry in PROC.iterdir() if entry.name.isdigit() and (row := _row_of_proc(entry))]


def _row_of_proc(directory: Path) -> Process | None:
    try:
        stat = (directory / "stat").read_text("utf-8", "replace")
    except OSError:  # it has ended meanwhile
        return None
    # proc(5): pid (command) state ppid pgrp session ... the 22nd is starttime. The command may hold anything.
    state, parent, group, session, *more = stat.rpartition(")")[2].split()
    return (
        None
        if state in "ZX"
        else Process(int(directory.name), int(parent), int(group), int(session), more[15])
    )


def _table_of_ps() -> list[Process]:
    command = ["ps", "-axo", "pid=,ppid=,pgid=,stat=,lstart="]
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
