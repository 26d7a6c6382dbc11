"""Which processes belong together, according to the process table; and that no signal ever reaches a stranger."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest

from acp_tui.client.processes import table
from acp_tui.client.processes.table import (
    Process,
    below,
    children_of,
    is_running,
    process_table,
    row_of,
    session_of,
    signal_each,
    with_descendants,
)

LEADER = Process(100, 1, 100, 100, "t0")
CHILD = Process(101, 100, 100, 100, "t1")
JOB = Process(102, 1, 102, 100, "t2")  # its parent has ended; in its own group, but in the same session
DAEMON = Process(103, 101, 103, 103, "t3")  # setsid
OF_DAEMON = Process(104, 103, 104, 103, "t4")
STRANGER = Process(200, 1, 200, 200, "t5")
ALL = [OF_DAEMON, STRANGER, DAEMON, JOB, CHILD, LEADER]


@pytest.fixture
def sleeper() -> Iterator[Process]:
    """A process that does nothing."""
    with subprocess.Popen([sys.executable, "-I", "-S", "-c", "import signal; signal.pause()"]) as process:
        row = row_of(process.pid)
        assert row is not None
        yield row
        process.kill()


def test_a_session_is_its_leader_and_all_in_its_group_or_session() -> None:
    assert session_of(100, ALL) == [JOB, CHILD, LEADER]


def test_descendants_are_found_in_any_order_and_session() -> None:
    assert with_descendants([LEADER], ALL) == [OF_DAEMON, DAEMON, CHILD, LEADER]


@pytest.mark.skipif(not table.HAS_PROC, reason="without /proc, all processes are looked through")
@pytest.mark.parametrize("has_children", sorted({table.HAS_CHILDREN, False}))
def test_what_is_below_a_process_is_found_parents_first_without_what_is_spared(
    monkeypatch: pytest.MonkeyPatch, sleeper: Process, has_children: bool
) -> None:
    monkeypatch.setattr(table, "HAS_CHILDREN", has_children)
    with subprocess.Popen(["/bin/sh", "-c", "sleep 1000 & echo; wait"], stdout=subprocess.PIPE) as shell:
        assert shell.stdout is not None
        shell.stdout.readline()
        (sleep,) = children_of(shell.pid)
        rows = [row.pid for row in below(os.getpid(), lambda _: False)]
        assert {sleeper.pid, shell.pid, sleep} <= {*rows}
        assert rows.index(shell.pid) < rows.index(sleep)
        assert [row.pid for row in below(os.getpid(), lambda pid: pid in (shell.pid, sleeper.pid))] == [
            pid for pid in rows if pid not in (shell.pid, sleep, sleeper.pid)
        ]
        os.kill(sleep, signal.SIGKILL)


def test_a_number_that_is_used_again_is_another_process() -> None:
    assert Process(100, 7, 8, 9, "t0") == LEADER
    assert Process(100, 1, 100, 100, "later") != LEADER


@pytest.mark.parametrize("has_proc", sorted({table.HAS_PROC, False}))
def test_the_table_holds_this_process(monkeypatch: pytest.MonkeyPatch, has_proc: bool) -> None:
    monkeypatch.setattr(table, "HAS_PROC", has_proc)
    (row,) = [row for row in process_table() if row.pid == os.getpid()]
    assert (row.parent, row.group) == (os.getppid(), os.getpgrp())
    assert row.started
    assert repr(row_of(os.getpid())) == repr(row)
    assert is_running(row)


@pytest.mark.parametrize("can_hold", sorted({table.CAN_HOLD, False}))
@pytest.mark.skipif(not table.HAS_PROC, reason="tells two processes of one number apart by /proc")
def test_a_new_process_of_an_old_number_is_not_signalled(
    monkeypatch: pytest.MonkeyPatch, sleeper: Process, can_hold: bool
) -> None:
    monkeypatch.setattr(table, "CAN_HOLD", can_hold)
    signal_each([Process(sleeper.pid, sleeper.parent, sleeper.group, sleeper.session, "long ago")], signal.SIGKILL)
    assert is_running(sleeper)
    signal_each([sleeper], signal.SIGKILL)
    assert os.waitstatus_to_exitcode(os.waitpid(sleeper.pid, 0)[1]) == -signal.SIGKILL
