"""Many and fast terminals: what is kept, how often the listener is called, and that nothing is left behind."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
import pytest

from acp_tui.client.terminals import terminals as terminals_module
from acp_tui.client.terminals.pty import READ_BYTES, WAKE_BYTES, ReadBudget, TerminalSpawnFailed
from acp_tui.conversation.buffers import ByteRing
from support.waiting import LIMIT_S

if TYPE_CHECKING:
    from tests.client.terminals.conftest import Session

MB = 1_000_000
FLOOD = "import sys\nline = b'0123456789' * 100 + b'\\n'\nfor _ in range({lines}): sys.stdout.buffer.write(line)"
"""Prints 1001 bytes per line; the PTY adds a carriage return."""

pytestmark = pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="counts what /proc tells")


async def test_a_flood_of_20_mb_is_counted_whole_and_kept_to_the_limit(session: Session) -> None:
    pieces: list[int] = []
    kept = ByteRing(100_000)

    def take(_id: str, data: bytes) -> None:
        pieces.append(len(data))
        kept.append(data)

    session.on_output = take
    output = await session.run(sys.executable, "-c", FLOOD.format(lines=20 * MB // 1002), limit=50_000)
    assert sum(pieces) == kept.end == 20 * MB // 1002 * 1002
    assert len(output.output) <= 50_000
    assert output.truncated
    assert len(kept) == 100_000


async def test_a_flood_calls_the_listener_by_the_wake_and_not_by_the_read(session: Session) -> None:
    pieces: list[int] = []
    session.on_output = lambda _id, data: pieces.append(len(data))
    await session.run(sys.executable, "-c", FLOOD.format(lines=5 * MB // 1002))
    # The last is what remained when the command ended, and may be larger.
    assert max(pieces[:-1]) <= WAKE_BYTES + READ_BYTES


async def test_twenty_terminals_print_at_once_and_each_gets_its_own(session: Session) -> None:
    script = "i=0; while [ $i -lt 200 ]; do echo $0-$i; i=$((i+1)); done"
    with anyio.fail_after(LIMIT_S):
        ids = [await session.terminals.create("/bin/sh", ["-c", script, str(number)]) for number in range(20)]
        for terminal_id in ids:
            await session.terminals.get(terminal_id).wait_for_exit()
    for number, terminal_id in enumerate(ids):
        expected = "".join(f"{number}-{i}\r\n" for i in range(200))
        assert session.heard[terminal_id].decode() == expected


async def test_an_end_tells_how_long_the_command_ran(session: Session) -> None:
    terminal_id = await session.shell("sleep 0.1; exit 3")
    with anyio.fail_after(LIMIT_S):
        status = await session.terminals.get(terminal_id).wait_for_exit()
    assert status.seconds is not None
    assert 0.1 <= status.seconds < LIMIT_S


def test_terminals_that_flood_at_once_share_what_is_read_in_a_turn_of_the_loop() -> None:
    budget = ReadBudget()
    assert budget.for_each == WAKE_BYTES
    for fd in range(4):
        budget.note(fd, has_more=True)
    assert budget.for_each == WAKE_BYTES // 4
    for fd in range(100):
        budget.note(fd, has_more=True)
    assert budget.for_each == READ_BYTES
    for fd in range(100):
        budget.note(fd, has_more=False)
    assert budget.for_each == WAKE_BYTES


async def test_so_many_commands_run_at_once_and_no_more_until_one_ends(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(terminals_module, "MAX_RUNNING", 3)
    results: list[str | TerminalSpawnFailed] = []

    async def create() -> None:
        try:
            results.append(await session.terminals.create("sleep", ("100",)))
        except TerminalSpawnFailed as error:
            results.append(error)

    async with anyio.create_task_group() as tasks:
        for _ in range(8):
            tasks.start_soon(create)
    running = [each for each in results if isinstance(each, str)]
    assert len(running) == 3
    assert all("3 others are running" in str(each) for each in results if not isinstance(each, str))
    await session.terminals.get(running[0]).kill()
    assert await session.terminals.create("true")


async def test_what_terminals_keep_is_bounded_in_bytes_until_one_is_released(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(terminals_module, "MAX_KEPT_BYTES", 100_000)
    printing = ("-c", "head -c 60000 /dev/zero | tr '\\0' x")
    kept = [await session.terminals.create("sh", printing, output_limit_bytes=60_000) for _ in range(1)]
    await session.terminals.get(kept[0]).wait_for_exit()
    kept.append(await session.terminals.create("sh", printing, output_limit_bytes=60_000))
    await session.terminals.get(kept[1]).wait_for_exit()
    with pytest.raises(TerminalSpawnFailed, match="release some"):
        await session.terminals.create("true")
    await session.terminals.release(kept[0])
    assert await session.terminals.create("true")
