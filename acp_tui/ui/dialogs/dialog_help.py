"""Help in a dialog: every key that means something there. The screens behind the dialogs have a help of their own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, Final

from textual.binding import Binding, BindingType
from textual.dom import DOMNode
from textual.screen import Screen

from acp_tui.ui.commands.key_names import shown_key
from acp_tui.ui.kit.reading import ReadingScreen

KEY_CELLS: Final = 18
DIGITS: Final = " ".join("123456789")
OURS: Final = "acp_tui."


class DialogHelp(ReadingScreen):
    """The keys of a dialog, to be read."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("f1", "dismiss", "Close", show=False)]

    def __init__(self, dialog: Screen[Any]) -> None:
        super().__init__("Help", keys_told(dialog))


def keys_told(dialog: Screen[Any]) -> str:
    """A line for each thing that keys do where the focus is."""
    keys: dict[str, list[str]] = {}
    known: set[str] = set()
    for node in (dialog.focused or dialog).ancestors_with_self:
        for binding in _bindings(node):
            if binding.key not in known and node is not dialog.app:
                known.add(binding.key)
                keys.setdefault(binding.description, []).append(shown_key(binding.key))
    return "\n".join(f"{_joined(each):<{KEY_CELLS}}  {what}" for what, each in keys.items())


def _joined(keys: Sequence[str]) -> str:
    return " ".join(keys).replace(DIGITS, "1-9")


def _bindings(node: DOMNode) -> Iterator[Binding]:
    """Those of our own classes: how a line of text is edited, or a page scrolled, is no news."""
    for kind in type(node).__mro__:
        if kind.__module__.startswith(OURS):
            yield from Binding.make_bindings(vars(kind).get("BINDINGS", ()))
