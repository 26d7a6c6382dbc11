"""The guardian: a process beside acp-tui that ends what acp-tui has started if acp-tui no longer can.

Its standard input is a pipe that only acp-tui holds open, and never closes while anything runs. So the end of the input
means that acp-tui has ended without ending the others: because of `kill -9`, a crash, or a lack of memory. Until then,
each line says what runs:

    watch PID session|family    a process that leads a session; what has to end with it
    exited PID                  it has ended, but others in its group haven't
    forget PID                  nothing is left of it

The remaining processes can then notice acp-tui's end from their own input or terminal. After a moment they get SIGTERM,
after another SIGKILL. The guardian starts nothing, writes nothing, and always ends.
"""

from __future__ import annotations

import os
import time

from acp_tui.client.processes.table import (
    Process,
    is_running,
    process_table,
    row_of,
    session_of,
    signal_each,
    signal_group,
    with_descendants,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal
    from collections.abc import Iterable
    from typing import Final
else:
    import _signal as signal

STDIN: Final = 0
GRACE_S: Final = 0.3
"""For processes that end themselves when acp-tui is gone."""
TERMINATE_GRACE_S: Final = 0.5
KILL_ROUNDS: Final = 10
"""A process may have started another one just before it was killed."""
KILL_ROUND_S: Final = 0.1
POLL_S: Final = 0.01


class Watched:
    """A process that leads a session, and those that end with it."""

    def __init__(self, leader: int, *, has_family: bool) -> None:
        """With `has_family`, its descendants in other sessions end with it, too."""
        self.leader = leader
        self.known: list[Process] = [row] if (row := row_of(leader)) else []
        """The processes seen last."""
        self._has_family = has_family
        self._has_exited = False

    def note_exit(self) -> None:
        """The leader was reaped. From now on, only the rest of its group keeps its ID in use."""
        self.look(process_table())
        self._has_exited = True

    def look(self, table: Iterable[Process]) -> None:
        """Find out which processes are left and which have joined them."""
        rows = list(table)
        members = [row for row in rows if any(map(row.is_same, self.known))]
        if self._is_ours(members, rows):
            members = list({*members, *session_of(self.leader, rows)})
        self.known = with_descendants(members, rows) if self._has_family else members

    def _is_ours(self, members: Iterable[Process], table: Iterable[Process]) -> bool:
        """Whether the session's ID is still ours, because a known process is in it.

        If the leader's exit wasn't reported before acp-tui ended, it's too recent for its ID to have been reused.
        """
        if any(self.leader in (row.group, row.session) for row in members):
            return True
        return not self._has_exited and all(row.pid != self.leader for row in table)

    def signal(self, number: int) -> None:
        """Signal all processes that were seen last."""
        groups = {row.group for row in self.known if self.leader in (row.group, row.session)}
        for each in (number, signal.SIGCONT):  # a stopped process has to run to end
            for group in groups:  # as a group, so that nothing forks between two signals
                signal_group(group, each)
            signal_each((row for row in self.known if row.group not in groups), each)


def main() -> None:
    """Watch until the input ends, then end what is left."""
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)  # acp-tui gets these signals, too, and its end is what matters
    watched: dict[int, Watched] = {}
    with os.fdopen(STDIN, encoding="ascii") as orders:
        for order in orders:
            obey(order.split(), watched)
    end(list(watched.values()))


def obey(order: list[str], watched: dict[int, Watched]) -> None:
    """Execute a line."""
    match order:
        case ["watch", pid, scope]:
            watched[int(pid)] = Watched(int(pid), has_family=scope == "family")
        case ["exited", pid] if int(pid) in watched:
            watched[int(pid)].note_exit()
        case ["forget", pid]:
            watched.pop(int(pid), None)


def end(watched: list[Watched]) -> None:
    """Wait for the processes, then SIGTERM them, then SIGKILL them. Takes about a second in all, never much more."""
    if _are_left(watched):
        _wait(watched, GRACE_S)
    if _are_left(watched):
        _signal(watched, signal.SIGTERM)
        _wait(watched, TERMINATE_GRACE_S)
    for _ in range(KILL_ROUNDS):
        if not _are_left(watched):
            return
        _signal(watched, signal.SIGKILL)
        _wait(watched, KILL_ROUND_S)


def _are_left(watched: list[Watched]) -> bool:
    if not watched:
        return False
    table = process_table()
    for each in watched:
        each.look(table)
    return any(each.known for each in watched)


def _signal(watched: list[Watched], number: int) -> None:
    for each in watched:
        each.signal(number)


def _wait(watched: list[Watched], limit_s: float) -> None:
    deadline = time.monotonic() + limit_s
    while time.monotonic() < deadline and any(is_running(row) for each in watched for row in each.known):
        time.sleep(POLL_S)  # we aren't notified when a process ends that isn't our child
