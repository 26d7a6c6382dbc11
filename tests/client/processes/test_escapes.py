"""Whatever a command leaves behind ends with its terminal."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import TypeAlias

import anyio
import pytest
from anyio import to_thread

from acp_tui.client.processes.guard import guard
from acp_tui.client.terminals.terminals import Terminals
from support.processes import WAYS, Left
from support.waiting import LIMIT_S

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere, the system knows no foster parents")

End: TypeAlias = Callable[[Terminals, str], Awaitable[None]]


async def kill(terminals: Terminals, terminal_id: str) -> None:
    await terminals.get(terminal_id).kill()


async def close(terminals: Terminals, _id: str) -> None:
    await terminals.close()


async def release_without_guardian(terminals: Terminals, terminal_id: str) -> None:
    """Its keeper lives on."""
    assert guard.pid is not None
    os.kill(guard.pid, signal.SIGKILL)
    os.waitid(os.P_PID, guard.pid, os.WEXITED | os.WNOWAIT)
    await terminals.release(terminal_id)


ENDS: dict[str, End] = {
    "release": Terminals.release,
    "kill": kill,
    "close": close,
    "release without a guardian": release_without_guardian,
}


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("way", WAYS)
async def test_whatever_a_command_leaves_behind_ends_with_its_terminal(tmp_path: Path, way: str, end: str) -> None:
    left = Left(tmp_path, way)
    terminals = Terminals(tmp_path, on_output=lambda *_: None, on_exit=lambda *_: None)
    terminal_id = await terminals.create(left.argv[0], left.argv[1:])
    assert await to_thread.run_sync(left.is_up)
    with anyio.fail_after(LIMIT_S):
        await ENDS[end](terminals, terminal_id)
        assert await to_thread.run_sync(partial(left.is_gone, 20.0))
        await terminals.close()
