"""Closes a dialog that ends by itself; what it gives, and when, is its own matter."""

from __future__ import annotations

from typing import TypeVar

from textual.screen import Screen

T = TypeVar("T")


def close_when_in_front(dialog: Screen[T], result: T | None = None) -> None:
    """Close it, at once or as soon as nothing lies above it.

    Textual's `dismiss` takes away what is on top, also where that is another screen: the help, say.
    """

    def close() -> None:
        if dialog.is_active and dialog.is_running:
            dialog.dismiss(result)

    if dialog.is_active:
        close()
    else:
        dialog.watch(dialog, "stack_updates", close, init=False)
