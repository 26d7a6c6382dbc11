"""Where an agent's process starts, and with which words and variables: in the folder where it works, as in an editor.

Agents take that folder for granted: some run their commands there, whatever folder a session names.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from acp_tui.client.agents.command import AgentCommand
from acp_tui.client.errors import AgentNotRunnable
from acp_tui.client.files import create_private, make_private
from acp_tui.client.settings.location import cache_folder

_ENTER: Final = """#!/bin/sh
# What npx runs its package with: on into the folder where the agent works.
cd "$ACP_TUI_FOLDER" || exit
unset npm_config_script_shell ACP_TUI_FOLDER
exec /bin/sh "$@"
"""


@dataclass(frozen=True, slots=True)
class Start:
    """What the operating system is asked for."""

    args: tuple[str, ...]
    """Behind the program."""
    env: Mapping[str, str]
    """All of it."""
    folder: Path


def start_of(command: AgentCommand, folder: Path | None) -> Start:
    """How to start it, to work in `folder`; None, or a folder that is gone: where we are. Raises AgentNotRunnable."""
    here = _here()
    folder = folder if folder is not None and folder.is_dir() else here
    env = {**os.environ, **command.env}
    if command.runner == "npx":
        packages = _packages_folder()
        env |= {"npm_config_script_shell": str(packages / "enter"), "ACP_TUI_FOLDER": str(folder)}
        return Start(command.argv[1:], env, packages)
    is_typed_here = folder != here and not command.is_elsewhere
    args = _anchored(command.argv[1:], here) if is_typed_here else command.argv[1:]
    return Start(tuple(args), env, folder)


def _here() -> Path:
    try:
        return Path.cwd()
    except FileNotFoundError as error:
        raise AgentNotRunnable(
            "the folder that acp-tui was started in is gone", hint="start acp-tui in another one"
        ) from error


def _anchored(words: tuple[str, ...], here: Path) -> Iterator[str]:
    """A word that names a file of where the user is names it from elsewhere too, as in `node build/agent.js`."""
    for word in words:
        is_file = not word.startswith("-") and os.path.isfile(here / word)  # noqa: PTH113 - a Path raises for a name that is too long
        yield str(here / word) if is_file else word


def _packages_folder() -> Path:
    """Where npx starts: it takes the packages and the settings of the folder that it is started in for those that the
    user has agreed to. From there it leads on into the folder where the agent works.
    """
    folder = cache_folder() / "packages"
    try:
        make_private(folder, is_ours=True)
        _write_enter(folder / "enter")
    except OSError as error:
        raise AgentNotRunnable(
            f"{folder} cannot be made: {error.strerror}", hint="packages are started there"
        ) from error
    return folder


def _write_enter(file: Path) -> None:
    if file.is_file() and file.read_text("utf-8") == _ENTER and os.access(file, os.X_OK):
        return
    # Another acp-tui may run it meanwhile.
    new = file.with_name(f".enter-{os.getpid()}")
    with create_private(new, mode=0o700) as opened:
        opened.write(_ENTER.encode())
    new.replace(file)
