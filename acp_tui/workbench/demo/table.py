"""One TOML table and its place in the file: every key is taken once, and what is wrong is said with its place.

It knows no scenario: which keys a table has is for its readers.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from math import inf
from typing import Any, Final, TypeVar, cast

T = TypeVar("T")
D = TypeVar("D")


class Count(int):
    """A whole number that is not below 0."""


class Seconds(float):
    """A time that is not below 0."""


class ExitStatus(int):
    """With what a process can end."""


RANGES: Final[dict[type, tuple[Any, Any, Any]]] = {
    Count: (int, 0, inf),
    Seconds: (float, 0, inf),
    ExitStatus: (int, 0, 255),
}
"""What such a number is in TOML, the least and the most."""
KINDS: Final[dict[type, str]] = {
    Count: "a whole number, 0 or more",
    Seconds: "a number, 0 or more",
    ExitStatus: "a whole number from 0 to 255",
    str: "a text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    list: "a list",
    dict: "a table",
}


class ScenarioError(Exception):
    """A scenario is not what it should be: where, and what is allowed there."""


class Table:
    """Hands out the keys of one table; `close()` refuses what nobody asked for."""

    def __init__(self, values: dict[str, Any], place: str) -> None:
        self._values = dict(values)
        self._asked_for: list[str] = []
        self._place = place

    def has(self, key: str) -> bool:
        """Whether the key is there and not taken yet."""
        self._asked_for.append(key)
        return key in self._values

    @property
    def keys(self) -> list[str]:
        """The keys that nobody has taken yet."""
        return list(self._values)

    def need(self, key: str, kind: type[T]) -> T:
        """The value of a key that must be there."""
        if not self.has(key):
            raise self.error(f'"{key}" is missing; it is {KINDS[kind]}')
        return _checked(self._values.pop(key), kind, f'{self._place}: "{key}"')

    def get(self, key: str, kind: type[T], default: D) -> T | D:
        """The value of a key that may be absent."""
        return self.need(key, kind) if self.has(key) else default

    def given(self, kinds: Mapping[str, type]) -> dict[str, Any]:
        """Those of several keys that are there."""
        return {key: self.need(key, kind) for key, kind in kinds.items() if self.has(key)}

    def one_of(self, key: str, allowed: Collection[str]) -> str:
        """A text that must be there and be one of a set."""
        value = self.need(key, str)
        if value not in allowed:
            raise self.error(f'"{key}" is {value!r}; allowed: {_listed(allowed)}')
        return value

    def anything(self, key: str) -> Any:
        """The value of a key that is there, whatever it is."""
        return self._values.pop(key)

    def texts(self, key: str) -> tuple[str, ...]:
        """A list of texts; absent is empty."""
        items = self.get(key, list, [])
        return tuple(_checked(item, str, f'{self._place}: "{key}" {n}') for n, item in enumerate(items, 1))

    def all_of(self, kind: type[T]) -> dict[str, T]:
        """Every key of this table, each with a value of one kind."""
        return {key: self.need(key, kind) for key in tuple(self._values)}

    def table(self, key: str) -> Table:
        """A table in this one; absent is empty."""
        return Table(self.get(key, dict, {}), f"{self._place}, {key}")

    def tables(self, key: str) -> list[Table]:
        """A list of tables in this one; absent is empty."""
        if isinstance(self._values.get(key), dict):
            raise self.error(f'"{key}" is one table; it must be a list of them: a header in double brackets')
        items = enumerate(self.get(key, list, []), 1)
        places = [(f"{self._place}, {key} {n}", item) for n, item in items]
        return [Table(_checked(item, dict, place), place) for place, item in places]

    def close(self) -> None:
        """Raises ScenarioError when a key is left that nobody asked for."""
        for key in self._values:
            raise self.error(f'unknown key "{key}"; allowed: {_listed(self._asked_for)}')

    def error(self, message: str) -> ScenarioError:
        """What is wrong with this table."""
        return ScenarioError(f"{self._place}: {message}")


def _checked(value: Any, kind: type[T], place: str) -> T:
    exact, least, most = RANGES.get(kind, (kind, None, None))
    if exact is float and type(value) is int:
        value = float(value)
    # Exactly: a boolean is an int in Python, and not in a scenario.
    if type(value) is not exact or (least is not None and not least <= value <= most):
        raise ScenarioError(f"{place} is {value!r}; it must be {KINDS[kind]}")
    return cast(T, value)


def _listed(names: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(names)) or "nothing"
