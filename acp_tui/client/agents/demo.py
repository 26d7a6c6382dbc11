"""The scripted agent as an agent like others: it works on a sample project in a folder that goes when acp-tui ends."""

from __future__ import annotations

import atexit
import shutil
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Final, Literal

from acp_tui.client.agents.command import AgentCommand

NAME: Final = "demo"
GREETING: Final = "This agent plays a script: any prompt starts it."
_PROJECT: Final = Path(__file__).with_name("demo_project")
_SUFFIX: Final = ".txt"
"""The project's files end so in this package, so that no tool takes its deliberate bug and its tests for ours."""


def demo_command(scenario: str = "coding", speed: float = 1.0, protocol: Literal[1, 2] = 1) -> AgentCommand:
    """The command, which works where the user is: see `with_project`.

    It speaks both versions; by default the one in which acp-tui has more to do, and so to show: files and terminals.
    """
    # -P: it starts in the project's folder, of which no module is to be taken for one of Python's.
    argv = (sys.executable, "-P", "-m", "acp_tui.demo", scenario, "--speed", f"{speed:g}")
    return AgentCommand(NAME, argv, is_listed=True, protocol=protocol, greeting=GREETING)


def with_project(command: AgentCommand) -> AgentCommand:
    """The same on a fresh copy of the sample project: nothing of the user's is touched. It blocks.

    Its sessions are told from those of other runs, as in the list of what was recorded.
    """
    folder = tempfile.mkdtemp(prefix="acp-tui-demo-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    project = Path(folder).resolve() / "project"
    copy_project(project)
    return replace(command, argv=(*command.argv, "--own-ids"), cwd=project)


def copy_project(directory: Path) -> None:
    """Put a fresh copy of the sample project, a few small files with one real bug, into `directory`; makes it."""
    directory.mkdir(parents=True, exist_ok=True)
    for source in sorted(_PROJECT.glob(f"*{_SUFFIX}")):
        (directory / source.name.removesuffix(_SUFFIX)).write_bytes(source.read_bytes())
