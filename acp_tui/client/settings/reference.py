"""Documentation of every setting, made from the tree, for help, the reference and the settings screen."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import is_dataclass
from typing import Any, Final

from acp_tui.client.settings.location import value_at
from acp_tui.client.settings.setting import Declared, declared
from acp_tui.client.settings.tree import READ_ELSEWHERE, Settings
from acp_tui.client.settings.wording import allowed_values, set_value
from acp_tui.values import dataclass

EXPANSION: Final = "`${NAME}`, `${NAME:-default}` and a leading `~` are replaced."

RUNS_PROGRAM: Final = (
    "Edits of the file count from the next start on, since an agent may have made them; what you set on the screen"
    " counts at once."
)


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


def as_markdown(in_force: Settings | None = None) -> str:
    """The reference as a Markdown table; with what holds now in a column of its own, where that is given."""
    now = ("In force",) if in_force is not None else ()
    heads = ("Setting", "Value", "Default", *now, "")
    rows = [heads, ("---",) * len(heads), *(_row(one, in_force) for one in documented())]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in rows)


def value_in_force(one: SettingDoc, settings: Settings) -> str:
    """The setting's value as it could stand in the file; "" where it is a table, or in one of a list."""
    if "[]" in one.key or one.key in READ_ELSEWHERE or not one.default:
        return ""
    return set_value(value_at(settings, one.key))


def _documented(section: type[Any], prefix: str) -> Iterator[SettingDoc]:
    for one in declared(section):
        key = f"{prefix}{one.name}"
        yield SettingDoc(key, allowed_values(one), _default(one), _doc(one))
        if is_dataclass(one.kind) and not one.setting.by_name:
            yield from _documented(one.kind, f"{key}[]." if one.is_list else f"{key}.")


def _doc(one: Declared) -> str:
    more = (EXPANSION,) if one.setting.is_expanded else (RUNS_PROGRAM,) if one.setting.runs_program else ()
    return " ".join((one.setting.doc, *more))


def _default(one: Declared) -> str:
    has_none = is_dataclass(one.default) or one.default is None or one.setting.by_name
    return "" if has_none else set_value(one.default)


def _row(one: SettingDoc, in_force: Settings | None) -> tuple[str, ...]:
    values = [one.default] if in_force is None else [one.default, value_in_force(one, in_force)]
    cells = (f"`{one.key}`", one.allowed, *(f"`{value}`" if value else "" for value in values), one.doc)
    return tuple(cell.replace("|", "\\|") for cell in cells)
