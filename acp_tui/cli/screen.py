"""Runs the user interface with the hub around it, so that no agent outlives a crash of the screen."""

from __future__ import annotations

import asyncio
import signal
from pathlib import Path

from acp_tui.cli.exit_codes import ExitCode
from acp_tui.client.agents.command import AgentCommand
from acp_tui.client.sessions.hub import open_hub
from acp_tui.ui.app import AcpTuiApp


def run_screen(command: AgentCommand, cwd: Path) -> int:
    """Work with the agent until the user quits; returns the exit status."""
    return asyncio.run(_run(command, cwd))


async def _run(command: AgentCommand, cwd: Path) -> int:
    async with open_hub() as hub:
        app = AcpTuiApp(hub, command, cwd)
        # A closed window and a `kill` end us as Ctrl+Q does: agents that ignore the end of their input are ended too.
        for number in (signal.SIGHUP, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, app.exit)
        await app.run_async()
        return app.return_code or ExitCode.DONE
