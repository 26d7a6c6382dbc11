"""Runs an agent's own login on the user's terminal.

The agent chooses arguments and variables for it. So an agent in a sandbox logs in there, too, on a terminal of its own
that the user's only shows: a program that has the user's terminal could type commands into the shell below.
"""

from __future__ import annotations

import asyncio
import fcntl
import os
import select
import signal
import subprocess
import termios
import tty
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

import anyio

from acp_tui.client.agents.command import AgentCommand
from acp_tui.client.agents.starting import find_program, sandboxed, start_of
from acp_tui.client.errors import AgentStartFailed
from acp_tui.client.processes import inherited
from acp_tui.client.processes.guard import Guarded, Order, StartFailed, guard
from acp_tui.values import dataclass

if TYPE_CHECKING:
    from acp_tui.client.agents.command import SandboxPlan

GRACE_S: Final = 0.5
SIZE_EVERY_S: Final = 0.25
"""How often its terminal gets the size of the user's."""
DRAIN_S: Final = 0.25
"""How long to wait for more of what it printed, if something else still has its terminal open."""
NOT_STARTED: Final = 126
CHUNK: Final = 1 << 16


@dataclass(frozen=True, slots=True)
class TerminalLogin:
    agent: AgentCommand
    command: AgentCommand
    """The agent's, with the arguments of the login."""
    env: Mapping[str, str]
    """The variables of the login, which the agent chose."""
    folder: Path | None
    """Where the agent's sessions work."""
    plan: SandboxPlan | None
    """What it runs in; None for no sandbox."""

    def run(self) -> int:
        """Run it on the terminal of this process, which nothing else may use, and return its exit status. Blocks."""
        # Ctrl+C belongs to the program in the terminal. It would inherit SIG_IGN, but not a handler.
        before = signal.signal(signal.SIGINT, lambda *_: None)
        try:
            if self.plan is None:
                return subprocess.call(self.command.argv, env={**inherited(), **self.command.env})
            return self._run_in(self.plan)
        except OSError as error:
            return error.errno or 1
        except (AgentStartFailed, StartFailed):
            return NOT_STARTED  # starting the agent again fails for the same reason, and says it
        finally:
            signal.signal(signal.SIGINT, before)

    def _run_in(self, plan: SandboxPlan) -> int:
        sandbox = sandboxed(self.agent, self.folder, plan)
        assert sandbox is not None
        try:
            start = start_of(self.command, self.folder)
            program = find_program(self.agent, start.env.get("PATH"))
            way = sandbox.way_into(start.folder, self.env)
            runs = [(program, None, (program, *start.args))]
            order = Order(runs, way.environment, 0.0, GRACE_S, is_on_terminal=True, confinement=way.confinement)
            with ThreadPoolExecutor(1) as thread:  # a loop may be running in this one
                return thread.submit(asyncio.run, _shown(order, start.folder)).result()
        finally:
            sandbox.box.discard()


async def _shown(order: Order, folder: Path) -> int:
    """Run a program on a terminal of its own, show that on the user's, and return the exit status."""
    ours = os.open("/dev/tty", os.O_RDWR | os.O_CLOEXEC)
    master, slave = os.openpty()
    try:
        _fit(master, ours)
        where = os.open(folder, os.O_DIRECTORY)
        try:
            child = guard.start(order, where, (slave, slave, slave))
        finally:
            os.close(where)
            os.close(slave)
        await child.follow(asyncio.get_running_loop())
        try:
            return await _relayed(child, master, ours)
        finally:
            child.end()
            with anyio.CancelScope(shield=True):
                await child.ended.wait()
    finally:
        os.close(master)
        os.close(ours)


async def _relayed(child: Guarded, master: int, ours: int) -> int:
    """Pass on what is typed and what is printed until the program has ended."""
    loop, before = asyncio.get_running_loop(), termios.tcgetattr(ours)
    tty.setraw(ours)
    loop.add_reader(ours, _pass_on, ours, master)
    loop.add_reader(master, _pass_on, master, ours)
    try:
        while not child.exited.is_set():
            _fit(master, ours)
            with anyio.move_on_after(SIZE_EVERY_S):
                await child.exited.wait()
    finally:
        loop.remove_reader(ours)
        loop.remove_reader(master)
        # The end of what was printed may come after the end of the program.
        while select.select([master], [], [], DRAIN_S)[0] and _pass_on(master, ours):
            pass
        termios.tcsetattr(ours, termios.TCSADRAIN, before)
    return child.exit_code or 0


def _pass_on(source: int, to: int) -> bool:
    """Return whether there was something. Nothing is, once nobody has the terminal open."""
    with suppress(OSError):
        data = os.read(source, CHUNK)
        os.write(to, data)
        return bool(data)
    return False


def _fit(terminal: int, ours: int) -> None:
    with suppress(OSError):
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, fcntl.ioctl(ours, termios.TIOCGWINSZ, bytes(8)))
