"""The words for settings: names, values found and allowed, and each one's documentation, generated from the tree."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import is_dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final

from acp_tui.client.settings.location import value_at
from acp_tui.client.settings.setting import DeclaredSetting, declared
from acp_tui.client.settings.settings import READ_ELSEWHERE, Settings
from acp_tui.values import dataclass

MAX_SHOWN: Final = 60
"""Characters of a string that a message repeats."""

_PLAIN_NAME: Final = re.compile(r"[A-Za-z0-9_-]+")
_KINDS: Final[dict[type[Any], tuple[str, str]]] = {
    str: ("a string", "strings"),
    bool: ("true or false", "true and false"),
    int: ("a whole number", "whole numbers"),
    float: ("a number", "numbers"),
    Path: ("an absolute path", "absolute paths"),
}


def shown_name(name: str) -> str:
    """A name in a message: unchanged unless it could be misleading."""
    return name if _PLAIN_NAME.fullmatch(name) else repr(name)


def shown_value(found: object) -> str:
    """A value of a TOML document, short and on one line."""
    match found:
        case str():
            return quoted(found if len(found) <= MAX_SHOWN else f"{found[:MAX_SHOWN]}…")
        case bool():
            return str(found).lower()
        case int():  # Python refuses to convert numbers with thousands of digits
            return str(found) if abs(found) < 10**MAX_SHOWN else "a very long number"
        case float():
            return str(found)
        case dict():
            return "a table"
        case list():
            return "a list"
        case _:
            return "a date or a time"


def set_value(value: object) -> str:
    """A setting's value as it would be in the file; rules and keys in words."""
    match value:
        case str() | Path():
            return quoted(str(value))
        case bool():
            return str(value).lower()
        case int():
            return f"{value:_}"
        case tuple():
            return f"[{', '.join(map(set_value, value))}]"
        case _:
            return getattr(value, "words", None) or str(value)


def quoted(text: str) -> str:
    """The text as a string literal, with invisible characters escaped."""
    if '"' in text:
        return repr(text)
    escaped = repr("'" + text)[2:-1]  # the leading quote makes repr use double quotes
    return f'"{escaped}"'


def allowed_values(one: DeclaredSetting) -> str:
    """What may be set, such as: a number of seconds, at least 0."""
    singular, plural = _kind_words(one)
    return ", ".join([plural if one.is_list else singular, *_limits(one)])


def _kind_words(one: DeclaredSetting) -> tuple[str, str]:
    if one.setting.by_name and one.has_tables:
        return "a table", f"tables [{one.name}.NAME]"
    if one.setting.by_name:
        return "a string", "a table of strings or lists of strings"
    if is_dataclass(one.kind):
        return "a table", f"tables [[{one.name}]]"
    if one.allowed:
        choice = either([quoted(value) for value in one.allowed])
        return choice, f"a list, each {choice}"
    of_unit = f" of {one.setting.unit}" if one.setting.unit else ""
    singular, plural = _KINDS[one.kind]
    return f"{singular}{of_unit}", f"a list of {plural}{of_unit}"


def _limits(one: DeclaredSetting) -> Iterator[str]:
    about = one.setting
    if about.minimum is not None:
        yield f"at least {about.minimum:_}"
    if about.maximum is not None:
        yield f"at most {about.maximum:_}"
    if not about.is_blank_allowed:
        yield "not blank"
    if about.one_of:
        yield f"{'each ' if one.is_list else ''}with at least one of {', '.join(about.one_of)}"


def either(words: Sequence[str]) -> str:
    *others, last = words
    return f"{', '.join(others)} or {last}" if others else last


def near(name: str, known: Sequence[str]) -> str | None:
    return next(iter(get_close_matches(name.lower(), known, n=1)), None)


def unknown_keys(table: Iterable[str], known: Sequence[str], where: str) -> Iterator[str]:
    """A sentence on each key of a table that has no meaning. `where` precedes its name."""
    for name in table:
        if name not in known:
            meant = near(name, known)
            advice = f"did you mean {meant}?" if meant else f"known: {', '.join(known)}"
            yield f"{where}{shown_name(name)} is unknown and ignored; {advice}"


EXPANSION: Final = "`${NAME}`, `${NAME:-default}` and a leading `~` are replaced."

RUNS_PROGRAM: Final = (
    "Edits to the file take effect at the next start, since an agent may have made them; what"
    " you set on the screen takes effect at once."
)


@dataclass(frozen=True, slots=True)
class SettingDoc:
    """One setting, or a section: a table that contains settings."""

    key: str
    """Such as `workspace.read`; in the tables of a list, such as `refuse[].kind`."""
    allowed: str
    """What kind of value it takes, with its unit and limits, in words."""
    default: Any
    """None for tables, and if there isn't one."""
    about: str


def documented() -> Iterator[SettingDoc]:
    """All settings in the order of the tree, each section before its content."""
    yield from _documented(Settings, "")
    for name, doc in READ_ELSEWHERE.items():
        yield SettingDoc(name, "a table", None, doc)


def value_in_force(one: SettingDoc, settings: Settings) -> Any:
    """The setting's value; None for a table, and for a setting in a list of tables."""
    if "[]" in one.key or ".NAME." in one.key or one.default is None:
        return None
    return value_at(settings, one.key)


def shown_setting(value: Any) -> str:
    """A value or default as it would be in the file; "" for None."""
    return "" if value is None else set_value(value)


def _documented(section: type[Any], prefix: str) -> Iterator[SettingDoc]:
    for one in declared(section):
        key = f"{prefix}{one.name}"
        default = None if is_dataclass(one.default) or one.setting.by_name else one.default
        more = (EXPANSION,) if one.setting.is_expanded else (RUNS_PROGRAM,) if one.setting.runs_program else ()
        yield SettingDoc(key, allowed_values(one), default, " ".join((one.setting.doc, *more)))
        if one.has_tables:
            below = f"{key}.NAME." if one.setting.by_name else f"{key}[]." if one.is_list else f"{key}."
            yield from _documented(one.kind, below)
