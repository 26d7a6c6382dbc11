"""Ends a command and all that it has started; whom to guard meanwhile is `guard`'s business."""

from __future__ import annotations

import signal
from typing import Final

import anyio
import anyio.to_thread

from acp_tui.client.processes.table import Process, family, is_running, process_table, signal_all

POLL_S: Final = 0.01


async def terminate(leader: int, *, grace_s: float) -> None:
    """End the family of `leader`: SIGTERM, and SIGKILL to what is left of it after `grace_s`.

    `leader` is the first process of a session; it may have ended, if its group has not.
    """
    asked = await anyio.to_thread.run_sync(_family, leader)
    signal_all(leader, asked, signal.SIGTERM)
    with anyio.move_on_after(grace_s):
        while any(map(is_running, asked)):
            await anyio.sleep(POLL_S)
    left = await anyio.to_thread.run_sync(_survivors, leader, asked)
    signal_all(leader, left, signal.SIGKILL)


def _family(leader: int) -> list[Process]:
    return family(leader, process_table())


def _survivors(leader: int, asked: list[Process]) -> list[Process]:
    """Those of `asked` that are still there, and whoever has joined the family since."""
    table = process_table()
    known = {row.pid: row for row in asked}
    remaining = [row for row in table if row.pid in known and row.is_same(known[row.pid])]
    return [*remaining, *(row for row in family(leader, table) if row not in remaining)]
