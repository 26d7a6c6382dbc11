"""What a command of the command line is, and the options that several share. `commands` has the commands."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from argparse import Namespace


class UsageError(Exception):
    """An invalid command line. The message explains it in one line."""


class ValueKind(Enum):
    """What a value is: how to parse it, and what a shell offers for it."""

    TEXT = "text"
    NUMBER = "number"
    """0 or more."""
    SIZE = "size"
    """Columns and rows, as in 120x40."""
    AGENT = "agent"
    SCENARIO = "scenario"
    RECORDING = "recording"
    """A recording's file, or the ID of a recorded session."""
    SOURCE = "source"
    """The same, or a scenario as demo:NAME."""
    SESSION = "session"
    """The ID of a recorded session, or its beginning."""
    HOST = "host"
    HOSTED = "hosted"
    """A host's name, or the ID of a session that it keeps."""
    FILE = "file"
    NEW_FILE = "new file"
    """The file must not exist, and its folder must."""
    FOLDER = "folder"
    TOPIC = "topic"
    """A page of `acp_tui/docs`, or a command."""


# Named tuples, because every start creates these classes, and a dataclass takes five times as long.


class Value(NamedTuple):
    """The value of an option, or the one word that a command takes."""

    name: str
    """The name shown in the help if there are no choices."""
    kind: ValueKind = ValueKind.TEXT
    choices: tuple[str, ...] = ()
    """All allowed values; empty to allow anything."""
    is_closed: bool = True
    """If False, the choices are only suggestions, and the command checks the value."""

    @property
    def shown(self) -> str:
        """Its form in a usage line."""
        return "|".join(self.choices if self.is_closed else ()) or self.name


class Option(NamedTuple):
    """One option. Without a value, it's a switch."""

    flags: tuple[str, ...]
    """The long flag first; its name is the name of the parsed value."""
    about: str
    value: Value | None = None
    default: object = None
    value_when_bare: str | None = None
    """The value if it's omitted; None if it's required."""
    is_repeated: bool = False
    """Whether it can be repeated. The parsed value is then a list, or None if it isn't given."""
    is_required: bool = False
    is_joined: bool = False
    """Whether its value follows `=`, so that the next word is another."""

    @property
    def shown(self) -> str:
        flags = ", ".join(self.flags)
        if self.value is None:
            return flags
        if self.is_joined:
            return f"{flags}[={self.value.shown}]"
        return f"{flags} {self.value.shown if self.value_when_bare is None else f'[{self.value.shown}]'}"


class Late:
    """A function by its dotted name, imported when it is called. A type checker sees the function itself instead."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Late:
        return Late(f"{self._name}.{name}")

    def __call__(self, *args: Any, **named: Any) -> Any:
        module, _, function = self._name.rpartition(".")
        return getattr(import_module(module), function)(*args, **named)


class CliCommand(NamedTuple):
    """One command. The one without a name is the default."""

    name: str
    about: str
    run: Callable[[Namespace], int]
    """Takes the parsed values, and returns the exit status. Raises UsageError for values that don't go together."""
    word: Value | None = None
    needs: str = ""
    """What the word is, for the error if it's missing, and after a colon what to type; "" if the word is optional."""
    options: tuple[Option, ...] = ()
    examples: tuple[str, ...] = ()
    """Command lines to copy, at least two."""
    notes: str = ""
    """Paragraphs after the options in the command's help. Indented lines aren't wrapped."""
    takes_prompt: bool = False
    """Whether a prompt can follow the agent's name."""
    group: str = ""
    """The heading under which the overview lists it."""

    @property
    def takes_agent(self) -> bool:
        """Whether `-- COMMAND` can replace the word."""
        return self.word is not None and self.word.kind is ValueKind.AGENT

    @property
    def shown(self) -> str:
        if self.word is None:
            return self.name
        prompt = " [PROMPT]" if self.takes_prompt else ""
        return f"{self.name} {self.word.name if self.needs else f'[{self.word.name}]'}{prompt}".strip()


AGENT: Final = Value("AGENT", ValueKind.AGENT)
SOURCE: Final = Value("SOURCE", ValueKind.SOURCE)
WORDS: Final = Value("WORDS")
"""What to search for: any number of words."""
SOURCE_NOTE: Final = "SOURCE is a recording, a recorded session's ID, or demo:NAME to play that scenario first.\n\n"
LOOK_BACK: Final = "Look back"
"""The heading of the commands on recordings."""


def output_format(*choices: str, about: str = "how to print it") -> Option:
    """The option `--format`. The first choice is the default."""
    return Option(("--format",), about, Value("FORMAT", choices=choices), choices[0])


PROTOCOL: Final = Option(("--protocol",), "speak only this version of ACP", Value("VERSION", choices=("1", "2")))
SANDBOX: Final = Option(
    ("--sandbox",),
    "run the agent in a sandbox: workspace (default), read-only, your own, or off",
    Value("NAME"),
    value_when_bare="workspace",
    is_joined=True,
)
SYSTEM_PROMPT: Final = Option(("--system-prompt",), "give the agent these instructions, too", Value("TEXT"))
CHOOSING: Final = (
    Option(("--mode",), "begin in this mode of the agent's", Value("MODE")),
    Option(("--model",), "use this model of the agent's", Value("MODEL")),
    Option(("--option",), "set another option of the agent's", Value("ID=VALUE"), is_repeated=True),
)
RECORDING: Final = (
    Option(("--record",), "record everything sent and received", Value("FILE", ValueKind.NEW_FILE)),
    Option(("--record-raw",), "keep secrets in that recording"),
)
SPEED: Final = Option(("--speed",), "times as fast; 0 doesn't wait (default: 1)", Value("X", ValueKind.NUMBER), 1.0)
