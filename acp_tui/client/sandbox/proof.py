"""Tries to break out of an agent's sandbox, as a program that runs in it: the proof that `doctor` reports.

What it tries changes nothing, or something that acp-tui has made for it and removes.
"""

from __future__ import annotations

import asyncio
import os
import shlex
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from secrets import token_hex
from typing import Final

import anyio
from anyio import to_thread

from acp_tui.client.errors import AgentNotRunnable
from acp_tui.client.private_files import make_private, replace_file
from acp_tui.client.processes.guard import Guarded, Order, StartFailed, guard
from acp_tui.client.sandbox import Access
from acp_tui.client.sandbox.sandbox import Sandbox
from acp_tui.client.settings.location import state_folder
from acp_tui.values import dataclass

LIMIT_S: Final = 10.0
"""For everything that is tried."""
ANSWER_BYTES: Final = 1 << 16
_SHELL: Final = "/bin/sh"
_OVER: Final = "over"


@dataclass(frozen=True, slots=True)
class Attempt:
    topic: str
    """One or two words."""
    text: str
    holds: bool
    """Whether the sandbox did what it promises."""


async def prove(sandbox: Sandbox, folder: Path) -> list[Attempt]:
    """Try it all in a sandbox, for a session in `folder`. Raises AgentNotRunnable if nothing can be started there."""
    outside = _Outside()
    try:
        await to_thread.run_sync(outside.prepare)
        said = await _said_by(sandbox, folder, "\n".join(_tries(sandbox, folder, outside)))
        return await to_thread.run_sync(lambda: [*_attempts(sandbox, folder, outside, set(said.splitlines()))])
    finally:
        outside.clear()


class _Outside:
    """What a program in the sandbox must not reach: a file to read, one to write, a process, and a port."""

    def __init__(self) -> None:
        self.secret = token_hex()
        self.key = state_folder() / f".probe-{token_hex(4)}"
        self.written = self.key.with_name(f"{self.key.name}-written")
        self._process: subprocess.Popen[bytes] | None = None
        self._listener: socket.socket | None = None

    def prepare(self) -> None:
        """Blocks. Raises OSError."""
        make_private(self.key.parent, is_ours=True)
        replace_file(self.key, f"{self.secret}\n".encode())
        self._process = subprocess.Popen(("sleep", str(int(LIMIT_S))), stdin=subprocess.DEVNULL)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._listener.setblocking(False)

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        return self._process is not None and self._process.poll() is None

    @property
    def port(self) -> int:
        assert self._listener is not None
        return int(self._listener.getsockname()[1])

    @property
    def was_called(self) -> bool:
        assert self._listener is not None
        with suppress(BlockingIOError):
            self._listener.accept()[0].close()
            return True
        return False

    def clear(self) -> None:
        for file in (self.key, self.written):
            file.unlink(missing_ok=True)
        if self._process is not None:
            self._process.kill()
            self._process.wait()
        if self._listener is not None:
            self._listener.close()


def _tries(sandbox: Sandbox, folder: Path, outside: _Outside) -> Iterator[str]:
    """Lines for a shell, each of which prints a word if it succeeds."""
    yield f"cat {_quoted(outside.key)}"
    yield f"(: > {_quoted(outside.written)}) && echo wrote"
    yield f"kill -TERM {outside.pid} && echo signaled"
    if bash := shutil.which("bash"):
        yield f"{bash} -c 'exec 3<>/dev/tcp/127.0.0.1/{outside.port}' && echo connected"
    probe = folder / outside.key.name
    yield f"(: > {_quoted(probe)}) && echo worked && rm -f {_quoted(probe)}"
    yield f"(: >> {_quoted(folder / '.git/config')}) && echo configured"
    for number, place in enumerate(_hidden(sandbox)):
        # A folder may have to contain what leads to something visible.
        shown = {path.relative_to(place).parts[0] for path in sandbox.box.places if place in path.parents}
        names = "|".join(map(_quoted, sorted(shown))) or "''"
        yield f"for each in $(ls -A {_quoted(place)}); do case $each in {names}) ;; *) echo seen{number};; esac; done"
    yield f"echo {_OVER}"


def _attempts(sandbox: Sandbox, folder: Path, outside: _Outside, said: set[str]) -> Iterator[Attempt]:
    if _OVER not in said:  # silence proves nothing
        yield Attempt("Attempts", f"didn't end within {LIMIT_S:g} s, so nothing is known", False)
        return
    has_written = outside.written.exists()
    yield Attempt("Write", "wrote a file outside" if has_written else "can't write a file outside", not has_written)
    can_read = outside.secret in said
    yield Attempt("Read", "read a key" if can_read else "can't read a key in a hidden folder", not can_read)
    hidden = _hidden(sandbox)
    seen = [str(place) for number, place in enumerate(hidden) if f"seen{number}" in said]
    text = f"saw what is in {', '.join(seen)}" if seen else f"shows nothing of {len(hidden)} hidden folders"
    yield Attempt("Hidden", text, not seen)
    is_dead = not outside.is_alive
    yield Attempt("Process", "ended one outside" if is_dead else "can't signal one outside", not is_dead)
    if shutil.which("bash") and sandbox.engine.name != "srt":
        is_connected, is_wanted = outside.was_called, sandbox.box.profile.network
        reach = "can" if is_connected else "can't"
        text = f"{'on' if is_wanted else 'off'}: this machine's own ports {reach} be reached"
        yield Attempt("Network", text, is_connected == is_wanted)
    may_write = sandbox.box.access(folder) is Access.WRITABLE
    can_work = "worked" in said
    yield Attempt("Folder", ("can" if can_work else "can't") + f" write in {folder}", can_work == may_write)
    if (folder / ".git/config").exists():
        can_configure = "configured" in said
        text = "can change git's settings" if can_configure else "can't change git's settings"
        yield Attempt("Git", text, not can_configure)


def _hidden(sandbox: Sandbox) -> list[Path]:
    return [path for path in sandbox.box.listed(Access.HIDDEN) if path.is_dir()]


def _quoted(text: object) -> str:
    return shlex.quote(str(text))


async def _said_by(sandbox: Sandbox, folder: Path, script: str) -> str:
    way = await to_thread.run_sync(sandbox.way_into, folder)
    order = Order([(_SHELL, None, (_SHELL, "-c", script))], way.environment, 0.0, 0.5, confinement=way.confinement)
    reading, writing = os.pipe()
    nothing, where = os.open(os.devnull, os.O_RDWR), os.open(folder, os.O_DIRECTORY)
    try:
        child = guard.start(order, where, (nothing, writing, nothing))
    finally:
        for each in (writing, nothing, where):
            os.close(each)
    with os.fdopen(reading, "rb", 0) as answer:
        await _until_over(child)
        os.set_blocking(reading, False)
        return (answer.read(ANSWER_BYTES) or b"").decode("utf-8", "replace")


async def _until_over(child: Guarded) -> None:
    try:
        await child.follow(asyncio.get_running_loop())
    except StartFailed as error:
        raise AgentNotRunnable(f"nothing can be started in the sandbox: {error.reason}") from error
    try:
        with anyio.move_on_after(LIMIT_S):
            await child.exited.wait()
    finally:
        child.end()
        with anyio.CancelScope(shield=True):
            await child.ended.wait()
