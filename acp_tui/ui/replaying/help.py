"""The help of a replay: its keys, and what they do."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.content import Content

from acp_tui.ui.replaying.keys import REPLAY_KEYS, ReplayKey
from acp_tui.ui.screens.help import HelpScreen
from acp_tui.ui.widgets.fields.filtered_list import FilteredList
from acp_tui.ui.widgets.fields.frame import Frame
from acp_tui.ui.widgets.fields.row_list import PickerRow


class ReplayHelp(HelpScreen):
    """Gives the action of the key that was chosen, None where the user has only read."""

    def compose(self) -> ComposeResult:
        """A list that is searched by typing."""
        rows: list[PickerRow[ReplayKey]] = [
            PickerRow(key, key.title, key.about, aside=key.shown) for key in REPLAY_KEYS
        ]
        listed = FilteredList(rows)
        yield Frame(Content("Help"), "↑ ↓ PgUp PgDn read · Enter does it · Esc close", listed)
