"""The demo agent, which plays a script.

It works on a sample project in a temporary folder that is deleted when acp-tui ends; if acp-tui was killed, by the next
demo.
"""

from __future__ import annotations

import atexit
import sys
from dataclasses import replace
from pathlib import Path
from typing import Final, Literal

from acp_tui.client.agents.command import DEMO, AgentCommand
from acp_tui.client.temporary import TemporaryFolder

_GREETING: Final = "This agent plays a script. Type anything to start it."
_PROJECT: Final = Path(__file__).with_name("demo_project")
_PREFIX: Final = "acp-tui-demo-"
_SUFFIX: Final = ".txt"
"""The project's files end like this in the package, so that no tool treats its deliberate bug and its tests as ours."""


def demo_command(scenario: str = "coding", speed: float = 1.0, protocol: Literal[1, 2] = 1) -> AgentCommand:
    """The demo agent's command, which works in the user's folder; see `with_project`.

    The demo speaks both versions of ACP. The default is version 1, because acp-tui does and shows more with it: files
    and terminals.
    """
    # -P: it starts in the project's folder, whose modules must not replace Python's.
    argv = (sys.executable, "-P", "-m", "acp_tui.demo", scenario, "--speed", f"{speed:g}")
    return AgentCommand(DEMO, argv, is_listed=True, protocol=protocol, greeting=_GREETING)


def with_project(command: AgentCommand) -> AgentCommand:
    """The same command with a fresh copy of the sample project, so the user's files aren't touched. Blocks.

    The folder distinguishes its sessions from those of other runs, for example in the list of recordings.
    """
    folder = TemporaryFolder(_PREFIX)
    atexit.register(folder.remove)
    project = folder.path / "project"
    copy_project(project)
    return replace(command, argv=(*command.argv, "--own-ids"), cwd=project)


def copy_project(directory: Path) -> None:
    """Create `directory` with a fresh copy of the sample project: a few small files with one real bug."""
    directory.mkdir(parents=True, exist_ok=True)
    for source in sorted(_PROJECT.glob(f"*{_SUFFIX}")):
        (directory / source.name.removesuffix(_SUFFIX)).write_bytes(source.read_bytes())
