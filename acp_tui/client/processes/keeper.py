"""A keeper: the parent of one agent or command, which ends with everything that has come from it.

On Linux, it's the ancestor that nothing can leave ("child subreaper"): whatever loses its parent becomes the keeper's
own child, no matter its session, group, environment, or open files. So "everything that has come from it" is what is
below the keeper, and the end is reached when the keeper has no children. Elsewhere (macOS), a process whose parent has
ended isn't below anything; see `Known`.

acp-tui holds the other end of the keeper's socket, and sends what to start on it. Closing it means "end them now", and
the system closes it when acp-tui ends, whatever the reason. So there is one way to end. The keeper reports on the
socket, in lines:

    failed WHAT NUL ERRNO NUL REASON    nothing was started, and the socket closes
    started PID
    exited CODE                         negative for the signal that ended it; others may still run

The keeper closes its end when nothing is left.
"""

from __future__ import annotations

import marshal
import os
import select
import sys
import time

from acp_tui.client.processes import landlock, table
from acp_tui.client.processes.launcher import failure, launch

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal
    from collections.abc import Callable
    from typing import Final, TypeAlias

    Confinement: TypeAlias = tuple[list[bytes], bytes, list[tuple[bytes, bool]] | None, bool]
    """See `guard`."""
else:
    import _signal as signal

KILL_LIMIT_S: Final = 10.0
"""For processes that start others faster than they can be killed, or that wait for a dead disk."""
LOOK_S: Final = 0.1
"""Between two looks at what ends without a signal to us."""
BROWSERS: Final = ("brave", "chrom", "epiphany", "falkon", "firefox", "librewolf", "msedge", "opera", "vivaldi")
"""How the names of browsers' executables begin."""


class Wakeups:
    """Waits until a file can be read or a child has ended."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._pipe = os.pipe()
        for end in self._pipe:
            os.set_blocking(end, False)
        signal.signal(signal.SIGCHLD, lambda _number, _frame: None)
        signal.set_wakeup_fd(self._pipe[1], warn_on_full_buffer=False)
        self._poll = select.poll()
        self._poll.register(self._pipe[0], select.POLLIN)
        self._poll.register(fd, select.POLLIN)

    def wait(self, limit_s: float | None = None) -> bool:
        """Wait. Returns whether the file can be read."""
        ready = [fd for fd, _ in self._poll.poll(None if limit_s is None else limit_s * 1000)]
        if self._pipe[0] in ready:
            os.read(self._pipe[0], 4096)
        return self._fd in ready

    def forget_file(self) -> None:
        self._poll.unregister(self._fd)

    def close(self) -> None:
        """Stop. Another one may follow."""
        signal.set_wakeup_fd(-1)
        for end in self._pipe:
            os.close(end)


def adopt() -> bool:
    """Become the parent of whatever below this process loses its own. False if the system has no such thing."""
    if prctl is None:
        return False
    return prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0  # type: ignore[no-any-return]


_PR_SET_CHILD_SUBREAPER: Final = 36
prctl = None
if sys.platform == "linux":
    try:
        import ctypes

        prctl = ctypes.CDLL(None).prctl
    except (ImportError, OSError, AttributeError):
        pass


def is_spared(pid: int) -> bool:
    """Whether this is a browser that isn't the user's own file.

    An agent that logs in may start the user's browser, which then has the user's other pages, too. A file that the user
    can't make can't be made by an agent either.
    """
    try:
        folder, _, name = os.readlink(f"/proc/{pid}/exe").rpartition("/")  # noqa: PTH115 - the guardian has no pathlib
        owners = [os.stat(path).st_uid for path in (f"/proc/{pid}/exe", folder or "/")]  # noqa: PTH116
    except OSError:
        return False
    return name.startswith(BROWSERS) and os.getuid() not in owners and not os.access(folder or "/", os.W_OK)


class Adopted:
    """Everything below this process, except what is spared."""

    def __init__(self, is_spared: Callable[[int], bool]) -> None:
        self._is_spared = is_spared
        self._has_children = True

    def reap(self) -> list[tuple[int, int]]:
        """Let ended children go. Returns their IDs and exit codes."""
        ended = []
        try:
            while (child := os.waitpid(-1, os.WNOHANG))[0]:
                ended.append((child[0], os.waitstatus_to_exitcode(child[1])))
        except ChildProcessError:
            self._has_children = False
        return ended

    @property
    def is_empty(self) -> bool:
        """Whether nothing is left. Call `reap` before."""
        if not self._has_children:
            return True
        children = table.children_of(os.getpid())
        return bool(children) and all(map(self._is_spared, children))

    def signal(self, number: int) -> None:
        # Children can't lose their IDs, because only we reap them. Without more ado, since they may be starting others.
        if number == signal.SIGKILL:
            for child in table.children_of(os.getpid()):
                if not self._is_spared(child):
                    try:  # noqa: SIM105
                        os.kill(child, number)
                    except (ProcessLookupError, PermissionError):
                        pass
        for each in (number, signal.SIGCONT):  # a stopped process has to run to end
            table.signal_each(table.below(os.getpid(), self._is_spared), each)


class Known:
    """What belongs to a process where nothing can be adopted.

    That is its session and group, and their descendants, as seen while their parents lived. A process that was never
    seen, because it left the session and lost its parent between two looks, isn't found.
    """

    def __init__(self, leader: int) -> None:
        self._leader = leader
        self.processes: list[table.Process] = [row] if (row := table.row_of(leader)) else []
        """Those seen last."""
        self._was_reaped = False

    def reap(self) -> list[tuple[int, int]]:
        """Let the leader go if it has ended. Returns its ID and exit code then."""
        self._follow_children()  # as long as it isn't reaped, its ID, which is that of its group, can't be another's
        if self._was_reaped:
            return []
        pid, status = os.waitpid(self._leader, os.WNOHANG)
        self._was_reaped = pid != 0
        return [(pid, os.waitstatus_to_exitcode(status))] if pid else []

    @property
    def is_empty(self) -> bool:
        """Whether nothing is left. Call `reap` before."""
        return self._was_reaped and not self.processes

    def signal(self, number: int) -> None:
        for each in (number, signal.SIGCONT):
            if any(self._leader == row.group for row in self.processes):
                table.signal_group(self._leader, each)  # as a group, so that nothing forks between two signals
            table.signal_each([row for row in self.processes if row.group != self._leader], each)

    def _follow_children(self) -> None:
        every = table.process_table()
        members = [row for row in every if row in self.processes]
        if not self._was_reaped or any(self._leader in (row.group, row.session) for row in members):
            members = list({*members, *table.session_of(self._leader, every)})
        self.processes = table.with_descendants(members, every)


def keep(control: int, folder: int, streams: list[int]) -> None:
    """Start what the order on `control` says, and return when nothing is left of it. Raises EOFError without one."""
    with os.fdopen(control, "rb", closefd=False) as file:
        # marshal, because both ends are the same interpreter, and json would have to be loaded
        patience_s, grace_s, spares_browsers, on_terminal, programs, environment, confinement = marshal.load(file)

    def start() -> bytes:
        way = lambda: _confine(confinement)  # noqa: E731 - `partial` would have to be loaded
        return launch(programs, environment, folder, streams, way, on_terminal=on_terminal)

    has_adopted = adopt()
    try:
        leader, refusal = _forked(start)
    except OSError as error:
        tell(control, b"failed " + failure(b"process", error))
        return
    for fd in (folder, *streams):
        os.close(fd)
    if refusal:
        os.waitpid(leader, 0)
        tell(control, b"failed " + refusal)
        return
    tell(control, b"started %d\n" % leader)
    everything = Adopted(is_spared if spares_browsers else lambda _: False) if has_adopted else Known(leader)
    _Keeper(control, leader, everything, is_led_in=bool(confinement and confinement[0])).run(patience_s, grace_s)


def _forked(start: Callable[[], bytes]) -> tuple[int, bytes]:
    """Fork and `start`. Returns the process ID, and why nothing was executed, or nothing."""
    reading, writing = os.pipe()  # closed by the exec
    pid = os.fork()
    if pid == 0:
        try:
            os.write(writing, start())
        finally:
            os._exit(127)
    os.close(writing)
    with os.fdopen(reading, "rb") as report:
        return pid, report.read()


def _confine(confinement: Confinement | None) -> list[bytes]:
    """Give up rights for good. Returns the words that lead into the sandbox. Raises OSError."""
    if confinement is None:
        return []
    words, data, places, is_setuid = confinement
    if not is_setuid:
        landlock.leave_keyrings()
        landlock.restrict(places)
    if not data:
        return words
    file = os.memfd_create("sandbox", 0)  # inherited
    with os.fdopen(os.dup(file), "wb") as opened:
        opened.write(data)
    os.lseek(file, 0, os.SEEK_SET)
    return [word.replace(b"{fd}", b"%d" % file) for word in words]


def tell(control: int, what: bytes) -> None:
    """Report to acp-tui, if it is still there."""
    try:  # noqa: SIM105
        os.write(control, what)
    except OSError:
        pass


class _Keeper:
    def __init__(self, control: int, leader: int, everything: Adopted | Known, *, is_led_in: bool) -> None:
        self._control = control
        self._leader = leader
        self._is_led_in = is_led_in
        self._everything = everything
        self._has_exited = False
        self._wakeups = Wakeups(control)

    def run(self, patience_s: float, grace_s: float) -> None:
        """Wait until nothing is left, or until acp-tui closes the socket, and then end what is left."""
        self._reap()
        while not self._everything.is_empty:
            is_over = self._wakeups.wait()
            self._reap()
            if is_over:
                self._wakeups.forget_file()
                self._end(patience_s, grace_s)
                return

    def _end(self, patience_s: float, grace_s: float) -> None:
        """Let the leader end by itself, then ask everything to end, then kill it."""
        try:  # noqa: SIM105
            os.kill(os.getppid(), signal.SIGCONT)  # the guardian has to end, too, even if it was stopped
        except (ProcessLookupError, PermissionError):
            pass
        if self._wait(patience_s, lambda: self._has_exited) and self._everything.is_empty:
            return
        self._everything.signal(signal.SIGTERM)
        if self._wait(grace_s, lambda: self._everything.is_empty):
            return
        deadline = time.monotonic() + KILL_LIMIT_S
        while not self._everything.is_empty and time.monotonic() < deadline:
            self._everything.signal(signal.SIGKILL)
            self._wakeups.wait(LOOK_S)
            self._reap()

    def _wait(self, limit_s: float, is_so: Callable[[], bool]) -> bool:
        """Wait until it is so, or for this long. Returns whether it is so."""
        deadline = time.monotonic() + limit_s
        while not is_so() and (left_s := deadline - time.monotonic()) > 0:
            self._wakeups.wait(min(left_s, LOOK_S))
            self._reap()
        return is_so()

    def _reap(self) -> None:
        ended = dict(self._everything.reap())
        code = ended.pop(self._leader, None)
        if code is not None and code < 0 and self._is_led_in and (inner := [*ended, *table.children_of(os.getpid())]):
            # A signal for all has ended the one that leads into a sandbox. Inside, it may be handled: the first process
            # there, now our child, ends as the command does.
            self._leader = inner[0]
            code = ended.get(self._leader)
        if code is not None:
            self._has_exited = True
            tell(self._control, b"exited %d\n" % code)
