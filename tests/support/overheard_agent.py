"""Runs a real agent as `../shared/agents/run.py` does, and writes all that its model is asked to a folder.

`python overheard_agent.py codex|claude-current FOLDER`, with AGENTS_PREFIX as there.
"""

from __future__ import annotations

import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

HERE: Final = Path(__file__).resolve().parent
AGENTS: Final = HERE.parents[2] / "shared/agents"


def main() -> int:
    """Start it with a stand-in for its model that keeps what it's asked; return its exit status."""
    name, bodies = sys.argv[1:]
    others: dict[str, Any] = runpy.run_path(str(AGENTS / "run.py"))
    start = runpy.run_path(str(HERE / "current_claude.py"))["claude_of"](others) if name != "codex" else others["codex"]
    port = others["free_port"]()
    words = [sys.executable, str(AGENTS / "stand_in_llm.py"), str(port), "--bodies", bodies]
    model = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        # The stand-in that `main` starts, too, and waits for, has nothing to do.
        sys.argv[1:] = [name]
        return int(others["main"]({name: lambda home, _: start(home, f"http://127.0.0.1:{port}")}))
    finally:
        model.kill()
        model.wait()


if __name__ == "__main__":
    sys.exit(main())
