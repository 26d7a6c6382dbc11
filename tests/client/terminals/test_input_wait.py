"""A command that waits for input is told apart from one that works or waits for something else."""

from __future__ import annotations

import platform
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
import pytest

from acp_tui.client.terminals import pty
from acp_tui.client.terminals.pty import LONGEST_PAUSE_S, QUIET_S, InputWatch
from support.waiting import LIMIT_S, Bell

if TYPE_CHECKING:
    from tests.client.terminals.conftest import Session

pytestmark = pytest.mark.skipif(
    not (Path("/proc/self/syscall").exists() and platform.machine() in ("x86_64", "aarch64")),
    reason="only the Linux kernel tells what a process waits for",
)


@pytest.fixture(autouse=True)
def _looks_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pty, "QUIET_S", 0.02)


class Ears:
    """Hears from every terminal whether it waits."""

    def __init__(self, session: Session) -> None:
        self.heard: list[bool] = []
        self._bell = Bell()
        session.on_waiting = self._hear

    def _hear(self, _id: str, is_waiting: bool) -> None:
        self.heard.append(is_waiting)
        self._bell.ring()

    async def until(self, *expected: bool) -> None:
        await self._bell.until(lambda: self.heard == [*expected], lambda: str(self.heard))


@pytest.mark.parametrize(
    "script",
    [
        "read answer",
        "printf 'Password: '; stty -echo; read answer",
        "sh -c 'sh -c \"cat\"'",
        f"{sys.executable} -c 'input()'",
        f"{sys.executable} -c 'open(\"/dev/tty\").readline()'",
    ],
)
async def test_a_command_that_reads_the_terminal_is_said_to_wait(session: Session, script: str) -> None:
    ears = Ears(session)
    await session.shell(script)
    await ears.until(True)


async def test_it_waits_no_longer_when_something_is_typed(session: Session) -> None:
    ears = Ears(session)
    terminal_id = await session.shell("read answer; echo got $answer; read another")
    await ears.until(True)
    session.terminals.get(terminal_id).write(b"yes\n")
    await ears.until(True, False, True)
    assert b"got yes" in session.heard[terminal_id]


@pytest.mark.parametrize("script", ["sleep 100", "mkfifo pipe; exec <pipe; cat"])
async def test_a_command_that_waits_for_something_else_is_not(session: Session, script: str) -> None:
    looks: list[bool] = []
    looked = anyio.Event()
    real = pty.waits_for_input

    def look(*args: int | str) -> bool:
        looks.append(real(*args))  # type: ignore[arg-type]
        if len(looks) == 3:
            looked.set()
        return looks[-1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("acp_tui.client.terminals.pty.waits_for_input", look)
        await session.shell(script)
        with anyio.fail_after(LIMIT_S):
            await looked.wait()
    assert not any(looks)


class FakeLoop:
    """Time that advances only when a test says so."""

    def __init__(self) -> None:
        self.now = 0.0
        self.timers: list[tuple[float, Callable[[], None]]] = []

    def time(self) -> float:
        return self.now

    def call_later(self, pause_s: float, callback: Callable[[], None]) -> FakeTimer:
        timer = (self.now + pause_s, callback)
        self.timers.append(timer)
        return FakeTimer(self, timer)

    def run_to(self, when: float) -> None:
        while self.timers and self.timers[0][0] <= when:
            self.now, callback = self.timers.pop(0)
            callback()
        self.now = when


class FakeTimer:
    def __init__(self, loop: FakeLoop, timer: tuple[float, Callable[[], None]]) -> None:
        self._loop, self._timer = loop, timer

    def cancel(self) -> None:
        self._loop.timers.remove(self._timer)


def watch(monkeypatch: pytest.MonkeyPatch, waits: Callable[[], bool]) -> tuple[InputWatch, FakeLoop, list[bool]]:
    monkeypatch.setattr(pty, "QUIET_S", QUIET_S)
    loop, told = FakeLoop(), list[bool]()
    monkeypatch.setattr(pty.asyncio, "get_running_loop", lambda: loop)
    return InputWatch(waits, told.append), loop, told


def test_a_silent_command_is_looked_at_ever_more_rarely(monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[float] = []
    watched, loop, told = watch(monkeypatch, lambda: bool(looks.append(loop.now)))
    watched.note_sign_of_life()
    loop.run_to(32)
    assert looks == [1, 2, 4, 8, 16, 24, 32]
    assert looks[-1] - looks[-2] == LONGEST_PAUSE_S
    assert told == []


def test_a_command_that_prints_is_not_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    watched, loop, told = watch(monkeypatch, lambda: True)
    for tenth in range(50):
        loop.run_to(tenth / 10)
        watched.note_sign_of_life()
    assert told == []
    assert len(loop.timers) == 1


def test_no_timer_runs_while_a_command_waits_or_after_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    watched, loop, told = watch(monkeypatch, lambda: True)
    watched.note_sign_of_life()
    loop.run_to(10)
    assert (told, loop.timers) == ([True], [])
    watched.note_sign_of_life()
    assert told == [True, False]
    watched.stop()
    assert loop.timers == []
