"""Reads the command line into a command and what was given to it, and makes the help; starts nothing.

What can be given is described in `command_table`; what belongs together, each command knows.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple, NoReturn, TypeAlias

from acp_tui import __version__
from acp_tui.cli.command_table import COMMANDS, Command, Kind, Value
from acp_tui.cli.exit_codes import ExitCode
from acp_tui.client.transcript.record_to import RecordTo

Given: TypeAlias = argparse.Namespace
"""What was given: `word`, each option by its long name; where the command takes them, `agent` (an AgentChoice, None for
none) instead of the word, and `record` as a RecordTo."""

AGENT: Final = "AGENT is a known name, or -- and any command that speaks ACP on its stdio."
EXAMPLES: Final = """\
  acp-tui -- npx -y @google/gemini-cli --acp
"""
_BY_NAME: Final = {command.name: command for command in COMMANDS}


class WrongUse(Exception):
    """The command line is wrong in a way that is said in one line."""


class AgentChoice(NamedTuple):
    """Which agent: just one of the two is set."""

    name: str | None = None
    argv: tuple[str, ...] = ()


def read_arguments(argv: Sequence[str]) -> tuple[Command, Given]:
    """What `argv` (without the program) stands for. Raises SystemExit for --help, --version and errors."""
    words, agent_argv = _split_off_command(argv)
    command, rest = _split_off_name(words)
    parser = _Parser(command)
    given, left = parser.parse_known_args(rest)
    if left:
        parser.error(_too_much(command, left))
    try:
        _complete(given, command, agent_argv)
    except WrongUse as error:
        parser.error(str(error))
    return command, given


def say_wrong_use(command: Command, message: str) -> ExitCode:
    """Say what is wrong and where the help is; gives the exit status."""
    called = f"acp-tui {command.name}".rstrip()
    sys.stderr.write(f"acp-tui: {message}\n{called} --help shows how to call it\n")
    return ExitCode.USAGE


class _Parser(argparse.ArgumentParser):
    """Prints the help that we make, and errors of one line."""

    def __init__(self, command: Command) -> None:
        super().__init__(prog="acp-tui", allow_abbrev=False)
        self._command = command
        self.add_argument("--version", action="version", version=f"acp-tui {__version__}")
        if command.word is not None:  # `-- COMMAND` can stand for it
            self.add_argument("word", metavar=command.word.name, nargs="?", **_reading(command.word))
        for option in command.options:
            if option.value is None:
                self.add_argument(*option.flags, action="store_true")
                continue
            reading = _reading(option.value)
            if option.value_when_bare is not None:
                reading |= {"nargs": "?", "const": option.value_when_bare}
            if option.is_repeated:
                reading |= {"action": "append"}
            self.add_argument(*option.flags, default=option.default, metavar=option.value.name, **reading)

    def format_help(self) -> str:
        return help_of(self._command) if self._command.name else overview(COMMANDS)

    def error(self, message: str) -> NoReturn:
        raise SystemExit(say_wrong_use(self._command, message))


def _reading(value: Value) -> dict[str, Any]:
    reads = _READERS.get(value.kind, str)
    return {"type": reads, "choices": (value.choices or None) if value.is_closed else None}


def _split_off_command(argv: Sequence[str]) -> tuple[list[str], tuple[str, ...] | None]:
    """Everything behind the first `--` is the agent's, further `--` included; None where there is no `--`."""
    words = list(argv)
    if "--" not in words:
        return words, None
    at = words.index("--")
    return words[:at], tuple(words[at + 1 :])


def _split_off_name(words: list[str]) -> tuple[Command, list[str]]:
    """Our command, of which the name can only be the first word, and the words without it."""
    if words and words[0] and words[0] in _BY_NAME:
        return _BY_NAME[words[0]], words[1:]
    return _BY_NAME[""], words


def _complete(given: Given, command: Command, agent_argv: tuple[str, ...] | None) -> None:
    """Put what belongs together into one value, and see that nothing is missing. Raises WrongUse."""
    if command.takes_agent:
        given.agent = _choice(given.word, agent_argv)
    elif agent_argv is not None:
        raise WrongUse(f"{command.name} takes no command behind --")
    if "record" in given:
        given.record = _recording(given)
    required = [option.flags[0].removeprefix("--") for option in command.options if option.is_required]
    required.append("agent" if command.takes_agent else "word")
    if command.wants and any(getattr(given, name) is None for name in required):
        raise WrongUse(f"{command.name} wants {command.wants}")


def _choice(name: str | None, argv: tuple[str, ...] | None) -> AgentChoice | None:
    if argv is None:
        return None if name is None else AgentChoice(name=name)
    if name is not None:
        raise WrongUse(f"an agent was named twice: {name}, and the command behind --")
    if not argv:
        raise WrongUse("there is no command behind --")
    return AgentChoice(argv=argv)


def _recording(given: Given) -> RecordTo | None:
    if given.record is None:
        if given.record_raw:
            raise WrongUse("--record-raw says how to record: name the file with --record")
        return None
    return RecordTo(given.record, given.record_raw)


def _too_much(command: Command, left: list[str]) -> str:
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


# Values


def absolute(path: Path) -> Path:
    """Without `..` in it; what stands before that may be a link, so it is looked up."""
    parts = path.absolute().parts
    if ".." not in parts:
        return Path(*parts)
    behind = len(parts) - parts[::-1].index("..")
    return Path(os.path.realpath(Path(*parts[:behind])), *parts[behind:])


def _folder(text: str) -> Path:
    try:
        path = absolute(Path(text).expanduser())
    except (RuntimeError, OSError) as error:  # the home of nobody; a folder that was deleted under us
        raise argparse.ArgumentTypeError(f"{text}: {error}") from error
    if not path.is_dir():
        raise argparse.ArgumentTypeError(f"{text} is not a folder")
    return path


def _new_file(text: str) -> Path:
    path = absolute(Path(text))
    if path.exists():
        raise argparse.ArgumentTypeError(f"{text} exists: recordings overwrite nothing")
    if not path.parent.is_dir():
        raise argparse.ArgumentTypeError(f"there is no folder {path.parent}")
    return path


def _source(text: str) -> Path | str:
    """A recording's file, or the name of a scenario."""
    scheme, _, name = text.partition(":")
    if scheme != "demo":
        return Path(text)
    if not name:
        raise argparse.ArgumentTypeError(
            "demo: wants a scenario, as in demo:coding; acp-tui demo --list shows them"
        )
    return name


def _size(text: str) -> tuple[int, int]:
    columns, _, rows = text.partition("x")
    if not (columns.isdecimal() and rows.isdecimal() and 0 < int(columns) <= 1000 and 0 < int(rows) <= 1000):
        raise argparse.ArgumentTypeError(f"{text} is no size: COLUMNSxROWS, as in 120x40")
    return int(columns), int(rows)


def _number(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 <= number < float("inf"):
        raise argparse.ArgumentTypeError(f"{text} is no number from 0 on")
    return number


_READERS: Final[dict[Kind, Callable[[str], object]]] = {
    Kind.NUMBER: _number,
    Kind.SIZE: _size,
    Kind.SOURCE: _source,
    Kind.FILE: Path,
    Kind.NEW_FILE: _new_file,
    Kind.FOLDER: _folder,
}
"""The others are texts."""


# Help, which fits a screen of 80x24


def overview(commands: Iterable[Command]) -> str:
    """All commands; what each takes stands in its own help."""
    named = [command for command in commands if command.name]
    nameless = next(command for command in commands if not command.name)
    return (
        f"usage: acp-tui {nameless.shown} [OPTIONS]        {nameless.about}: acp-tui run --help\n"
        "       acp-tui COMMAND [OPTIONS]       acp-tui COMMAND --help\n\n"
        + _columns((command.shown, command.about) for command in named)
        + f"\n{AGENT}\n{EXAMPLES}"
    )


def help_of(command: Command) -> str:
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
