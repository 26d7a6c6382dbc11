"""Runs a real agent as `../shared/agents/run.py` does, and more: the maintained Claude adapter, another stand-in model.

`python run_real_agent.py NAME [--delegates] [--bodies FOLDER]`, with AGENTS_PREFIX as there. The model also knows
DELEGATE, which calls the agent's Task tool, and writes all that it is asked to a folder.
"""

from __future__ import annotations

import argparse
import runpy
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

AGENTS: Final = Path(__file__).resolve().parents[3] / "shared/agents"
CURRENT_CLAUDE: Final = "claude-current"
OPTIONS: Final = "ap = argparse.ArgumentParser()\n"
BEFORE: Final = "    if key == 'HELLO':\n"
DELEGATE: Final = """
    if key == 'DELEGATE':
        task = find(tools, ('Task', 'Agent'))
        if task is None:
            return key, ['There is no tool to delegate with.'], None, None
        args = {'description': 'Say hi', 'prompt': 'Please RUN it', 'subagent_type': 'general-purpose'}
        return key, ['I will delegate.'], task, args
"""
"""The subagent is told to RUN a command."""


def current_claude(known: dict[str, Any]) -> Callable[[Path, str], tuple[list[str], dict[str, str]]]:
    """How it starts in a home and with a model's address, made of what `run.py` knows. Its Node is qwen's."""
    start = known["claude"]("claude-acp", "@agentclientprotocol/claude-agent-acp/dist/index.js")

    def claude(home: Path, url: str) -> tuple[list[str], dict[str, str]]:
        (_, program), env = start(home, url)
        return [str(known["NODE22"]), program], {**env, "CLAUDE_CODE_ENABLE_TASKS": "1"}

    return claude


def model(*, delegates: bool, bodies: str | None) -> str:
    """The source of the stand-in for the agent's model."""
    source = (AGENTS / "stand_in_llm.py").read_text(encoding="utf-8")
    assert OPTIONS in source
    assert BEFORE in source
    if bodies is not None:
        source = source.replace(OPTIONS, f"sys.argv += ['--bodies', {bodies!r}]\n{OPTIONS}", 1)
    if delegates:
        source = source.replace(BEFORE, DELEGATE + BEFORE, 1).replace("KEYS = (", "KEYS = ('DELEGATE', ", 1)
    return source


def main() -> int:
    """Run the agent until it ends; return its exit status."""
    parser = argparse.ArgumentParser()
    parser.add_argument("name")
    parser.add_argument("--delegates", action="store_true")
    parser.add_argument("--bodies")
    given = parser.parse_args()
    run = runpy.run_path(str(AGENTS / "run.py"))["main"]
    known: dict[str, Any] = run.__globals__
    with TemporaryDirectory() as folder:
        Path(folder, "stand_in_llm.py").write_text(model(delegates=given.delegates, bodies=given.bodies), "utf-8")
        known["HERE"] = Path(folder)
        sys.argv[1:] = [given.name]
        return int(run({**known["AGENTS"], CURRENT_CLAUDE: current_claude(known)}))


if __name__ == "__main__":
    sys.exit(main())
