"""Terminals as a session uses them: output, exits, kills, and releases of real processes."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
import anyio.lowlevel
import pytest

from acp_tui.client.terminals.pty import MAX_WAITING_BYTES, TerminalInputFull, TerminalSpawnFailed, UnknownTerminal
from acp_tui.client.terminals.terminals import Terminals
from acp_tui.conversation.updates import TerminalExit
from support.waiting import LIMIT_S

if TYPE_CHECKING:
    from tests.client.terminals.conftest import Session

HAS_PROC = Path("/proc/self/fd").exists()


async def ended(pid: int) -> None:
    """Wait until the process is gone, or is a zombie that someone else must reap."""
    with anyio.fail_after(LIMIT_S):
        while _runs(pid):
            await anyio.lowlevel.checkpoint()


def _runs(pid: int) -> bool:
    state = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False).stdout
    return bool(state.strip()) and not state.startswith("Z")


def _number_after(text: bytes | bytearray, label: bytes) -> int:
    return int(text.partition(label)[2].split()[0])


async def test_output_and_exit_code_are_told_to_agent_and_listener(session: Session) -> None:
    snapshot = await session.run("/bin/sh", "-c", "echo out; echo err >&2; exit 3")
    assert snapshot.output == "out\nerr\n"
    assert not snapshot.truncated
    assert snapshot.exit_status == TerminalExit(3, None)
    ((terminal_id, status),) = session.exits
    assert status == TerminalExit(3, None)
    assert session.heard[terminal_id] == b"out\r\nerr\r\n"


async def test_create_returns_before_the_command_ends_and_output_does_not_wait(session: Session) -> None:
    terminal_id = await session.shell("echo ready; read line")
    await session.until_heard(terminal_id, b"ready")
    snapshot = session.terminals.get(terminal_id).output()
    assert (snapshot.output, snapshot.exit_status) == ("ready\n", None)


async def test_nothing_is_told_of_a_terminal_before_its_id_is_known(session: Session) -> None:
    terminal_id = await session.shell("echo early")
    assert session.heard == {}
    with anyio.fail_after(LIMIT_S):
        await session.terminals.get(terminal_id).wait_for_exit()
    assert session.heard == {terminal_id: b"early\r\n"}


async def test_ids_are_long_and_differ(session: Session) -> None:
    ids = {await session.shell("true") for _ in range(3)}
    assert len(ids) == 3
    assert all(len(terminal_id) >= 32 for terminal_id in ids)


async def test_a_terminal_of_another_session_is_unknown(session: Session, tmp_path: Path) -> None:
    terminal_id = await session.shell("true")
    other = Terminals(tmp_path, on_output=lambda *_: None, on_exit=lambda *_: None)
    with pytest.raises(UnknownTerminal, match=terminal_id):
        other.get(terminal_id)


async def test_several_waiters_get_the_same_exit_and_late_ones_get_it_at_once(session: Session) -> None:
    terminal_id = await session.shell("read line; exit 7")
    statuses = []

    async def wait() -> None:
        statuses.append(await session.terminals.get(terminal_id).wait_for_exit())

    with anyio.fail_after(LIMIT_S):
        async with anyio.create_task_group() as tasks:
            for _ in range(3):
                tasks.start_soon(wait)
            await anyio.wait_all_tasks_blocked()
            session.terminals.get(terminal_id).write(b"go\n")
    await wait()
    assert statuses == [TerminalExit(7, None)] * 4
    assert len(session.exits) == 1


async def test_a_cancelled_waiter_leaves_the_terminal_alone(session: Session) -> None:
    terminal_id = await session.shell("read line; exit 4")
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(session.terminals.get(terminal_id).wait_for_exit)
        await anyio.wait_all_tasks_blocked()
        tasks.cancel_scope.cancel()
    session.terminals.get(terminal_id).write(b"\n")
    with anyio.fail_after(LIMIT_S):
        assert await session.terminals.get(terminal_id).wait_for_exit() == TerminalExit(4, None)


async def test_killed_by_a_signal_has_its_name_and_no_code(session: Session) -> None:
    snapshot = await session.run("/bin/sh", "-c", "kill -KILL $$")
    assert snapshot.exit_status == TerminalExit(None, "SIGKILL")


async def test_what_is_typed_reaches_the_command(session: Session) -> None:
    terminal_id = await session.terminals.create("cat")
    session.terminals.get(terminal_id).write("grüß\n".encode())
    session.terminals.get(terminal_id).write(b"\x04")
    with anyio.fail_after(LIMIT_S):
        await session.terminals.get(terminal_id).wait_for_exit()
    assert session.terminals.get(terminal_id).output().output == "grüß\ngrüß\n"


async def test_typing_more_than_the_pty_takes_neither_blocks_nor_loses(session: Session) -> None:
    lines = b"".join(b"%060d\n" % number for number in range(10_000))
    script = "import sys; print('ready', flush=True); print(sum(map(int, sys.stdin.read().split())))"
    terminal_id = await session.terminals.create(
        "/bin/sh", ["-c", 'stty -echo; exec "$@"', "-", sys.executable, "-c", script]
    )
    await session.until_heard(terminal_id, b"ready")
    session.terminals.get(terminal_id).write(lines + b"\x04")
    with anyio.fail_after(LIMIT_S):
        await session.terminals.get(terminal_id).wait_for_exit()
    assert session.terminals.get(terminal_id).output().output == "ready\n49995000\n"


async def test_what_is_typed_into_a_command_that_reads_nothing_is_bounded(session: Session) -> None:
    terminal_id = await session.shell("stty raw -echo; echo ready; sleep 1000")
    await session.until_heard(terminal_id, b"ready")
    paste = b"x" * MAX_WAITING_BYTES
    session.terminals.get(terminal_id).write(paste)  # one of any size, if nothing waits
    with pytest.raises(TerminalInputFull, match="isn't reading"):
        session.terminals.get(terminal_id).write(paste)


async def test_an_interrupt_takes_the_place_of_what_waits_to_be_read(session: Session) -> None:
    terminal_id = await session.shell("trap 'echo interrupted; exit' INT; echo ready; while :; do sleep 0.1; done")
    await session.until_heard(terminal_id, b"ready")
    with pytest.raises(TerminalInputFull):
        while True:
            session.terminals.get(terminal_id).write(b"x" * MAX_WAITING_BYTES)
    session.terminals.get(terminal_id).interrupt()
    await session.until_heard(terminal_id, b"interrupted")


async def test_typing_into_a_command_that_has_ended_is_ignored(session: Session) -> None:
    terminal_id = await session.shell("true")
    with anyio.fail_after(LIMIT_S):
        await session.terminals.get(terminal_id).wait_for_exit()
    session.terminals.get(terminal_id).write(b"hello?")
    session.terminals.get(terminal_id).resize(10, 10)


async def test_a_resize_is_seen_by_the_command(session: Session) -> None:
    terminal_id = await session.shell("trap 'stty size; exit' WINCH; echo ready; while :; do read line; done")
    await session.until_heard(terminal_id, b"ready")
    session.terminals.get(terminal_id).resize(99, 7)
    await session.until_heard(terminal_id, b"7 99")


async def test_characters_split_between_reads_stay_whole(session: Session) -> None:
    terminal_id = await session.shell(r"stty -echo; printf '\342\202'; read line; printf '\254!'")
    await session.until_heard(terminal_id, b"\xe2\x82")
    assert session.terminals.get(terminal_id).output().output == ""
    session.terminals.get(terminal_id).write(b"\n")
    with anyio.fail_after(LIMIT_S):
        await session.terminals.get(terminal_id).wait_for_exit()
    assert session.terminals.get(terminal_id).output().output.replace("\n", "") == "€!"


@pytest.mark.parametrize(("limit", "expected"), [(0, ""), (1, ""), (2, ""), (3, "€"), (5, "€"), (6, "€€"), (9, "€€€")])
async def test_the_limit_counts_bytes_and_cuts_between_characters(session: Session, limit: int, expected: str) -> None:
    snapshot = await session.run("printf", "€€€", limit=limit)
    assert snapshot.output == expected
    assert snapshot.truncated == (limit < 9)


async def test_markers_for_bad_bytes_count_into_the_limit(session: Session) -> None:
    snapshot = await session.run("/bin/sh", "-c", r"printf '\377\377\377\377'", limit=4)
    assert (snapshot.output, snapshot.truncated) == ("\ufffd", True)


async def test_a_flood_is_read_to_its_end_and_kept_to_the_limit(session: Session) -> None:
    size = 20_000_000
    snapshot = await session.run(f"head -c {size} /dev/zero | tr '\\0' x; echo done", limit=10_000)
    ((terminal_id, status),) = session.exits
    assert status == TerminalExit(0, None)
    assert snapshot.truncated
    assert snapshot.output.endswith("xdone\n")
    assert len(snapshot.output) == 9_999  # the PTY ends a line with two bytes
    assert len(session.heard[terminal_id]) == size + len(b"done\r\n")


async def test_a_grandchild_that_keeps_the_pty_does_not_hold_up_the_exit(session: Session) -> None:
    terminal_id = await session.shell("trap '' HUP; sleep 1000 & echo pid $!; exit 5")
    with anyio.fail_after(LIMIT_S):
        assert await session.terminals.get(terminal_id).wait_for_exit() == TerminalExit(5, None)
    sleeper = _number_after(session.heard[terminal_id], b"pid ")
    assert _runs(sleeper)
    with anyio.fail_after(LIMIT_S):
        await session.terminals.release(terminal_id)
    await ended(sleeper)


async def test_kill_ends_the_command_and_leaves_output_and_status(session: Session) -> None:
    terminal_id = await session.shell("echo before; sleep 1000")
    await session.until_heard(terminal_id, b"before")
    with anyio.fail_after(LIMIT_S):
        await session.terminals.get(terminal_id).kill()
        await session.terminals.get(terminal_id).kill()
        status = await session.terminals.get(terminal_id).wait_for_exit()
    assert status == TerminalExit(None, "SIGTERM")
    assert session.terminals.get(terminal_id).output().output == "before\n"
    assert session.terminals.get(terminal_id).output().exit_status == status


async def test_kill_ends_one_that_ignores_every_signal_it_can(session: Session) -> None:
    terminal_id = await session.shell("trap '' TERM HUP INT; echo ready; while :; do sleep 1000; done")
    await session.until_heard(terminal_id, b"ready")
    with anyio.fail_after(LIMIT_S):
        await session.terminals.get(terminal_id).kill()
    assert session.terminals.get(terminal_id).output().exit_status == TerminalExit(None, "SIGKILL")


async def test_kill_ends_a_stopped_command(session: Session) -> None:
    terminal_id = await session.shell("echo ready; kill -STOP $$")
    await session.until_heard(terminal_id, b"ready")
    with anyio.fail_after(LIMIT_S):
        await session.terminals.get(terminal_id).kill()
    assert session.terminals.get(terminal_id).output().exit_status is not None


async def test_kill_ends_a_descendant_that_left_for_a_session_of_its_own(session: Session) -> None:
    code = (
        "import os, signal, time\n"
        "os.setsid()\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "print('pid', os.getpid(), '.', flush=True)\n"
        "time.sleep(1000)\n"
    )
    terminal_id = await session.terminals.create("/bin/sh", ["-c", '"$@" & wait', "-", sys.executable, "-c", code])
    await session.until_heard(terminal_id, b".")
    runaway = _number_after(session.heard[terminal_id], b"pid ")
    with anyio.fail_after(LIMIT_S):
        await session.terminals.get(terminal_id).kill()
    await ended(runaway)


async def test_release_kills_settles_waiters_and_forgets_the_id(session: Session) -> None:
    terminal_id = await session.shell("echo pid $$; sleep 1000")
    await session.until_heard(terminal_id, b"pid")
    statuses = []

    async def wait() -> None:
        statuses.append(await session.terminals.get(terminal_id).wait_for_exit())

    with anyio.fail_after(LIMIT_S):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(wait)
            await anyio.wait_all_tasks_blocked()
            await session.terminals.release(terminal_id)
    assert statuses == [TerminalExit(None, "SIGTERM")]
    assert session.exits == [(terminal_id, statuses[0])]
    await ended(_number_after(session.heard[terminal_id], b"pid "))
    with pytest.raises(UnknownTerminal):
        session.terminals.get(terminal_id).output()
    with pytest.raises(UnknownTerminal):
        await session.terminals.get(terminal_id).wait_for_exit()
    with pytest.raises(UnknownTerminal):
        await session.terminals.get(terminal_id).kill()
    with pytest.raises(UnknownTerminal):
        await session.terminals.release(terminal_id)
    with pytest.raises(UnknownTerminal):
        session.terminals.get(terminal_id).write(b"x")


async def test_a_cancelled_release_still_ends_the_command(session: Session) -> None:
    terminal_id = await session.shell("echo pid $$; sleep 1000")
    await session.until_heard(terminal_id, b"pid")
    with anyio.CancelScope() as scope:
        scope.cancel()
        await session.terminals.release(terminal_id)
    assert [status for _, status in session.exits] == [TerminalExit(None, "SIGTERM")]


async def test_close_ends_everything_and_starts_nothing_more(session: Session) -> None:
    terminal_ids = [await session.shell("echo pid $$; sleep 1000") for _ in range(3)]
    for terminal_id in terminal_ids:
        await session.until_heard(terminal_id, b"pid")
    with anyio.fail_after(LIMIT_S):
        await session.terminals.close()
    assert sorted(terminal_id for terminal_id, _ in session.exits) == sorted(terminal_ids)
    for heard in session.heard.values():
        await ended(_number_after(heard, b"pid "))
    with pytest.raises(TerminalSpawnFailed, match=r"echo.*has ended"):
        await session.terminals.create("echo", ["hello"])


async def test_closing_while_a_command_starts_leaves_none(session: Session) -> None:
    with anyio.fail_after(LIMIT_S):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_expect_closed, session)
            await anyio.lowlevel.checkpoint()  # the launcher is running
            await session.terminals.close()
    assert all(status.signal == "SIGTERM" for _, status in session.exits)


async def _expect_closed(session: Session) -> None:
    with pytest.raises(TerminalSpawnFailed):
        await session.shell("sleep 1000")


@pytest.mark.skipif(not HAS_PROC, reason="counts what /proc shows")
async def test_thirty_terminals_leave_no_process_thread_or_file_descriptor(session: Session) -> None:
    async def cycle(script: str) -> None:
        with anyio.fail_after(LIMIT_S):
            terminal_id = await session.shell(script)
            if script == "echo hello":
                await session.terminals.get(terminal_id).wait_for_exit()
            await session.terminals.release(terminal_id)

    await cycle("sleep 1000")  # opens what is kept for reuse
    before = _left_behind()
    for number in range(30):
        await cycle(("true", "echo hello", "sleep 1000")[number % 3])
    assert _left_behind() == before


def _left_behind() -> tuple[int, int, int]:
    children = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    threads = [thread for thread in threading.enumerate() if thread.name != "AnyIO worker thread"]  # kept for reuse
    for thread in threads:
        if thread.name.startswith(("waitpid", "asyncio")):
            thread.join(LIMIT_S)
    return len(children), sum(thread.is_alive() for thread in threads), len(list(Path("/proc/self/fd").iterdir()))


async def test_other_subprocesses_of_the_loop_are_reaped_by_their_owners(session: Session) -> None:
    with anyio.fail_after(LIMIT_S):
        async with await anyio.open_process(["sh", "-c", "exit 9"]) as other:
            snapshot = await session.run("/bin/sh", "-c", "exit 8")
            assert await other.wait() == 9
    assert snapshot.exit_status == TerminalExit(8, None)
