"""The settings on the screen: found by typing, explained, changed in place."""

from acp_tui.ui.screens.settings.screen import SettingsScreen

__all__ = ["SettingsScreen"]
