"""The scripted agent as an agent like others: it works on a sample project in a folder that goes when acp-tui ends."""

from __future__ import annotations

import atexit
import shutil
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Final

from acp_tui.client.agents.command import AgentCommand

NAME: Final = "demo"
GREETING: Final = "This agent plays a script: any prompt starts it."


def demo_command(scenario: str = "coding", speed: float = 1.0) -> AgentCommand:
    """The command, which works where the user is: see `with_project`."""
    # -P: it starts in the project's folder, of which no module is to be taken for one of Python's.
    argv = (sys.executable, "-P", "-m", "acp_tui.demo", scenario, "--speed", f"{speed:g}")
    return AgentCommand(NAME, argv, is_listed=True, greeting=GREETING)


def with_project(command: AgentCommand) -> AgentCommand:
    """The same on a fresh copy of the sample project: nothing of the user's is touched. It blocks.

    Its sessions are told from those of other runs, as in the list of what was recorded.
    """
    from acp_tui.demo.project import copy_project

    folder = tempfile.mkdtemp(prefix="acp-tui-demo-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    project = Path(folder).resolve() / "project"
    copy_project(project)
    return replace(command, argv=(*command.argv, "--own-ids"), cwd=project)
