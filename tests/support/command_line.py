"""How a command line is parsed."""

from __future__ import annotations

from typing import Any

from acp_tui.cli.arguments import read_arguments


def given(line: str) -> tuple[str, dict[str, Any]]:
    """The command's name and its values, without unset switches and options."""
    command, values = read_arguments(line.split())
    told = {name: value for name, value in vars(values).items() if value is not None and value is not False}
    if command.takes_agent:
        told.pop("word", None)
    return command.name, told
