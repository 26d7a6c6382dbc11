"""Processes that are led into a sandbox: they end, and are told of, as others are."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import anyio
import pytest

from acp_tui.client.processes.guard import Confinement, Guard, Guarded, Order, StartFailed
from acp_tui.client.processes.table import children_of
from support.waiting import LIMIT_S

BWRAP = shutil.which("bwrap") or ""
LEADS_IN = (BWRAP, "--unshare-user", "--unshare-pid", "--bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--")
WORKS = bool(BWRAP) and subprocess.run((*LEADS_IN, "true"), capture_output=True, check=False).returncode == 0

pytestmark = pytest.mark.skipif(not WORKS, reason="bubblewrap isn't installed, or this system refuses it")


@pytest.fixture
def guard() -> Iterator[Guard]:
    guard = Guard()
    yield guard
    guard.end()


async def start(guard: Guard, output: Path, *words: str, way: tuple[str, ...] = LEADS_IN, data: bytes = b"") -> Guarded:
    """Start a program behind `way`, with its output in a file."""
    order = Order([(words[0], None, words)], dict(os.environ), 0.0, LIMIT_S, confinement=Confinement(way, data))
    with ExitStack() as opened:
        files = [os.open("/", os.O_RDONLY), os.open(os.devnull, os.O_RDWR), os.open(output, os.O_WRONLY | os.O_CREAT)]
        for fd in files:
            opened.callback(os.close, fd)
        folder, null, out = files
        guarded = guard.start(order, folder, [null, out, out])
    with anyio.fail_after(LIMIT_S):
        await guarded.follow(asyncio.get_running_loop())
    return guarded


async def until_written(file: Path, text: str) -> None:
    with anyio.fail_after(LIMIT_S):
        while text not in file.read_text("utf-8"):
            await anyio.lowlevel.checkpoint()


async def until_ended(guarded: Guarded) -> int | None:
    with anyio.fail_after(LIMIT_S):
        await guarded.ended.wait()
    return guarded.exit_code


async def test_the_exit_code_is_that_of_the_program(guard: Guard, tmp_path: Path) -> None:
    guarded = await start(guard, tmp_path / "out", "/bin/sh", "-c", "echo $0 $1; exit 3", "a b")
    assert await until_ended(guarded) == 3
    assert (tmp_path / "out").read_text("utf-8") == "a b\n"


@pytest.mark.parametrize(("mode", "reason"), [(None, "No such file or directory"), (0o644, "Permission denied")])
async def test_a_program_that_cannot_run_is_told_of_as_without_a_sandbox(
    guard: Guard, tmp_path: Path, mode: int | None, reason: str
) -> None:
    program = tmp_path / "program"
    if mode is not None:
        program.touch(mode)
    with pytest.raises(StartFailed, match=reason) as failed:
        await start(guard, tmp_path / "out", str(program))
    assert failed.value.what == "program"


async def test_a_signal_that_is_handled_inside_does_not_look_like_an_end(guard: Guard, tmp_path: Path) -> None:
    script = "trap 'echo handled; exit 5' INT; echo ready; while :; do sleep 0.01; done"
    guarded = await start(guard, tmp_path / "out", "/bin/sh", "-c", script)
    await until_written(tmp_path / "out", "ready")

    os.killpg(guarded.pid, signal.SIGINT)  # as Ctrl+C in a terminal does, to what leads in, too

    assert await until_ended(guarded) == 5
    assert "handled" in (tmp_path / "out").read_text("utf-8")


async def test_a_program_has_its_time_to_end(guard: Guard, tmp_path: Path) -> None:
    script = "trap 'echo saved; exit 0' TERM; echo ready; while :; do sleep 0.01; done"
    guarded = await start(guard, tmp_path / "out", "/bin/sh", "-c", script)
    await until_written(tmp_path / "out", "ready")

    guarded.end()

    await until_ended(guarded)
    assert "saved" in (tmp_path / "out").read_text("utf-8")


async def test_nothing_outlives_the_program(guard: Guard, tmp_path: Path) -> None:
    guarded = await start(guard, tmp_path / "out", "/bin/sh", "-c", "setsid sleep 1000 & setsid sleep 1000 & exit 0")
    keepers = children_of(guard.pid or 0)
    with anyio.fail_after(LIMIT_S):
        await guarded.exited.wait()
    guarded.end()
    await until_ended(guarded)
    assert not [child for keeper in keepers for child in children_of(keeper)]


async def test_the_program_gets_no_files_but_its_streams(guard: Guard, tmp_path: Path) -> None:
    way = (BWRAP, "--args", "{fd}", "--")
    data = b"".join(word.encode() + b"\0" for word in LEADS_IN[1:-1])
    guarded = await start(guard, tmp_path / "out", "/bin/sh", "-c", "ls /proc/$$/fd", way=way, data=data)
    assert await until_ended(guarded) == 0
    assert {*(tmp_path / "out").read_text("utf-8").split()} <= {
        "0",
        "1",
        "2",
        "10",
        "255",
    }  # a shell keeps its script's
