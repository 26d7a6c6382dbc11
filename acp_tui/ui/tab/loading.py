"""Imports slow modules ahead of time, in a thread. A tab's function-level imports rely on it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from importlib import import_module
from typing import Final

# Imported while the agent starts, and while it prepares its first answer.
BEFORE_WRITING: Final = ("acp_tui.ui.prompt.completion", "acp_tui.ui.prompt.recall", "acp_tui.ui.prompt.vim")
BEFORE_AN_AGENT: Final = ("acp_tui.client.sessions.agent", "acp_tui.ui.tab.agent", "acp_tui.ui.app.agent_start")
BEFORE_A_SESSION: Final = ("acp_tui.ui.tab.panels",)
# Imported once a session is shown.
BEFORE_TRACKING_CHANGES: Final = ("acp_tui.ui.changes.follower",)
BEFORE_A_COMMAND: Final = ("acp_tui.ui.tab.actions", "acp_tui.ui.app.dialogs")
BEFORE_AN_ANSWER: Final = ("markdown_it", "pygments.lexers")
LANGUAGES: Final = ("python", "bash", "json")
"""Their lexers are created in advance: each takes 30 ms to compile up to 100 patterns, longer than a frame."""


def preload(names: Sequence[str]) -> None:
    """Import these modules. Call it in a thread."""
    for name in names:
        import_module(name)


def preload_for_answer() -> None:
    """Import and create what answers are drawn with. Call it in a thread."""
    preload(BEFORE_AN_ANSWER)
    find_lexer = import_module("acp_tui.ui.rendering.highlight").find_lexer
    for language in LANGUAGES:
        find_lexer(language)


async def preload_in_thread(*names: Sequence[str]) -> None:
    """Import these modules in a thread, so that keys stay responsive."""
    await asyncio.to_thread(preload, [name for each in names for name in each])
