"""Renderings of a recording: pictures and text are the same on every machine."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from socket import gethostname

import anyio
import pytest
from pytest import MonkeyPatch

from acp_tui.client.errors import ClientError
from acp_tui.client.transcript.events import Direction, Frame
from acp_tui.client.transcript.lines import open_recording
from acp_tui.ui.kit.themes import DARK, LIGHT
from acp_tui.ui.replay.demo_recording import timeless
from acp_tui.ui.replay.player import Spot
from acp_tui.ui.replay.render import View, render, suffix_of
from acp_tui.ui.replay.timeline import Timeline
from support.recorded_sessions import begun, prompted, said, timeline_of, two_turns
from support.waiting import TEST_LIMIT_S

SMALL = (80, 24)
PNG_MARK = b"\x89PNG\r\n"

pytest.importorskip("pyghostty", reason="terminals look plainer without it")


@pytest.fixture
def timeline(tmp_path: Path) -> Timeline:
    return timeline_of(tmp_path, two_turns())


@pytest.fixture
def elsewhere(monkeypatch: MonkeyPatch) -> Iterator[None]:
    """A machine in another time zone, whose terminal has no colors."""
    monkeypatch.setenv("TZ", "Asia/Kathmandu")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("TERM", "dumb")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


async def rendered(timeline: Timeline, suffix: str, view: View | None = None) -> str:
    with anyio.fail_after(TEST_LIMIT_S):
        return (await render(timeline, view or View(size=SMALL), suffix)).decode()


async def test_a_prompt_that_failed_is_not_offered_to_be_sent_again(tmp_path: Path) -> None:
    error = {"jsonrpc": "2.0", "id": 3, "error": {"code": -32000, "message": "Overloaded"}}
    failed = Frame(2.0, Direction.IN, json.dumps(error).encode())
    shown = await rendered(timeline_of(tmp_path, [*begun(), prompted(1.0, 3, "Fix it"), failed]), ".txt")
    assert "Overloaded" in shown
    assert "sends your prompt again" not in shown


async def timeless_timeline(file: Path) -> Timeline:
    timeline = Timeline(open_recording(file), edit=timeless)
    timeline.read_on()
    return timeline


@pytest.mark.parametrize("suffix", [".svg", ".txt"])
async def test_it_is_the_same_on_another_machine(
    suffix: str, timeline: Timeline, request: pytest.FixtureRequest
) -> None:
    here = await rendered(await timeless_timeline(timeline.recording.paths[0]), suffix)
    request.getfixturevalue("elsewhere")
    assert await rendered(await timeless_timeline(timeline.recording.paths[0]), suffix) == here


async def test_no_link_in_a_picture_names_this_machine(tmp_path: Path) -> None:
    words = [
        *begun(),
        prompted(1.0, 2, "Where is it?"),
        said(2.0, "See `src/parser.py:7` and https://pages.example/x."),
    ]
    made = await rendered(timeline_of(tmp_path, words), ".svg")
    assert "src/parser.py:7" in made
    assert gethostname() not in made
    assert "href" not in made


async def test_a_slow_machine_shows_a_request_the_same(timeline: Timeline, monkeypatch: MonkeyPatch) -> None:
    view = View(Spot(is_question=True), SMALL)
    here = await rendered(timeline, ".txt", view)
    assert "needs your decision" in here
    monkeypatch.setattr("acp_tui.ui.prompt.input.IDLE_S", 0.0)  # drawing took longer than a user's pause
    assert await rendered(timeline, ".txt", view) == here


async def test_a_picture_needs_nothing_from_the_network(timeline: Timeline) -> None:
    svg = await rendered(timeline, ".svg")
    assert "@font-face" not in svg
    assert "url(http" not in svg
    assert "Fira Code, Menlo" in svg
    assert "You are welcome." in svg.replace("&#160;", " ")


async def test_the_window_around_it_has_the_colors_of_the_theme(timeline: Timeline) -> None:
    framed = [await rendered(timeline, ".svg", View(theme=theme)) for theme in (DARK.name, LIGHT.name, "dracula")]
    assert not any("#292929" in svg for svg in framed)
    assert f'<rect fill="{str(LIGHT.surface).upper()}"' in framed[1]
    assert "#292929" in await rendered(timeline, ".svg", View(theme="ansi-dark"))


async def test_a_text_is_the_screen_as_it_was(timeline: Timeline) -> None:
    text = await rendered(timeline, ".txt", View(Spot(is_question=True), SMALL))
    lines = text.splitlines()
    assert len(lines) == 24
    assert max(map(len, lines)) <= 80
    assert "Permission  Edit durations.py" in text
    assert "agent  needs your decision" in lines[-1]
    assert "Thank you" not in text


async def test_on_a_wide_screen_the_sidebar_shows_what_the_recording_knows(timeline: Timeline) -> None:
    narrow, wide = [await rendered(timeline, ".txt", View(size=(columns, 30))) for columns in (149, 150)]
    assert "▾ Session" not in narrow
    assert "▾ Session" in wide
    assert "Folder     project" in wide
    assert "/project" not in wide.split("▾ Session")[1]  # the name of its home is private
    assert "Changed files" not in wide
    assert "MCP" not in wide


async def test_themes_look_different_and_say_the_same(timeline: Timeline) -> None:
    dark, light = (
        await rendered(timeline, ".svg"),
        await rendered(timeline, ".svg", View(size=SMALL, theme=LIGHT.name)),
    )
    assert dark != light
    with pytest.raises(ClientError, match="no theme 'neon'"):
        await rendered(timeline, ".svg", View(theme="neon"))


async def test_a_moment_that_never_comes_is_said(timeline: Timeline) -> None:
    with pytest.raises(ClientError, match="'nonsense' doesn't appear"):
        await rendered(timeline, ".txt", View(Spot(text="nonsense")))


@pytest.mark.parametrize("name", ["picture.gif", "picture", ".svg"])
def test_an_unknown_format_is_refused(name: str) -> None:
    with pytest.raises(ClientError, match="doesn't name a known format"):
        suffix_of(Path(name))


async def test_nothing_is_written_beside_the_picture(timeline: Timeline, home: Path) -> None:
    before = sorted(os.walk(home))
    await rendered(timeline, ".svg")
    assert sorted(os.walk(home)) == before
