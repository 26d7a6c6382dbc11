"""Recordings as text and pictures, made the way `acp-tui render` does, without what differs between machines."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode

from acp_tui.ui.recorded.film import Film, open_playable
from acp_tui.ui.recorded.rehearsal import without_durations
from acp_tui.ui.recorded.render import View, render

LARGE: Final = (120, 40)
SMALL: Final = (80, 24)


async def pictured(recording: Path, size: tuple[int, int] = LARGE) -> str:
    """The end of a recording."""
    with open_playable(recording) as opened:
        film = Film(opened, edit=without_durations)
        film.read_on()
        return (await render(film, View(size=size), ".txt")).decode()


class TextPicture(SingleFileSnapshotExtension):
    """Text stored in its own file."""

    file_extension = "txt"
    _file_extension = "txt"
    _write_mode = WriteMode.TEXT
