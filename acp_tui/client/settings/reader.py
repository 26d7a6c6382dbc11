"""Reads settings.toml into the tree, and says all that is wrong with it at once.

A wrong value loses no other: its setting takes the fallback that it declares, and the wrong value becomes a Problem. A
file that is no TOML raises instead. The sections in `READ_ELSEWHERE` are left to their readers.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, is_dataclass
from pathlib import Path
from typing import Any, Final, TypeVar

from acp_tui.client.errors import SettingsError
from acp_tui.client.settings.conversion import convert, not_allowed
from acp_tui.client.settings.setting import Declared, declared
from acp_tui.client.settings.toml_file import read_toml
from acp_tui.client.settings.tree import READ_ELSEWHERE, Settings
from acp_tui.client.settings.wording import near, shown_name, shown_value

T = TypeVar("T")

EXAMPLE: Final = """\
[workspace]
write = "ask"
additional_directories = ["~/notes"]

[[refuse]]
command = "git push"
reason = "I push myself"
"""


@dataclass(frozen=True, slots=True)
class Problem:
    """A value in the file that cannot be used."""

    key: str
    """Dotted, the items of a list counted from 0, as in `refuse[2].kind`."""
    text: str
    """The file and the key, what was found, and what is allowed."""
    instead: str
    """What holds until it is mended."""

    def __str__(self) -> str:
        return f"{self.text}; {self.instead}"


@dataclass(frozen=True, slots=True)
class SettingsRead:
    """What was read of a settings file."""

    settings: Settings
    """Where there are problems, with all that is right."""
    problems: tuple[Problem, ...] = ()
    warnings: tuple[str, ...] = ()
    """What else the user should know: keys that mean nothing."""
    found: frozenset[str] = field(default=frozenset(), compare=False)
    """The keys of all settings that stand in the file and are right."""

    def checked(self) -> Settings:
        """The settings, for whoever would not go on with a part of them. Raises SettingsError naming every problem."""
        if self.problems:
            raise SettingsError("\n".join(problem.text for problem in self.problems))
        return self.settings


def read_settings(file: Path, environ: Mapping[str, str] | None = None) -> SettingsRead:
    """The settings in the file, the defaults where there is none. Raises SettingsError where it cannot be read.

    `environ` is what ${NAME} and ~ are looked up in; None: this process's environment.
    """
    return interpret(read_toml(file, EXAMPLE), str(file), os.environ if environ is None else environ)


def interpret(document: Mapping[str, object], where: str, environ: Mapping[str, str]) -> SettingsRead:
    """The settings of a document that is parsed already; `where` names it in messages."""
    reading = _Reading(where, environ)
    settings = reading.table(Settings, document, "", elsewhere=tuple(READ_ELSEWHERE))
    return SettingsRead(settings, tuple(reading.problems), tuple(reading.warnings), frozenset(reading.found))


class _Reading:
    """One pass over a document; gathers what is wrong on the way."""

    def __init__(self, where: str, environ: Mapping[str, str]) -> None:
        self._where = where
        self._environ = environ
        self.problems: list[Problem] = []
        self.warnings: list[str] = []
        self.found: set[str] = set()

    def table(
        self, section: type[T], found: Mapping[str, object], key: str, *, elsewhere: tuple[str, ...] = ()
    ) -> T:
        settings = tuple(declared(section))
        self._warn_of_unknown(found, (*(one.name for one in settings), *elsewhere), key)
        return section(
            **{
                one.name: self._setting(one, found[one.name], _joined(key, one.name))
                for one in settings
                if one.name in found
            }
        )

    def _setting(self, one: Declared, found: object, key: str) -> Any:
        self.found.add(key)
        if one.setting.by_name and isinstance(found, dict):
            return tuple(self._named(one, found, key))
        if one.is_list and not one.setting.by_name and isinstance(found, list):
            return tuple(self._items(one.item, found, key))
        try:
            return self._value(one, found, key)
        except SettingsError as error:
            self._note(key, error, _instead(one))
            return one.fallback

    def _items(self, one: Declared, found: list[object], key: str) -> Iterator[object]:
        for index, item in enumerate(found):
            item_key = f"{key}[{index}]"
            try:
                yield self._value(one, item, item_key)
            except SettingsError as error:
                self._note(item_key, error, "it is left out")

    def _named(self, one: Declared, found: Mapping[str, object], key: str) -> Iterator[object]:
        for name, value in found.items():
            texts = [value] if isinstance(value, str) else value
            if isinstance(texts, list) and all(isinstance(text, str) for text in texts):
                yield one.kind(name, tuple(text for text in texts if text))
            else:
                error = SettingsError(f"is {shown_value(value)}; allowed: a string, or a list of strings")
                self._note(_joined(key, shown_name(name)), error, "it is left out")

    def _value(self, one: Declared, found: object, key: str) -> object:
        """Raises SettingsError, its message to stand behind the key."""
        if not one.is_list and not is_dataclass(one.kind):
            return convert(found, one, self._environ)
        if one.is_list or not isinstance(found, dict):
            raise not_allowed(found, one)
        value = self.table(one.kind, found, key)
        if one.setting.one_of and all(getattr(value, name) is None for name in one.setting.one_of):
            raise SettingsError(f"needs at least one of {', '.join(one.setting.one_of)}")
        return value

    def _note(self, key: str, error: SettingsError, instead: str) -> None:
        self.found.discard(key)
        self.problems.append(Problem(key, f"{self._where}: {key} {error}", instead))

    def _warn_of_unknown(self, found: Mapping[str, object], known: tuple[str, ...], key: str) -> None:
        for name in found:
            if name not in known:
                meant = near(name, known)
                advice = f"did you mean {meant}?" if meant else f"known: {', '.join(known)}"
                unknown = _joined(key, shown_name(name))
                self.warnings.append(f"{self._where}: {unknown} means nothing and is ignored; {advice}")


def _joined(key: str, name: str) -> str:
    return f"{key}.{name}" if key else name


def _instead(one: Declared) -> str:
    """What holds where the setting's value is wrong."""
    if one.fallback == one.default:
        return "it counts as not set"
    if not is_dataclass(one.kind):
        return f"{shown_value(one.fallback)} holds instead"
    careful = [each for each in declared(one.kind) if each.fallback != each.default]
    return ", ".join(f"{each.name} = {shown_value(each.fallback)}" for each in careful) + " hold instead"
