"""Programs that a test runs to their end, and what commands leave behind."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from shlex import quote
from time import monotonic
from typing import Any, Final

import psutil  # type: ignore[import-untyped]
import pytest

from support.waiting import LIMIT_S

# What a release builds, and programs that are run to try it. Where no package index is reached, the test skips

ROOT: Final = Path(__file__).parents[2]
UV: Final = Path(sys.executable).with_name("uv")
INSTALL_LIMIT_S: Final = 300
UNREACHED: Final = (
    "Failed to fetch",
    "error sending request",
    "Couldn't connect",
    "dns error",
    "cache-only",
)


def run(*command: str | Path, cwd: Path = ROOT, environ: Mapping[str, str] = os.environ, **more: str) -> str:
    """What the command printed. Skips the test if it failed for lack of a network."""
    done = subprocess.run(
        [str(word) for word in command],
        cwd=cwd,
        env={**environ, **more},
        capture_output=True,
        text=True,
        timeout=INSTALL_LIMIT_S,
        check=False,
    )
    if done.returncode != 0 and any(sign in done.stderr for sign in UNREACHED):
        pytest.skip(f"no package index is reached: {done.stderr.strip().splitlines()[-1]}")
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def build(folder: Path, source: Path = ROOT) -> tuple[Path, Path]:
    """The sdist of a source, and the wheel made from it."""
    offline = ("--offline", "--no-build-isolation", "--python", sys.executable)
    run(UV, "build", *offline, "--out-dir", folder, source)
    (sdist,), (wheel,) = folder.glob("*.tar.gz"), folder.glob("*.whl")
    return sdist, wheel


# pytest, for what only a whole run shows


def run_pytest(folder: Path, *options: str) -> str:
    """Run pytest there with only the plugins the kit knows; return its output."""
    # This process may be one of several workers; the new run isn't.
    environ = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_XDIST")}
    plugins = ("acp_tui.workbench.testing.plugin", "syrupy")
    ran = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            *(f"-p{name}" for name in plugins),
            "-p",
            "no:cacheprovider",
            *options,
        ],
        cwd=folder,
        env={**environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "COLUMNS": "200"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return ran.stdout + ran.stderr


# Those below another


def below(process: subprocess.Popen[Any]) -> list[psutil.Process]:
    """Its child processes, and their children."""
    found: list[psutil.Process] = psutil.Process(process.pid).children(recursive=True)
    return found


def all_end(processes: list[psutil.Process], limit_s: float = LIMIT_S) -> bool:
    """Whether they end by then; unreaped ones count as ended."""
    deadline = monotonic() + limit_s
    while left := [process for process in processes if _runs(process)]:
        if monotonic() > deadline:
            for process in left:
                process.send_signal(signal.SIGKILL)
            return False
        select.select([], [], [], 0.02)
    return True


def _runs(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


# Ways in which a command leaves something behind, and how to notice that nothing is left


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
