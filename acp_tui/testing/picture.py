"""Pictures of what a user sees of an agent under test, compared with those that were accepted before.

How they are drawn is `ui.picturing`'s; comparing, updating and the report are pytest-textual-snapshot's and syrupy's.
"""

from __future__ import annotations

import json
import sys
from concurrent.futures import ThreadPoolExecutor
from difflib import unified_diff
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, Literal, TypeAlias

import anyio
import pytest
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode
from textual.app import App

from acp_tui.client.transcript.reader import open_recording
from acp_tui.testing.agent import AcpAgent
from acp_tui.ui.picturing.rehearsal import without_durations
from acp_tui.ui.picturing.render import View, render
from acp_tui.ui.replaying.film import Film

Format: TypeAlias = Literal["svg", "txt"]
SIZE: Final = (100, 40)
HOW_TO_ACCEPT: Final = "Where it is as it should be, accept it: pytest --snapshot-update"


class _Finished(App[str]):
    """Stands for an app whose screen has been painted already."""

    def __init__(self, svg: str) -> None:
        super().__init__()
        self._svg = svg

    def export_screenshot(self, *, title: str | None = None, simplify: bool = False) -> str:
        """What was painted."""
        return self._svg


class _Plain(SingleFileSnapshotExtension):
    """A text in a file of its own."""

    _file_extension = "txt"
    _write_mode = WriteMode.TEXT


class AcpSnapshot:
    """The fixture `acp_snapshot`."""

    def __init__(self, request: pytest.FixtureRequest) -> None:
        self._request = request

    def __call__(
        self,
        source: AcpAgent | str | Path,
        *,
        form: Format = "svg",
        size: tuple[int, int] = SIZE,
        theme: str = "acp-dark",
    ) -> bool:
        """The conversation looks as it did: that of an agent, or of a recording. True, or it raises AssertionError.

        `form` is "svg" for a picture, "txt" for its text. `size` is columns and rows.
        """
        __tracebackhide__ = True
        shown = picture_of(source, form, size, theme)
        return self._compare_svg(shown) if form == "svg" else self._compare_text(shown)

    def _compare_svg(self, svg: str) -> bool:
        __tracebackhide__ = True
        compare: Any = self._request.getfixturevalue("snap_compare")
        # It runs an app on a loop of its own, which an async test has one of already.
        with ThreadPoolExecutor(1) as thread:
            if thread.submit(compare, _Finished(svg)).result():
                return True
        option = self._request.config.getoption
        raise AssertionError(
            "the picture of the conversation is not the one that was accepted, or there is none yet.\n"
            f"Both are in {option('--snapshot-report')}, which is written at the end of the run.\n{HOW_TO_ACCEPT}"
        )

    def _compare_text(self, text: str) -> bool:
        __tracebackhide__ = True
        snapshot: Any = self._request.getfixturevalue("snapshot").use_extension(_Plain)
        if snapshot == text:
            return True
        compared = snapshot.executions[snapshot.num_executions - 1]
        raise AssertionError(_text_differs(compared.snapshot_location, compared.recalled_data, text))


def _text_differs(location: str, accepted: str | None, text: str) -> str:
    if accepted is None:
        return f"no text of the conversation has been accepted yet ({location}).\n{HOW_TO_ACCEPT}\n\n{text}"
    lines = unified_diff(accepted.split("\n"), text.split("\n"), "accepted", "now", lineterm="")
    return f"the text of the conversation differs from {location}.\n{HOW_TO_ACCEPT}\n\n" + "\n".join(lines)


def picture_of(source: AcpAgent | str | Path, form: Format, size: tuple[int, int], theme: str) -> str:
    """The end of a conversation, the same on every machine: without a time, a duration or a folder of this one."""
    recording = source.recording if isinstance(source, AcpAgent) else Path(source)
    with TemporaryDirectory() as folder:
        placeless = Path(folder, recording.name)
        placeless.write_text(_without_places(recording.read_text(encoding="utf-8")), encoding="utf-8")

        async def draw() -> bytes:
            with open_recording(placeless) as opened:
                film = Film(opened, edit=without_durations)
                film.read_on()
                return await render(film, View(size=size, theme=theme), f".{form}")

        with ThreadPoolExecutor(1) as thread:
            return thread.submit(anyio.run, draw).result().decode()


def _without_places(text: str) -> str:
    """A recording without the folders of this machine."""
    header, _, _ = text.partition("\n")
    for place, name in (
        (str(json.loads(header).get("cwd", "")), "/workspace"),
        (sys.executable, "python"),
        (str(Path.home()), "/home/user"),
    ):
        if len(place) > 1:
            text = text.replace(json.dumps(place)[1:-1], name)
    return text
