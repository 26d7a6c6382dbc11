"""`acp-tui inspect`: shows the frames of a recording on the screen; what can be done there is the screen's matter."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from acp_tui.cli.exit_codes import ExitCode
from acp_tui.cli.screen import fitted
from acp_tui.client.inspection.inspection import Inspection, inspect_file
from acp_tui.client.settings.tree import Settings
from acp_tui.client.transcript.reader import RecordingUnreadable


def run_inspect(file: Path, settings: Settings, notes: Sequence[str] = ()) -> int:
    """Show them until the user quits; returns the exit status. `notes` is what to say of the settings."""
    try:
        inspection = inspect_file(file)
    except RecordingUnreadable as error:
        sys.stderr.write(f"acp-tui: {error}\n")
        return ExitCode.USAGE
    settings = replace(settings, appearance=fitted(settings.appearance))
    return asyncio.run(_run(inspection, file, settings, notes))


async def _run(inspection: Inspection, file: Path, settings: Settings, notes: Sequence[str]) -> int:
    from acp_tui.ui.inspector.app import InspectApp  # not before the terminal is asked how it looks

    app = InspectApp(inspection, file, settings=settings, notes=notes)
    # A closed window and a `kill` end us as Ctrl+Q does: the terminal is left as it was.
    for number in (signal.SIGHUP, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, app.exit)
    await app.run_async()
    return app.return_code or ExitCode.DONE
