"""Runs the user interface with the hub around it, so that no agent outlives a crash of the screen."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Sequence
from pathlib import Path

from acp_tui.cli.exit_codes import ExitCode
from acp_tui.client.agents.command import AgentCommand
from acp_tui.client.sessions.hub import open_hub
from acp_tui.client.settings import Settings
from acp_tui.ui.app import AcpTuiApp


def run_screen(command: AgentCommand, cwd: Path, settings: Settings, notes: Sequence[str]) -> int:
    """Work with the agent until the user quits; returns the exit status. `notes` is what to say of the settings."""
    return asyncio.run(_run(command, cwd, settings, notes))


async def _run(command: AgentCommand, cwd: Path, settings: Settings, notes: Sequence[str]) -> int:
    async with open_hub() as hub:
        app = AcpTuiApp(hub, command, cwd, settings=settings, notes=notes)
        # A closed window and a `kill` end us as Ctrl+Q does: agents that ignore the end of their input are ended too.
        for number in (signal.SIGHUP, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, app.exit)
        await app.run_async()
        return app.return_code or ExitCode.DONE
