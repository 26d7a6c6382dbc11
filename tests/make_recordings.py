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
    """Record these, or all that are installed; the exit status."""
    RECORDINGS.mkdir(parents=True, exist_ok=True)
    for name in names or NAMES:
        missing = why_not(name)
        sys.stdout.write(f"{name}: {missing or record(name)}\n")
    return 0


def record(name: str) -> str:
    """Replace the recording of an agent; says how large it is."""
    with TemporaryDirectory() as folder:
        led = anyio.run(lead_agent, name, Path(folder), short_tour)
        out = RECORDINGS / f"{name}.jsonl"
        shutil.copyfile(given_away(led.recording), out)
    return f"{out.stat().st_size:,} bytes"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
