"""Documentation of every setting, made from the tree itself, for help, a reference and a screen that is searched.

It writes nothing to disk and does not know what is set.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, is_dataclass
from typing import Any, Final

from acp_tui.client.settings.setting import Declared, declared
from acp_tui.client.settings.tree import READ_ELSEWHERE, Settings
from acp_tui.client.settings.wording import allowed_values, quoted

EXPANSION: Final = "`${NAME}`, `${NAME:-default}` and a leading `~` are replaced."


@dataclass(frozen=True, slots=True)
class SettingDoc:
    """One setting, or a section: a table that holds settings."""

    key: str
    """As in `workspace.read`; in the tables of a list as in `refuse[].kind`."""
    allowed: str
    """What kind of value it takes, with its unit and limits, in words."""
    default: str
    """As it could stand in the file; empty for tables, and where there is none."""
    doc: str


def documented() -> Iterator[SettingDoc]:
    """All settings in the order of the tree, each section before what it holds."""
    yield from _documented(Settings, "")
    for name, doc in READ_ELSEWHERE.items():
        yield SettingDoc(name, "a table", "", doc)


def as_markdown() -> str:
    """The reference as a Markdown table."""
    rows = [("Setting", "Value", "Default", ""), ("---",) * 4, *map(_row, documented())]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in rows)


def _documented(section: type[Any], prefix: str) -> Iterator[SettingDoc]:
    for one in declared(section):
        key = f"{prefix}{one.name}"
        yield SettingDoc(key, allowed_values(one), _default(one), _doc(one))
        if is_dataclass(one.kind):
            yield from _documented(one.kind, f"{key}[]." if one.is_list else f"{key}.")


def _doc(one: Declared) -> str:
    return f"{one.setting.doc} {EXPANSION}" if one.setting.is_expanded else one.setting.doc


def _default(one: Declared) -> str:
    return "" if is_dataclass(one.default) or one.default is None else _toml(one.default)


def _toml(value: object) -> str:
    match value:
        case str():
            return quoted(value)
        case bool():
            return str(value).lower()
        case int():
            return f"{value:_}"
        case tuple():
            return f"[{', '.join(map(_toml, value))}]"
        case _:
            return str(value)


def _row(one: SettingDoc) -> tuple[str, ...]:
    default = f"`{one.default}`" if one.default else ""
    cells = (f"`{one.key}`", one.allowed, default, one.doc)
    return tuple(cell.replace("|", "\\|") for cell in cells)
