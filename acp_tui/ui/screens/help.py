"""The help: every key of the command table."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from acp_tui.ui.commands import COMMANDS


class HelpScreen(ModalScreen[None]):
    """Closes by Esc, F1 or q."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,f1,q", "dismiss", "Close", show=False)]

    def compose(self) -> ComposeResult:
        """One line or two for each command."""
        width = max(len(command.shown_key) for command in COMMANDS)
        lines = [
            Content.assemble(
                (f"{command.shown_key:<{width}}  ", "$text-accent bold"),
                command.title,
                (f"\n{'':<{width}}  {command.help}", "$foreground-muted"),
            )
            for command in COMMANDS
        ]
        with VerticalScroll(id="help"):
            yield Static(Content("\n").join(lines), markup=False)
