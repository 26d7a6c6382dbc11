"""Runs the user interface with the hub around it, so that no agent outlives a crash of the screen."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from acp_tui.cli.inner_failures import told_afterwards
from acp_tui.client.settings.location import settings_file
from acp_tui.client.settings.tree import Appearance, Settings
from acp_tui.ui.terminal_colours import ask_terminal, has_unicode, light_or_dark

if TYPE_CHECKING:
    from acp_tui.client.agents.command import AgentCommand
    from acp_tui.client.transcript.record_to import RecordTo
    from acp_tui.ui.tab.reopening import LeftSession, Reopening


def run_screen(
    command: AgentCommand | None,
    cwd: Path,
    settings: Settings,
    notes: Sequence[str],
    record: RecordTo | None = None,
    opening: Reopening | None = None,
) -> int:
    """Work with the agent until the user quits, None: with one that the user chooses; returns the exit status.

    `notes` is what to say of the settings; with `opening` a session of the past is shown first.
    """
    settings = replace(settings, appearance=fitted(settings.appearance))
    with told_afterwards():
        status, left = asyncio.run(_run(command, cwd, settings, notes, record, opening))
    if left:
        from acp_tui.cli.resume import say_how_to_resume  # the recordings are complete now

        say_how_to_resume(left)
    return status


def fitted(appearance: Appearance) -> Appearance:
    """With what is not set as it fits the terminal."""
    return replace(
        appearance,
        theme=appearance.theme or _theme_of_terminal(),
        ascii=appearance.ascii or not has_unicode(os.environ),
    )


def _theme_of_terminal() -> str:
    with ThreadPoolExecutor(1) as asking:
        shade = asking.submit(light_or_dark, os.environ, ask_terminal)
        # The screen is loaded while the terminal answers.
        from acp_tui.ui import themes
        from acp_tui.ui.shell import app  # noqa: F401 - it is needed next

        return themes.theme_for(shade.result(), os.environ)


async def _run(
    command: AgentCommand | None,
    cwd: Path,
    settings: Settings,
    notes: Sequence[str],
    record: RecordTo | None,
    opening: Reopening | None,
) -> tuple[int, Sequence[LeftSession]]:
    """The exit status, and the sessions that can be come back to."""
    from acp_tui.cli.failures import code_of
    from acp_tui.client.sessions.hub import open_hub
    from acp_tui.ui.shell.app import AcpTuiApp  # not before the terminal is asked how it looks

    async with open_hub() as hub:
        app = AcpTuiApp(hub, command, cwd, settings=settings, notes=notes, settings_file=settings_file())
        app.record_to = record
        app.opening = opening
        # A closed window and a `kill` end us as Ctrl+Q does: agents that ignore the end of their input are ended too.
        for number in (signal.SIGHUP, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, app.exit)
        try:
            await app.run_async()
        finally:
            app.let_go_of_terminal()
        return app.return_code or code_of(app.failure), app.left_sessions()
