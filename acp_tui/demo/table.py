"""One TOML table and its place in the file: every key is taken once, and what is wrong is said with its place.

It knows no scenario: which keys a table has is for its readers.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final, TypeVar

T = TypeVar("T")
D = TypeVar("D")

KINDS: Final[dict[type, str]] = {
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
    if kind is float and type(value) is int:
        value = float(value)
    # Exactly: a boolean is an int in Python, and not in a scenario.
    if type(value) is not kind:
        raise ScenarioError(f"{place} is {value!r}; it must be {KINDS[kind]}")
    return value


def _listed(names: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(names)) or "nothing"
