"""The terminals of one session, by ID. Terminal implements each one."""

from __future__ import annotations

import asyncio
import os
import re
import secrets
import signal
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

import anyio
from anyio import to_thread

from acp_tui.client.processes import inherited
from acp_tui.client.processes.guard import Guarded
from acp_tui.client.terminals import pty
from acp_tui.client.terminals.emulator import Emulator, load_emulator, make_emulator
from acp_tui.client.terminals.feeder import Feeder
from acp_tui.client.terminals.spawning import SpawnPlan, changed_since, environment, spawn
from acp_tui.conversation.buffers import ByteRing, from_character_boundary
from acp_tui.conversation.plain_text import plain_text
from acp_tui.conversation.updates import TerminalExit
from acp_tui.protocol.roles import TerminalSnapshot

if TYPE_CHECKING:
    from acp_tui.client.sandbox.sandbox import Sandbox

RECENT_BYTES: Final = 64 * 1024
"""More than fills a screen. Earlier output doesn't affect the cursor."""
LONGEST_QUESTION: Final = 32
"""Bytes of a query that arrived before the rest of it."""
_QUESTION: Final = re.compile(
    rb"\x1b(?!\[[\d;]*m)(?:"  # most sequences are colors
    rb"\[[?>=]?[\d;]*[cntx]"  # attributes, cursor, sizes
    rb"|\[\?[\d;]*\$p|\[[\d;]*\$p"  # modes
    rb"|\[>\d*q|\[\?u"  # version, keyboard
    rb"|\][\d;]+;\?"  # colors
    rb"|P[$+]q|Z"
    rb")"
)


class Answerer:
    """Follows one terminal's output and answers its queries with `reply`. Call everything on the event loop."""

    def __init__(self, columns: int, rows: int, feeder: Feeder, reply: Callable[[bytes], None]) -> None:
        self._size = columns, rows
        self._feeder = feeder
        self._reply = reply
        self._recent = ByteRing(RECENT_BYTES)
        """What to feed an emulator first."""
        self._is_loading = False
        self._emulator: Emulator | None = None

    def take(self, data: bytes) -> None:
        if self._emulator is not None:
            self._feed(self._emulator, data)
            return
        self._recent.append(data)
        if not self._is_loading and _QUESTION.search(self._recent.read(len(data) + LONGEST_QUESTION)):
            self._is_loading = True
            self._feeder.run(load_emulator, self._on_loaded)

    def resize(self, columns: int, rows: int) -> None:
        self._size = columns, rows
        if self._emulator is not None:
            self._emulator.resize(columns, rows)

    def close(self) -> None:
        """Stop answering. May be called twice."""
        self._is_loading = True  # never load again
        self._recent = ByteRing(0)
        if self._emulator is not None:
            self._emulator.close()
            self._emulator = None

    def _on_loaded(self) -> None:
        if self._recent.limit_bytes:
            self._emulator = make_emulator(*self._size, 0)
            self._feed(self._emulator, self._recent.read())
            self._recent = ByteRing(0)

    def _feed(self, emulator: Emulator, data: bytes) -> None:
        emulator.feed(data)
        if replies := emulator.take_replies():
            self._reply(replies)


TERMINAL_BYTES: Final = 8 << 10
"""The memory a terminal takes besides its output."""
DRAIN_GRACE_S: Final = 0.25
"""How long an exit waits for the end of the output if a grandchild still has the PTY open (R-TERM-8)."""
REAP_LIMIT_S: Final = 2.0
"""How long a kill waits for the system to end a process. One that waits for a dead disk may never end."""


class Terminal:
    """A command that runs, or has run, on its own PTY."""

    def __init__(self, owner: Terminals, terminal_id: str, limit_bytes: int) -> None:
        self._ring = ByteRing(limit_bytes)
        self._on_output = partial(owner.on_output, terminal_id)
        self._on_exit = partial(owner.on_exit, terminal_id)
        self._pty = pty.Pty(self._take, self._on_pty_end, owner.read_budget, *owner.size)
        self._watch = pty.InputWatch(self._waits_for_input, partial(owner.on_waiting, terminal_id))
        self._answerer = Answerer(*owner.size, owner.feeder, self._answer)
        self._child: Guarded | None = None
        self._started_at = 0.0
        self._ran_s: float | None = None
        self._exit_status: TerminalExit | None = None
        self._exited = anyio.Event()
        self._grace: asyncio.TimerHandle | None = None
        self._plain: tuple[tuple[int, bool], str] | None = None

    async def start(self, plan: SpawnPlan) -> None:
        """Start the command. Raises TerminalSpawnFailed; the terminal is then closed and can't be used."""
        # Before the start: on a busy machine, the command may run before this task continues.
        self._started_at = asyncio.get_running_loop().time()
        try:
            self._child = await spawn(plan, self._pty.slave)
        except BaseException:
            self._pty.close()
            raise
        self._pty.start()
        self._watch.note_sign_of_life()
        self._child.when_exited(self._on_child_exit)

    @property
    def is_running(self) -> bool:
        """Whether its end hasn't been reported yet."""
        return self._exit_status is None

    @property
    def kept_bytes(self) -> int:
        """The size of its kept output, including what may still arrive while it runs, and of the terminal itself."""
        return TERMINAL_BYTES + (self._ring.limit_bytes if self.is_running else len(self._ring))

    def output(self) -> TerminalSnapshot:
        """What it has printed so far, without waiting (R-TERM-4)."""
        text = self._plain_text()
        # The markers for invalid bytes are longer than the bytes, so the text may exceed the limit of the ring.
        encoded = text.encode()
        excess = len(encoded) - self._ring.limit_bytes
        if excess > 0:
            text = from_character_boundary(encoded[excess:]).decode()
        return TerminalSnapshot(text, excess > 0 or self._ring.dropped > 0, self._exit_status)

    async def wait_for_exit(self) -> TerminalExit:
        """Wait until the command has ended and its output is complete."""
        await self._exited.wait()
        assert self._exit_status is not None
        return self._exit_status

    def write(self, data: bytes) -> None:
        """Type `data` into it. Never blocks. Raises TerminalInputFull."""
        self._pty.write(data)
        if self._exit_status is None:
            self._watch.note_sign_of_life()

    def interrupt(self) -> None:
        """Press Ctrl+C in it. Drops earlier input that hasn't been read, as terminals do."""
        self._pty.forget_typed()
        self.write(b"\x03")

    def resize(self, columns: int, rows: int) -> None:
        self._pty.resize(columns, rows)
        self._answerer.resize(columns, rows)

    def _answer(self, replies: bytes) -> None:
        with suppress(pty.TerminalInputFull):  # a program that asks without reading doesn't need the answer
            self._pty.write(replies)

    async def kill(self) -> None:
        """End the command and everything it started. Output and exit status remain (R-TERM-9)."""
        with anyio.CancelScope(shield=True):  # bounded by the grace period and the limit
            with anyio.move_on_after(REAP_LIMIT_S):
                if self._child is not None:
                    self._child.end()
                    await self._child.ended.wait()
                await self._exited.wait()

    async def close(self) -> None:
        """Kill it and free everything. Tasks waiting for the exit get it now (R-TERM-10)."""
        try:
            await self.kill()
            if self._exit_status is None:  # not even SIGKILL ended it
                self._finish(TerminalExit(None, signal.SIGKILL.name))
        finally:
            self._answerer.close()
            self._pty.close()

    def _take(self, data: bytes) -> None:
        self._ring.append(data)
        if self._exit_status is None:
            self._watch.note_sign_of_life()
        self._on_output(data)
        if self._exit_status is None:
            self._answerer.take(data)

    def _waits_for_input(self) -> bool:
        child = self._child
        return child is not None and child.exit_code is None and self._pty.waits_for_input(child.pid)

    def _plain_text(self) -> str:
        """The output as text, cached because agents ask repeatedly even if nothing happens."""
        state = (self._ring.end, self._exit_status is not None)
        if self._plain is None or self._plain[0] != state:
            self._plain = (state, plain_text(self._ring.read(), is_complete=state[1]))
        return self._plain[1]

    def _on_pty_end(self) -> None:
        if self._child is not None and self._child.exit_code is not None:
            self._settle()

    def _on_child_exit(self) -> None:
        self._ran_s = asyncio.get_running_loop().time() - self._started_at
        if self._pty.has_ended:
            self._settle()
        else:
            self._grace = asyncio.get_running_loop().call_later(DRAIN_GRACE_S, self._settle)

    def _settle(self) -> None:
        """Finish: the command has ended, and its output is complete or took too long."""
        assert self._child is not None
        assert self._child.exit_code is not None
        if self._exit_status is None:
            self._pty.drain()
            self._finish(_exit_status(self._child.exit_code, self._ran_s))

    def _finish(self, status: TerminalExit) -> None:
        if self._exit_status is not None:  # the drain reached the end and settled
            return
        if self._grace is not None:
            self._grace.cancel()
        self._watch.stop()
        self._answerer.close()
        self._exit_status = status
        self._exited.set()
        self._on_exit(status)


def _exit_status(code: int, seconds: float | None) -> TerminalExit:
    if code >= 0:
        return TerminalExit(code, None, seconds)
    try:
        return TerminalExit(None, signal.Signals(-code).name, seconds)
    except ValueError:  # a real-time signal without a name
        return TerminalExit(None, f"SIG{-code}", seconds)


DEFAULT_LIMIT_BYTES: Final = 1024 * 1024
FOLDER: Final[int] = os.O_DIRECTORY | os.O_CLOEXEC | getattr(os, "O_PATH", os.O_RDONLY)
MAX_LIMIT_BYTES: Final = 64 * 1024 * 1024
"""We never keep more than that, whatever limit an agent requests."""

MAX_KEPT_BYTES: Final = 256 << 20
"""For everything that all terminals of a session have printed or may still print.

An agent that needs more has to release some.
"""
MAX_RUNNING: Final = 100
"""Concurrent commands in a session. Each takes a process, a PTY, and files of ours, which all agents share."""


class Terminals:
    """Runs the commands of one session, each on its own PTY (ACP v1, terminals).

    `on_output` gets each piece of output as it arrives. `on_exit` is called once, after all output. `on_waiting` is
    called when the command begins to wait for input, and when it stops waiting, at the latest when it exits. They are
    called on the event loop with a terminal's ID, never before `create` has returned that ID. `get` and `release` raise
    UnknownTerminal for an ID that isn't ours, or no longer is.
    """

    def __init__(
        self,
        cwd: Path,
        *,
        on_output: Callable[[str, bytes], None],
        on_exit: Callable[[str, TerminalExit], None],
        on_waiting: Callable[[str, bool], None] | None = None,
    ) -> None:
        self._cwd = cwd
        self.on_output = on_output
        self.on_exit = on_exit
        self.on_waiting = on_waiting or (lambda _id, _is_waiting: None)
        self.size = (120, 30)
        """Columns and rows of terminals created from now on."""
        self.read_budget = pty.ReadBudget()
        self.feeder = Feeder()
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
        """Start a command and return the ID of its terminal as soon as it runs. `cwd` None is the session's.

        Without `args`, `command` may be a whole shell command line. Raises TerminalSpawnFailed.
        """
        directory = self._cwd if cwd is None else self._cwd / cwd
        try:
            folder = os.open(directory, FOLDER)
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else error
            raise pty.TerminalSpawnFailed(command, f"working directory {str(directory)!r}: {reason}") from error
        try:
            plan = await self.plan(command, args, env, directory, folder)
            return await self.start(plan, output_limit_bytes)
        finally:
            os.close(folder)

    async def plan(
        self,
        command: str,
        args: Sequence[str],
        env: Sequence[tuple[str, str]],
        cwd: Path,
        folder: int,
        sandbox: Sandbox | None = None,
    ) -> SpawnPlan:
        """An order for such a command as it is now, in the directory open as `folder`, to start later."""
        variables = environment(inherited() if sandbox is None else sandbox.box.environment, env)
        plan = SpawnPlan(command, tuple(args), variables, cwd, folder, sandbox=sandbox)
        return await to_thread.run_sync(plan.with_programs)

    async def start(self, plan: SpawnPlan, output_limit_bytes: int | None = None) -> str:
        """Like `create`, for a plan. Fails if one of its programs has changed since, or if too many commands run."""
        running = self._starting + sum(terminal.is_running for terminal in self._terminals.values())
        if running >= MAX_RUNNING:
            raise pty.TerminalSpawnFailed(
                plan.command, f"{running} others are running: wait for one to end, or kill one"
            )
        kept = sum(terminal.kept_bytes for terminal in self._terminals.values())
        if kept > MAX_KEPT_BYTES:
            raise pty.TerminalSpawnFailed(
                plan.command, f"earlier terminals keep up to {kept >> 20} MB of output: release some"
            )
        self._starting += 1
        try:
            return await self._start(plan, output_limit_bytes)
        finally:
            self._starting -= 1

    async def _start(self, plan: SpawnPlan, output_limit_bytes: int | None) -> str:
        terminal_id = f"term_{secrets.token_hex(16)}"
        if changed := await to_thread.run_sync(plan.change):
            raise pty.TerminalSpawnFailed(plan.command, changed_since(changed))
        terminal = self._open(terminal_id, plan.command, output_limit_bytes)
        await terminal.start(plan)
        if self._is_closed:  # closed while starting
            await terminal.close()
            raise pty.TerminalSpawnFailed(plan.command, pty.CLOSED)
        self._terminals[terminal_id] = terminal
        return terminal_id

    def get(self, terminal_id: str) -> Terminal:
        try:
            return self._terminals[terminal_id]
        except KeyError:
            raise pty.UnknownTerminal(terminal_id) from None

    async def release(self, terminal_id: str) -> None:
        """Forget the terminal now, and end what still runs in it."""
        terminal = self.get(terminal_id)
        del self._terminals[terminal_id]
        await terminal.close()

    async def close(self) -> None:
        """End everything that still runs, and start nothing more (R-TERM-13). May be called twice."""
        self._is_closed = True
        with anyio.CancelScope(shield=True):  # every close is bounded
            async with anyio.create_task_group() as tasks:
                while self._terminals:
                    tasks.start_soon(self._terminals.popitem()[1].close)
        self.feeder.close()

    def _open(self, terminal_id: str, command: str, limit_bytes: int | None) -> Terminal:
        if self._is_closed:
            raise pty.TerminalSpawnFailed(command, pty.CLOSED)
        limit = DEFAULT_LIMIT_BYTES if limit_bytes is None else limit_bytes
        try:
            return Terminal(self, terminal_id, min(max(0, limit), MAX_LIMIT_BYTES))
        except OSError as error:
            raise pty.TerminalSpawnFailed(command, f"no terminal for it: {error.strerror or error}") from error
