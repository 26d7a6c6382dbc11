"""Records the agents of `support.real_agents` again: `python tests/make_recordings.py [NAME...]`.

Each recording in tests/data/recordings is a short session with one of them, redacted. Look at it before you commit it.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import anyio

from support.real_agents import NAMES, RECORDINGS, given_away, lead_agent, short_tour, why_not


def main(names: Sequence[str]) -> int:
    """Record these agents, or all installed ones; return the exit status."""
    RECORDINGS.mkdir(parents=True, exist_ok=True)
    for name in names or NAMES:
        missing = why_not(name)
        sys.stdout.write(f"{name}: {missing or record(name)}\n")
    return 0


def record(name: str) -> str:
    """Replace an agent's recording; return its size in words."""
    with TemporaryDirectory() as folder:
        led = anyio.run(lead_agent, name, Path(folder), short_tour)
        out = RECORDINGS / f"{name}.jsonl"
        shutil.copyfile(given_away(led.recording), out)
    return f"{out.stat().st_size:,} bytes"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
