"""Measures what a flooding agent can do to the user: every kind of flood in a real terminal, with its goals.

    python tests/benchmarks/abuse.py [KIND ...]

Each flood runs twice in a 120x40 PTY. First to its end, or to the end that acp-tui makes of such an agent, while a key
is typed every 100 ms and its echo is awaited. Then again, and Ctrl+Q is pressed in the middle of it. `hostile_agent.py`
beside this file plays the agent. Memory is that of acp-tui alone, as the kernel has it.

    seconds   from Enter to the end of the flood on the screen
    echo      of the slowest key, from the write into the PTY to the read of its letter
    echo cpu  the most CPU time of acp-tui between such a write and such a read. The goal is for this: on a machine that
              others use, most of the echo is theirs.
    quit      from Ctrl+Q (pressed again 0.2 s later: an agent is at work) to the terminal as it was before
"""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import struct
import sys
import tempfile
import termios
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from hostile_agent import FIELDS, LONG
from own_home import own_home

HERE: Final = Path(__file__).parent
AGENT: Final = HERE / "hostile_agent.py"
END: Final = b"FLOOD-ENDS-HERE"
ENDED_BY_US: Final = b"restarts it"
LEFT: Final = b"\x1b[?1049l"
LETTERS: Final = [chr(code) for code in (*range(0x100, 0x17F), *range(0x410, 0x44F), *range(0x3B1, 0x3C9))]
KEY_EVERY_S: Final = 0.1
LIMIT_S: Final = 90.0
QUIET_S: Final = 1.5
"""A run ends after as much time in which the app used hardly more CPU time than the keys cost."""
BUSY_CPU_S: Final = 0.4
WORST_ECHO_CPU_S: Final = 0.2
WORST_QUIT_S: Final = 1.0
MAX_MB: Final = 300.0
SHOWN_WHOLE: Final = ("output", "asked-command", "asked-text", "asked-diff", "form-message", "form-field", "compaction")

WORKS: Final = (
    "messages 20000",
    "thoughts 20000",
    "entries 5000",
    "entries 100000",
    "old-entries 50000",
    "mixed 10000",
    "mixed 100000",
    "tool-calls 5000",
    "tool-updates 5000",
    "plans 20",
    "commands 10",
    "options 500",
    "modes 20000",
    "usage 20000",
    "titles 20000",
    "notices 5000",
    "notices 20000",
    "long-notices 100",
    "unknown-updates 5000",
    "unknown-sessions 20000",
    "unknown-notes 20000",
    "broken-updates 20000",
    "junk 20000",
    "blank-lines 10000",
    "cancels 20000",
    "answers 20000",
    "stderr 10000",
    "permissions 5000",
    "permissions 5000 unread",
    "asked-and-withdrawn 2000",
    "forms 1000",
    "terminals 1000",
    "chatty-terminals 20",
    "ended-terminals 200",
    "outputs 20000",
    "outputs 200000 unread",
    "reads 40",
    "reads 40 unread",
    "writes 2000",
    "unknown-requests 100000",
    "unknown-requests 100000 unread",
    "huge-ids 200",
    "huge-ids 200 unread",
    "huge-permission-ids 200",
    "deep 50",
    "long-line 1",
    "big-line 1",
    "blocks 1",
    "same-blocks 1",
    "links 1",
    "diffs 1",
    "shown-terminals 1",
    "locations 1",
    "long-plan 1",
    "asked-blocks 1",
    "asked-diffs 1",
    *(f"title-{kind} 1" for kind in LONG),
    *(f"{field}-marks 1" for field in FIELDS if field != "title"),
    *(f"{field}-{kind} 1" for field in SHOWN_WHOLE for kind in LONG if kind != "marks"),
)


class Terminal:
    """acp-tui in a PTY. Every read is searched for the awaited text."""

    def __init__(self, env: dict[str, str], folder: str) -> None:
        self.pid, self._fd = pty.fork()
        if self.pid == 0:
            os.chdir(folder)
            words = [sys.executable, "-m", "acp_tui", "--", sys.executable, str(AGENT)]
            os.execvpe(words[0], words, env)
        fcntl.ioctl(self._fd, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
        self.is_gone = False
        self._tail = b""

    def read(self, limit_s: float) -> bytes:
        """The next output, preceded by the end of the previous; b"" if there is none in this time."""
        readable, _, _ = select.select([self._fd], [], [], limit_s)
        if not readable or self.is_gone:
            return b""
        try:
            data = os.read(self._fd, 1 << 16)
        except OSError:
            data = b""
        if not data:
            self.is_gone = True
        seen, self._tail = self._tail + data, data[-64:]
        return seen

    def wait_for(self, what: bytes, limit_s: float) -> float | None:
        """Seconds until this is printed; None if it isn't."""
        begin = time.monotonic()
        while not self.is_gone and (left := begin + limit_s - time.monotonic()) > 0:
            if what in self.read(left):
                return time.monotonic() - begin
        return None

    def write(self, keys: bytes) -> None:
        """Type this."""
        with suppress(OSError):
            os.write(self._fd, keys)

    def peak_mb(self) -> float:
        """The most memory the process has used so far."""
        for line in Path(f"/proc/{self.pid}/status").read_text().splitlines():
            if line.startswith("VmHWM"):
                return int(line.split()[1]) / 1000
        return 0.0

    def cpu_s(self) -> float:
        """The CPU time the process has used so far."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def exact_cpu_s(self) -> float:
        """The exact CPU time that the threads running now have used so far."""
        total_ns = 0
        for thread in Path(f"/proc/{self.pid}/task").iterdir():
            with suppress(OSError):  # it has ended
                total_ns += int((thread / "schedstat").read_text().split()[0])
        return total_ns / 1e9

    def end(self) -> None:
        """End the process and clean up."""
        with suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGTERM)
        end = time.monotonic() + 8
        while os.waitpid(self.pid, os.WNOHANG)[0] == 0:
            self.read(0.05)
            if time.monotonic() > end:
                os.kill(self.pid, signal.SIGKILL)
                os.waitpid(self.pid, 0)
                break
        os.close(self._fd)


@contextmanager
def running(work: str) -> Iterator[Terminal]:
    """acp-tui with this prompt just sent."""
    with own_home() as env, tempfile.TemporaryDirectory(prefix="acp-tui-abuse-") as folder:
        terminal = Terminal({**env, "TERM": "xterm-256color", "COLORTERM": "truecolor", "LC_ALL": "C.UTF-8"}, folder)
        try:
            if terminal.wait_for(b"Hostile", 30) is None:
                raise RuntimeError("acp-tui didn't start")
            while terminal.read(0.5):
                pass
            for letter in work:
                terminal.write(letter.encode())
                terminal.read(0.01)
            while terminal.read(0.3):
                pass
            terminal.write(b"\r")
            yield terminal
        finally:
            terminal.end()


@dataclass
class Row:
    """The measurements of one flood."""

    outcome: str = "no end"
    seconds: float = LIMIT_S
    cpu_s: float = 0.0
    echoes: int = 0
    worst_echo_s: float = 0.0
    worst_echo_cpu_s: float = 0.0
    peak_mb: float = 0.0
    quit_s: float | None = None

    @property
    def is_good(self) -> bool:
        """Whether it meets the goals."""
        return (
            self.outcome != "no end"
            and self.worst_echo_cpu_s <= WORST_ECHO_CPU_S
            and self.quit_s is not None
            and self.quit_s <= WORST_QUIT_S
            and self.peak_mb <= MAX_MB
        )


def flood(work: str) -> Row:
    """Run the flood to its end while typing keys."""
    row = Row()
    with running(work) as terminal:
        begin, cpu = time.monotonic(), terminal.cpu_s()
        typed: tuple[bytes, float, float] | None = None
        next_key, keys = begin + KEY_EVERY_S, 0
        end, cpu_then = begin + LIMIT_S, 0.0
        while (now := time.monotonic()) < end and not terminal.is_gone:
            if typed is None and now >= next_key:
                typed = (LETTERS[keys % len(LETTERS)].encode(), now, terminal.exact_cpu_s())
                keys += 1
                terminal.write(typed[0])
            seen = terminal.read(0.02)
            now = time.monotonic()
            if typed is not None and typed[0] in seen:
                row.worst_echo_s = max(row.worst_echo_s, now - typed[1])
                row.worst_echo_cpu_s = max(row.worst_echo_cpu_s, terminal.exact_cpu_s() - typed[2])
                row.echoes += 1
                next_key, typed = max(now, typed[1] + KEY_EVERY_S), None
                row.peak_mb, row.cpu_s = terminal.peak_mb(), terminal.cpu_s() - cpu
            if row.outcome == "no end":
                for outcome, mark in (("to its end", END), ("ended by us", ENDED_BY_US)):
                    if mark in seen:
                        row.outcome, row.seconds = outcome, now - begin
                        end, cpu_then = min(end, now + QUIET_S), terminal.exact_cpu_s()
            if row.outcome != "no end" and now >= end < begin + LIMIT_S:
                # What keeps the app busy afterwards counts, too.
                cpu_before, cpu_then = cpu_then, terminal.exact_cpu_s()
                if cpu_then - cpu_before > BUSY_CPU_S:
                    end = now + QUIET_S
        if typed is not None:
            row.worst_echo_s = max(row.worst_echo_s, time.monotonic() - typed[1])
            if not terminal.is_gone:
                row.worst_echo_cpu_s = max(row.worst_echo_cpu_s, terminal.exact_cpu_s() - typed[2])
        if terminal.is_gone:
            row.outcome = "no end"
        else:
            row.peak_mb, row.cpu_s = terminal.peak_mb(), terminal.cpu_s() - cpu
    return row


def quit_s(work: str) -> float | None:
    """Seconds from Ctrl+Q in the middle of the flood until the app has ended."""
    with running(work) as terminal:
        until = time.monotonic() + 0.5
        while time.monotonic() < until:
            terminal.read(0.05)
        begin = time.monotonic()
        terminal.write(b"\x11")
        if (took := terminal.wait_for(LEFT, 0.2)) is None:
            terminal.write(b"\x11")
            took = terminal.wait_for(LEFT, 30)
        return None if took is None else time.monotonic() - begin


def main() -> int:
    """Measure and print."""
    wanted = sys.argv[1:]
    works = [work for work in WORKS if not wanted or work in wanted or work.split()[0] in wanted]
    works += [work for work in wanted if " " in work and work not in WORKS]
    goals = f"goals: echo cpu <= {WORST_ECHO_CPU_S} s, quit <= {WORST_QUIT_S} s, peak <= {MAX_MB:.0f} MB"
    columns = f"{'seconds':>9}{'cpu s':>8}{'keys':>6}{'echo s':>8}{'echo cpu':>10}{'peak MB':>9}{'quit s':>8}"
    print(f"{goals}\n{'flood':<32}{'outcome':>12}{columns}", flush=True)
    rows = []
    for work in works:
        row = flood(work)
        row.quit_s = quit_s(work)
        rows.append(row)
        quit_words = "never" if row.quit_s is None else f"{row.quit_s:.2f}"
        print(
            f"{work:<32}{row.outcome:>12}{row.seconds:>9.2f}{row.cpu_s:>8.2f}{row.echoes:>6}"
            f"{row.worst_echo_s:>8.3f}{row.worst_echo_cpu_s:>10.3f}{row.peak_mb:>9.1f}{quit_words:>8}"
            f"{'' if row.is_good else '  MISSED'}",
            flush=True,
        )
    return 0 if all(row.is_good for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
