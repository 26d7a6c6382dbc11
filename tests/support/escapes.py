"""Ways in which a command leaves something behind, and how to notice that nothing is left.

Whatever stays holds a named pipe open, so its readers see the end of the file when the last one has ended, no matter
how often that one has changed its process ID.
"""

from __future__ import annotations

import os
import select
import sys
from pathlib import Path
from shlex import quote
from typing import Final

from support.waiting import LIMIT_S

STAY: Final = """#!/bin/sh
# Ignores what it can, and stays.
trap '' HUP INT TERM
exec 9> {pipe}
echo up >&9
: > {pipe}.up
exec sleep 1000
"""

# The end of a session's leader hangs up the others, so it waits until they have left.
AND_WAIT: Final = "\nuntil test -e {pipe}.up; do sleep 0.01; done"

# The names that the code below uses.
BEGIN: Final = """
import os, signal, sys, threading, time
for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM): signal.signal(number, signal.SIG_IGN)
STAY, PIPE = sys.argv[1:]
def leave():
    if os.fork(): os._exit(0)
    os.setsid()
def open_pipe():
    os.write(os.open(PIPE, os.O_WRONLY), b"up\\n")
"""

IN_SHELL: Final = {
    "setsid": "setsid -f {stay}",
    "setsid without an environment": "env -i setsid -f {stay}",
    "a double fork": "( ( {stay} & ) & )",
    "nohup": "nohup {stay} > /dev/null 2>&1 &",
    "a job of its own": "set -m; {stay} &",
    "a command that stays itself": "exec {stay}",
    "setsid after its parent was stopped": "kill -STOP $PPID; setsid -f {stay}",
}
IN_PYTHON: Final = {
    "a daemon without open files": (
        "leave(); leave(); os.chdir('/'); os.closerange(0, 256)\n"
        "os.open('/dev/null', os.O_RDWR); os.dup(0); os.dup(0)\n"
        "os.execv(STAY, [STAY])"
    ),
    "a child of a thread": (
        "import subprocess\n"
        "def start(): subprocess.Popen([STAY], start_new_session=True); time.sleep(1000)\n"
        "threading.Thread(target=start).start()"
    ),
    "another one when it is signalled": (
        "def flee(*_):\n"
        "    leave(); again()\n"
        "def again():\n"
        "    signal.signal(signal.SIGTERM, flee)\n"
        "    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGTERM])\n"
        "    while True: signal.pause()\n"
        "open_pipe(); again()"
    ),
    "a new process and session all the time": "open_pipe()\nwhile True: leave()",
    "a hundred that are replaced all the time": (
        "for _ in range(99):\n    if os.fork() == 0: break\nopen_pipe()\nwhile True: leave(); time.sleep(0.01)"
    ),
}
WAYS: Final = (*IN_SHELL, *IN_PYTHON)


class Left:
    """What is left behind in one way."""

    def __init__(self, folder: Path, way: str) -> None:
        self.way = way
        pipe, stay = folder / f"{WAYS.index(way)}.pipe", folder / f"{WAYS.index(way)}.sh"
        os.mkfifo(pipe)
        stay.write_text(STAY.format(pipe=quote(str(pipe))))
        stay.chmod(0o755)
        self._fd = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
        if way in IN_SHELL:
            line = (IN_SHELL[way] + AND_WAIT).format(stay=quote(str(stay)), pipe=quote(str(pipe)))
            self.argv = ["/bin/sh", "-c", line]
        else:
            self.argv = [sys.executable, "-I", "-S", "-c", BEGIN + IN_PYTHON[way], str(stay), str(pipe)]
        """The command that leaves it."""

    def is_up(self) -> bool:
        """Wait until it runs. Returns whether it does."""
        return bool(self._wait() and os.read(self._fd, 1 << 16))

    def is_gone(self, limit_s: float = LIMIT_S) -> bool:
        """Wait until nothing is left of it, but no longer than this. Returns whether that is so."""
        while self._wait(limit_s):
            if not os.read(self._fd, 1 << 16):
                os.close(self._fd)
                return True
        return False

    def _wait(self, limit_s: float = LIMIT_S) -> bool:
        return bool(select.select([self._fd], [], [], limit_s)[0])
