"""How a command line is parsed."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import Any, Final

from acp_tui.cli.arguments import read_arguments


def given(line: str) -> tuple[str, dict[str, Any]]:
    """The command's name and its values, without unset switches and options."""
    command, values = read_arguments(line.split())
    told = {name: value for name, value in vars(values).items() if value is not None and value is not False}
    if command.takes_agent:
        told.pop("word", None)
    return command.name, told


ONE_AFTER_THE_OTHER: Final = """
import json, sys
from acp_tui.cli.main import main
sys.exit(max([main(argv) for argv in json.loads(sys.argv.pop())]))
"""


def one_after_the_other(*commands: Sequence[str]) -> list[str]:
    """A process that runs several commands of acp-tui; most of what one takes is its start. Its status is the worst."""
    return [sys.executable, "-P", "-c", ONE_AFTER_THE_OTHER, json.dumps(commands)]
