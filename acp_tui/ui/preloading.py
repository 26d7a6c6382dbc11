"""Loads what takes longer to import than a frame may, in a thread, before it is needed."""

from __future__ import annotations

from importlib import import_module
from typing import Final

# With the agent's start, and while it thinks about its first answer.
BEFORE_TAKING_STOCK: Final = ("acp_tui.client.changes", "acp_tui.ui.changes_desk")
BEFORE_WRITING: Final = ("acp_tui.ui.widgets.completion", "acp_tui.ui.widgets.history.recall")
BEFORE_AN_AGENT: Final = ("acp_tui.client.sessions.agent", "acp_tui.ui.agent_desk", "acp_tui.ui.agent_start")
BEFORE_A_SESSION: Final = ("acp_tui.ui.widgets.session_panel",)
BEFORE_AN_ANSWER: Final = ("markdown_it", "pygments.lexers")


def preload(names: tuple[str, ...]) -> None:
    """Import these modules; for a thread."""
    for name in names:
        import_module(name)
