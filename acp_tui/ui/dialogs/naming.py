"""Asks for the name of a session."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import ModalScreen
from textual.widgets import Input

from acp_tui.client.sessions.marks import MAX_NAME
from acp_tui.ui.kit.frame import Frame, shown_line


class NameDialog(ModalScreen[str | None]):
    """Returns the name without extra whitespace; None if the user closes the dialog or leaves the name blank."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss(None)", "Close", show=False)]

    def __init__(self, name: str) -> None:
        """`name` is the current name."""
        super().__init__(classes="dialog")
        self._name_so_far = name

    def compose(self) -> ComposeResult:
        """One field."""
        field = Input(self._name_so_far, id="name", max_length=MAX_NAME)
        yield Frame(shown_line("Rename the session"), "Enter rename · Esc close", field)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Return the name."""
        self.dismiss(" ".join(event.value.split()) or None)
