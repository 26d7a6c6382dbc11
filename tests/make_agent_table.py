"""Takes the agents of `support.real_agents` on a tour and writes what they did into docs/authors.md.

`AGENTS_PREFIX=FOLDER python tests/make_agent_table.py [NAME...]`. An agent that isn't installed keeps its line. Look at
the difference before you commit it.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import anyio

from support.real_agents import DOCS, TITLES, row, rows_in_docs, tour, why_not


def main(names: Sequence[str]) -> int:
    """Write the lines of these agents, or of all installed ones; return the exit status."""
    for name in names or TITLES:
        if missing := why_not(name):
            sys.stdout.write(f"{name}: {missing}\n")
            continue
        with TemporaryDirectory() as folder:
            line = row(name, anyio.run(tour, name, Path(folder)))
        docs = DOCS.read_text(encoding="utf-8")
        DOCS.write_text(docs.replace(rows_in_docs()[TITLES[name]], line), encoding="utf-8")
        sys.stdout.write(f"{line}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
