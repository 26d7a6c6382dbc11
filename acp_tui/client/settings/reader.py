"""Reads settings.toml into the tree, and reports all its problems at once.

An invalid value becomes a Problem, and its setting falls back. A file that isn't TOML raises an error.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import field, is_dataclass, replace
from pathlib import Path
from typing import Any, Final, TypeVar

from acp_tui.client.errors import SettingsError
from acp_tui.client.settings.location import expand_path, read_toml
from acp_tui.client.settings.setting import DeclaredSetting, Setting, declared
from acp_tui.client.settings.settings import READ_ELSEWHERE, Settings
from acp_tui.client.settings.wording import allowed_values, near, quoted, shown_name, shown_value, unknown_keys
from acp_tui.conversation.wording import from_home
from acp_tui.values import dataclass


def convert(found: object, one: DeclaredSetting, environ: Mapping[str, str]) -> str | bool | float | Path:
    """The value converted to the setting's kind. Raises SettingsError, whose message follows the setting's key."""
    text = found
    if isinstance(found, str) and one.setting.is_expanded:
        try:
            text = expand_path(found, environ)
        except SettingsError as error:
            raise SettingsError(f"is {shown_value(found)}: {error}") from error
    value = _of_kind(text, one)
    if value is None:
        raise not_allowed(found, one)
    return value


def not_allowed(found: object, one: DeclaredSetting) -> SettingsError:
    """What was found and what is allowed. The message follows the setting's key."""
    meant = near(found, one.allowed) if isinstance(found, str) else None
    suggestion = f" (did you mean {quoted(meant)}?)" if meant else ""
    return SettingsError(f"is {shown_value(found)}; allowed: {allowed_values(one)}{suggestion}")


def _of_kind(found: object, one: DeclaredSetting) -> str | bool | float | Path | None:
    """None if the value isn't allowed."""
    if isinstance(found, str):
        return _text(found, one)
    if isinstance(found, bool):  # before the numbers, because in Python a bool is one
        return found if one.kind is bool else None
    if one.kind in (int, float) and isinstance(found, (int, one.kind)):  # an integer is a number too
        return one.kind(found) if _is_within_limits(found, one.setting) else None
    return None


def _text(text: str, one: DeclaredSetting) -> str | Path | None:
    if one.kind is Path:
        # No file name contains a NUL, but a TOML string can.
        return Path(text) if text.startswith("/") and "\0" not in text else None
    is_allowed = text in one.allowed if one.allowed else one.setting.is_blank_allowed or bool(text.strip())
    return text if one.kind is str and is_allowed else None


def _is_within_limits(number: float, about: Setting) -> bool:
    """Excludes inf, nan, and integers too large for a float."""
    highest = sys.float_info.max
    lowest = -highest if about.minimum is None else about.minimum
    return lowest <= number <= (highest if about.maximum is None else about.maximum)


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
class SettingProblem:
    """A value in the file that can't be used."""

    key: str
    """Dotted, with list items counted from 0, as in `refuse[2].kind`."""
    text: str
    """The file and the key, what was found, and what is allowed."""
    instead: str
    """What applies until it's fixed."""

    def __str__(self) -> str:
        return f"{self.text}; {self.instead}"


@dataclass(frozen=True, slots=True)
class SettingsRead:
    settings: Settings
    """If there are problems, with all valid values."""
    problems: tuple[SettingProblem, ...] = ()
    warnings: tuple[str, ...] = ()
    """What else the user should know: unknown keys."""
    found: frozenset[str] = field(default=frozenset(), compare=False)
    """The keys of all settings that are in the file and valid."""

    @property
    def rule_problems(self) -> tuple[SettingProblem, ...]:
        """The problems with rules and sandboxes. acp-tui doesn't start with one, since it couldn't refuse anything."""
        return tuple(problem for problem in self.problems if problem.key.startswith(("refuse", "sandbox")))


def read_settings(file: Path, environ: Mapping[str, str] | None = None) -> SettingsRead:
    """The settings in the file; the defaults if there is no file. Raises SettingsError if it can't be read.

    `environ` provides the values of ${NAME} and ~; None for this process's environment.
    """
    return interpret(read_toml(file, EXAMPLE), from_home(file), os.environ if environ is None else environ)


def interpret(document: Mapping[str, object], where: str, environ: Mapping[str, str]) -> SettingsRead:
    """The settings of a parsed document, which messages call `where`."""
    reading = _Reading(where, environ)
    settings = reading.table(Settings, document, "", elsewhere=tuple(READ_ELSEWHERE))
    return SettingsRead(settings, tuple(reading.problems), tuple(reading.warnings), frozenset(reading.found))


class _Reading:
    """One pass over a document. Collects the problems."""

    def __init__(self, where: str, environ: Mapping[str, str]) -> None:
        self._where = where
        self._environ = environ
        self.problems: list[SettingProblem] = []
        self.warnings: list[str] = []
        self.found: set[str] = set()

    def table(self, section: type[T], found: Mapping[str, object], key: str, *, elsewhere: tuple[str, ...] = ()) -> T:
        settings = tuple(declared(section))
        where = f"{self._where}: {_joined(key, '')}"
        self.warnings += unknown_keys(found, (*(one.name for one in settings), *elsewhere), where)
        return section(
            **{
                one.name: self._setting(one, found[one.name], _joined(key, one.name))
                for one in settings
                if one.name in found
            }
        )

    def _setting(self, one: DeclaredSetting, found: object, key: str) -> Any:
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

    def _items(self, one: DeclaredSetting, found: list[object], key: str) -> Iterator[object]:
        for index, item in enumerate(found):
            item_key = f"{key}[{index}]"
            try:
                yield self._value(one, item, item_key)
            except SettingsError as error:
                self._note(item_key, error, "it is ignored")

    def _named(self, one: DeclaredSetting, found: Mapping[str, object], key: str) -> Iterator[object]:
        for name, value in found.items():
            item_key = _joined(key, shown_name(name))
            if one.has_tables:
                if isinstance(value, dict):
                    yield replace(self.table(one.kind, value, item_key), name=name)
                else:
                    self._note(item_key, SettingsError(f"is {shown_value(value)}; allowed: a table"), "it is ignored")
                continue
            texts = [value] if isinstance(value, str) else value
            if isinstance(texts, list) and all(isinstance(text, str) for text in texts):
                yield one.kind(name, tuple(text for text in texts if text))
            else:
                error = SettingsError(f"is {shown_value(value)}; allowed: a string, or a list of strings")
                self._note(item_key, error, "it is ignored")

    def _value(self, one: DeclaredSetting, found: object, key: str) -> object:
        """Raises SettingsError, whose message follows the key."""
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
        self.problems.append(SettingProblem(key, f"{self._where}: {key} {error}", instead))


def _joined(key: str, name: str) -> str:
    return f"{key}.{name}" if key else name


def _instead(one: DeclaredSetting) -> str:
    """What applies while the setting's value is invalid."""
    if one.fallback == one.default:
        return "it is treated as unset"
    if not is_dataclass(one.kind):
        return f"{shown_value(one.fallback)} is used instead"
    careful = [each for each in declared(one.kind) if each.fallback != each.default]
    return ", ".join(f"{each.name} = {shown_value(each.fallback)}" for each in careful) + " hold instead"
