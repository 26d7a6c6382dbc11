"""Parses the command line into a command and its values. Starts nothing.

`commands` describes the options; each command checks which of them go together. This uses argparse, although
click would save some lines: importing click takes 35 ms more CPU time on every start, and we'd still need our own
help, man page, and completion of agents and their command lines.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from difflib import get_close_matches
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, NoReturn, TypeAlias

from acp_tui import __version__
from acp_tui.cli import ExitCode
from acp_tui.cli.command import WORDS, CliCommand, Late, UsageError, Value, ValueKind
from acp_tui.cli.commands import ALWAYS, COMMANDS, split_command
from acp_tui.client.errors import AgentNotFound, ClientError
from acp_tui.client.transcript import RecordTo

if TYPE_CHECKING:
    import acp_tui.client.agents.catalogue
    import acp_tui.client.settings.settings
    import acp_tui.client.transcript.index
    import acp_tui.client.transcript.recording_plan
else:
    acp_tui = Late("acp_tui")

Args: TypeAlias = argparse.Namespace
"""The parsed values: `word`, and each option by its long name.

If the command takes them, also `agent` (a ChosenAgent, or None) instead of the word, and `record` as a RecordTo.
"""


class ChosenAgent(NamedTuple):
    """The agent to use. Either the name or argv is set."""

    name: str | None = None
    argv: tuple[str, ...] = ()
    protocol: Literal[1, 2] | None = None
    """The ACP version to use with it, if the user specified one."""
    sandbox: str = ""
    """The sandbox to run it in, if the user specified one."""
    system_prompt: str = ""
    """Instructions for its sessions, if the user gave any."""
    options: tuple[tuple[str, str], ...] = ()
    """What to choose in its sessions: options by category or ID, and their values."""


def read_arguments(argv: Sequence[str]) -> tuple[CliCommand, Args]:
    """Parse `argv` (without the program's name). Raises SystemExit for --help, --version, and errors."""
    words, agent_argv = _split_off_agent(argv)
    command, rest = split_command(words)
    is_bare = not command.name and agent_argv is None and all(word.startswith("-") for word in rest)
    parser = _Parser(command, is_overview=is_bare)
    joined = {option.flags[0]: option.value_when_bare for option in command.options if option.is_joined}
    args, left = parser.parse_known_intermixed_args(
        [f"{word}={joined[word]}" if word in joined else word for word in rest]
    )
    if command.word == WORDS:
        args.word = " ".join(args.word or ())
    taken = (getattr(args, "words", None), args.word if agent_argv and command.takes_prompt else None, *left)
    for flag, word in pairwise(rest):  # without the error, a sandbox's name would be sent as the prompt
        if flag in joined and word in taken and " " not in word and not word.startswith("-"):
            parser.error(f"{flag} takes its value with =: {flag}={word}; a prompt of one word comes before it")
    if left:
        parser.error(_too_much(command, getattr(args, "word", None) if agent_argv is None else None, left))
    try:
        _complete(args, command, agent_argv)
    except UsageError as error:
        parser.error(str(error))
    return command, args


def say_wrong_use(command: CliCommand, message: str) -> ExitCode:
    """Print what is invalid and where to find help. Returns the exit status."""
    called = f"acp-tui {command.name}".rstrip()
    sys.stderr.write(f"acp-tui: {message}\nFor help: {called} --help\n")
    return ExitCode.USAGE


class _Parser(argparse.ArgumentParser):
    """Prints our own help, and errors in one line."""

    def __init__(self, command: CliCommand, *, is_overview: bool) -> None:
        """With `is_overview`, its help is that of acp-tui itself."""
        super().__init__(prog="acp-tui", allow_abbrev=False)
        self._command, self._is_overview = command, is_overview
        self.add_argument("--version", "-V", action="version", version=f"acp-tui {__version__}")
        if command.word is not None:  # because `-- COMMAND` can replace it
            count = "*" if command.word == WORDS else "?"
            self.add_argument("word", metavar=command.word.name, nargs=count, **_reading(command.word))
        if command.takes_prompt:
            self.add_argument("words", metavar="PROMPT", nargs="?")  # `exec` has --prompt, too
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
        from acp_tui.cli.help_text import help_of, overview  # most runs don't print help

        return overview() if self._is_overview else help_of(self._command)

    def _print_message(self, message: str, file: Any = None) -> None:
        """Print the help or the version. argparse's own swallows that nothing can be written."""
        (file or sys.stderr).write(message)

    def error(self, message: str) -> NoReturn:
        raise SystemExit(say_wrong_use(self._command, _in_our_words(message)))


def _in_our_words(message: str) -> str:
    """Say what argparse says, without its words."""
    message = message.removeprefix("argument ")
    if found := _INVALID_CHOICE.fullmatch(message):
        return f"{found[1]} can't be {found[2]}: it is one of {found[3].replace(chr(39), '')}"
    return message.replace(": expected one argument", " needs a value")


_INVALID_CHOICE: Final = re.compile(r"(\S+): invalid choice: (.*) \(choose from (.*)\)")


def _reading(value: Value) -> dict[str, Any]:
    return {"type": _READERS.get(value.kind, str), "choices": (value.choices or None) if value.is_closed else None}


def _split_off_agent(argv: Sequence[str]) -> tuple[list[str], tuple[str, ...] | None]:
    """Split off the agent's command line, which is everything after the first `--`; None without one."""
    words = list(argv)
    if "--" not in words:
        return words, None
    at = words.index("--")
    return words[:at], tuple(words[at + 1 :])


def _complete(args: Args, command: CliCommand, agent_argv: tuple[str, ...] | None) -> None:
    """Combine values that belong together, and check that none is missing. Raises UsageError."""
    words = vars(args).pop("words", None)
    if agent_argv and command.takes_prompt and args.word is not None and not _is_agent(args.word):
        if words is not None:
            raise UsageError(unquoted_prompt(words))
        args.word, words = None, args.word
    resumed = getattr(args, "resume", None)
    is_prompt = (
        resumed is not None
        and command.takes_prompt
        and args.word is not None
        and words is None
        and (" " in args.word or (_is_recorded(resumed) and not _is_agent(args.word)))
    )
    if resumed and (len(resumed.split()) > 1 or (is_prompt and _is_agent(resumed))):
        raise UsageError(taken_as_id(resumed))
    if is_prompt:
        args.word, words = None, args.word  # the session's record names its agent
    if command.takes_agent:
        args.agent = _choice(args.word, agent_argv, args)
    elif agent_argv is not None:
        raise UsageError(f"{command.name} doesn't take a command after --")
    if command.takes_prompt:
        if words is not None and command.takes_agent and os.path.isdir(words):  # noqa: PTH112 - as below
            raise UsageError(f"unrecognized arguments: {words}; to name a folder, use --cwd")
        given = getattr(args, "prompt", None)
        if words is not None and given is not None:
            raise UsageError(f"two prompts: {words!r}, and that of --prompt")
        args.prompt = given if words is None else words
    if "record" in args:
        if args.record is None and args.record_raw:
            raise UsageError("--record-raw needs --record FILE")
        args.record = None if args.record is None else RecordTo(args.record, args.record_raw)
    what, colon, how = command.needs.partition(": ")
    is_lacking = resumed is None and what and getattr(args, "agent" if command.takes_agent else "word") is None
    missing = [what] if is_lacking else []
    required = {option.flags[0].removeprefix("--"): option for option in command.options if option.is_required}
    missing += [
        f"{each.flags[-1]} {each.value and each.value.name}"
        for name, each in required.items()
        if getattr(args, name) is None
    ]
    if missing:
        raise UsageError(f"{command.name} needs {' and '.join(missing)}{colon}{how}")


def _is_agent(word: str) -> bool:
    """Whether the word before `-- COMMAND`, or with --resume, names an agent; otherwise it's the prompt."""
    try:
        return bool(acp_tui.client.agents.catalogue.find_agent(word))
    except ClientError as error:
        return not isinstance(error, AgentNotFound)


def _is_recorded(session_id: str) -> bool:
    """Whether it begins the ID of a recorded session, which knows its agent."""
    if not session_id:
        return False
    settings = acp_tui.client.settings.settings.RecordingSettings()
    store = acp_tui.client.transcript.recording_plan.recording_store(settings)
    try:
        return acp_tui.client.transcript.index.SessionIndex(store).find(session_id) is not None
    except ClientError:  # such as for several, which is told when one is needed
        return True


def _choice(name: str | None, argv: tuple[str, ...] | None, args: Args) -> ChosenAgent | None:
    flags = ("protocol", "sandbox", "system-prompt", "mode", "model", "option")
    given: dict[str, Any] = {flag: getattr(args, flag.replace("-", "_"), None) for flag in flags}
    if argv is None and name is None:
        # A session has an agent, and may have had a sandbox.
        of_session = ("sandbox", "mode", "model", "option") if getattr(args, "resume", None) is not None else ()
        if flag := next((flag for flag, value in given.items() if value and flag not in of_session), ""):
            raise UsageError(f"--{flag} says how to run an agent: name it too")
        return None
    if argv is not None and not argv:
        raise UsageError("no command follows --")
    if argv is not None and name is not None:
        raise UsageError(f"two agents: {name}, and the command after --")
    prompt = (given["system-prompt"] or "").strip()
    return ChosenAgent(name, argv or (), _VERSIONS[given["protocol"]], given["sandbox"] or "", prompt, options_of(args))


def taken_as_id(resumed: str) -> str:
    """Say that the word after --resume was, which may have been meant as the agent or the prompt."""
    return f"--resume took {resumed!r} as a session's ID; to continue the last one, put --resume at the end"


def options_of(args: Args) -> tuple[tuple[str, str], ...]:
    """Return what to choose in the session: options by category or ID, and their values. Raises UsageError."""
    given = ((flag, value) for flag in ("mode", "model") if (value := getattr(args, flag, None)))
    return (*given, *map(_option, getattr(args, "option", None) or ()))


def _option(text: str) -> tuple[str, str]:
    name, is_set, value = text.partition("=")
    if not (name and is_set):
        raise UsageError(f"--option takes ID=VALUE, not {text!r}")
    return name, value


_VERSIONS: Final[dict[str | None, Literal[1, 2] | None]] = {None: None, "1": 1, "2": 2}


def _too_much(command: CliCommand, word: str | None, left: list[str]) -> str:
    """Describe which words are unexpected, and what was probably meant."""
    said = f"unrecognized arguments: {' '.join(left)}"
    if not command.name and (near := nearest(word or "", (each.name for each in COMMANDS))):
        return f"{said}; did you mean acp-tui {near}?"
    if flag := next((each for each in left if each.startswith("-")), ""):
        return f"{said}{_advice_on_flag(command, flag.partition('=')[0])}"
    if command.takes_agent and word and not _is_agent(word):
        return f"no agent is named {word!r}; to list them: acp-tui agents"
    if command.takes_agent and len(left) == 1 and os.path.isdir(left[0]):  # noqa: PTH112 - Path raises an error for a name that is too long
        return f"{said}; to name a folder, use --cwd"
    return unquoted_prompt(" ".join(left)) if command.takes_prompt else said


def unquoted_prompt(left: str) -> str:
    return f"unrecognized arguments: {left}; put quotes around the prompt"


def _advice_on_flag(command: CliCommand, flag: str) -> str:
    if near := nearest(flag, (each for option in (*command.options, *ALWAYS) for each in option.flags)):
        return f"; did you mean {near}?"
    for option in command.options:
        if option.value is not None and (choice := flag.removeprefix("--")) in option.value.choices:
            return f"; did you mean {option.flags[0]} {choice}?"
    if command.name == "demo" and flag == "--cwd":
        return "; the demo works in a folder of its own"
    owners = [each.name or "AGENT" for each in COMMANDS if any(flag in option.flags for option in each.options)]
    return f"; {flag} is an option of {', '.join(owners)}" if owners else ""


MIN_BEGINNING: Final = 4
"""So many letters at the beginning of a word tell which one is meant."""


def nearest(word: str, known: Iterable[str]) -> str:
    """Return the known word that was probably meant, first one with the same letters; "" if none is close."""
    known = [each for each in known if each]
    near = get_close_matches(word, known, cutoff=0.7)
    if not near and len(word) >= MIN_BEGINNING:
        near = [each for each in known if each.startswith(word)]
    return max(near, key=lambda each: sorted(each) == sorted(word), default="")


# Values


def absolute(path: Path) -> Path:
    """Return the absolute path without `..`. What precedes a `..` may be a link, so it's resolved."""
    parts = path.absolute().parts
    if ".." not in parts:
        return Path(*parts)
    behind = len(parts) - parts[::-1].index("..")
    return Path(os.path.realpath(Path(*parts[:behind])), *parts[behind:])


def _folder(text: str) -> Path:
    try:
        path = absolute(Path(text).expanduser())
    except (RuntimeError, OSError) as error:  # an unknown user's home, or a folder deleted in the meantime
        raise argparse.ArgumentTypeError(f"{text}: {error}") from error
    if not path.is_dir():
        raise argparse.ArgumentTypeError(f"{text} isn't a folder")
    return path


def _new_file(text: str) -> Path:
    path = absolute(Path(text))
    if path.exists():
        raise argparse.ArgumentTypeError(f"{text} exists, and recordings never overwrite a file")
    if not path.parent.is_dir():
        raise argparse.ArgumentTypeError(f"the folder {path.parent} doesn't exist")
    return path


def _source(text: str) -> Path | str:
    """Parse the name of a recording's file or of a scenario."""
    scheme, _, name = text.partition(":")
    if scheme != "demo":
        return Path(text)
    if not name:
        raise argparse.ArgumentTypeError(
            "demo: needs a scenario, such as demo:coding; to list them: acp-tui demo --list"
        )
    return name


def _size(text: str) -> tuple[int, int]:
    columns, _, rows = text.partition("x")
    if not (columns.isdecimal() and rows.isdecimal() and 20 <= int(columns) <= 1000 and 8 <= int(rows) <= 1000):
        raise argparse.ArgumentTypeError(f"{text} isn't a size such as 120x40 (columns x rows, 20x8 to 1000x1000)")
    return int(columns), int(rows)


def _number(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 <= number < float("inf"):
        raise argparse.ArgumentTypeError(f"{text} isn't a number of 0 or more")
    return number


_READERS: Final[dict[ValueKind, Callable[[str], object]]] = {
    ValueKind.NUMBER: _number,
    ValueKind.SIZE: _size,
    ValueKind.SOURCE: _source,
    ValueKind.FILE: Path,
    ValueKind.RECORDING: Path,
    ValueKind.NEW_FILE: _new_file,
    ValueKind.FOLDER: _folder,
}
"""Other kinds are plain text."""
