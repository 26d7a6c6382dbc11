"""The help of a replay: its keys, those in force, and what they do."""

from __future__ import annotations

from acp_tui.ui.commands.help import HelpScreen


class ReplayHelp(HelpScreen):
    """Gives the action of the command that was chosen, None where the user has only read."""

    def __init__(self) -> None:
        super().__init__(("replay", "app"), is_all=False)
