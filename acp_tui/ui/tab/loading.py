"""Imports in a thread, ahead of time, what takes longer than a frame. Function-level imports of a tab rely on it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from importlib import import_module
from typing import Final

# With the agent's start, and while it thinks about its first answer.
BEFORE_WRITING: Final = ("acp_tui.ui.prompt.completion", "acp_tui.ui.prompt.recall")
BEFORE_AN_AGENT: Final = (
    "acp_tui.client.sessions.agent",
    "acp_tui.ui.tab.agent",
    "acp_tui.ui.shell.agent_start",
)
BEFORE_A_SESSION: Final = ("acp_tui.ui.tab.stages",)
# Once a session is shown.
BEFORE_TAKING_STOCK: Final = ("acp_tui.ui.changes.follower",)
BEFORE_A_COMMAND: Final = ("acp_tui.ui.tab.actions", "acp_tui.ui.shell.dialogs")
BEFORE_AN_ANSWER: Final = ("markdown_it", "pygments.lexers")
LANGUAGES: Final = ("python", "bash", "json")
"""Whose lexers are made then: each compiles up to a hundred patterns, 30 ms that a frame of the answer would take."""


def preload(names: Sequence[str]) -> None:
    """Import these modules; for a thread."""
    for name in names:
        import_module(name)


def preload_for_answer() -> None:
    """Import and make what answers are drawn with; for a thread."""
    preload(BEFORE_AN_ANSWER)
    find_lexer = import_module("acp_tui.ui.rendering.highlight").find_lexer
    for language in LANGUAGES:
        find_lexer(language)


async def preloaded(*names: Sequence[str]) -> None:
    """Import these modules in a thread: keys are answered meanwhile."""
    await asyncio.to_thread(preload, [name for each in names for name in each])
