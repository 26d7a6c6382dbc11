"""Measures what a sandbox costs at the start of an agent, with and without one in turn.

    python tests/benchmarks/sandboxes.py [--rounds N] [PROFILE ...]

Each round starts a program that writes a line, until the line is there. Times are medians in milliseconds; "loops" are
the difference over 2,000,000 additions. A message costs nothing more: both run behind the same pipes.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent.parent))

from acp_tui.client.agents.command import AgentCommand, SandboxPlan
from acp_tui.client.agents.process import running_agent
from acp_tui.client.processes.guard import guard
from acp_tui.client.settings.settings import READ_ONLY, WORKSPACE, SandboxProfile

PROFILES = {"workspace": WORKSPACE, "read-only": READ_ONLY, "landlock": SandboxProfile("landlock", engine="landlock")}
ECHO = AgentCommand("echo", ("/bin/echo", "a line"))


def calibrate() -> float:
    began, total = time.perf_counter(), 0
    for number in range(2_000_000):
        total += number
    return 1000 * (time.perf_counter() - began)


async def start(folder: Path, plan: SandboxPlan | None) -> float:
    began = time.perf_counter()
    async with running_agent(ECHO, lambda _: None, folder, plan) as process:
        await process.stream.receive()
        took = time.perf_counter() - began
    if process.sandbox is not None:
        process.sandbox.box.discard()
    return 1000 * took


async def measure(rounds: int, names: list[str]) -> None:
    loop = calibrate()
    print(f"{'sandbox':<12}{'without':>9}{'with':>9}{'more':>8}{'loops':>8}")
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            plan = SandboxPlan(PROFILES[name])
            await start(Path(folder), plan)  # loads what it needs, which takes 10 ms once
            pairs = [(await start(Path(folder), None), await start(Path(folder), plan)) for _ in range(rounds)]
            without, boxed = (statistics.median(times) for times in zip(*pairs, strict=True))
            more = boxed - without
            print(f"{name:<12}{without:>9.1f}{boxed:>9.1f}{more:>8.1f}{more / loop:>8.2f}")
    guard.end()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("profiles", nargs="*", default=[*PROFILES])
    arguments = parser.parse_args()
    asyncio.run(measure(arguments.rounds, arguments.profiles))
