"""An agent's process: started in a group of its own, stderr drained and kept, ended for certain."""

from __future__ import annotations

import os
import re
import signal
import subprocess
from codecs import getincrementaldecoder
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import IO, Final

import anyio
from anyio.abc import ByteReceiveStream, ByteSendStream, ByteStream
from anyio.lowlevel import checkpoint
from anyio.streams.stapled import StapledByteStream

from acp_tui.client.agents.command import AgentCommand
from acp_tui.client.agents.starting import started
from acp_tui.client.errors import AgentLost
from acp_tui.client.processes.guard import guard
from acp_tui.client.processes.table import signal_group
from acp_tui.conversation.buffers import ByteRing

MAX_OPEN_CHARACTERS: Final = 4 << 10
"""Of a line that does not end: what comes then begins another. It is made anew with each piece of it."""


_PIECES: Final = re.compile(rf"(?s:.{{1,{MAX_OPEN_CHARACTERS}}})")


class StderrLines:
    """Appends to a log that others append to as well; the line that is being written stands there as far as it is."""

    def __init__(self, log: deque[str]) -> None:
        self._log = log
        self._decoder = getincrementaldecoder("utf-8")("replace")
        self._open = ""
        """The line that is being written, with a carriage return that may be half of its end."""
        self._shown = ""
        """What stands of it in the log."""

    def append(self, data: bytes) -> None:
        """More has come."""
        text = self._open + self._decoder.decode(data)
        if self._shown and self._log and self._log[-1] is self._shown:
            self._log.pop()
        lines = text.splitlines(keepends=True)
        is_open = bool(lines) and not lines[-1].endswith("\n") and len(lines[-1]) < MAX_OPEN_CHARACTERS
        self._open = lines[-1] if is_open else ""
        self._log.extend(piece for line in lines for piece in _PIECES.findall(line.rstrip("\r\n")) or [""])
        self._shown = self._log[-1] if is_open else ""


STDERR_KEPT_BYTES: Final = 64 << 10
CLOSE_GRACE_S: Final = 1.0
TERMINATE_GRACE_S: Final = 1.5


class _Pipe:
    """Our end of one of a process's pipes; anyio's own way would start the process itself, and not before the loop."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        os.set_blocking(file.fileno(), False)

    @property
    def _fd(self) -> int:
        if self._file.closed:
            raise anyio.ClosedResourceError
        return self._file.fileno()

    async def aclose(self) -> None:
        """Close it; who waits for it is told."""
        if not self._file.closed:
            anyio.notify_closing(self._file.fileno())
            self._file.close()
        await checkpoint()


class _Output(_Pipe, ByteReceiveStream):
    """What the process writes."""

    async def receive(self, max_bytes: int = 65536) -> bytes:
        """What there is, once there is something."""
        await checkpoint()  # a flood must not keep the event loop
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
    """What the process reads."""

    async def send(self, item: bytes) -> None:
        """Hand all of it over."""
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
    """A running agent; made by `running_agent`."""

    def __init__(
        self,
        process: subprocess.Popen[bytes],
        given: Mapping[str, str],
        on_stderr: Callable[[bytes], None],
    ) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        self.given = given
        """The variables over the user's own."""
        self._process = process
        self._on_stderr = on_stderr
        self._stderr = ByteRing(STDERR_KEPT_BYTES)
        self._stderr_ended = anyio.Event()
        self._exited = anyio.Event()
        self._stdin, self._stdout = _Input(process.stdin), _Output(process.stdout)
        self._stderr_pipe = _Output(process.stderr)
        self.stream: ByteStream = StapledByteStream(self._stdin, self._stdout)
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

    def loss(self, title: str) -> AgentLost:
        """How it ended, for the user."""
        return AgentLost(f"{title} {self.describe_exit()}", detail=self.stderr_tail)

    async def drain_stderr(self) -> None:
        """Read stderr to its end: a pipe that nobody reads blocks the agent after 64 KiB (R-TRANS-3)."""
        with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
            async for data in self._stderr_pipe:
                self._stderr.append(data)
                self._on_stderr(data)
        self._stderr_ended.set()

    async def note_exit(self) -> None:
        """Wait for its exit, and let the guardian know: its number is no proof of it any more."""
        with anyio.CancelScope(shield=True):  # `end` waits for it
            await _until_exit(self._process)
        guard.note_exit(self.pid)
        self._exited.set()

    async def wait(self, timeout_s: float) -> bool:
        """True once the process has ended, False where that took longer."""
        with anyio.move_on_after(timeout_s):
            await self._exited.wait()
        return self._exited.is_set()

    async def wait_for_end(self, timeout_s: float) -> None:
        """Wait for the exit and for the last of stderr, but no longer than that."""
        with anyio.move_on_after(timeout_s):
            await self._exited.wait()
            await self._stderr_ended.wait()

    async def release(self) -> None:
        """Close our ends of its pipes."""
        for pipe in (self._stdin, self._stdout, self._stderr_pipe):
            await pipe.aclose()

    def signal_group(self, number: signal.Signals) -> None:
        """Signal the process and its children, also where the process itself is gone already."""
        signal_group(self.pid, number)

    async def end(self) -> None:
        """Close its stdin, wait, terminate, kill; takes a few seconds at the most and cannot be cancelled."""
        with anyio.CancelScope(shield=True):
            await self._stdin.aclose()
            if not await self.wait(CLOSE_GRACE_S):
                self.signal_group(signal.SIGTERM)
                await self.wait(TERMINATE_GRACE_S)
            # Children of npx or uvx outlive it; the group is killed even where its leader has gone.
            self.signal_group(signal.SIGKILL)
            await self._exited.wait()


@asynccontextmanager
async def running_agent(
    command: AgentCommand, on_stderr: Callable[[bytes], None], folder: Path | None = None
) -> AsyncIterator[AgentProcess]:
    """The agent's process, from its start to its certain end; it starts in `folder`.

    Raises AgentNotFound and AgentNotRunnable.
    """
    process = AgentProcess(started(command, folder), command.env, on_stderr)
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


async def _until_exit(process: subprocess.Popen[bytes]) -> None:
    """Wait for its exit and reap it."""
    try:
        fd = os.pidfd_open(process.pid)
    except (AttributeError, OSError):  # not Linux, or an old one, or a sandbox that forbids it
        await anyio.to_thread.run_sync(process.wait, abandon_on_cancel=True)
        return
    try:
        await anyio.wait_readable(fd)
    finally:
        os.close(fd)
    process.wait()
