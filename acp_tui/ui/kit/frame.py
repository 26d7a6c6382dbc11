"""The frame of a dialog: its title above, its keys below; what stands between is the dialog's."""

from __future__ import annotations

from textual.containers import Vertical
from textual.content import Content
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
