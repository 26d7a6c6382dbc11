"""`acp-tui inspect`: shows the frames of a recording on the screen; what can be done there is the screen's matter."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from acp_tui.cli.exit_codes import ExitCode
from acp_tui.cli.inner_failures import told_afterwards
from acp_tui.cli.rehearsed import recording_of
from acp_tui.cli.saying import say_error
from acp_tui.cli.screen import fitted
from acp_tui.client.errors import ClientError
from acp_tui.client.settings.tree import Settings
from acp_tui.workbench.inspect.inspection import Inspection, inspect_file


def run_inspect(source: Path | str, settings: Settings, notes: Sequence[str] = ()) -> int:
    """Show those of a recording, or of a scenario by its name, until the user quits; returns the exit status.

    `notes` is what to say of the settings.
    """
    with ExitStack() as stack:
        try:
            file = stack.enter_context(recording_of(source))
            inspection = inspect_file(file)
        except ClientError as error:
            say_error(error)
            return ExitCode.USAGE
        settings = replace(settings, appearance=fitted(settings.appearance))
        with told_afterwards():
            return asyncio.run(_run(inspection, file, settings, notes))


async def _run(inspection: Inspection, file: Path, settings: Settings, notes: Sequence[str]) -> int:
    from acp_tui.ui.inspector.app import InspectApp  # not before the terminal is asked how it looks

    app = InspectApp(inspection, file, settings=settings, notes=notes)
    # A closed window and a `kill` end us as Ctrl+Q does: the terminal is left as it was.
    for number in (signal.SIGHUP, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, app.exit)
    await app.run_async()
    return app.return_code or ExitCode.DONE
