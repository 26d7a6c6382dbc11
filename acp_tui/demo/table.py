"""Reads TOML tables by shape. Errors name the place, the key, and what is allowed there."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from math import inf
from typing import Any, Final, NamedTuple, TypeAlias, TypeVar, cast

from acp_tui.values import dataclass

T = TypeVar("T")


class Count(int):
    """A whole number, 0 or more."""


class Seconds(float):
    """A time, 0 or more."""


class ProcessStatus(int):
    """The exit status of a process."""


RANGES: Final[dict[type, tuple[Any, Any, Any]]] = {
    Count: (int, 0, inf),
    Seconds: (float, 0, inf),
    ProcessStatus: (int, 0, 255),
}
"""The TOML type of each number, its minimum, and its maximum."""
KINDS: Final[dict[type, str]] = {
    Count: "a whole number, 0 or more",
    Seconds: "a number, 0 or more",
    ProcessStatus: "a whole number from 0 to 255",
    str: "text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    list: "a list",
    dict: "a table",
}

Kind: TypeAlias = Any
"""The kind of a value.

A type of KINDS, `object` for anything, a tuple of the allowed texts, a list with one kind for a list of such values, a
dict with the kinds of a table's keys, a TableShape, or a function that reads a table and its place.
"""


class ScenarioError(Exception):
    """A scenario is invalid: where, and what is allowed there."""


class InvalidTable(Exception):
    """A table as a whole is invalid. Its reader adds the place."""


class ValuePath(NamedTuple):
    """The place of a value in error messages: for the value itself, and for its contents."""

    itself: str
    inside: str

    def key(self, name: str) -> ValuePath:
        return ValuePath(f'{self.inside}: "{name}"', f"{self.inside}, {name}")

    def item(self, number: int) -> ValuePath:
        """An item of this list, counted from 1."""
        return ValuePath(f"{self.itself} {number}", f"{self.inside} {number}")

    def error(self, message: str) -> ScenarioError:
        return ScenarioError(f"{self.inside}: {message}")


@dataclass(frozen=True, slots=True)
class TableShape:
    """The keys of a table and their kinds, and what it becomes. An optional key ends with "?"."""

    keys: Mapping[str, Kind]
    make: Callable[..., Any] = dict
    """Creates the value from the keys present. May raise InvalidTable."""


def read(kind: Kind, value: Any, place: ValuePath) -> Any:
    """Read a value of this kind. Raises ScenarioError."""
    if kind is object:
        return value
    if isinstance(kind, type):
        return _checked(value, kind, place.itself)
    if isinstance(kind, tuple):
        if _checked(value, str, place.itself) not in kind:
            raise ScenarioError(f"{place.itself} is {value!r}; allowed: {listed(kind)}")
        return value
    if isinstance(kind, list):
        if isinstance(value, dict):
            so = "is a single table; it must be a list of tables, with a header in double brackets"
            raise ScenarioError(f"{place.itself} {so}")
        items = enumerate(_checked(value, list, place.itself), 1)
        return tuple(read(kind[0], item, place.item(number)) for number, item in items)
    values = _checked(value, dict, place.itself)
    if isinstance(kind, dict):
        kind = TableShape(kind)
    return _read_table(kind, values, place) if isinstance(kind, TableShape) else kind(values, place)


def each_key(kind: Kind) -> Kind:
    """A table with any keys and values of one kind."""
    return lambda values, place: {key: read(kind, value, place.key(key)) for key, value in values.items()}


def _read_table(shape: TableShape, values: dict[str, Any], place: ValuePath) -> Any:
    kinds = {key.rstrip("?"): kind for key, kind in shape.keys.items()}
    for key, kind in shape.keys.items():
        if not key.endswith("?") and key not in values:
            raise place.error(f'"{key}" is missing; it is {_called(kind)}')
    given = {key: read(kind, values[key], place.key(key)) for key, kind in kinds.items() if key in values}
    for key in values:
        if key not in kinds:
            raise place.error(f'unknown key "{key}"; allowed: {listed(kinds)}')
    try:
        return shape.make(**given)
    except InvalidTable as error:
        raise place.error(str(error)) from error


def require_one_of(key: str, value: Any, allowed: Collection[Any]) -> None:
    """Raises InvalidTable if a value isn't among those that the table itself defines."""
    if value not in allowed:
        raise InvalidTable(f'"{key}" is {value!r}; allowed: {listed(allowed)}')


def _called(kind: Kind) -> str:
    if isinstance(kind, type):
        return KINDS.get(kind, "any value")
    return KINDS[str] if isinstance(kind, tuple) else KINDS[list] if isinstance(kind, list) else KINDS[dict]


def _checked(value: Any, kind: type[T], place: str) -> T:
    exact, least, most = RANGES.get(kind, (kind, None, None))
    if exact is float and type(value) is int:
        value = float(value)
    # Compare exact types: a boolean is an int in Python, but not in a scenario.
    if type(value) is not exact or (least is not None and not least <= value <= most):
        raise ScenarioError(f"{place} is {value!r}; it must be {KINDS[kind]}")
    return cast(T, value)


def listed(names: Iterable[str]) -> str:
    """The allowed names, for an error."""
    return ", ".join(names) or "nothing"
