"""Compares what a user sees of an agent under test with the accepted text."""

from __future__ import annotations

import json
import sys
from concurrent.futures import ThreadPoolExecutor
from difflib import unified_diff
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import anyio
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode

from acp_tui.client.private_files import replace_file
from acp_tui.client.transcript.lines import open_recording
from acp_tui.ui.replay.demo_recording import without_durations, without_places
from acp_tui.ui.replay.render import View, render
from acp_tui.ui.replay.timeline import Timeline
from acp_tui.workbench.testing.agent import AcpAgent

__tracebackhide__ = True  # pytest shows the line of the test instead

SIZE: Final = (100, 40)
HOW_TO_ACCEPT: Final = "If it looks right, accept it: pytest --snapshot-update"


class _Plain(SingleFileSnapshotExtension):
    """A text in a separate file."""

    file_extension = _file_extension = "txt"  # syrupy 5 and newer, and 4
    _write_mode = WriteMode.TEXT


class AcpSnapshot:
    def __init__(self, snapshot: Any) -> None:
        """`snapshot` is syrupy's."""
        self._snapshot = snapshot

    def __call__(self, source: AcpAgent | str | Path, *, size: tuple[int, int] = SIZE) -> bool:
        """Assert that the conversation of an agent or a recording looks as accepted; return True.

        `size` is columns and rows. Raises AssertionError.
        """
        shown = picture_of(source, size)
        snapshot = self._snapshot.use_extension(_Plain)
        if snapshot == shown:
            return True
        compared = snapshot.executions[snapshot.num_executions - 1]
        raise AssertionError(_differs(compared.snapshot_location, compared.recalled_data, shown))


def _differs(location: str, accepted: str | None, shown: str) -> str:
    if accepted is None:
        return f"no text of the conversation has been accepted yet ({location}).\n{HOW_TO_ACCEPT}\n\n{shown}"
    lines = unified_diff(accepted.split("\n"), shown.split("\n"), "accepted", "now", lineterm="")
    return f"the text of the conversation differs from {location}.\n{HOW_TO_ACCEPT}\n\n" + "\n".join(lines)


def picture_of(source: AcpAgent | str | Path, size: tuple[int, int]) -> str:
    """The end of a conversation, the same on every machine: without times, durations, or local folders."""
    recording = source.recording if isinstance(source, AcpAgent) else Path(source)
    with TemporaryDirectory() as folder:
        placeless = Path(folder, recording.name)
        replace_file(placeless, _without_places(recording.read_text(encoding="utf-8")).encode())

        async def draw() -> bytes:
            with open_recording(placeless) as opened:
                timeline = Timeline(opened, edit=without_durations)
                timeline.read_on()
                return await render(timeline, View(size=size), ".txt")

        # In a thread, because an async test already has a loop.
        with ThreadPoolExecutor(1) as thread:
            return thread.submit(anyio.run, draw).result().decode()


def _without_places(text: str) -> str:
    """A recording without the folders of this machine."""
    header, _, _ = text.partition("\n")
    names = (
        (str(json.loads(header).get("cwd", "")), "/workspace"),
        (sys.executable, "python"),
        (str(Path.home()), "/home/user"),
    )
    return without_places(text, (each for each in names if len(each[0]) > 1))
