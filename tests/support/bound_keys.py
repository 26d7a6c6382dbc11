"""Compares the command table with what widgets bind."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from pkgutil import walk_packages
from types import ModuleType

from textual.binding import Binding
from textual.dom import DOMNode

from acp_tui.ui.commands.keymap import BY_ID, DEFAULT_KEYMAP
from acp_tui.ui.commands.table import COMMANDS, bindings_of


def keys_without_rows(package: ModuleType) -> list[tuple[str, str]]:
    """The classes of the package that bind a key without a row in the table; and the key."""
    modules = [import_module(found.name) for found in walk_packages(package.__path__, f"{package.__name__}.")]
    kinds = {kind for module in modules for kind in vars(module).values() if isinstance(kind, type)}
    places = {command.where for command in COMMANDS}
    typed = {(each.key, each.action) for place in places for each in bindings_of(place=place) if not each.id}
    return [
        (kind.__name__, binding.key)
        for kind in kinds
        if kind.__module__.startswith(package.__name__)
        for binding in _bindings(kind)
        if binding.id not in BY_ID and (binding.key, binding.action) not in typed
        if not binding.action.startswith(("refuse(", "stay"))  # which do nothing
    ]


def _bindings(kind: type) -> Iterable[Binding]:
    return Binding.make_bindings(vars(kind).get("BINDINGS", ()))


def keys_not_bound(place: str, *kinds: type[DOMNode]) -> set[str]:
    """The keys of the place that none of these classes binds."""
    bound = {binding.key for kind in kinds for base in kind.__mro__ for binding in _bindings(base)}
    return {key for id_, keys in DEFAULT_KEYMAP.keys.items() if BY_ID[id_].where == place for key in keys} - bound


def actions_without_methods(place: str, *kinds: type[DOMNode]) -> list[str]:
    """The actions of the place that are no methods of these classes."""
    named = [command.widget_action or command.action for command in COMMANDS if command.where == place]
    ours = [action.partition("(")[0] for action in named if action and not action.startswith(("screen.", "app."))]
    assert ours
    return [name for name in ours if not any(hasattr(kind, f"action_{name}") for kind in kinds)]
