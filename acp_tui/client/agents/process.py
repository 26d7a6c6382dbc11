"""An agent's process: started in a group of its own, stderr drained and kept, ended for certain."""

from __future__ import annotations

import errno
import shutil
import signal
import subprocess
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Final

import anyio
from anyio.abc import ByteStream, Process
from anyio.streams.stapled import StapledByteStream

from acp_tui.client.agents.command import AgentCommand
from acp_tui.client.agents.starting import start_of
from acp_tui.client.errors import AgentNotFound, AgentNotRunnable
from acp_tui.client.processes.guard import guard
from acp_tui.client.processes.signalling import signal_group
from acp_tui.conversation.buffers import ByteRing

STDERR_KEPT_BYTES: Final = 64 << 10
STDIN_CLOSE_S: Final = 0.2
"""What is still to be written into a pipe that nobody reads does not hold the end up."""
CLOSE_GRACE_S: Final = 1.0
TERMINATE_GRACE_S: Final = 1.5


class AgentProcess:
    """A running agent; made by `running_agent`."""

    def __init__(self, process: Process, on_stderr: Callable[[bytes], None]) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self._process = process
        self._on_stderr = on_stderr
        self._stderr = ByteRing(STDERR_KEPT_BYTES)
        self._stderr_ended = anyio.Event()
        self.stream: ByteStream = StapledByteStream(process.stdin, process.stdout)
        """The agent's stdin and stdout as one stream."""

    @property
    def pid(self) -> int:
        """Also the id of its group and of its session."""
        return self._process.pid

    @property
    def exit_code(self) -> int | None:
        """None while it runs; negative for the signal that ended it."""
        return self._process.returncode

    @property
    def stderr_tail(self) -> str:
        """The last of what it said on stderr."""
        return self._stderr.read().decode("utf-8", "replace")

    def describe_exit(self) -> str:
        """A clause on how it ended, such as "exited with code 3"."""
        code = self.exit_code
        if code is None:
            return "closed its output"
        if code < 0:
            with suppress(ValueError):
                return f"was ended by {signal.Signals(-code).name}"
        return f"exited with code {code}"

    async def drain_stderr(self) -> None:
        """Read stderr to its end: a pipe that nobody reads blocks the agent after 64 KiB (R-TRANS-3)."""
        assert self._process.stderr is not None
        with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
            async for data in self._process.stderr:
                self._stderr.append(data)
                self._on_stderr(data)
        self._stderr_ended.set()

    async def note_exit(self) -> None:
        """Wait for its exit, and let the guardian know: its number is no proof of it any more."""
        await self._process.wait()
        guard.note_exit(self.pid)

    async def wait(self, timeout_s: float) -> bool:
        """True once the process has ended, False where that took longer."""
        with anyio.move_on_after(timeout_s):
            await self._process.wait()
        return self._process.returncode is not None

    async def wait_for_end(self, timeout_s: float) -> None:
        """Wait for the exit and for the last of stderr, but no longer than that."""
        with anyio.move_on_after(timeout_s):
            await self._process.wait()
            await self._stderr_ended.wait()

    async def release(self) -> None:
        """Close our ends of its pipes."""
        await self._process.aclose()

    def signal_group(self, number: signal.Signals) -> None:
        """Signal the process and its children, also where the process itself is gone already."""
        signal_group(self.pid, number)

    async def end(self) -> None:
        """Close its stdin, wait, terminate, kill; takes a few seconds at the most and cannot be cancelled."""
        with anyio.CancelScope(shield=True):
            assert self._process.stdin is not None
            with (
                suppress(anyio.BrokenResourceError, anyio.ClosedResourceError, OSError),
                anyio.move_on_after(STDIN_CLOSE_S),
            ):
                await self._process.stdin.aclose()
            if not await self.wait(CLOSE_GRACE_S):
                self.signal_group(signal.SIGTERM)
                await self.wait(TERMINATE_GRACE_S)
            # Children of npx or uvx outlive it; the group is killed even where its leader has gone.
            self.signal_group(signal.SIGKILL)
            await self._process.wait()


@asynccontextmanager
async def running_agent(
    command: AgentCommand, on_stderr: Callable[[bytes], None], folder: Path | None = None
) -> AsyncIterator[AgentProcess]:
    """The agent's process, from its start to its certain end; it starts in `folder`.

    Raises AgentNotFound and AgentNotRunnable.
    """
    process = AgentProcess(await _spawn(command, folder), on_stderr)
    guard.watch(process.pid, "session")
    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(process.drain_stderr)
            tasks.start_soon(process.note_exit)
            try:
                yield process
            finally:
                await process.end()
                tasks.cancel_scope.cancel()
    finally:
        guard.forget(process.pid)
        with anyio.CancelScope(shield=True):
            await process.release()


async def _spawn(command: AgentCommand, folder: Path | None) -> Process:
    start = start_of(command, folder)
    program = _find_program(command, start.env.get("PATH"))
    try:
        return await anyio.open_process(
            [program, *start.args],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=start.env,
            cwd=start.folder,
            start_new_session=True,
        )
    except OSError as error:
        raise AgentNotRunnable(
            f"{command.argv[0]} cannot be run: {error.strerror}",
            hint="its first line (#!) may name an interpreter that is not there"
            if error.errno in (errno.ENOENT, errno.ENOEXEC)
            else "",
        ) from error


def _find_program(command: AgentCommand, path: str | None) -> str:
    program = command.argv[0]
    found = shutil.which(program, path=path)
    if found is not None:
        return str(Path(found).absolute())  # it may start in another folder than ours
    if "/" in program and Path(program).exists():
        raise AgentNotRunnable(f"{program} is not an executable file", hint=f"chmod +x {program}")
    raise AgentNotFound(
        f"the command {program} was not found",
        hint=f"install it: {command.install_hint}"
        if command.install_hint
        else "is it installed, and on PATH?",
    )
