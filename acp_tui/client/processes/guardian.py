"""The guardian: a process beside acp-tui that ends what acp-tui has started when acp-tui can do so no more.

Its standard input is a pipe that acp-tui alone holds open, and never closes while anything runs. So the end of the
input means that acp-tui has ended without ending the others: by `kill -9`, a crash, a lack of memory. Until then each
line tells what runs:

    watch PID session|family    a process that leads a session; what is to end with it
    exited PID                  it has ended, and others of its group have not
    forget PID                  nothing is left of it

Those that are left then learn of acp-tui's end from their own input or terminal; after a moment they are asked to end
(SIGTERM), after another they are killed. It starts nothing, writes nothing, and ends by itself in any case.
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
"""For those that end by themselves when acp-tui is gone."""
TERMINATE_GRACE_S: Final = 0.5
KILL_ROUNDS: Final = 10
"""Whoever is killed may have started another just before."""
KILL_ROUND_S: Final = 0.1
POLL_S: Final = 0.01


class Watched:
    """A process that leads a session, and those that end with it."""

    def __init__(self, leader: int, *, has_family: bool) -> None:
        """With `has_family`, its descendants in other sessions end with it too."""
        self.leader = leader
        self.known: list[Process] = [row] if (row := row_of(leader)) else []
        """Those seen last."""
        self._has_family = has_family
        self._has_exited = False

    def note_exit(self) -> None:
        """The leader was reaped: from now on its number is held by the others of its group alone."""
        self.look(process_table())
        self._has_exited = True

    def look(self, table: Iterable[Process]) -> None:
        """See who is left, and who has joined them."""
        rows = list(table)
        members = [row for row in rows if any(map(row.is_same, self.known))]
        if self._is_ours(members, rows):
            members = list({*members, *session_of(self.leader, rows)})
        self.known = with_descendants(members, rows) if self._has_family else members

    def _is_ours(self, members: Iterable[Process], table: Iterable[Process]) -> bool:
        """Whether the number of the session is not another's by now: somebody known is in it.

        A leader of whose exit acp-tui did not live to tell has ended just now, too lately for that.
        """
        if any(self.leader in (row.group, row.session) for row in members):
            return True
        return not self._has_exited and all(row.pid != self.leader for row in table)

    def signal(self, number: int) -> None:
        """Signal all that were seen last."""
        groups = {row.group for row in self.known if self.leader in (row.group, row.session)}
        for each in (number, signal.SIGCONT):  # a stopped process has to run to end
            for group in groups:  # as one, so that nothing forks away between two signals
                signal_group(group, each)
            signal_each((row for row in self.known if row.group not in groups), each)


def main() -> None:
    """Watch until the input ends, then end what is left."""
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)  # acp-tui gets them too, and it is its end that counts
    watched: dict[int, Watched] = {}
    with os.fdopen(STDIN, encoding="ascii") as orders:
        for order in orders:
            obey(order.split(), watched)
    end(list(watched.values()))


def obey(order: list[str], watched: dict[int, Watched]) -> None:
    """Do what a line says."""
    match order:
        case ["watch", pid, scope]:
            watched[int(pid)] = Watched(int(pid), has_family=scope == "family")
        case ["exited", pid] if int(pid) in watched:
            watched[int(pid)].note_exit()
        case ["forget", pid]:
            watched.pop(int(pid), None)


def end(watched: list[Watched]) -> None:
    """Let them end, ask them to, kill them: about a second in all, and never much more."""
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
        time.sleep(POLL_S)  # what is not our child tells nobody of its end
