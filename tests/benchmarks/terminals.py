"""Measures terminals: a flood of 100 MB, twenty at once, and a thousand that start and end.

    python tests/benchmarks/terminals.py [MB] [CYCLES] [FOLDER OF PTYBENCH]

Speeds are given beside a calibration: the same command read from a bare PTY by a loop that does nothing else, in the
same minute. The kernel hands on a line of 66 bytes in about 2 us, which is the limit for everyone; the ratio tells
what is ours. The flood with its widget in view runs under `ptybench.py` (default: ../shared/bench beside the
repository) and is left out where that is missing.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import anyio
from own_home import own_home

from acp_tui.client.terminals.terminals import Terminals
from acp_tui.conversation.entries import TerminalState
from acp_tui.conversation.tool_calls import TerminalId

ROOT = Path(__file__).parent.parent.parent
TERMINALS_AT_ONCE = 20
FLOOD = r"""
line = b'\x1b[32m%06d\x1b[0m the quick brown fox jumps over the lazy dog 0123456789\n'
import sys
write = sys.stdout.buffer.write
for number in range({size} // 66): write(line % number)
"""


def flood(megabytes: float) -> list[str]:
    """A command line that prints this much, in colored lines of 66 bytes."""
    return [sys.executable, "-c", FLOOD.format(size=int(megabytes * 1e6))]


def bare_speed(megabytes: float) -> float:
    """MB/s of a loop that only reads."""
    ours, theirs = os.openpty()
    begin, count = time.perf_counter(), 0
    command = subprocess.Popen(flood(megabytes), stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    while True:
        try:
            count += len(os.read(ours, 16384))
        except OSError:
            break
    command.wait()
    os.close(ours)
    return count / (time.perf_counter() - begin) / 1e6


def rss_mb() -> float:
    """The memory this process uses now."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


class Sink:
    """Handles terminals' output as a conversation does."""

    def __init__(self) -> None:
        self.count = 0
        self.states: dict[str, TerminalState] = {}
        self.terminals = Terminals(ROOT, on_output=self._take, on_exit=lambda _id, _status: None)

    def _take(self, terminal_id: str, data: bytes) -> None:
        self.count += len(data)
        if terminal_id not in self.states:
            self.states[terminal_id] = TerminalState(TerminalId(terminal_id))
        self.states[terminal_id].output.append(data)


async def headless_speed(megabytes: float, terminals: int) -> tuple[float, float]:
    """MB/s of this many terminals together without a screen, and by how many MB the process grew."""
    sink, before, begin = Sink(), rss_mb(), time.perf_counter()
    command, *args = flood(megabytes / terminals)
    ids = [await sink.terminals.create(command, args) for _ in range(terminals)]
    for terminal_id in ids:
        await sink.terminals.get(terminal_id).wait_for_exit()
    speed = sink.count / (time.perf_counter() - begin) / 1e6
    grown = rss_mb() - before
    await sink.terminals.close()
    return speed, grown


def held() -> tuple[int, int, int]:
    """File descriptors, threads and child processes of this process."""
    children = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    return len([*Path("/proc/self/fd").iterdir()]), threading.active_count(), len(children)


async def cycles(count: int) -> tuple[tuple[int, int, int], tuple[int, int, int], float]:
    """Resources before and after this many terminals were created, awaited, and released; milliseconds for each."""
    sink = Sink()

    async def cycle() -> None:
        terminal_id = await sink.terminals.create("/bin/sh", ["-c", "echo out"])
        await sink.terminals.get(terminal_id).wait_for_exit()
        await sink.terminals.release(terminal_id)

    await cycle()  # started once and kept
    before, begin = held(), time.perf_counter()
    for _ in range(count):
        await cycle()
    took_ms = (time.perf_counter() - begin) * 1000 / max(count, 1)
    after = held()
    await sink.terminals.close()
    return before, after, took_ms


def in_view(bench: Path, megabytes: int) -> dict[str, Any]:
    """What ptybench measures of a turn whose command floods the visible tool card."""
    words = [sys.executable, str(bench / "ptybench.py"), "--prompt", f"termflood {megabytes}"]
    words += ["--ready", "Scripted", "--exclude", "bench_agent", "--"]
    words += [sys.executable, "-m", "acp_tui", "run", "--", sys.executable, str(bench / "bench_agent.py")]
    with own_home() as env:
        done = subprocess.run(words, capture_output=True, text=True, timeout=200, check=True, env=env)
    figures: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return figures


def show_in_view(bench: Path, megabytes: int, bare: float) -> None:
    """Print the row of the flood with its widget in view."""
    if not (bench / "ptybench.py").exists():
        print(f"{'in view':<26}left out: there is no ptybench.py in {bench}")
        return
    figures = in_view(bench, megabytes)
    if figures.get("turn_s") is None:
        print(f"{'in view':<26}{figures['outcome']}")
        return
    speed, echo = megabytes / figures["turn_s"], figures["echo_ms"]
    grown = figures["peak_rss_mb"] - figures["ready_rss_mb"]
    print(f"{'in view, whole turn':<26}{speed:>8.1f}{speed / bare:>8.2f}{grown:>10.1f}", end="")
    print(f"   key echo ms: median {echo['median']}, p99 {echo['p99']} of {echo['seen']} keys")


def main() -> int:
    """Measure and print."""
    megabytes = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 1000
    bench = Path(sys.argv[3]) if len(sys.argv) > 3 else ROOT.parent / "shared" / "bench"
    print(f"{f'{megabytes} MB':<26}{'MB/s':>8}{'ratio':>8}{'RSS + MB':>10}")
    bare = bare_speed(megabytes)
    print(f"{'bare PTY (calibration)':<26}{bare:>8.1f}{1:>8.2f}")
    for terminals in (1, TERMINALS_AT_ONCE):
        speed, grown = anyio.run(headless_speed, megabytes, terminals)
        name = "1 terminal" if terminals == 1 else f"{terminals} terminals at once"
        print(f"{name:<26}{speed:>8.1f}{speed / bare:>8.2f}{grown:>10.1f}")
    show_in_view(bench, megabytes, bare)
    before, after, took_ms = anyio.run(cycles, count)
    print(f"\n{count} terminals created, awaited and released: {took_ms:.1f} ms each")
    for name, was, now in zip(("file descriptors", "threads", "processes"), before, after, strict=True):
        print(f"  {name:<18}{was:>4} before{now:>6} after")
    return 0 if before == after else 1


if __name__ == "__main__":
    sys.exit(main())
