"""Runs the Claude adapter that is maintained today, as `../shared/agents/run.py` runs the other agents.

`python current_claude.py [AGENT ARGUMENT...]`, with AGENTS_PREFIX as there. Its Node is the one that comes with qwen.
"""

from __future__ import annotations

import runpy
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

AGENTS: Final = Path(__file__).resolve().parents[3] / "shared/agents"
NAME: Final = "claude-current"


def claude_of(others: dict[str, Any]) -> Callable[[Path, str], tuple[list[str], dict[str, str]]]:
    """How it starts in a home and with a model's address, made of what `run.py` knows of other agents."""
    start = others["claude"]("claude-acp", "@agentclientprotocol/claude-agent-acp/dist/index.js")

    def claude(home: Path, url: str) -> tuple[list[str], dict[str, str]]:
        (_, program), env = start(home, url)
        return [str(others["NODE22"]), program], {**env, "CLAUDE_CODE_ENABLE_TASKS": "1"}

    return claude


def main() -> int:
    """Start it with a stand-in for its model; return its exit status."""
    others: dict[str, Any] = runpy.run_path(str(AGENTS / "run.py"))
    sys.argv.insert(1, NAME)
    return int(others["main"]({NAME: claude_of(others)}))


if __name__ == "__main__":
    sys.exit(main())
