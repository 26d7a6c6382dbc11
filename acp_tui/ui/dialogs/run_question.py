"""The question before a command runs that stands in a recording; anything but a plain yes is no."""

from __future__ import annotations

import shlex
from pathlib import Path

from textual.content import Content

from acp_tui.ui.dialogs.trust import TrustQuestion
from acp_tui.ui.kit.frame import shown_line


class RunQuestion(TrustQuestion):
    """Gives True where the user wants it to be run."""

    def __init__(self, command: tuple[str, ...], cwd: Path) -> None:
        """All of the command is shown."""
        lines = [
            Content("The session was made with this command, which stands in its recording:"),
            Content(),
            shown_line(shlex.join(command), "bold"),
            Content(),
            Content.assemble("It would run as you, with all that you may do, in ", shown_line(str(cwd)), "."),
            Content("No: the session is only read again from the recording, and nothing runs."),
        ]
        super().__init__("Run this command?", lines, yes="Yes, run it")
