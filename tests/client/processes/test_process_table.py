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
    family,
    group_exists,
    is_running,
    process_table,
    row_of,
    session_of,
    signal_each,
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


def test_descendants_group_and_session_make_a_family_in_any_order() -> None:
    assert family(100, ALL) == [OF_DAEMON, DAEMON, JOB, CHILD, LEADER]


def test_the_family_of_a_leader_that_has_ended_is_what_shares_its_session() -> None:
    assert family(100, [STRANGER, JOB]) == [JOB]


def test_a_process_without_family_is_alone() -> None:
    assert family(200, [LEADER, CHILD, STRANGER]) == [STRANGER]


def test_a_number_that_is_used_again_is_another_process() -> None:
    assert LEADER.is_same(Process(100, 7, 8, 9, "t0"))
    assert not LEADER.is_same(Process(100, 1, 100, 100, "later"))


@pytest.mark.parametrize("has_proc", sorted({table.HAS_PROC, False}))
def test_the_table_holds_this_process(monkeypatch: pytest.MonkeyPatch, has_proc: bool) -> None:
    monkeypatch.setattr(table, "HAS_PROC", has_proc)
    (row,) = [row for row in process_table() if row.pid == os.getpid()]
    assert (row.parent, row.group) == (os.getppid(), os.getpgrp())
    assert row.started
    assert row_of(os.getpid()) == row
    assert is_running(row)


def test_a_group_exists_while_it_has_members() -> None:
    assert group_exists(os.getpgrp())
    assert not group_exists(2**22 + 1)  # above the largest PID of Linux and macOS


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
