"""Our side of the guardian: starts it with the first process to guard, and tells it what runs.

Also ends whole commands.

One guardian serves all of acp-tui. Nothing here blocks longer than starting or reaping a process takes, except
`terminate`, which ends a command and everything it has started.
"""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Final, Literal, TypeAlias

import anyio
import anyio.to_thread

from acp_tui.client.processes.table import Process, family, group_exists, is_running, process_table, signal_all

log = logging.getLogger(__name__)

Scope: TypeAlias = Literal["session", "family"]
"""What ends with a process: its group and session, or also its descendants in other sessions."""

_PACKAGES: Final = Path(__file__).parents[3]
_MAIN: Final = "import sys; sys.path.insert(0, sys.argv[1]); import acp_tui.client.processes.guardian as it; it.main()"


class Guard:
    """Makes sure that its processes end when acp-tui ends without ending them."""

    def __init__(self) -> None:
        self._watched: dict[int, Scope] = {}
        self.process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int | None:
        """The guardian's process ID; None while there is nothing to guard."""
        return None if self.process is None else self.process.pid

    def watch(self, leader: int, scope: Scope) -> None:
        """Guard a process that leads a session, from now on."""
        self._watched[leader] = scope
        self._tell(f"watch {leader} {scope}\n")
        if self.process is None:
            self._start()

    def note_exit(self, leader: int) -> None:
        """The process was reaped. What is left of its group is still guarded."""
        if not group_exists(leader):
            self.forget(leader)
        elif leader in self._watched:
            self._tell(f"exited {leader}\n")

    def forget(self, leader: int) -> None:
        """Nothing is left of the process. A guardian with nothing to guard ends."""
        if self._watched.pop(leader, None) is not None:
            self._tell(f"forget {leader}\n")
            if not self._watched:
                self._end()

    def _start(self) -> None:
        # -I and -S keep the user's directory and environment out of it. It starts in 20 ms, in parallel.
        command = [sys.executable, "-I", "-S", "-c", _MAIN, str(_PACKAGES)]
        try:
            self.process = subprocess.Popen(
                command,
                bufsize=0,
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd="/",
                start_new_session=True,  # signals for our group or terminal aren't meant for it
            )
        except OSError as error:
            log.warning("no guardian could be started: if acp-tui is killed, agents may live on (%s)", error)
            return
        assert self.process.stdin is not None
        os.set_blocking(self.process.stdin.fileno(), False)
        self._tell("".join(f"watch {leader} {scope}\n" for leader, scope in self._watched.items()))

    def _tell(self, orders: str) -> None:
        if self.process is not None and self.process.stdin is not None:
            try:
                self.process.stdin.write(orders.encode())
            except (
                BrokenPipeError
            ):  # it was killed; the next process that starts brings another one, which guards everything
                self._end()

    def _end(self) -> None:
        if self.process is not None:
            guardian, self.process = self.process, None
            guardian.kill()
            guardian.communicate()  # closes the pipe and reaps it


guard: Final = Guard()
"""The guard of this process."""


POLL_S: Final = 0.01


async def terminate(leader: int, *, grace_s: float) -> None:
    """End the family of `leader`: SIGTERM, then SIGKILL for what is left after `grace_s`.

    `leader` is the first process of a session. It may have ended if its group hasn't.
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
    """Those of `asked` that still exist, and processes that have joined the family since."""
    table = process_table()
    known = {row.pid: row for row in asked}
    remaining = [row for row in table if row.pid in known and row.is_same(known[row.pid])]
    return [*remaining, *(row for row in family(leader, table) if row not in remaining)]
