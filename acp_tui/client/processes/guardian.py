"""The guardian: a process beside acp-tui that starts what acp-tui has to end, agents and commands.

For each, it forks a keeper. A fork without an exec takes a millisecond and a megabyte, unlike another interpreter.

    acp-tui
    └── guardian
        ├── keeper
        │   └── agent, with all that has come from it
        └── keeper
            └── command, with all that has come from it

Its standard input is a socket. Each byte on it is an order and comes with the files for `keep`. The end of the input
means that acp-tui has ended. The keepers know that by themselves; the guardian ends after them.

What comes from an agent or a command may signal its keeper, because it runs as the same user. A keeper that is stopped
is continued. If one is killed, its orphans become the guardian's, which kills them. A stopped guardian is continued by
acp-tui, and if that is gone, by the other keepers.
"""

from __future__ import annotations

import _socket as socket  # `socket` itself takes as long to load as everything else
import gc
import os
import sys
import time

from acp_tui.client.processes.keeper import Wakeups, adopt, is_spared, keep, tell
from acp_tui.client.processes.launcher import failure
from acp_tui.client.processes.table import children_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal
    from typing import Final
else:
    import _signal as signal

STDIN: Final = 0
FILES: Final = 5
"""The keeper's end of its socket, the folder, and three streams."""
FD_BYTES: Final = 4
ACKNOWLEDGES: Final = sys.platform == "darwin"
"""See `guard`."""
END_LIMIT_S: Final = 15.0
"""Longer than a keeper takes."""
LOOK_S: Final = 0.1


def main() -> None:
    """Start what is ordered until the input ends, and then wait for the end of all that was started."""
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)  # acp-tui gets these signals, too, and its end is what matters
    gc.disable()
    gc.freeze()  # so that forks share their memory
    Guardian(socket.socket(fileno=STDIN)).run()


class Guardian:
    """Forks keepers and takes care of what they leave."""

    def __init__(self, orders: socket.socket) -> None:
        self._orders = orders
        self._wakeups = Wakeups(orders.fileno())
        self._keepers: set[int] = set()
        self._has_adopted = adopt()

    def run(self) -> None:
        while True:
            is_ordered = self._wakeups.wait()
            self._care()
            if is_ordered and not self._obey():
                break
        self._wakeups.forget_file()
        self._end()

    def _obey(self) -> bool:
        """Fork the keeper that the next order is for. False if the input has ended."""
        byte, messages, _, _ = self._orders.recvmsg(1, socket.CMSG_SPACE(FILES * FD_BYTES))
        files = [fd for _, _, data in messages for fd in memoryview(data).cast("i")]
        for fd in files:
            os.set_inheritable(fd, False)
        if byte and ACKNOWLEDGES:
            self._orders.send(byte)
        if len(files) == FILES:
            self._fork(files)
        for fd in files:
            os.close(fd)
        return bool(byte)

    def _fork(self, files: list[int]) -> None:
        control, folder, *streams = files
        try:
            pid = os.fork()
        except OSError as error:
            tell(control, b"failed " + failure(b"process", error))
            return
        if pid:
            self._keepers.add(pid)
            return
        try:
            self._wakeups.close()
            os.close(STDIN)
            os.open(os.devnull, os.O_RDONLY)  # takes its place
            keep(control, folder, streams)
        finally:
            os._exit(0)

    def _care(self) -> bool:
        """Reap what has ended, continue keepers, and kill what keepers left. Returns whether anything is left."""
        try:
            while (child := os.waitpid(-1, os.WNOHANG | os.WUNTRACED))[0]:
                pid, status = child
                if not os.WIFSTOPPED(status):
                    self._keepers.discard(pid)
                elif pid in self._keepers:
                    os.kill(pid, signal.SIGCONT)
        except ChildProcessError:
            return False
        strays: list[int] = []
        if self._has_adopted:
            strays = [pid for pid in children_of(os.getpid()) if pid not in self._keepers and not is_spared(pid)]
        for pid in strays:
            _kill(pid)
        return bool(self._keepers or strays)

    def _end(self) -> None:
        """Wait for the keepers. One that doesn't end is killed, and with it what it has kept."""
        deadline = time.monotonic() + END_LIMIT_S
        while self._care() and time.monotonic() < deadline:
            self._wakeups.wait(LOOK_S)
        for pid in self._keepers:
            _kill(pid)
        deadline = time.monotonic() + END_LIMIT_S
        while self._care() and time.monotonic() < deadline:
            self._wakeups.wait(LOOK_S)


def _kill(child: int) -> None:
    """Kill a child, which can't lose its ID, because only we reap it."""
    try:  # noqa: SIM105
        os.kill(child, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass
