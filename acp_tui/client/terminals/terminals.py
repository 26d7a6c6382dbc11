"""The terminals of one session, by id; what a terminal is, it leaves to Terminal."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Final

import anyio
from anyio import to_thread

from acp_tui.client.terminals.errors import TerminalsClosed, TerminalSpawnFailed, UnknownTerminal
from acp_tui.client.terminals.feeder import Feeder
from acp_tui.client.terminals.pty import ReadBudget
from acp_tui.client.terminals.spawning import CommandsIn, Order, changed_since, environment
from acp_tui.client.terminals.terminal import ExitStatus, Terminal, TerminalOutputSnapshot

DEFAULT_LIMIT_BYTES: Final = 1024 * 1024
FOLDER: Final[int] = os.O_DIRECTORY | os.O_CLOEXEC | getattr(os, "O_PATH", os.O_RDONLY)
MAX_LIMIT_BYTES: Final = 64 * 1024 * 1024
"""No agent makes us keep more than that, whatever limit it asks for."""

MAX_KEPT_BYTES: Final = 256 << 20
"""Of what all terminals of a session have printed, or may still print; an agent that needs more releases some."""
MAX_RUNNING: Final = 100
"""Commands at once in a session: each takes a process, a PTY and files of ours, and all agents share those."""


class Terminals:
    """Runs the commands of one session, each on a PTY of its own (ACP v1, terminals).

    `on_output`, `on_exit` and `on_waiting` (for input, or no longer) are called with a terminal's id on the event loop,
    never before `create` has returned that id. Every method but `create` and `close` raises UnknownTerminal for an id
    that is not, or no longer, ours.
    """

    def __init__(
        self,
        cwd: Path,
        *,
        base_env: Mapping[str, str] | None = None,
        on_output: Callable[[str, bytes], None],
        on_exit: Callable[[str, ExitStatus], None],
        on_waiting: Callable[[str, bool], None] | None = None,
        commands_in: CommandsIn = lambda words: (words,),
        default_limit_bytes: int = DEFAULT_LIMIT_BYTES,
        columns: int = 120,
        rows: int = 30,
    ) -> None:
        self._cwd = cwd
        self._base_env = os.environ if base_env is None else base_env
        self._on_output = on_output
        self._on_exit = on_exit
        self._on_waiting = on_waiting or (lambda _id, _is_waiting: None)
        self._commands_in = commands_in
        self._default_limit_bytes = default_limit_bytes
        self.size = (columns, rows)
        """Columns and rows of the terminals that are created from now on."""
        self._read_budget = ReadBudget()
        self._feeder = Feeder()
        self._terminals: dict[str, Terminal] = {}
        self._starting = 0
        self._is_closed = False

    async def create(
        self,
        command: str,
        args: Sequence[str] = (),
        env: Sequence[tuple[str, str]] = (),
        cwd: Path | None = None,
        output_limit_bytes: int | None = None,
    ) -> str:
        """Start a command, and give the id of its terminal as soon as it runs; `cwd` None is the session's.

        Without `args`, `command` may be a whole shell line. Raises TerminalSpawnFailed, TerminalsClosed.
        """
        directory = self._cwd if cwd is None else self._cwd / cwd
        try:
            folder = os.open(directory, FOLDER)
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else error
            raise TerminalSpawnFailed(command, f"working directory {str(directory)!r}: {reason}") from error
        try:
            order = await self.order(command, args, env, directory, folder)
            return await self.start(order, output_limit_bytes)
        finally:
            os.close(folder)

    async def order(
        self, command: str, args: Sequence[str], env: Sequence[tuple[str, str]], cwd: Path, folder: int
    ) -> Order:
        """What such a command would be now, in the directory that is open as `folder`, to be started later."""
        variables = environment(self._base_env, env)
        return await to_thread.run_sync(Order.now, command, args, variables, cwd, folder, self._commands_in)

    async def start(self, order: Order, output_limit_bytes: int | None = None) -> str:
        """As `create`, for an order; it is not run where one of its programs has changed since, or too many run."""
        running = self._starting + sum(terminal.is_running for terminal in self._terminals.values())
        if running >= MAX_RUNNING:
            raise TerminalSpawnFailed(
                order.command, f"{running} others run: wait for one to end, or kill one"
            )
        kept = sum(terminal.kept_bytes for terminal in self._terminals.values())
        if kept > MAX_KEPT_BYTES:
            raise TerminalSpawnFailed(
                order.command, f"the terminals before it keep up to {kept >> 20} MB of output: release some"
            )
        self._starting += 1
        try:
            return await self._start(order, output_limit_bytes)
        finally:
            self._starting -= 1

    async def _start(self, order: Order, output_limit_bytes: int | None) -> str:
        terminal_id = f"term_{secrets.token_hex(16)}"
        if changed := await to_thread.run_sync(order.change):
            raise TerminalSpawnFailed(order.command, changed_since(changed))
        terminal = self._open(terminal_id, order.command, output_limit_bytes)
        await terminal.start(order)
        if self._is_closed:  # meanwhile
            await terminal.close()
            raise TerminalsClosed(order.command)
        self._terminals[terminal_id] = terminal
        return terminal_id

    def output(self, terminal_id: str) -> TerminalOutputSnapshot:
        """What the command has printed so far, without waiting."""
        return self._get(terminal_id).output()

    async def wait_for_exit(self, terminal_id: str) -> ExitStatus:
        """Wait for the end of the command and of its output; any number may wait. A release settles it too."""
        return await self._get(terminal_id).wait_for_exit()

    async def kill(self, terminal_id: str) -> None:
        """End the command and what it started; the terminal stays. Takes a second at the most, as a rule."""
        await self._get(terminal_id).kill()

    async def release(self, terminal_id: str) -> None:
        """Forget the terminal now, and end what still runs in it."""
        terminal = self._get(terminal_id)
        del self._terminals[terminal_id]
        await terminal.close()

    def write(self, terminal_id: str, data: bytes) -> None:
        """Type `data` into the terminal; never blocks. Raises TerminalInputFull, where the program reads nothing."""
        self._get(terminal_id).write(data)

    def interrupt(self, terminal_id: str) -> None:
        """Press Ctrl+C in the terminal."""
        self._get(terminal_id).interrupt()

    def resize(self, terminal_id: str, columns: int, rows: int) -> None:
        """Give the terminal another size."""
        self._get(terminal_id).resize(columns, rows)

    async def close(self) -> None:
        """End everything that still runs, and start nothing more (R-TERM-13). May be called twice."""
        self._is_closed = True
        with anyio.CancelScope(shield=True):  # every close is bounded
            async with anyio.create_task_group() as tasks:
                while self._terminals:
                    tasks.start_soon(self._terminals.popitem()[1].close)
        self._feeder.close()

    def _open(self, terminal_id: str, command: str, limit_bytes: int | None) -> Terminal:
        if self._is_closed:
            raise TerminalsClosed(command)
        limit = self._default_limit_bytes if limit_bytes is None else limit_bytes
        columns, rows = self.size
        try:
            return Terminal(
                min(max(0, limit), MAX_LIMIT_BYTES),
                partial(self._on_output, terminal_id),
                partial(self._on_exit, terminal_id),
                partial(self._on_waiting, terminal_id),
                budget=self._read_budget,
                feeder=self._feeder,
                columns=columns,
                rows=rows,
            )
        except OSError as error:
            raise TerminalSpawnFailed(command, f"no terminal for it: {error.strerror or error}") from error

    def _get(self, terminal_id: str) -> Terminal:
        try:
            return self._terminals[terminal_id]
        except KeyError:
            raise UnknownTerminal(terminal_id) from None
