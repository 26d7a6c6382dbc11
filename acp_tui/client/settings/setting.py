"""How to declare a setting: a field of a frozen dataclass, with documentation and limits next to its default."""

from __future__ import annotations

import types
from collections.abc import Iterator
from dataclasses import field, fields, is_dataclass, replace
from typing import Any, Final, Literal, TypeAlias, TypeVar, Union, get_args, get_origin, get_type_hints

from acp_tui.values import dataclass

T = TypeVar("T")

ProjectMay: TypeAlias = Literal["nothing", "choose", "narrow", "add"]
"""`narrow`: in `allowed`, only values after the user's own choice. `add`: append to the list."""
Applies: TypeAlias = Literal["at once", "next session", "next agent", "next start"]

_KEY: Final = "setting"


@dataclass(frozen=True, slots=True)
class Setting:
    """What a setting's type and default don't say."""

    doc: str
    """Sentences for the user."""
    unit: str = ""
    """What a number counts, in the plural."""
    minimum: int | None = None
    maximum: int | None = None
    allowed: tuple[str, ...] = ()
    """The only strings allowed. A Literal has its own."""
    is_blank_allowed: bool = True
    """Whether a string may be empty or only whitespace."""
    is_expanded: bool = False
    """Whether to replace a leading ~ and ${NAME}."""
    one_of: tuple[str, ...] = ()
    """A table must have at least one of these keys."""
    fallback: object = None
    """What applies if the value in the file is invalid; None for the default."""
    by_name: bool = False
    """A table whose keys are names, each with a table, or with a string or a list of strings."""
    project: ProjectMay = "nothing"
    """How a project's settings may change it."""
    applies: Applies = "at once"
    """When a change takes effect."""
    runs_program: bool = False
    """Whether it names a program that acp-tui runs.

    Such values aren't reloaded from a file that changes while it runs.
    """


def setting(default: T, doc: str, **more: Any) -> T:
    """A field of a settings dataclass. `more` contains the other fields of Setting."""
    return field(default=default, metadata={_KEY: Setting(doc, **more)})


@dataclass(frozen=True, slots=True)
class DeclaredSetting:
    name: str
    kind: type[Any]
    """str, bool, int, float, Path, or a dataclass for a table with its own settings."""
    is_list: bool
    """Whether there may be any number of such values."""
    allowed: tuple[str, ...]
    """The only strings allowed; empty if all are."""
    default: Any
    setting: Setting

    @property
    def item(self) -> DeclaredSetting:
        return replace(self, is_list=False)

    @property
    def has_tables(self) -> bool:
        return is_dataclass(self.kind) and any(declared(self.kind))

    @property
    def fallback(self) -> Any:
        """What applies if the value in the file is invalid."""
        if self.setting.fallback is not None:
            return self.setting.fallback
        if self.is_list or not is_dataclass(self.kind):
            return self.default
        return self.kind(**{one.name: one.fallback for one in declared(self.kind)})


def declared(section: type[Any]) -> Iterator[DeclaredSetting]:
    hints = get_type_hints(section)
    for each in fields(section):
        if _KEY not in each.metadata:
            continue  # the name of a table
        about: Setting = each.metadata[_KEY]
        hint, is_list = _item(_without_none(hints[each.name]))
        if get_origin(hint) is Literal:
            yield DeclaredSetting(each.name, str, is_list, get_args(hint), each.default, about)
        else:
            yield DeclaredSetting(each.name, hint, is_list, about.allowed, each.default, about)


def _without_none(hint: Any) -> Any:
    """The type without None: TOML has no null, so a value that may be None may be omitted."""
    if get_origin(hint) not in (Union, types.UnionType):
        return hint
    (only,) = (option for option in get_args(hint) if option is not type(None))
    return only


def _item(hint: Any) -> tuple[Any, bool]:
    if get_origin(hint) is not tuple:
        return hint, False
    item, _ = get_args(hint)  # the other is an ellipsis
    return item, True
