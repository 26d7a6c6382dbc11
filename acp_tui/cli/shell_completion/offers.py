"""What a shell offers in each place of the command line; how it is written for a shell is that shell's module's."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

from acp_tui.cli.command_line import Command, Kind, Option, Value

LISTED: Final = {Kind.AGENT: "agents", Kind.SCENARIO: "scenarios"}
"""What lists the names: `acp-tui completion agents`."""
ALWAYS: Final = (
    Option(("--help", "-h"), "show help"),
    Option(("--version",), "show the version"),
)


def options_of(command: Command[Any]) -> tuple[Option, ...]:
    """Its own, and those that stand everywhere."""
    return (*command.options, *ALWAYS)


def values_of(command: Command[Any]) -> Iterator[tuple[Option, Value]]:
    """The options of which the value has to be given."""
    for option in command.options:
        if option.value is not None:
            yield option, option.value


def named(commands: Iterable[Command[Any]]) -> list[Command[Any]]:
    """Those that have a name."""
    return [command for command in commands if command.name]
