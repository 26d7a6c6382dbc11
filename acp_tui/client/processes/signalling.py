"""Signals to processes of ours and to their groups, and never to a stranger that has got the number of one."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterable
from contextlib import suppress
from typing import Final

from acp_tui.client.processes.table import HAS_PROC, Process, is_running


def _can_hold_processes() -> bool:
    try:
        os.close(os.pidfd_open(os.getpid()))
    except (AttributeError, OSError):  # not Linux, or an old one, or a sandbox that forbids it
        return False
    return HAS_PROC


_CAN_HOLD: Final = _can_hold_processes()


def signal_all(leader: int, processes: Iterable[Process], number: signal.Signals) -> None:
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
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, number)
        return True
    return False


def group_exists(leader: int) -> bool:
    """Whether any process, even one that nobody reaped, is in the group of `leader`.

    As long as one is, no other process gets its number.
    """
    return signal_group(leader, 0)


def signal_each(processes: Iterable[Process], number: signal.Signals) -> None:
    """Signal these, one by one; those that have ended are left out, whoever has got their number."""
    for process in processes:
        with suppress(ProcessLookupError, PermissionError):
            _signal(process, number)


def _signal(process: Process, number: signal.Signals) -> None:
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
