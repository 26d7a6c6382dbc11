"""`acp-tui replay`: shows a recording on the screen. What a replay is, and its keys, are the screen's matter."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from acp_tui.cli.exit_codes import ExitCode
from acp_tui.cli.inner_failures import told_afterwards
from acp_tui.cli.rehearsed import recording_of
from acp_tui.cli.saying import say_error
from acp_tui.cli.screen import fitted
from acp_tui.client.errors import ClientError
from acp_tui.client.settings.tree import Settings
from acp_tui.ui.replaying.film import Film, open_playable
from acp_tui.ui.replaying.pace import Pace
from acp_tui.ui.replaying.spot import Spot

if TYPE_CHECKING:
    from acp_tui.ui.replaying.app import ReplayApp


def run_replay(
    source: Path | str,
    pace: Pace,
    until: Spot | None,
    settings: Settings,
    notes: Sequence[str] = (),
    *,
    is_followed: bool = False,
) -> int:
    """Show a recording, or a scenario by its name, until the user quits; returns the exit status.

    `notes` is what to say of the settings.
    """
    with ExitStack() as stack:
        try:
            file = stack.enter_context(recording_of(source))
            recording = stack.enter_context(open_playable(file))
        except ClientError as error:
            say_error(error)
            return ExitCode.USAGE
        settings = replace(settings, appearance=fitted(settings.appearance))
        from acp_tui.ui.replaying.app import ReplayApp  # not before the terminal is asked how it looks

        film = Film(recording)
        app = ReplayApp(film, pace=pace, until=until, is_followed=is_followed, settings=settings, notes=notes)
        with told_afterwards():
            asyncio.run(_run(app))
        return app.return_code or ExitCode.DONE


async def _run(app: ReplayApp) -> None:
    # A closed window and a `kill` end us as Ctrl+Q does: the terminal is left as it was.
    for number in (signal.SIGHUP, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, app.exit)
    await app.run_async()
