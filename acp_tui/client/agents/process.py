"""An agent's process: its stderr drained and kept, and certain to end."""

from __future__ import annotations

import asyncio
import os
import re
import signal
from codecs import getincrementaldecoder
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final

import anyio
from anyio import to_thread
from anyio.abc import ByteReceiveStream, ByteSendStream, ByteStream
from anyio.lowlevel import checkpoint
from anyio.streams.stapled import StapledByteStream

from acp_tui.client.agents.command import AgentCommand
from acp_tui.client.agents.starting import Started, not_runnable, sandboxed, start, started_early
from acp_tui.client.errors import AgentLost
from acp_tui.client.processes.guard import StartFailed
from acp_tui.conversation.buffers import ByteRing

if TYPE_CHECKING:
    from acp_tui.client.agents.command import SandboxPlan

MAX_OPEN_CHARACTERS: Final = 4 << 10
"""The limit for an unfinished line, after which a new one begins. The line is rebuilt with each piece that arrives."""


_PIECES: Final = re.compile(rf"(?s:.{{1,{MAX_OPEN_CHARACTERS}}})")


class StderrLines:
    """Appends to a shared log. The unfinished line is shown there as far as it has arrived."""

    def __init__(self, log: deque[str]) -> None:
        self._log = log
        self._decoder = getincrementaldecoder("utf-8")("replace")
        self._open = ""
        """The unfinished line, including a carriage return that may be the first half of its end."""
        self._shown = ""
        """The part of it that the log shows."""

    def append(self, data: bytes) -> None:
        text = self._open + self._decoder.decode(data)
        if self._shown and self._log and self._log[-1] is self._shown:
            self._log.pop()
        lines = text.splitlines(keepends=True)
        is_open = bool(lines) and not lines[-1].endswith("\n") and len(lines[-1]) < MAX_OPEN_CHARACTERS
        self._open = lines[-1] if is_open else ""
        self._log.extend(piece for line in lines for piece in _PIECES.findall(line.rstrip("\r\n")) or [""])
        self._shown = self._log[-1] if is_open else ""


STDERR_KEPT_BYTES: Final = 64 << 10
END_LIMIT_S: Final = 5.0
"""Longer than what can be killed needs: what the agent started with `sudo` can't."""


class _Pipe:
    """Our end of one of a process's pipes. anyio would start the process itself, and only inside the event loop."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        os.set_blocking(file.fileno(), False)

    @property
    def _fd(self) -> int:
        if self._file.closed:
            raise anyio.ClosedResourceError
        return self._file.fileno()

    async def aclose(self) -> None:
        """Close the pipe and wake the task that waits for it."""
        if not self._file.closed:
            anyio.notify_closing(self._file.fileno())
            self._file.close()
        await checkpoint()


class _Output(_Pipe, ByteReceiveStream):
    async def receive(self, max_bytes: int = 65536) -> bytes:
        await checkpoint()  # a flood of output must not block the event loop
        while True:
            try:
                data = os.read(self._fd, max_bytes)
            except BlockingIOError:
                await anyio.wait_readable(self._fd)
            else:
                if not data:
                    raise anyio.EndOfStream
                return data


class _Input(_Pipe, ByteSendStream):
    async def send(self, item: bytes) -> None:
        await checkpoint()
        left = memoryview(item)
        while left:
            try:
                left = left[os.write(self._fd, left) :]
            except BlockingIOError:
                await anyio.wait_writable(self._fd)
            except OSError as error:
                raise anyio.BrokenResourceError from error


class AgentProcess:
    """A running agent, made by `running_agent`."""

    def __init__(self, started: Started, given: Mapping[str, str], on_stderr: Callable[[bytes], None]) -> None:
        self.given = given
        """The variables added to the user's environment."""
        self.sandbox = started.sandbox
        self._process = started.process
        self._on_stderr = on_stderr
        self._stderr = ByteRing(STDERR_KEPT_BYTES)
        self._stderr_ended = anyio.Event()
        self._stdin, self._stdout = _Input(started.stdin), _Output(started.stdout)
        self._stderr_pipe = _Output(started.stderr)
        self.stream: ByteStream = StapledByteStream(self._stdin, self._stdout)
        """The agent's stdin and stdout as one stream."""

    @property
    def pid(self) -> int:
        """The process ID, which is also the ID of its group and its session."""
        return self._process.pid

    @property
    def exit_code(self) -> int | None:
        """None while it runs; negative for the signal that ended it."""
        return self._process.exit_code

    @property
    def stderr_tail(self) -> str:
        return self._stderr.read().decode("utf-8", "replace")

    def describe_exit(self) -> str:
        code = self.exit_code
        if code is None:
            return "closed its output"
        if code < 0:
            with suppress(ValueError):
                return f"was ended by {signal.Signals(-code).name}"
        return f"exited with code {code}"

    def loss(self, title: str) -> AgentLost:
        return AgentLost(f"{title} {self.describe_exit()}", detail=self.stderr_tail)

    async def drain_stderr(self) -> None:
        """Read stderr to its end. An unread pipe would block the agent after 64 KiB (R-TRANS-3)."""
        with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
            async for data in self._stderr_pipe:
                self._stderr.append(data)
                self._on_stderr(data)
        self._stderr_ended.set()

    async def wait_for_end(self, timeout_s: float) -> None:
        """Wait for the exit and for the rest of stderr, but no longer than `timeout_s`."""
        with anyio.move_on_after(timeout_s):
            await self._process.exited.wait()
            await self._stderr_ended.wait()

    async def release(self) -> None:
        for pipe in (self._stdin, self._stdout, self._stderr_pipe):
            await pipe.aclose()

    async def end(self) -> None:
        """Close its stdin and have it end, with all that has come from it. Takes a few seconds; can't be cancelled."""
        with anyio.CancelScope(shield=True):
            await self._stdin.aclose()
            self._process.end()
            with anyio.move_on_after(END_LIMIT_S):
                await self._process.ended.wait()


@asynccontextmanager
async def running_agent(
    command: AgentCommand,
    on_stderr: Callable[[bytes], None],
    folder: Path | None = None,
    plan: SandboxPlan | None = None,
) -> AsyncIterator[AgentProcess]:
    """Run the agent's process in `folder` until the block ends. The process is certain to end.

    Whoever gets it discards its sandbox, which its commands share. Raises AgentNotFound and AgentNotRunnable.
    """
    started = started_early(command, folder, plan)
    if started is None:
        sandbox = None if plan is None else await to_thread.run_sync(sandboxed, command, folder, plan)
        started = start(command, folder, sandbox)
    try:
        await started.process.follow(asyncio.get_running_loop())
    except BaseException as error:
        started.close()
        with anyio.CancelScope(shield=True), anyio.move_on_after(END_LIMIT_S):
            await started.process.ended.wait()  # if it was cancelled; at once if it failed
        if started.sandbox is not None:
            started.sandbox.box.discard()
        if isinstance(error, StartFailed):
            raise not_runnable(command, error) from error
        raise
    process = AgentProcess(started, command.env, on_stderr)
    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(process.drain_stderr)
            try:
                yield process
            finally:
                await process.end()
                tasks.cancel_scope.cancel()
    finally:
        with anyio.CancelScope(shield=True):
            await process.release()
