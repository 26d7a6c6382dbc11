"""The help of the inspector: its keys, those in force, and what they do."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.content import Content

from acp_tui.ui.inspector.keys import INSPECTOR_COMMANDS
from acp_tui.ui.keyed_app import keys_in_force
from acp_tui.ui.screens.help import HelpScreen, help_rows
from acp_tui.ui.widgets.fields.filtered_list import FilteredList
from acp_tui.ui.widgets.fields.frame import Frame


class InspectorHelp(HelpScreen):
    """To be read; it does nothing."""

    def __init__(self) -> None:
        super().__init__(("inspector", "frames", "frame"))

    def compose(self) -> ComposeResult:
        """A list that is searched by typing."""
        rows = help_rows(keys_in_force(self), self._here, is_narrow=self.app.size.width < 60)
        ours = FilteredList([row for row in rows if row.value in INSPECTOR_COMMANDS])
        yield Frame(Content("Help"), "↑ ↓ PgUp PgDn read · Esc close", ours)
