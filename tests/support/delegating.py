"""Runs a real agent of ../shared/agents with a model that also knows DELEGATE: it calls the agent's Task tool.

Like `run.py` there, with the agent's name as argument. The subagent is told to RUN a command.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

AGENTS = Path(__file__).parents[3] / "shared/agents"
BEFORE = "    if key == 'HELLO':\n"
DELEGATE = """
    if key == 'DELEGATE':
        task = find(tools, ('Task', 'Agent'))
        if task is None:
            return key, ['There is no tool to delegate with.'], None, None
        args = {'description': 'Say hi', 'prompt': 'Please RUN it', 'subagent_type': 'general-purpose'}
        return key, ['I will delegate.'], task, args
"""


def main() -> int:
    """Run the agent until it ends; return its exit status."""
    spec = importlib.util.spec_from_file_location("run", AGENTS / "run.py")
    assert spec is not None
    assert spec.loader is not None
    run = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(run)
    model = (AGENTS / "stand_in_llm.py").read_text(encoding="utf-8")
    assert BEFORE in model
    model = model.replace(BEFORE, DELEGATE + BEFORE, 1).replace("KEYS = (", "KEYS = ('DELEGATE', ", 1)
    with TemporaryDirectory() as folder:
        Path(folder, "stand_in_llm.py").write_text(model, encoding="utf-8")
        run.HERE = Path(folder)
        status: int = run.main()
        return status


if __name__ == "__main__":
    sys.exit(main())
