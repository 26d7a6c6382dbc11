"""The help of the inspector: its keys, those in force, and what they do."""

from __future__ import annotations

from acp_tui.ui.commands.help import HelpScreen


class InspectorHelp(HelpScreen):
    """To be read: what can be done has to do with the frame under the cursor."""

    KEYS = "↑ ↓ PgUp PgDn read · Esc close"

    def __init__(self) -> None:
        super().__init__(("inspector", "frames", "frame", "app"), is_all=False)
