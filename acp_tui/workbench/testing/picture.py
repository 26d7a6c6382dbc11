"""Compares pictures of what a user sees of an agent under test with the accepted ones."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from difflib import unified_diff
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, Literal, TypeAlias

import anyio
import pytest
from pytest_textual_snapshot import SVGImageExtension  # type: ignore[import-untyped]
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode
from textual.app import App

from acp_tui.client.files import replace_file
from acp_tui.client.transcript.lines import open_recording
from acp_tui.ui.replay.demo_recording import without_durations, without_places
from acp_tui.ui.replay.render import View, render
from acp_tui.ui.replay.timeline import Timeline
from acp_tui.workbench.testing.agent import AcpAgent

__tracebackhide__ = True  # pytest shows the line of the test instead

PictureForm: TypeAlias = Literal["svg", "txt"]
SIZE: Final = (100, 40)
LONGEST_NAME_BYTES: Final = 240
"""The maximum length of a test's name, which becomes a file name."""
HOW_TO_ACCEPT: Final = "If it looks right, accept it: pytest --snapshot-update"


class _Finished(App[str]):
    """Represents an app whose screen has already been painted."""

    def __init__(self, svg: str) -> None:
        super().__init__()
        self._svg = svg

    def export_screenshot(self, *, title: str | None = None, simplify: bool = False) -> str:
        return self._svg


class _Plain(SingleFileSnapshotExtension):
    """A text in a separate file."""

    _file_extension = "txt"
    _write_mode = WriteMode.TEXT


class AcpSnapshot:
    def __init__(self, request: pytest.FixtureRequest) -> None:
        self._request = request
        self._pictures = 0

    def __call__(
        self,
        source: AcpAgent | str | Path,
        *,
        form: PictureForm = "svg",
        size: tuple[int, int] = SIZE,
        theme: str = "acp-dark",
    ) -> bool:
        """Assert that the conversation of an agent or a recording looks as accepted; return True.

        `form` is "svg" for a picture, "txt" for its text. `size` is columns and rows. `theme` is one of acp-tui's:
        acp-dark, acp-light, ... Raises AssertionError.
        """
        _require_short(self._request.node.name)
        shown = picture_of(source, form, size, theme)
        return self._compare_svg(shown) if form == "svg" else self._compare_text(shown)

    def _compare_svg(self, svg: str) -> bool:
        compare: Any = self._request.getfixturevalue("snap_compare")
        snapshot: Any = self._request.getfixturevalue("snapshot")
        accepted = SVGImageExtension.get_location(test_location=snapshot.test_location, index=self._pictures)
        self._pictures += 1
        # It runs an app on its own loop, and an async test already has one.
        with _named_for_a_file(self._request.node, self._pictures), ThreadPoolExecutor(1) as thread:
            if thread.submit(compare, _Finished(svg)).result():
                return True
        config = self._request.config
        report = config.invocation_params.dir / config.getoption("--snapshot-report")
        raise AssertionError(_picture_differs(Path(accepted), report))

    def _compare_text(self, text: str) -> bool:
        snapshot: Any = self._request.getfixturevalue("snapshot").use_extension(_Plain)
        if snapshot == text:
            return True
        compared = snapshot.executions[snapshot.num_executions - 1]
        raise AssertionError(_text_differs(compared.snapshot_location, compared.recalled_data, text))


def _require_short(name: str) -> None:
    size = len(os.fsencode(name))
    if size > LONGEST_NAME_BYTES:
        raise ValueError(
            f"the name of this test has {size} bytes and is too long for a file name; "
            'give its parameters short ids with pytest.param(..., id="...") or parametrize(..., ids=[...])'
        )


@contextmanager
def _named_for_a_file(node: pytest.Item, number: int) -> Iterator[None]:
    """Rename the test for pytest-textual-snapshot, whose files can't have slashes and are one per test."""
    place, line, name = node.reportinfo()
    node.__dict__["reportinfo"] = lambda: (place, line, f"{name.replace(os.sep, '_')}.{number}")
    try:
        yield
    finally:
        del node.__dict__["reportinfo"]


def _picture_differs(accepted: Path, report: Path) -> str:
    if accepted.exists():
        what = f"the picture of the conversation differs from {accepted}."
        return f"{what}\nAt the end of the run, {report} shows both side by side.\n{HOW_TO_ACCEPT}"
    what = f"no picture of the conversation has been accepted yet ({accepted})."
    return f"{what}\nAt the end of the run, {report} shows it.\n{HOW_TO_ACCEPT}"


def _text_differs(location: str, accepted: str | None, text: str) -> str:
    if accepted is None:
        return f"no text of the conversation has been accepted yet ({location}).\n{HOW_TO_ACCEPT}\n\n{text}"
    lines = unified_diff(accepted.split("\n"), text.split("\n"), "accepted", "now", lineterm="")
    return f"the text of the conversation differs from {location}.\n{HOW_TO_ACCEPT}\n\n" + "\n".join(lines)


def picture_of(source: AcpAgent | str | Path, form: PictureForm, size: tuple[int, int], theme: str) -> str:
    """The end of a conversation, the same on every machine: without times, durations, or local folders."""
    recording = source.recording if isinstance(source, AcpAgent) else Path(source)
    with TemporaryDirectory() as folder:
        placeless = Path(folder, recording.name)
        replace_file(placeless, _without_places(recording.read_text(encoding="utf-8")).encode())

        async def draw() -> bytes:
            with open_recording(placeless) as opened:
                timeline = Timeline(opened, edit=without_durations)
                timeline.read_on()
                return await render(timeline, View(size=size, theme=theme), f".{form}")

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
