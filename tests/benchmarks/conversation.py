"""What the conversation costs, seen from outside: every work of the goals in a real terminal, medians and ratios.

    python tests/benchmarks/conversation.py [ROUNDS] [FOLDER OF PTYBENCH] [WORK ...]

`ptybench.py` and `bench_agent.py` (default: ../shared/bench beside the repository) play the agent and the user in a
120x40 PTY. Before each run a loop of plain Python is timed; "x loop" is the work's time over that loop's, which stays
comparable where seconds wobble with the machine. Works are taken in turn, not one after the other.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from own_home import own_home

ROOT: Final = Path(__file__).parent.parent.parent
LOOPS: Final = 3_000_000
WORKS: Final = {
    "stream 10000": "<= 2.5 s, cpu <= 1.7 s, echo p50 < 15, p99 < 60",
    "paced 1000 100": "10 s, <= 2.0 s cpu, echo p99 < 40",
    "tools 300": "<= 1.5 s",
    "history 200": "<= 0.8 s",
    "history 2500": "<= 3 s, RSS <= 150 MB",
    "bigdiff 2000": "<= 0.3 s",
    "bigdiff 20000": "<= 1 s",
    "termflood 100": ">= 20 MB/s, echo p99 < 60",
}


def loop_s() -> float:
    """The calibration: how long a fixed amount of Python takes now."""
    begin, total = time.perf_counter(), 0
    for number in range(LOOPS):
        total += number * number
    return time.perf_counter() - begin


@dataclass
class Runs:
    """What was measured of one work."""

    figures: list[dict[str, Any]] = field(default_factory=list)
    loops: list[float] = field(default_factory=list)

    def median(self, *path: str) -> float:
        """The median of a figure of ptybench's, -1 where no run has it."""
        values = []
        for figure in self.figures:
            value: Any = figure
            for name in path:
                value = value.get(name) if isinstance(value, dict) else None
            if value is not None:
                values.append(float(value))
        return statistics.median(values) if values else -1.0

    @property
    def in_loops(self) -> float:
        """The turn's time over the calibration's of the same moment."""
        return statistics.median(
            figure["turn_s"] / loop for figure, loop in zip(self.figures, self.loops, strict=True)
        )


def run(bench: Path, work: str) -> dict[str, Any]:
    """One turn of this work on the screen."""
    words = [sys.executable, str(bench / "ptybench.py"), "--prompt", work, "--ready", "Scripted"]
    words += ["--exclude", "bench_agent", "--", sys.executable, "-m", "acp_tui", "--"]
    words += [sys.executable, str(bench / "bench_agent.py")]
    with own_home() as env:
        done = subprocess.run(words, capture_output=True, text=True, timeout=300, check=True, env=env)
    figures: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return figures


def main() -> int:
    """Measure and print."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    bench = Path(sys.argv[2]) if len(sys.argv) > 2 else ROOT.parent / "shared" / "bench"
    works = sys.argv[3:] or list(WORKS)
    if not (bench / "ptybench.py").exists():
        print(f"there is no ptybench.py in {bench}", file=sys.stderr)
        return 2
    measured = {work: Runs() for work in works}
    for _ in range(rounds):
        for work, runs in measured.items():
            runs.loops.append(loop_s())
            runs.figures.append(run(bench, work))
    columns = ("turn s", "x loop", "cpu s", "echo p50", "p99", "max", "RSS MB", "KB out")
    print(f"{'median of ' + str(rounds):<16}" + "".join(f"{name:>9}" for name in columns) + "  goal")
    for work, runs in measured.items():
        figures = (
            runs.median("turn_s"),
            runs.in_loops,
            runs.median("turn_cpu_s"),
            runs.median("echo_ms", "median"),
            runs.median("echo_ms", "p99"),
            runs.median("echo_ms", "max"),
            runs.median("peak_rss_mb"),
            runs.median("turn_bytes") / 1000,
        )
        print(
            f"{work:<16}" + "".join(f"{figure:>9.2f}" for figure in figures) + f"  {WORKS.get(work, '')}",
            flush=True,
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
