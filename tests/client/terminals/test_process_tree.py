"""Who belongs to a command, read from a process table."""

from __future__ import annotations

import os

import pytest

from acp_tui.client.terminals import process_tree
from acp_tui.client.terminals.process_tree import Process, family, group_exists, process_table

LEADER = Process(100, 1, 100, 100, "t0")
CHILD = Process(101, 100, 100, 100, "t1")
JOB = Process(102, 1, 102, 100, "t2")  # its parent ended; a group of its own in the same session
DAEMON = Process(103, 101, 103, 103, "t3")  # setsid
OF_DAEMON = Process(104, 103, 104, 103, "t4")
STRANGER = Process(200, 1, 200, 200, "t5")


def test_descendants_group_and_session_make_a_family_in_any_order() -> None:
    table = [OF_DAEMON, STRANGER, DAEMON, JOB, CHILD, LEADER]
    assert family(100, table) == [OF_DAEMON, DAEMON, JOB, CHILD, LEADER]


def test_the_family_of_a_leader_that_has_ended_is_what_shares_its_session() -> None:
    assert family(100, [STRANGER, JOB]) == [JOB]


def test_a_process_without_family_is_alone() -> None:
    assert family(200, [LEADER, CHILD, STRANGER]) == [STRANGER]


def test_a_number_that_is_used_again_is_another_process() -> None:
    assert LEADER.is_same(Process(100, 7, 8, 9, "t0"))
    assert not LEADER.is_same(Process(100, 1, 100, 100, "later"))


@pytest.mark.parametrize("has_proc", sorted({process_tree.HAS_PROC, False}))
def test_the_table_holds_this_process(monkeypatch: pytest.MonkeyPatch, has_proc: bool) -> None:
    monkeypatch.setattr(process_tree, "HAS_PROC", has_proc)
    (row,) = [row for row in process_table() if row.pid == os.getpid()]
    assert (row.parent, row.group) == (os.getppid(), os.getpgrp())
    assert row.started


def test_a_group_exists_while_it_has_members() -> None:
    assert group_exists(os.getpgrp())
    assert not group_exists(2**22 + 1)  # beyond the largest pid of Linux and of macOS
