"""A text to read, in a frame; closes by Esc."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Static

from acp_tui.ui.kit.frame import Frame, shown, shown_line


class ReadingScreen(ModalScreen[None]):
    """Scrolls where there is no room for all."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q", "dismiss", "Close", show=False)]

    def __init__(self, title: str, text: str) -> None:
        super().__init__(classes="dialog")
        self._heading = title
        self._text = text

    def compose(self) -> ComposeResult:
        """The text."""
        body = VerticalScroll(Static(shown(self._text), markup=False), classes="dialog-body")
        yield Frame(shown_line(self._heading), "↑ ↓ PgUp PgDn read · Esc close", body)

    def on_mount(self) -> None:
        """Ready to be scrolled."""
        self.query_one(VerticalScroll).focus()
