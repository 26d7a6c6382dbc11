"""The guardian: which processes it ends when its input closes, which it leaves alone, and when it exits itself."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TypeAlias

import psutil  # type: ignore[import-untyped]
import pytest

from acp_tui.client.processes import guardian
from acp_tui.client.processes.guard import Guard
from acp_tui.client.processes.guardian import Watched, end, obey
from acp_tui.client.processes.table import Process, row_of, signal_group
from support.agents import our_children
from support.waiting import LIMIT_S

STUBBORN = "import os, signal, sys\nfor n in (1, 2, 15): signal.signal(n, signal.SIG_IGN)\n"
SLEEP = "while True: signal.pause()\n"
ALONE = "print(flush=True)\n"
CHILD = "if os.fork() == 0:\n    print(os.getpid(), flush=True)\n"
DETACHED_CHILD = "if os.fork() == 0:\n    os.setsid()\n    print(os.getpid(), flush=True)\n"

Start: TypeAlias = Callable[[str], list[int]]


@pytest.fixture
def start() -> Iterator[Start]:
    """Starts a stubborn session leader that runs this code; returns the PIDs it prints on one line."""
    with ExitStack() as started:

        def run(code: str) -> list[int]:
            process = subprocess.Popen(
                [sys.executable, "-I", "-S", "-c", STUBBORN + code + SLEEP],
                stdout=subprocess.PIPE,
                start_new_session=True,
            )
            started.enter_context(process)
            started.callback(signal_group, process.pid, signal.SIGKILL)
            assert process.stdout is not None
            return [process.pid, *map(int, process.stdout.readline().split())]

        yield run


@pytest.fixture(autouse=True)
def no_grace(monkeypatch: pytest.MonkeyPatch) -> None:
    """The steps, without their waits."""
    for name in ("GRACE_S", "TERMINATE_GRACE_S"):
        monkeypatch.setattr(guardian, name, 0.0)


def watched(*orders: str) -> list[Watched]:
    known: dict[int, Watched] = {}
    for order in orders:
        obey(order.split(), known)
    return list(known.values())


def gone(pids: list[int]) -> bool:
    """Whether none of them is running."""
    return not any(map(row_of, pids))


def test_a_leader_that_ignores_every_signal_is_killed_with_its_group(start: Start) -> None:
    pids = start(CHILD)
    assert len(pids) == 2
    end(watched(f"watch {pids[0]} session"))
    assert gone(pids)


def test_a_descendant_in_a_session_of_its_own_ends_with_a_family_only(start: Start) -> None:
    leader, detached = start(DETACHED_CHILD)
    end(watched(f"watch {leader} session"))
    assert gone([leader])
    assert row_of(detached) is not None
    os.kill(detached, signal.SIGKILL)

    pids = start(DETACHED_CHILD)
    end(watched(f"watch {pids[0]} family"))
    assert gone(pids)


def test_what_its_leader_has_left_behind_is_ended(start: Start) -> None:
    leader, child = start(CHILD)
    (one,) = watched(f"watch {leader} session")
    os.kill(leader, signal.SIGKILL)
    os.waitpid(leader, 0)
    one.note_exit()
    end([one])
    assert gone([child])


def test_one_that_is_forgotten_is_left_alone(start: Start) -> None:
    (leader, _) = start(CHILD)
    end(watched(f"watch {leader} session", f"forget {leader}"))
    assert row_of(leader) is not None


LEADER = Process(100, 1, 100, 100, "t0")
LEFT = Process(101, 1, 100, 100, "t1")
STRANGER = Process(100, 1, 100, 100, "later")
OF_STRANGER = Process(102, 1, 100, 100, "later")


@pytest.fixture
def one(monkeypatch: pytest.MonkeyPatch) -> Watched:
    """Process 100, seen when it started."""
    monkeypatch.setattr(guardian, "row_of", lambda _: LEADER)
    return Watched(100, has_family=False)


def look(one: Watched, *table: Process) -> set[Process]:
    one.look(table)
    return set(one.known)


def test_a_leader_that_has_ended_together_with_acp_tui_is_followed_by_its_group(one: Watched) -> None:
    assert look(one, LEFT) == {LEFT}


def test_another_process_that_has_got_the_leaders_number_is_not_ours(one: Watched) -> None:
    assert look(one, STRANGER, OF_STRANGER) == set()


def test_a_group_is_ours_as_long_as_it_holds_a_known_process(one: Watched, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guardian, "process_table", lambda: [LEFT])
    one.note_exit()
    joined = Process(103, 101, 100, 100, "t3")
    assert look(one, LEFT, joined) == {LEFT, joined}
    assert look(one) == set()
    assert look(one, OF_STRANGER) == set()


# Our side


@pytest.fixture
def guard() -> Guard:
    return Guard()


def test_the_guardian_runs_while_there_is_something_to_guard(guard: Guard, start: Start) -> None:
    first, second = start(ALONE)[0], start(ALONE)[0]
    before = our_children()
    guard.watch(first, "session")
    guard.watch(second, "family")
    assert psutil.Process(guard.pid).terminal() is None
    guard.forget(first)
    assert guard.pid is not None
    guard.forget(second)
    assert guard.pid is None
    assert our_children() == before


def test_a_guardian_that_was_killed_is_replaced_by_one_that_knows_all(guard: Guard, start: Start) -> None:
    first, second = start(ALONE)[0], start(ALONE)[0]
    guard.watch(first, "session")
    killed = guard.pid
    assert killed is not None
    os.kill(killed, signal.SIGKILL)
    os.waitid(os.P_PID, killed, os.WEXITED | os.WNOWAIT)
    guard.watch(second, "session")
    assert guard.pid not in (None, killed)
    guard.forget(first)
    guard.forget(second)


def test_the_end_of_its_input_makes_the_guardian_end_those_and_itself(guard: Guard, start: Start) -> None:
    pids = start(CHILD)
    guard.watch(pids[0], "session")
    assert guard.process is not None
    assert guard.process.stdin is not None
    guard.process.stdin.close()
    assert guard.process.wait(LIMIT_S) == 0
    assert gone(pids)


def test_a_process_without_a_group_left_is_not_watched_any_more(guard: Guard, start: Start) -> None:
    leader = start(ALONE)[0]
    guard.watch(leader, "session")
    os.kill(leader, signal.SIGKILL)
    os.waitpid(leader, 0)
    guard.note_exit(leader)
    assert guard.pid is None


def test_the_guardian_loads_little_more_than_python_itself() -> None:
    script = "import acp_tui.client.processes.guardian, sys; print(*sys.modules)"
    path = f"import sys; sys.path.insert(0, {str(Path(guardian.__file__).parents[3])!r}); {script}"
    run = subprocess.run(
        [sys.executable, "-I", "-S", "-c", path], capture_output=True, text=True, check=True, timeout=60
    )
    assert {"collections", "contextlib", "enum", "pathlib", "typing"}.isdisjoint(run.stdout.split())
