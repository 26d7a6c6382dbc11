"""Asks what a session is to be called."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import ModalScreen
from textual.widgets import Input

from acp_tui.client.sessions.marks import MAX_NAME
from acp_tui.ui.kit.frame import Frame, shown_line


class NameDialog(ModalScreen[str | None]):
    """Gives the name, without blanks around it; None where the user closes it or writes none."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss(None)", "Close", show=False)]

    def __init__(self, name: str) -> None:
        """`name` is what it is called so far."""
        super().__init__(classes="dialog")
        self._name_so_far = name

    def compose(self) -> ComposeResult:
        """One field."""
        field = Input(self._name_so_far, id="name", max_length=MAX_NAME)
        yield Frame(shown_line("Rename the session"), "Enter rename · Esc close", field)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Give it back."""
        self.dismiss(" ".join(event.value.split()) or None)
