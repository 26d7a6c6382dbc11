"""The demo agent, which plays a script.

It works on a sample project in a temporary folder that is deleted when acp-tui ends; if acp-tui was killed, by the next
demo.
"""

from __future__ import annotations

import atexit
import fcntl
import os
import shutil
import sys
import tempfile
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Final, Literal

from acp_tui.client.agents.command import DEMO, AgentCommand
from acp_tui.client.files import open_private

_GREETING: Final = "This agent plays a script. Type anything to start it."
_PROJECT: Final = Path(__file__).with_name("demo_project")
_PREFIX: Final = "acp-tui-demo-"
_LOCK: Final = "lock"
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
    _remove_leftovers()
    project = _own_folder() / "project"
    copy_project(project)
    return replace(command, argv=(*command.argv, "--own-ids"), cwd=project)


def _own_folder() -> Path:
    """A new temporary folder that is deleted at exit. The lock in it is held as long as this process lives."""
    while True:
        folder = Path(tempfile.mkdtemp(prefix=_PREFIX)).resolve()
        with suppress(OSError):  # another start has deleted it, or the file system has no locks
            lock = open_private(folder / _LOCK)
            fcntl.flock(lock, fcntl.LOCK_EX)
        if folder.exists():  # otherwise, another start took it for a leftover before we had the lock
            atexit.register(shutil.rmtree, folder, ignore_errors=True)
            return folder


def _remove_leftovers() -> None:
    """Delete the folders of runs that were killed, and of no others: their lock is free."""
    for found in os.scandir(tempfile.gettempdir()):
        if not found.name.startswith(_PREFIX):
            continue
        with suppress(OSError):  # it isn't such a folder, is someone else's, or its run is still going on
            lock = os.open(Path(found.path, _LOCK), os.O_RDONLY | os.O_NOFOLLOW)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if found.stat(follow_symlinks=False).st_uid == os.getuid():
                    shutil.rmtree(found.path, ignore_errors=True)
            finally:
                os.close(lock)


def copy_project(directory: Path) -> None:
    """Create `directory` with a fresh copy of the sample project: a few small files with one real bug."""
    directory.mkdir(parents=True, exist_ok=True)
    for source in sorted(_PROJECT.glob(f"*{_SUFFIX}")):
        (directory / source.name.removesuffix(_SUFFIX)).write_bytes(source.read_bytes())
