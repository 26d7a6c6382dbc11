"""What a command line consists of, as values: commands, what is given to them, and their options.

The parser, the help and the shells' completion are made of these values. Which commands acp-tui has is said in
`arguments`, what they do in `main`.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any, Generic, TypeAlias, TypeVar

T = TypeVar("T")
Given: TypeAlias = argparse.Namespace
"""What was given: `word`, `agent` where the command takes one, and each option by its long name."""


class WrongUse(Exception):
    """The command line is wrong in a way that is said in one line."""


class Kind(Enum):
    """What stands in a place; by it a shell knows what to offer there."""

    TEXT = "text"
    AGENT = "agent"
    SCENARIO = "scenario"
    FILE = "file"
    FOLDER = "folder"


@dataclass(frozen=True, slots=True)
class Value:
    """What is given to an option, or as the one word that a command takes."""

    name: str
    """As the help has it; not shown where there are choices."""
    kind: Kind = Kind.TEXT
    choices: tuple[str, ...] = ()
    """All that is allowed; empty: anything."""
    is_closed: bool = True
    """False: the choices are what is offered, and the command says what is allowed."""
    reads: Callable[[str], object] = str
    """Raises argparse.ArgumentTypeError for what it cannot read."""

    @property
    def shown(self) -> str:
        """How it stands in a usage line."""
        return "|".join(self.choices) or self.name


@dataclass(frozen=True, slots=True)
class Option:
    """One option; without a value it is a switch."""

    flags: tuple[str, ...]
    """The long one first: its name is that of what is given."""
    about: str
    value: Value | None = None
    default: object = None
    value_when_bare: str | None = None
    """What counts where the value is left out; None: it cannot be."""
    is_repeated: bool = False
    """It may be given several times; what is given is a list, None where there is none."""

    @property
    def shown(self) -> str:
        """The flags and the value, as the help has them."""
        flags = ", ".join(self.flags)
        if self.value is None:
            return flags
        return f"{flags} {self.value.shown if self.value_when_bare is None else f'[{self.value.shown}]'}"


@dataclass(frozen=True, slots=True)
class Command(Generic[T]):
    """One command; the one without a name is meant where none is named."""

    name: str
    about: str
    read: Callable[[Given], T]
    """The request that was given. Raises WrongUse."""
    word: Value | None = None
    word_is_required: bool = False
    options: tuple[Option, ...] = ()
    notes: str = ""
    """Stands below the options in the help of the command."""

    @property
    def takes_agent(self) -> bool:
        """Then `-- COMMAND` may stand instead of the word."""
        return self.word is not None and self.word.kind is Kind.AGENT

    @property
    def shown(self) -> str:
        """The name and the word, as the help has them."""
        if self.word is None:
            return self.name
        word = self.word.name if self.word_is_required else f"[{self.word.name}]"
        return f"{self.name} {word}".strip()


def add_to(parser: argparse.ArgumentParser, command: Command[T]) -> None:
    """Let the parser read what the command takes. The word may be missing: `-- COMMAND` can stand for it."""
    if command.word is not None:
        parser.add_argument("word", metavar=command.word.name, nargs="?", **_reading(command.word))
    for option in command.options:
        if option.value is None:
            parser.add_argument(*option.flags, action="store_true")
            continue
        reading = _reading(option.value)
        if option.value_when_bare is not None:
            reading |= {"nargs": "?", "const": option.value_when_bare}
        if option.is_repeated:
            reading |= {"action": "append"}
        parser.add_argument(*option.flags, default=option.default, metavar=option.value.name, **reading)


def _reading(value: Value) -> dict[str, Any]:
    return {"type": value.reads, "choices": (value.choices or None) if value.is_closed else None}
