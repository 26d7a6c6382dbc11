"""`acp-tui replay`: shows a recording on the screen. What a replay is, and its keys, are the screen's matter."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from acp_tui.cli.exit_codes import ExitCode
from acp_tui.cli.screen import fitted
from acp_tui.client.settings.tree import Settings
from acp_tui.client.transcript.reader import RecordingUnreadable, open_recording
from acp_tui.ui.replaying.pace import Pace
from acp_tui.ui.replaying.spot import Spot


def run_replay(
    file: Path,
    pace: Pace,
    until: Spot | None,
    settings: Settings,
    notes: Sequence[str] = (),
    *,
    is_followed: bool = False,
) -> int:
    """Show the recording until the user quits; returns the exit status. `notes` is what to say of the settings."""
    try:
        recording = open_recording(file)
    except RecordingUnreadable as error:
        sys.stderr.write(f"acp-tui: {error}\n")
        return ExitCode.USAGE
    with recording:
        settings = replace(settings, appearance=fitted(settings.appearance))
        from acp_tui.ui.replaying.app import ReplayApp  # not before the terminal is asked how it looks
        from acp_tui.ui.replaying.film import Film

        app = ReplayApp(
            Film(recording), pace=pace, until=until, is_followed=is_followed, settings=settings, notes=notes
        )
        asyncio.run(app.run_async())
        return app.return_code or ExitCode.DONE
