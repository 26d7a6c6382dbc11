"""`acp-tui inspect`: shows the frames of a recording, and the rules they break."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from acp_tui.cli.arguments import Args
from acp_tui.cli.prerequisites import notes_of
from acp_tui.cli.replay import fitted_settings, settings_to_show, show_app
from acp_tui.cli.sessions import session_named
from acp_tui.client.settings.settings import Settings
from acp_tui.client.transcript.index import RecordedSession
from acp_tui.ui.base.app import BaseApp
from acp_tui.workbench.inspect.inspection import inspect_file
from acp_tui.workbench.inspector.screen import InspectApp


def run(args: Args) -> int:
    """Show its frames until the user quits."""
    source = session_named(args.word)
    read = settings_to_show(source, "for its frames: jq -c .frame FILE")
    return run_inspect(source, read.settings, notes_of(read))


def run_inspect(source: RecordedSession | Path | str, settings: Settings, notes: Sequence[str] = ()) -> int:
    """Show the frames of the last recording, or of a scenario by name, until the user quits. Returns the exit status.

    `notes` has remarks about the settings.
    """

    def make(files: Sequence[Path], _: ExitStack) -> BaseApp:
        return InspectApp(inspect_file(files[-1]), files[-1], settings=fitted_settings(settings), notes=notes)

    return show_app(source, make)
