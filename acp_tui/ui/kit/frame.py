"""What dialogs share: a frame with the title above and the keys below, and closing from code."""

from __future__ import annotations

from typing import TypeVar

from textual.containers import Vertical
from textual.content import Content
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Static

from acp_tui.conversation.visible import make_visible, make_visible_line


def shown(text: str, style: str = "") -> Content:
    """Text of the agent's, safe to draw, over as many lines as it has."""
    return Content.styled(make_visible(text), style)


def shown_line(text: str, style: str = "") -> Content:
    """Text of the agent's, safe to draw, in one line."""
    return Content.styled(make_visible_line(text), style)


class Frame(Vertical):
    """Holds a dialog's parts in the middle of the screen."""

    DEFAULT_CSS = """
    Frame { height: auto; max-height: 100%; width: 90; max-width: 100%; }
    Frame > .frame-title, Frame > .frame-keys { height: auto; width: 1fr; }
    """

    def __init__(self, title: Content, keys: str, *parts: Widget) -> None:
        self._keys = Static(keys, classes="frame-keys", markup=False)
        super().__init__(Static(title, classes="frame-title", markup=False), *parts, self._keys)

    def show_keys(self, keys: str) -> None:
        """Name these keys from now on."""
        self._keys.update(keys)


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
