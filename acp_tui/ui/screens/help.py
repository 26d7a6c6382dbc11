"""The help: every key of the command table."""

from __future__ import annotations

from typing import ClassVar

from rich.style import Style
from rich.table import Table
from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from acp_tui.ui.commands import COMMANDS
from acp_tui.ui.rendering.palette import Palette
from acp_tui.ui.themes import palette_for
from acp_tui.ui.widgets.fields.frame import Frame


class HelpScreen(ModalScreen[None]):
    """Closes by Esc, F1 or q."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,f1,q", "dismiss", "Close", show=False)]

    def __init__(self) -> None:
        super().__init__(classes="dialog")
        self._body = Static()

    def compose(self) -> ComposeResult:
        """Scrolling, where there is no room for all."""
        yield Frame(
            Content("Keys"),
            "↑ ↓ PgUp PgDn read · Ctrl+P every command · Esc close",
            VerticalScroll(self._body, classes="dialog-body"),
        )

    def on_mount(self) -> None:
        """Draw it, ready to be scrolled, and again in other colours."""
        self.query_one(VerticalScroll).focus()
        self.watch(self.app, "theme", self._draw)

    def _draw(self) -> None:
        self._body.update(_table(palette_for(self.app.current_theme)))


def _table(palette: Palette) -> Table:
    """A row for each command: its key, and beside it what it does; a long row goes on in its own column."""
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column()
    for command in COMMANDS:
        key = Text(command.shown_key, palette.accent + Style(bold=True))
        table.add_row(
            key, Text.assemble((command.title, palette.text), (f" · {command.help}", palette.muted))
        )
    return table
