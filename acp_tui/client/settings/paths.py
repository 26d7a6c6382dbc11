"""Finds settings by their keys, as in `workspace.read`; it reads and writes no file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import is_dataclass, replace
from typing import Any

from acp_tui.client.settings.setting import Declared, declared
from acp_tui.client.settings.tree import Settings


def leaves(section: type[Any] = Settings, prefix: str = "") -> Iterator[tuple[str, Declared]]:
    """Every setting that has a value, by its key, in the order of the tree; a list of tables is one."""
    for one in declared(section):
        key = f"{prefix}{one.name}"
        if is_dataclass(one.kind) and not one.is_list:
            yield from leaves(one.kind, f"{key}.")
        else:
            yield key, one


def value_at(settings: Any, key: str) -> Any:
    """The value of one setting."""
    for name in key.split("."):
        settings = getattr(settings, name)
    return settings


def with_value(settings: Any, key: str, value: Any) -> Any:
    """The settings with another value there."""
    name, _, rest = key.partition(".")
    return replace(settings, **{name: with_value(getattr(settings, name), rest, value) if rest else value})


def changed(before: Settings, after: Settings) -> Iterator[tuple[str, Declared]]:
    """The settings of which the values differ."""
    return ((key, one) for key, one in leaves() if value_at(before, key) != value_at(after, key))
