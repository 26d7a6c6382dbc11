"""Our side of the guardian: starts it with the first process to guard, and starts that and all others through it.

One guardian serves all of acp-tui and ends with it. Nothing here blocks longer than starting a process takes.
"""

from __future__ import annotations

import asyncio
import atexit
import marshal
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final, TypeAlias
from weakref import WeakSet

from acp_tui.values import dataclass

_PACKAGES: Final = Path(__file__).parents[3]
MAIN: Final = "import sys; sys.path.insert(0, sys.argv[1]); import acp_tui.client.processes.guardian as it; it.main()"

ACKNOWLEDGES: Final = sys.platform == "darwin"
"""Whether files that are being sent have to stay open until they are received."""
END_LIMIT_S: Final = 5.0
"""Longer than what can be killed needs."""

Program: TypeAlias = tuple[str, tuple[int, ...] | None, Sequence[str]]
"""What to execute: its path, what `identity_of` said of it or None if any will do, and its words."""


class StartFailed(Exception):
    """A process wasn't started, and nothing is left of it."""

    def __init__(self, what: str, number: int, reason: str) -> None:
        super().__init__(reason)
        self.what = what
        """`process`, `terminal`, `directory`, `program`, or `changed`, where the reason is the program's path."""
        self.number = number
        """The system's number for the error, or 0."""
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Confinement:
    """What leads a process into a sandbox, and can't be taken back."""

    words: Sequence[str] = ()
    """A command that is followed by the program's path and words; none if the process confines itself."""
    data: bytes = b""
    """What a file contains whose number replaces `{fd}` in the words."""
    places: Sequence[tuple[str, bool]] | None = None
    """The only files and folders it may use, and whether it may write them; None for no such limit."""
    is_setuid: bool = False
    """Whether the command has rights of its own, which a process that gave up rights couldn't get."""

    def encoded(self) -> tuple[list[bytes], bytes, list[tuple[bytes, bool]] | None, bool]:
        places = None if self.places is None else [(os.fsencode(path), may_write) for path, may_write in self.places]
        return [os.fsencode(word) for word in self.words], self.data, places, self.is_setuid


@dataclass(frozen=True, slots=True)
class Order:
    """What to start, and how it ends: it gets `patience_s` to end by itself, `grace_s` after SIGTERM, then SIGKILL."""

    programs: Sequence[Program]
    """The first that can be executed is."""
    environment: Mapping[str, str]
    patience_s: float
    grace_s: float
    is_on_terminal: bool = False
    """Whether stdin is its controlling terminal."""
    spares_browsers: bool = False
    """Whether a browser that comes from it may outlive it."""
    confinement: Confinement | None = None

    def encoded(self) -> bytes:
        """What a keeper reads. Raises UnicodeEncodeError for text that no operating system accepts."""
        programs = [
            (os.fsencode(path), identity, [os.fsencode(word) for word in words])
            for path, identity, words in self.programs
        ]
        environment = {os.fsencode(name): os.fsencode(value) for name, value in self.environment.items()}
        how = self.patience_s, self.grace_s, self.spares_browsers, self.is_on_terminal
        confinement = None if self.confinement is None else self.confinement.encoded()
        return marshal.dumps((*how, programs, environment, confinement))


class Guarded:
    """A process that leads a session, and everything that has come from it, which ends with it.

    Nothing is reported before `follow`.
    """

    def __init__(self, control: socket.socket, order: bytes, wake_guardian: Callable[[], None]) -> None:
        """Send the order on `control`, now as much as its buffer takes, which is nearly always all of it."""
        self._control = control
        self._unsent = memoryview(order)
        self._send()
        self._wake_guardian = wake_guardian
        self._heard = b""
        self._on_exit: Callable[[], object] = lambda: None
        self._failure: StartFailed | None = None
        self.pid = 0
        """The process ID, which is also the ID of its group and its session; 0 before it has started."""
        self.exit_code: int | None = None
        """Negative for the signal that ended it; None while it runs."""

    async def follow(self, loop: asyncio.AbstractEventLoop) -> None:
        """Follow it on `loop` from now on, and return when it runs. Raises StartFailed. A cancellation ends it.

        From then on, `exited` is set when it has ended, and `ended` when nothing is left of it.
        """
        self._loop = loop
        self._answered, self.exited, self.ended = asyncio.Event(), asyncio.Event(), asyncio.Event()
        loop.add_reader(self._control, self._read)
        if self._unsent:
            loop.add_writer(self._control, self._write)
        try:
            await self._answered.wait()
        except BaseException:
            self.end()
            raise
        if self._failure is not None:
            raise self._failure

    def when_exited(self, call: Callable[[], object]) -> None:
        """Call this when it has ended, which may be now."""
        self._on_exit = call
        if self.exit_code is not None:
            call()

    def end(self) -> None:
        """Have it end, with everything that has come from it: see `Order`. May be called again."""
        self._wake_guardian()
        with suppress(OSError):  # nothing is left of it
            self._control.shutdown(socket.SHUT_WR)

    def end_unfollowed(self) -> None:
        """The same, without an event loop, for one that was never followed. Blocks until nothing is left."""
        self.end()
        self._control.setblocking(True)
        with self._control, suppress(OSError):  # the keeper was killed
            while self._control.recv(4096):
                pass

    def _write(self) -> None:
        self._send()
        if not self._unsent:
            self._loop.remove_writer(self._control)

    def _send(self) -> None:
        try:
            self._unsent = self._unsent[self._control.send(self._unsent) :]
        except BlockingIOError:
            pass
        except OSError:  # the keeper was killed, or is to end; what is read says so
            self._unsent = self._unsent[:0]

    def _read(self) -> None:
        try:
            data = self._control.recv(4096)
        except BlockingIOError:
            return
        except OSError:  # the keeper was killed
            data = b""
        self._heard += data
        if data:
            self._take_lines()
        else:
            self._close()

    def _take_lines(self) -> None:
        while not self._heard.startswith(b"failed ") and b"\n" in self._heard:
            line, _, self._heard = self._heard.partition(b"\n")
            word, _, number = line.partition(b" ")
            if word == b"started":
                self.pid = int(number)
                self._answered.set()
            else:
                self._note_exit(int(number))

    def _close(self) -> None:
        self._loop.remove_reader(self._control)
        self._loop.remove_writer(self._control)
        self._control.close()
        if not self._answered.is_set():
            what, number, reason = self._heard.removeprefix(b"failed ").split(b"\0", 2) if self._heard else _KILLED
            self._failure = StartFailed(what.decode(), int(number), reason.decode("utf-8", "replace"))
            self._answered.set()
        elif self.exit_code is None:  # the keeper was killed, so the guardian kills what it has kept
            self._note_exit(-9)
        self.exited.set()
        self.ended.set()

    def _note_exit(self, code: int) -> None:
        self.exit_code = code
        self.exited.set()
        self._on_exit()


_KILLED: Final = (b"process", b"0", b"its guardian was killed")


class Guard:
    """Starts processes that end with acp-tui, however it ends."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._orders: socket.socket | None = None
        self._started: WeakSet[Guarded] = WeakSet()

    @property
    def pid(self) -> int | None:
        """The guardian's process ID; None before there was anything to guard."""
        return None if self._process is None else self._process.pid

    def start(self, order: Order, folder: int, streams: Sequence[int]) -> Guarded:
        """Start a process in the directory open as `folder`, with these three files as its streams.

        Raises OSError, and UnicodeEncodeError for text that no operating system accepts.
        """
        encoded = order.encoded()
        if self._process is None or self._process.poll() is not None:
            self._start()
        ours, theirs = socket.socketpair()
        try:
            with theirs:
                self._send([theirs.fileno(), folder, *streams])
        except BaseException:
            ours.close()
            raise
        ours.setblocking(False)
        # Not in a file, whose size may be limited.
        guarded = Guarded(ours, encoded, self._wake)
        self._started.add(guarded)
        return guarded

    def _send(self, files: list[int]) -> None:
        assert self._orders is not None
        self._wake()
        socket.send_fds(self._orders, [b"\0"], files)
        if ACKNOWLEDGES and not self._orders.recv(1):
            raise OSError(0, _KILLED[2].decode())

    def _wake(self) -> None:
        """Continue the guardian, which continues its keepers: what they guard may have stopped them."""
        if self._process is not None:
            self._process.send_signal(signal.SIGCONT)

    def _start(self) -> None:
        """Start the guardian, the first one or one that replaces a killed one."""
        self._close()
        # -I and -S keep the user's directory and environment out of it. It starts in 15 ms, in parallel.
        command = [sys.executable, "-I", "-S", "-c", MAIN, str(_PACKAGES)]
        ours, theirs = socket.socketpair()
        with theirs:
            try:
                self._process = subprocess.Popen(
                    command,
                    stdin=theirs.fileno(),
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    cwd="/",
                    start_new_session=True,  # signals for our group or terminal aren't meant for it
                )
            except OSError:
                ours.close()
                raise
        self._orders = ours
        atexit.register(self.end)

    def end(self) -> None:
        """End all that was started, and the guardian. Blocks until they have ended, but no longer than END_LIMIT_S."""
        atexit.unregister(self.end)
        for guarded in self._started:
            guarded.end()
        self._close()
        if self._process is not None:
            self._wake()
            with suppress(subprocess.TimeoutExpired):  # it goes on without us
                self._process.wait(END_LIMIT_S)
            self._process = None

    def _close(self) -> None:
        if self._orders is not None:
            self._orders.close()
            self._orders = None


guard: Final = Guard()
