"""The guardian and its keepers: what they end, what they leave alone, and what happens if they are killed."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import anyio
import anyio.lowlevel
import psutil  # type: ignore[import-untyped]
import pytest

from acp_tui.client.processes import guard as guard_module
from acp_tui.client.processes import guardian, keeper
from acp_tui.client.processes.guard import Guard, Guarded, Order, StartFailed
from acp_tui.client.processes.keeper import Known, is_spared
from acp_tui.client.processes.table import Process, row_of
from support.processes import Left
from support.waiting import LIMIT_S

needs_linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux has foster parents")
SLEEP = shutil.which("sleep") or ""


@pytest.fixture
def guard() -> Iterator[Guard]:
    guard = Guard()
    yield guard
    guard.end()


async def start(
    guard: Guard, *words: str, patience_s: float = 0.0, grace_s: float = 0.1, spares_browsers: bool = False
) -> Guarded:
    """Start a program without streams."""
    order = Order([(words[0], None, words)], dict(os.environ), patience_s, grace_s, spares_browsers=spares_browsers)
    guarded = start_unfollowed(guard, order)
    with anyio.fail_after(LIMIT_S):
        await guarded.follow(asyncio.get_running_loop())
    return guarded


def start_unfollowed(guard: Guard, order: Order) -> Guarded:
    """Start it without streams, too."""
    with ExitStack() as opened:
        folder, null = os.open("/", os.O_RDONLY), os.open(os.devnull, os.O_RDWR)
        for fd in (folder, null):
            opened.callback(os.close, fd)
        return guard.start(order, folder, [null] * 3)


async def left_by(guard: Guard, left: Left) -> Guarded:
    """Start what leaves something, and return when that is there."""
    guarded = await start(guard, *left.argv)
    assert await anyio.to_thread.run_sync(left.is_up)
    return guarded


def keeper_of(guard: Guard) -> int:
    """The process ID of its only keeper."""
    (keeper,) = psutil.Process(guard.pid).children()
    return int(keeper.pid)


async def is_gone(left: Left) -> bool:
    return await anyio.to_thread.run_sync(left.is_gone)


async def ended(guarded: Guarded) -> int | None:
    """Wait until nothing is left; return its exit code."""
    with anyio.fail_after(LIMIT_S):
        await guarded.ended.wait()
    return guarded.exit_code


async def test_one_guardian_without_a_terminal_serves_all(guard: Guard) -> None:
    assert guard.pid is None
    one, pid = await start(guard, SLEEP, "1000"), guard.pid
    other = await start(guard, SLEEP, "1000")
    assert guard.pid == pid
    assert psutil.Process(pid).terminal() is None
    one.end()
    assert await ended(one) == -signal.SIGTERM
    assert row_of(other.pid) is not None


async def test_its_end_is_the_end_of_all_that_it_has_started(guard: Guard, tmp_path: Path) -> None:
    left = Left(tmp_path, "a command that stays itself")
    guarded = await left_by(guard, left)
    await anyio.to_thread.run_sync(guard.end)
    assert guard.pid is None
    assert await is_gone(left)
    assert await ended(guarded) == -signal.SIGKILL


async def test_a_process_that_leaves_nothing_takes_its_keeper_along(guard: Guard) -> None:
    assert await ended(await start(guard, "/bin/sh", "-c", "exit 7")) == 7
    assert guard.pid is not None
    with anyio.fail_after(LIMIT_S):
        while psutil.Process(guard.pid).children():
            await anyio.lowlevel.checkpoint()


def large_order(file: Path) -> Order:
    """More than a socket takes at once: creates the file if all of its environment arrives."""
    variables = {f"LARGE{number}": str(number) * 100_000 for number in range(10)}
    every = "".join(f"${name}" for name in variables)
    words = ("/bin/sh", "-c", f'test "$(printf %s "{every}" | wc -c)" -eq 1000000 && : > "$0"', str(file))
    return Order([("/bin/sh", None, words)], {**os.environ, **variables}, 0.0, 0.1)


async def test_an_order_of_any_size_arrives_whole(guard: Guard, tmp_path: Path) -> None:
    guarded = start_unfollowed(guard, large_order(tmp_path / "made"))
    with anyio.fail_after(LIMIT_S):
        await guarded.follow(asyncio.get_running_loop())
    assert await ended(guarded) == 0
    assert (tmp_path / "made").exists()


async def test_an_order_that_has_not_arrived_whole_starts_nothing_when_it_ends(guard: Guard, tmp_path: Path) -> None:
    guarded = start_unfollowed(guard, large_order(tmp_path / "made"))
    with anyio.fail_after(LIMIT_S):
        await anyio.to_thread.run_sync(guarded.end_unfollowed)
    assert not (tmp_path / "made").exists()


async def test_a_keeper_killed_before_its_order_has_arrived_is_told(guard: Guard, tmp_path: Path) -> None:
    guarded = start_unfollowed(guard, large_order(tmp_path / "made"))
    with anyio.fail_after(LIMIT_S):
        while not psutil.Process(guard.pid).children():
            await anyio.lowlevel.checkpoint()
        os.kill(keeper_of(guard), signal.SIGKILL)
        with pytest.raises(StartFailed, match="its guardian was killed"):
            await guarded.follow(asyncio.get_running_loop())
    assert not (tmp_path / "made").exists()


async def test_what_cannot_be_started_is_told_with_its_reason_and_leaves_nothing(guard: Guard) -> None:
    with pytest.raises(StartFailed, match="No such file") as caught:
        await start(guard, "/no/such/program")
    assert (caught.value.what, caught.value.number) == ("program", 2)


async def test_it_ends_by_itself_if_it_can_and_is_not_signalled(guard: Guard, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "input")
    script = f"trap 'exit 9' TERM; read line < {tmp_path}/input; exit 3"
    guarded = await start(guard, "/bin/sh", "-c", script, patience_s=LIMIT_S)
    with (tmp_path / "input").open("wb"):  # it reads now
        guarded.end()
    assert await ended(guarded) == 3


async def test_a_stopped_process_is_asked_to_end_too(guard: Guard) -> None:
    guarded = await start(guard, SLEEP, "1000", grace_s=LIMIT_S)
    os.kill(guarded.pid, signal.SIGSTOP)
    guarded.end()
    assert await ended(guarded) == -signal.SIGTERM


@needs_linux
async def test_if_its_keeper_is_killed_the_guardian_kills_what_it_has_kept(guard: Guard, tmp_path: Path) -> None:
    left = Left(tmp_path, "a child of a thread")
    guarded = await left_by(guard, left)
    os.kill(keeper_of(guard), signal.SIGKILL)
    assert await is_gone(left)
    assert await ended(guarded) == -signal.SIGKILL


async def test_if_the_guardian_is_killed_keepers_go_on_and_another_guardian_comes(guard: Guard, tmp_path: Path) -> None:
    left = Left(tmp_path, "a command that stays itself")
    guarded, killed = await left_by(guard, left), guard.pid
    assert killed is not None
    os.kill(killed, signal.SIGKILL)
    os.waitid(os.P_PID, killed, os.WEXITED | os.WNOWAIT)
    other = await start(guard, SLEEP, "1000")
    assert guard.pid not in (None, killed)
    assert guarded.exit_code is None
    for each in (guarded, other):
        each.end()
        await ended(each)
    assert await is_gone(left)


async def test_a_stopped_guardian_starts_the_next_one(guard: Guard) -> None:
    await start(guard, SLEEP, "1000")
    assert guard.pid is not None
    os.kill(guard.pid, signal.SIGSTOP)
    assert await ended(await start(guard, "/bin/sh", "-c", "exit 4")) == 4


async def test_a_keeper_and_a_guardian_that_are_stopped_end_all_the_same(guard: Guard, tmp_path: Path) -> None:
    left = Left(tmp_path, "a command that stays itself")
    guarded = await left_by(guard, left)
    keeper = keeper_of(guard)
    assert guard.pid is not None
    os.kill(guard.pid, signal.SIGSTOP)
    os.kill(keeper, signal.SIGSTOP)
    guarded.end()
    assert await is_gone(left)


# Browsers


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program named like a browser. Someone else seems to own it, also to a guardian."""
    shutil.copy(SLEEP, tmp_path / "firefox")
    others = "os.getuid = lambda: 12345; os.access = lambda *_: False"
    monkeypatch.setattr(guard_module, "MAIN", guard_module.MAIN.replace("it.main()", f"import os; {others}; it.main()"))
    return tmp_path / "firefox"


@needs_linux
@pytest.mark.parametrize(("spares", "is_left"), [(True, True), (False, False)])
async def test_only_a_browser_of_an_agent_runs_on(guard: Guard, installed: Path, spares: bool, is_left: bool) -> None:
    pid_file = installed.with_name("pid")
    # Its parent is gone, and something else has to be killed.
    stubborn = f"(trap '' TERM; exec {SLEEP} 1000) &"
    script = f"{stubborn} ({installed} 1000 & echo $! > {pid_file}.new; mv {pid_file}.new {pid_file}); wait"
    guarded = await start(guard, "/bin/sh", "-c", script, spares_browsers=spares)
    with anyio.fail_after(LIMIT_S):
        while not pid_file.exists():
            await anyio.lowlevel.checkpoint()
        browser = int(pid_file.read_text())
        while psutil.Process(browser).exe() != str(installed):  # it's still the shell's fork
            await anyio.lowlevel.checkpoint()
    guarded.end()
    await ended(guarded)
    await anyio.to_thread.run_sync(guard.end)
    assert (row_of(browser) is not None) == is_left
    if is_left:
        os.kill(browser, signal.SIGKILL)


@needs_linux
@pytest.mark.parametrize(
    ("name", "is_ours", "expected"), [("firefox", False, True), ("firefox", True, False), ("sleep", False, False)]
)
def test_a_browser_is_named_like_one_and_belongs_to_someone_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, is_ours: bool, expected: bool
) -> None:
    shutil.copy(SLEEP, tmp_path / name)
    if not is_ours:
        monkeypatch.setattr(keeper.os, "getuid", lambda: 12345)
        monkeypatch.setattr(keeper.os, "access", lambda *_: False)
    with subprocess.Popen([tmp_path / name, "1000"]) as process:
        assert is_spared(process.pid) == expected
        process.kill()


# Where nothing can be adopted, as on macOS


@pytest.fixture
def without_adoption(monkeypatch: pytest.MonkeyPatch) -> None:
    """The system says that it has no such thing, and files on their way must stay open."""
    is_denied = "import acp_tui.client.processes.keeper as keeper; keeper.prctl = None; it.ACKNOWLEDGES = True"
    monkeypatch.setattr(guard_module, "ACKNOWLEDGES", True)
    monkeypatch.setattr(guard_module, "MAIN", guard_module.MAIN.replace("it.main()", f"{is_denied}; it.main()"))


@pytest.mark.usefixtures("without_adoption")
@pytest.mark.parametrize("way", ["nohup", "a job of its own", "a command that stays itself", "a child of a thread"])
async def test_elsewhere_the_session_and_the_living_parents_descendants_end(
    guard: Guard, tmp_path: Path, way: str
) -> None:
    left = Left(tmp_path, way)
    guarded = await left_by(guard, left)
    guarded.end()
    assert await is_gone(left)
    await ended(guarded)


LEADER = Process(100, 1, 100, 100, "t0")
LEFT = Process(101, 1, 100, 100, "t1")
STRANGER = Process(100, 1, 100, 100, "later")
OF_STRANGER = Process(102, 1, 100, 100, "later")


class Looked:
    """`Known` with this table, and a leader that ends when told."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.table: list[Process] = [LEADER]
        self.has_ended = False
        monkeypatch.setattr(keeper.table, "row_of", lambda _: LEADER)
        monkeypatch.setattr(keeper.table, "process_table", lambda: self.table)
        monkeypatch.setattr(keeper.os, "waitpid", lambda pid, _: (pid if self.has_ended else 0, 0))
        self.known = Known(100)

    def look(self, *table: Process) -> set[Process]:
        self.table = [*table]
        self.known.reap()
        return set(self.known.processes)


def test_a_group_is_known_as_long_as_it_has_a_known_process(monkeypatch: pytest.MonkeyPatch) -> None:
    looked = Looked(monkeypatch)
    looked.has_ended = True
    assert looked.look(LEFT) == {LEFT}
    joined = Process(103, 101, 100, 100, "t3")
    assert looked.look(LEFT, joined) == {LEFT, joined}
    assert not looked.known.is_empty
    assert looked.look() == set()
    assert looked.known.is_empty
    assert looked.look(STRANGER, OF_STRANGER) == set()


def test_the_guardian_loads_little_more_than_python_itself() -> None:
    script = "import acp_tui.client.processes.guardian, sys; print(*sys.modules)"
    path = f"import sys; sys.path.insert(0, {str(Path(guardian.__file__).parents[3])!r}); {script}"
    run = subprocess.run(
        [sys.executable, "-I", "-S", "-c", path], capture_output=True, text=True, check=True, timeout=60
    )
    assert {"collections", "contextlib", "enum", "pathlib", "socket", "typing"}.isdisjoint(run.stdout.split())
