"""How a setting is declared: a field of a frozen dataclass, with documentation and limits beside its default."""

from __future__ import annotations

import types
from collections.abc import Iterator
from dataclasses import field, fields, is_dataclass, replace
from typing import Any, Final, Literal, TypeAlias, TypeVar, Union, get_args, get_origin, get_type_hints

from acp_tui.values import dataclass

T = TypeVar("T")

ProjectMay: TypeAlias = Literal["nothing", "choose", "narrow", "add"]
"""`narrow`: of `allowed`, only what stands behind the user's own choice; of a number, only less. `add`: to the list."""
Applies: TypeAlias = Literal["at once", "next session", "next agent", "next start"]

_KEY: Final = "setting"


@dataclass(frozen=True, slots=True)
class Setting:
    """What a setting's type and default do not say."""

    doc: str
    """Sentences for the user."""
    unit: str = ""
    """What a number counts, in the plural."""
    minimum: int | None = None
    maximum: int | None = None
    allowed: tuple[str, ...] = ()
    """The only strings allowed; for a Literal, its own."""
    is_blank_allowed: bool = True
    """Whether a string may be empty or of white space only."""
    is_expanded: bool = False
    """Whether a leading ~, and ${NAME}, are replaced."""
    one_of: tuple[str, ...] = ()
    """Of these keys a table must have at least one."""
    fallback: object = None
    """What counts where the value in the file is wrong; None: the default."""
    by_name: bool = False
    """A table whose keys are names of something, each with a string or a list of strings."""
    project: ProjectMay = "nothing"
    """What a project's own settings may do here."""
    applies: Applies = "at once"
    """When a change counts."""
    runs_program: bool = False
    """Whether it names a program that acp-tui runs: of a file that changes while it runs nothing of that is taken."""


def setting(default: T, doc: str, **more: Any) -> T:
    """A field of a settings dataclass; `more` are the other fields of Setting."""
    return field(default=default, metadata={_KEY: Setting(doc, **more)})


@dataclass(frozen=True, slots=True)
class Declared:
    """A setting as it is declared in its section."""

    name: str
    kind: type[Any]
    """str, bool, int, float, Path or a dataclass: a table with settings of its own."""
    is_list: bool
    """Whether there may be any number of values of that kind."""
    allowed: tuple[str, ...]
    """The only strings allowed; empty: all are."""
    default: Any
    setting: Setting

    @property
    def item(self) -> Declared:
        """One of the values of a list."""
        return replace(self, is_list=False)

    @property
    def fallback(self) -> Any:
        """What counts where the value in the file is wrong."""
        if self.setting.fallback is not None:
            return self.setting.fallback
        if self.is_list or not is_dataclass(self.kind):
            return self.default
        return self.kind(**{one.name: one.fallback for one in declared(self.kind)})


def declared(section: type[Any]) -> Iterator[Declared]:
    """The settings of a section, in the order in which they stand there."""
    hints = get_type_hints(section)
    for each in fields(section):
        about: Setting = each.metadata[_KEY]
        hint, is_list = _item(_without_none(hints[each.name]))
        if get_origin(hint) is Literal:
            yield Declared(each.name, str, is_list, get_args(hint), each.default, about)
        else:
            yield Declared(each.name, hint, is_list, about.allowed, each.default, about)


def _without_none(hint: Any) -> Any:
    """TOML has no null: what may be None is what may be left out."""
    if get_origin(hint) not in (Union, types.UnionType):
        return hint
    (only,) = (option for option in get_args(hint) if option is not type(None))
    return only


def _item(hint: Any) -> tuple[Any, bool]:
    if get_origin(hint) is not tuple:
        return hint, False
    item, _ = get_args(hint)  # the other is an ellipsis
    return item, True
