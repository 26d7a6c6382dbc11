"""What commands need before they work: the agent's command, the settings, a terminal to draw on.

Where one is missing, that is said, and SystemExit with the exit status is raised.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from acp_tui.cli import ExitCode
from acp_tui.cli.arguments import AgentChoice, nearest
from acp_tui.cli.command_table import COMMANDS
from acp_tui.client.agents import catalogue
from acp_tui.client.agents.command import AgentCommand
from acp_tui.client.errors import AgentNotFound, ClientError, SettingsError
from acp_tui.client.settings.location import settings_file
from acp_tui.client.settings.reader import read_settings

if TYPE_CHECKING:
    from acp_tui.client.settings.reader import SettingsRead

NO_SCREEN: Final = frozenset({"", "dumb", "unknown"})
"""Values of TERM of what cannot move a cursor."""


def stop(error: ClientError, status: ExitCode = ExitCode.USAGE) -> SystemExit:
    """What to raise once the error is said."""
    from acp_tui.cli.saying import say_error  # most runs have nothing to say

    say_error(error)
    return SystemExit(status)


def command_of(choice: AgentChoice) -> AgentCommand:
    """The agent's command."""
    command = _command_of(choice)
    return command if choice.protocol is None else replace(command, protocol=choice.protocol)


def _command_of(choice: AgentChoice) -> AgentCommand:
    if choice.name is None:
        return AgentCommand(Path(choice.argv[0]).name, choice.argv)

    try:
        return catalogue.find_agent(choice.name).ready()
    except ClientError as error:
        is_unknown = isinstance(error, AgentNotFound)
        if is_unknown and (near := nearest(choice.name, (command.name for command in COMMANDS))):
            error.hint = f"did you mean acp-tui {near}?\n{error.hint}"
        raise stop(error, ExitCode.NOT_FOUND if is_unknown else ExitCode.USAGE) from None


def settings_in_force() -> SettingsRead:
    """The user's settings. It stops where it is not safe to go on without what is wrong in them."""
    try:
        read = read_settings(settings_file())
        if any(problem.key.startswith("refuse") for problem in read.problems):
            read.checked()  # a rule that cannot be read would not refuse
    except SettingsError as error:
        raise stop(error) from None
    return read


def notes_of(read: SettingsRead) -> tuple[str, ...]:
    """What the user should know of the settings, and can go on with."""
    return (*map(str, read.problems), *read.warnings)


def has_terminal() -> bool:
    """Whether there is one to work on."""
    # The screen is drawn on stderr, which is the terminal also where stdout is a pipe; or by Textual in a web page.
    return os.environ.get("TEXTUAL_DRIVER", "").endswith(":WebDriver") or (
        sys.stdin.isatty() and sys.stderr.isatty()
    )


def require_screen(otherwise: str) -> None:
    """See that there is a terminal that can be drawn on; `otherwise` tells what works without."""
    if not has_terminal():
        sys.stderr.write(f"acp-tui needs a terminal; {otherwise}\n")
        raise SystemExit(ExitCode.USAGE)
    reason = reason_not_to_draw(os.environ)
    if reason:
        sys.stderr.write(f"acp-tui: {reason}\n")
        raise SystemExit(ExitCode.USAGE)


def reason_not_to_draw(environ: Mapping[str, str]) -> str:
    """Why no full screen can be drawn on this terminal, and what to do; "" where it can."""
    term = environ.get("TERM", "")
    if term not in NO_SCREEN:
        return ""
    what = f"TERM={term} is a terminal that acp-tui can't draw on" if term else "TERM isn't set"
    return (
        f"{what}, and acp-tui draws a full screen\n"
        "  To work line by line: acp-tui AGENT --plain. For one turn without a screen: acp-tui exec.\n"
        "  Or set TERM to your terminal's type, such as xterm-256color"
    )
