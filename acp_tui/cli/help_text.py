"""The help, made of the description of the command line; it fits a screen of 80x24."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from acp_tui.cli.command_line import Command

AGENT: Final = "AGENT is a known name, or -- and any command that speaks ACP on its stdio."
EXAMPLES: Final = """\
  acp-tui -- npx -y @google/gemini-cli --acp
"""


def overview(commands: Iterable[Command[Any]]) -> str:
    """All commands; what each takes stands in its own help."""
    named = [command for command in commands if command.name]
    nameless = next(command for command in commands if not command.name)
    return (
        f"usage: acp-tui {nameless.shown} [OPTIONS]        {nameless.about}: acp-tui run --help\n"
        "       acp-tui COMMAND [OPTIONS]       acp-tui COMMAND --help\n\n"
        + _columns((command.shown, command.about) for command in named)
        + f"\n{AGENT}\n{EXAMPLES}"
    )


def help_of(command: Command[Any]) -> str:
    """What one command does and takes."""
    about = command.about[:1].upper() + command.about[1:]
    usage = f"usage: acp-tui {command.shown}{' [OPTIONS]' if command.options else ''}\n\n{about}.\n"
    options = _columns((option.shown, option.about) for option in command.options)
    parts = [usage, options, f"{AGENT}\n" if command.takes_agent else "", command.notes]
    return "\n".join(part for part in parts if part)


def _columns(rows: Iterable[tuple[str, str]]) -> str:
    rows = list(rows)
    width = max((len(name) for name, _ in rows), default=0)
    return "".join(f"  {name:<{width}}  {about}\n" for name, about in rows)
