"""Turns the command line into one request; starts nothing. What can be asked for is described in `command_table`."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from typing import Final, NoReturn

from acp_tui import __version__
from acp_tui.cli.command_line import Command, WrongUse, add_to
from acp_tui.cli.command_table import COMMANDS
from acp_tui.cli.exit_codes import ExitCode
from acp_tui.cli.help_text import help_of, overview
from acp_tui.cli.requests import AgentChoice, Request

_BY_NAME: Final = {command.name: command for command in COMMANDS}


class _Parser(argparse.ArgumentParser):
    """Prints the help that we make, and errors of one line."""

    def __init__(self, command: Command[Request]) -> None:
        super().__init__(prog="acp-tui", allow_abbrev=False)
        self._command = command
        self.add_argument("--version", action="version", version=f"acp-tui {__version__}")
        add_to(self, command)

    def format_help(self) -> str:
        return help_of(self._command) if self._command.name else overview(COMMANDS)

    def error(self, message: str) -> NoReturn:
        called = f"acp-tui {self._command.name}".rstrip()
        sys.stderr.write(f"acp-tui: {message}\n{called} --help shows how to call it\n")
        raise SystemExit(ExitCode.USAGE)


def read_arguments(argv: Sequence[str]) -> Request:
    """The request that `argv` (without the program) stands for. Raises SystemExit for --help, --version and errors."""
    words, agent_argv = _split_off_command(argv)
    command, rest = _split_off_name(words)
    parser = _Parser(command)
    given, left = parser.parse_known_args(rest)
    if left:
        parser.error(_too_much(command, left))
    try:
        if command.takes_agent:
            given.agent = _choice(given.word, agent_argv)
        elif agent_argv is not None:
            raise WrongUse(f"{command.name} takes no command behind --")
        return command.read(given)
    except WrongUse as error:
        parser.error(str(error))


def _split_off_command(argv: Sequence[str]) -> tuple[list[str], tuple[str, ...] | None]:
    """Everything behind the first `--` is the agent's, further `--` included; None where there is no `--`."""
    words = list(argv)
    if "--" not in words:
        return words, None
    at = words.index("--")
    return words[:at], tuple(words[at + 1 :])


def _split_off_name(words: list[str]) -> tuple[Command[Request], list[str]]:
    """Our command, of which the name can only be the first word, and the words without it."""
    if words and words[0] and words[0] in _BY_NAME:
        return _BY_NAME[words[0]], words[1:]
    return _BY_NAME[""], words


def _too_much(command: Command[Request], left: list[str]) -> str:
    """What was given beyond what the command takes, and where it goes if it is what it looks like."""
    said = f"unrecognized arguments: {' '.join(left)}"
    if not command.takes_agent or any(word.startswith("-") for word in left):
        return said
    if len(left) == 1 and os.path.isdir(left[0]):  # noqa: PTH112 - a Path raises for a name that is too long
        return f"{said}; a folder goes behind --cwd"
    if command.name == "exec":
        return f"{said}; the prompt goes behind --prompt, in quotes"
    if command.name in ("", "run"):
        return f"{said}; a prompt is typed once the agent runs, or given to acp-tui exec"
    return said


def _choice(name: str | None, argv: tuple[str, ...] | None) -> AgentChoice | None:
    if argv is None:
        return None if name is None else AgentChoice(name=name)
    if name is not None:
        raise WrongUse(f"an agent was named twice: {name}, and the command behind --")
    if not argv:
        raise WrongUse("there is no command behind --")
    return AgentChoice(argv=argv)
