"""Turns the command line into one request; starts nothing."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn, TypeAlias

from acp_tui import __version__
from acp_tui.cli.exit_codes import ExitCode

HELP = """\
usage: acp-tui [AGENT] [--cwd DIR]        work with an agent
       acp-tui run AGENT [--cwd DIR]      the same, also for one called "demo"
       acp-tui exec AGENT [--cwd DIR] [--prompt TEXT] [--format text|ndjson]
                                          one turn without a screen; without
                                          --prompt it is read from stdin
       acp-tui demo [SCENARIO | --list] [--speed X]
                                          a scripted agent, to try acp-tui
       acp-tui --version | --help

AGENT is a known name, or -- and any command that speaks ACP on its stdio.

  acp-tui demo                            nothing of yours is touched
  acp-tui claude --cwd ~/src/project
  acp-tui -- npx -y @google/gemini-cli --acp
  git diff | acp-tui exec gemini --format ndjson

exec ends with 0 when the turn is done, 1 on an error, 2 on a wrong command
line, 3 refused by the agent, 4 limit reached, 5 a permission was rejected,
6 login needed, 7 the agent died or broke the protocol, 126/127 the command
cannot be run / is not found, 130 cancelled.
"""

COMMANDS = ("run", "exec", "demo")


@dataclass(frozen=True, slots=True)
class AgentChoice:
    """Which agent: just one of the two is set."""

    name: str | None = None
    argv: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Run:
    """Work with an agent on the screen."""

    agent: AgentChoice
    cwd: Path


@dataclass(frozen=True, slots=True)
class ListAgents:
    """No agent was named: say which there are."""


@dataclass(frozen=True, slots=True)
class Exec:
    """One turn without a screen."""

    agent: AgentChoice
    cwd: Path
    prompt: str | None
    """None: from stdin."""
    format: str


@dataclass(frozen=True, slots=True)
class Demo:
    """Play a scenario; None: the default one."""

    scenario: str | None
    speed: float


@dataclass(frozen=True, slots=True)
class ListScenarios:
    """Say which scenarios there are."""


Request: TypeAlias = Run | ListAgents | Exec | Demo | ListScenarios


class _Parser(argparse.ArgumentParser):
    """Prints the one help text that we have, and errors of one line."""

    def format_help(self) -> str:
        return HELP

    def error(self, message: str) -> NoReturn:
        sys.stderr.write(f"acp-tui: {message}\nacp-tui --help shows how to call it\n")
        raise SystemExit(ExitCode.USAGE)


def read_arguments(argv: Sequence[str]) -> Request:
    """The request that `argv` (without the program) stands for. Raises SystemExit for --help, --version and errors."""
    words, agent_argv = _split_off_command(argv)
    command, rest = _split_off_name(words)
    parser = _Parser(prog="acp-tui", allow_abbrev=False)
    parser.add_argument("--version", action="version", version=f"acp-tui {__version__}")
    if command == "demo":
        return _read_demo(parser, rest, agent_argv)
    parser.add_argument("agent", nargs="?")
    parser.add_argument("--cwd", type=_directory, default=".")
    if command == "exec":
        parser.add_argument("--prompt", "-p")
        parser.add_argument("--format", choices=("text", "ndjson"), default="text")
    given = parser.parse_args(rest)
    agent = _agent(parser, given.agent, agent_argv)
    if command == "exec":
        if agent is None:
            parser.error("exec wants an agent: a known name, or -- COMMAND")
        return Exec(agent, given.cwd, given.prompt, given.format)
    if agent is None:
        if command == "run":
            parser.error("run wants an agent: a known name, or -- COMMAND")
        return ListAgents()
    return Run(agent, given.cwd)


def _split_off_command(argv: Sequence[str]) -> tuple[list[str], tuple[str, ...] | None]:
    """Everything behind the first `--` is the agent's, further `--` included; None where there is no `--`."""
    words = list(argv)
    if "--" not in words:
        return words, None
    at = words.index("--")
    return words[:at], tuple(words[at + 1 :])


def _split_off_name(words: list[str]) -> tuple[str, list[str]]:
    """The name of our command, which can only be the first word, and the words without it."""
    if words and words[0] in COMMANDS:
        return words[0], words[1:]
    return "", words


def _agent(parser: _Parser, name: str | None, argv: tuple[str, ...] | None) -> AgentChoice | None:
    if argv is None:
        return None if name is None else AgentChoice(name=name)
    if name is not None:
        parser.error(f"an agent was named twice: {name}, and the command behind --")
    if not argv:
        parser.error("there is no command behind --")
    return AgentChoice(argv=argv)


def _read_demo(parser: _Parser, words: list[str], agent_argv: tuple[str, ...] | None) -> Demo | ListScenarios:
    parser.add_argument("scenario", nargs="?")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--speed", type=float, default=1.0)
    given = parser.parse_args(words)
    if agent_argv is not None:
        parser.error("demo brings its own agent: it takes no command behind --")
    return ListScenarios() if given.list else Demo(given.scenario, given.speed)


def _directory(text: str) -> Path:
    try:
        path = Path(text).expanduser().absolute()
    except (RuntimeError, OSError) as error:  # the home of nobody; a folder that was deleted under us
        raise argparse.ArgumentTypeError(f"{text}: {error}") from error
    if not path.is_dir():
        raise argparse.ArgumentTypeError(f"{text} is not a folder")
    return path
