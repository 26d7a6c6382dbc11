"""Recordings as text and pictures, made the way `acp-tui render` does, without what differs between machines."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode

from acp_tui.ui.replay.demo_recording import without_durations
from acp_tui.ui.replay.render import View, render
from acp_tui.ui.replay.timeline import Timeline, open_playable

LARGE: Final = (120, 40)
SMALL: Final = (80, 24)


async def pictured(recording: Path, size: tuple[int, int] = LARGE) -> str:
    """The end of a recording."""
    with open_playable(recording) as opened:
        timeline = Timeline(opened, edit=without_durations)
        timeline.read_on()
        return (await render(timeline, View(size=size), ".txt")).decode()


class TextPicture(SingleFileSnapshotExtension):
    """Text stored in its own file."""

    file_extension = "txt"
    _file_extension = "txt"
    _write_mode = WriteMode.TEXT
