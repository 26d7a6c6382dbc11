"""An agent's process: started in a group of its own, stderr drained and kept, ended for certain."""

from __future__ import annotations

import errno
import os
import re
import shutil
import signal
import subprocess
from codecs import getincrementaldecoder
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Final

import anyio
from anyio.abc import ByteStream, Process
from anyio.streams.stapled import StapledByteStream

from acp_tui.client.agents.command import AgentCommand
from acp_tui.client.errors import AgentLost, AgentNotFound, AgentNotRunnable
from acp_tui.client.files import create_private, make_private
from acp_tui.client.processes.guard import guard
from acp_tui.client.processes.table import signal_group
from acp_tui.client.settings.location import cache_folder
from acp_tui.conversation.buffers import ByteRing
from acp_tui.values import dataclass

# Agents take that folder for granted: some run their commands there, whatever folder a session names.

_ENTER: Final = """#!/bin/sh
# What npx runs its package with: on into the folder where the agent works.
cd "$ACP_TUI_FOLDER" || exit
unset npm_config_script_shell ACP_TUI_FOLDER
exec /bin/sh "$@"
"""


@dataclass(frozen=True, slots=True)
class Start:
    """What the operating system is asked for."""

    args: tuple[str, ...]
    """Behind the program."""
    env: Mapping[str, str]
    """All of it."""
    folder: Path


def start_of(command: AgentCommand, folder: Path | None) -> Start:
    """How to start it, to work in `folder`; None, or a folder that is gone: where we are. Raises AgentNotRunnable."""
    here = _here()
    folder = folder if folder is not None and folder.is_dir() else here
    env = {**os.environ, **command.env}
    if command.runner == "npx":
        packages = _packages_folder()
        env |= {"npm_config_script_shell": str(packages / "enter"), "ACP_TUI_FOLDER": str(folder)}
        return Start(command.argv[1:], env, packages)
    is_typed_here = folder != here and not command.is_elsewhere
    args = _anchored(command.argv[1:], here) if is_typed_here else command.argv[1:]
    return Start(tuple(args), env, folder)


def _here() -> Path:
    try:
        return Path.cwd()
    except FileNotFoundError as error:
        raise AgentNotRunnable(
            "the folder acp-tui was started in is gone", hint="start acp-tui in another one"
        ) from error


def _anchored(words: tuple[str, ...], here: Path) -> Iterator[str]:
    """A word that names a file of where the user is names it from elsewhere too, as in `node build/agent.js`."""
    for word in words:
        is_file = not word.startswith("-") and os.path.isfile(here / word)  # noqa: PTH113 - a Path raises for a name that is too long
        yield str(here / word) if is_file else word


def _packages_folder() -> Path:
    """Where npx starts: it takes the packages and the settings of the folder that it is started in for those that the
    user has agreed to. From there it leads on into the folder where the agent works.
    """
    folder = cache_folder() / "packages"
    try:
        make_private(folder, is_ours=True)
        _write_enter(folder / "enter")
    except OSError as error:
        raise AgentNotRunnable(
            f"{folder} can't be made: {error.strerror}", hint="packages are started there"
        ) from error
    return folder


def _write_enter(file: Path) -> None:
    if file.is_file() and file.read_text("utf-8") == _ENTER and os.access(file, os.X_OK):
        return
    # Another acp-tui may run it meanwhile.
    new = file.with_name(f".enter-{os.getpid()}")
    with create_private(new, mode=0o700) as opened:
        opened.write(_ENTER.encode())
    new.replace(file)


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
STDIN_CLOSE_S: Final = 0.2
"""What is still to be written into a pipe that nobody reads does not hold the end up."""
CLOSE_GRACE_S: Final = 1.0
TERMINATE_GRACE_S: Final = 1.5


class AgentProcess:
    """A running agent; made by `running_agent`."""

    def __init__(
        self, process: Process, given: Mapping[str, str], on_stderr: Callable[[bytes], None]
    ) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self.given = given
        """The variables over the user's own."""
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

    def loss(self, title: str) -> AgentLost:
        """How it ended, for the user."""
        return AgentLost(f"{title} {self.describe_exit()}", detail=self.stderr_tail)

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
    process = AgentProcess(await _spawn(command, folder), command.env, on_stderr)
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
            f"{command.argv[0]} can't be run: {error.strerror}",
            hint="its first line (#!) may name an interpreter that isn't installed"
            if error.errno in (errno.ENOENT, errno.ENOEXEC)
            else "",
        ) from error


def _find_program(command: AgentCommand, path: str | None) -> str:
    program = command.argv[0]
    found = shutil.which(program, path=path)
    if found is not None:
        return str(Path(found).absolute())  # it may start in another folder than ours
    if "/" in program and Path(program).exists():
        raise AgentNotRunnable(f"{program} isn't an executable file", hint=f"chmod +x {program}")
    raise AgentNotFound(
        f"the command {program} wasn't found",
        hint=f"install it: {command.install_hint}"
        if command.install_hint
        else "is it installed, and on PATH?",
    )
