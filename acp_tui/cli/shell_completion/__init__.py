"""Prints what a shell needs to complete our command line: a script made of `command_table.COMMANDS`, or names.

Installing the script is the user's business.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from acp_tui.cli.command_table import COMMANDS
from acp_tui.cli.exit_codes import ExitCode
from acp_tui.cli.shell_completion import bash, fish, zsh

SCRIPTS: Final = {"bash": bash.script, "zsh": zsh.script, "fish": fish.script}
PLAIN_NAME: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+@-]*")
"""Shells expand what they are offered, so nothing else is."""


def print_completion(what: str) -> int:
    """Print the script for a shell, or the names of the agents or the scenarios, one a line."""
    print(SCRIPTS[what](COMMANDS) if what in SCRIPTS else "\n".join(_plain(_names(what))))
    return ExitCode.DONE


def _names(what: str) -> Iterable[str]:
    if what == "scenarios":
        from acp_tui.workbench.demo import shipped

        return shipped.names()
    from acp_tui.client.agents.catalogue import read_catalogue

    return [agent.name for agent in read_catalogue().agents if not agent.obstacle]


def _plain(names: Iterable[str]) -> list[str]:
    return [name for name in names if PLAIN_NAME.fullmatch(name)]
