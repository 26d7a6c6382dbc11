"""The small process that a shell waits for while its child may leave the terminal: a host, or a screen, to become one.

When a screen leaves, with `sessions.host`, its process goes on as a host (`host.go_on`): agents, commands, questions,
and turns stay where they are, so nothing is moved, and a message costs what it did.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from acp_tui.client.settings.settings import SessionSettings

NOT_FROM_HERE: Final = (signal.SIGINT, signal.SIGQUIT)
"""Signals that a terminal sends to the screen, too."""


class LeftByHost:
    """The child's end of the connection to that process."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection

    def when_killed(self, call: Callable[[], object]) -> None:
        """Call this when the process is gone, on the running event loop."""
        loop = asyncio.get_running_loop()

        def note() -> None:
            loop.remove_reader(self._connection)
            call()

        loop.add_reader(self._connection, note)

    def let_go(self, words: str, attach_to: str = "") -> None:
        """Have it print these words and end, or show the session with this ID in a screen of its own."""
        asyncio.get_running_loop().remove_reader(self._connection)
        with self._connection, suppress(OSError):
            self._connection.sendall(json.dumps([words, attach_to]).encode())


def can_host() -> bool:
    """Whether the package is installed that hosts need."""
    return find_spec("websockets") is not None


def leavable(settings: SessionSettings) -> LeftByHost | None:
    """Go on in a child if the user has chosen that, and the package is there that hosts need; otherwise return None."""
    return go_on_in_child() if settings.host != "never" and can_host() else None


def go_on_in_child() -> LeftByHost:
    """Go on in a child of this process, which waits and ends as its child does. Call it before anything is started."""
    sys.stdout.flush()
    sys.stderr.flush()
    ours, theirs = socket.socketpair()
    child = os.fork()
    if not child:
        ours.close()
        return LeftByHost(theirs)
    theirs.close()
    os._exit(_wait(child, ours))


def _wait(child: int, connection: socket.socket) -> int:
    """Wait until the child has ended or left. Returns the exit status."""
    ended: list[int] = []

    def note(*_: object) -> None:
        pid, status = os.waitpid(child, os.WNOHANG | os.WUNTRACED) if not ended else (0, 0)
        if pid and os.WIFSTOPPED(status):
            os.kill(os.getpid(), signal.SIGSTOP)  # so that the shell goes on; it continues both of us
        elif pid:
            ended.append(status)

    for number in NOT_FROM_HERE:
        signal.signal(number, signal.SIG_IGN)
    for number in (signal.SIGHUP, signal.SIGTERM):
        signal.signal(number, lambda number, _: None if ended else os.kill(child, number))
    signal.signal(signal.SIGCHLD, note)
    said = b"".join(iter(lambda: connection.recv(4096), b""))
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    if said:
        return _left(*json.loads(said))
    code = os.waitstatus_to_exitcode(ended[0] if ended else os.waitpid(child, 0)[1])
    if code < 0:
        signal.signal(-code, signal.SIG_DFL) if -code != signal.SIGKILL else None
        os.kill(os.getpid(), -code)
    return code


def _left(words: str, attach_to: str) -> int:
    if attach_to:
        for number in NOT_FROM_HERE:
            signal.signal(number, signal.SIG_DFL)
        os.execv(sys.executable, [sys.executable, "-m", "acp_tui", "attach", attach_to])
    with suppress(OSError):  # the terminal is gone
        sys.stderr.write(words)
    return 0
