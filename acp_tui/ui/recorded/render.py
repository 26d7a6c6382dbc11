"""Renders a moment of a recording, or of what the demo agent plays, to a file format."""

from __future__ import annotations

import io
import json
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from anyio import to_thread
from rich.console import Console

from acp_tui.client.export import ExportFacts, to_html, to_markdown
from acp_tui.client.terminals import plain_text
from acp_tui.ui.kit.themes import DARK
from acp_tui.ui.recorded.film import Film, open_playable
from acp_tui.ui.recorded.formats import CannotRender, MovingFrame, moving_svg, png_of, rows_of, text_of
from acp_tui.ui.recorded.player import Pace, Spot, moment_of
from acp_tui.ui.recorded.rehearsal import DemoUser, record_demo, timeless, without_durations
from acp_tui.ui.recorded.studio import Studio, open_studio
from acp_tui.values import dataclass

FRAME_S: Final = 1 / 12
"""Events within this time are one frame."""
MOVING_FRAME_S: Final = 0.3
"""The same for an SVG, which repeats each row that differs."""
END_S: Final = 2.0
"""How long the last frame stays."""
HIDE_CURSOR: Final = "\x1b[?25l"
CLEAR: Final = "\x1b[2J"


async def cast_of(studio: Studio, size: tuple[int, int], until: int, pace: Pace) -> str:
    """The film up to this moment, as an asciicast."""
    columns, rows = size
    header = {"version": 2, "width": columns, "height": rows, "env": {"TERM": "xterm-256color"}}
    lines = [json.dumps(header)]
    at_s = 0.0
    async for at_s, output in _written(studio, columns, until, pace):
        lines.append(json.dumps([round(at_s, 3), "o", output], ensure_ascii=False))
    lines.append(json.dumps([round(at_s + END_S, 3), "o", ""]))
    return "\n".join(lines) + "\n"


async def moving_svg_of(studio: Studio, size: tuple[int, int], until: int, pace: Pace) -> str:
    """The film up to this moment, as an animated SVG."""
    frames = []
    for at_s, moment in _cuts(studio, until, pace, MOVING_FRAME_S):
        await studio.show(moment)
        frames.append(MovingFrame(at_s, tuple(studio.strips)))
    return moving_svg(frames, size, studio.colors, frames[-1].at_s + END_S)


async def _written(studio: Studio, columns: int, until: int, pace: Pace) -> AsyncIterator[tuple[float, str]]:
    """Times, and what to print at each."""
    console = Console(
        width=columns, file=io.StringIO(), force_terminal=True, color_system="truecolor", legacy_windows=False
    )
    shown: Sequence[str] = ()
    for at_s, moment in _cuts(studio, until, pace, FRAME_S):
        await studio.show(moment)
        rows = rows_of(studio.strips, console)
        output = "".join(_changed(rows, shown))
        if not shown:
            output = HIDE_CURSOR + CLEAR + output
        if output:
            yield at_s, output
        shown = rows


def _cuts(studio: Studio, until: int, pace: Pace, frame_s: float) -> Iterator[tuple[float, int]]:
    """Which moment to show at which time of the film. The last is `until`."""
    events = studio.player.film.events[:until]
    film_s, cut_s, recorded_s = 0.0, 0.0, events[0].at if events else 0.0
    for moment, event in enumerate(events):
        film_s += pace.wait_s(event.at - recorded_s)
        recorded_s = event.at
        if film_s - cut_s >= frame_s:
            yield cut_s, moment  # before this event
            cut_s = film_s
    yield cut_s, len(events)


def _changed(rows: Sequence[str], before: Sequence[str]) -> Iterator[str]:
    for y, row in enumerate(rows):
        if y >= len(before) or row != before[y]:
            yield f"\x1b[{y + 1};1H{row}"


SUFFIXES: Final = (".svg", ".txt", ".png", ".html", ".md", ".cast")


@dataclass(frozen=True, slots=True)
class View:
    """What to render, and how."""

    at: Spot | None = None
    """None: the end."""
    size: tuple[int, int] = (120, 40)
    """Columns and rows."""
    theme: str = DARK.name
    is_at_top: bool = False
    pace: Pace = field(default_factory=Pace)
    """For a film."""
    is_moving: bool = False
    """Whether an SVG is animated."""
    keys: tuple[str, ...] = ()
    """Pressed before the picture is taken."""


def suffix_of(output: Path) -> str:
    """The file format, by suffix. Raises CannotRender."""
    suffix = output.suffix.lower()
    if suffix not in SUFFIXES:
        raise CannotRender(f"{output} doesn't name a known format", hint=f"known: {' '.join(SUFFIXES)}")
    return suffix


@asynccontextmanager
async def film_of(file: Path) -> AsyncIterator[Film]:
    """Open a recording. Raises RecordingUnreadable."""
    with await to_thread.run_sync(open_playable, file) as recording:
        film = Film(recording, edit=timeless)
        await to_thread.run_sync(film.read_on)
        yield film


@asynccontextmanager
async def film_of_demo(name: str, user: DemoUser, size: tuple[int, int], *, speed: float = 0) -> AsyncIterator[Film]:
    """Record what the demo agent plays; with a speed, at its own pace (see `record_demo`). Raises CannotRender."""
    with TemporaryDirectory() as folder:
        file = Path(folder, "demo.jsonl")
        await record_demo(name, user, file, screen=size, speed=speed)
        with await to_thread.run_sync(open_playable, file) as recording:
            film = Film(recording, edit=without_durations)
            await to_thread.run_sync(film.read_on)
            yield film


async def render(film: Film, view: View, suffix: str) -> bytes:
    """Return the contents of the file; `suffix` is one of SUFFIXES. Raises CannotRender."""
    moment = film.length if view.at is None else await to_thread.run_sync(moment_of, film, view.at)
    if view.at is not None and moment is None:
        raise CannotRender(f"in this recording {view.at.shown}")
    assert moment is not None
    async with open_studio(film, view.size, view.theme) as studio:
        if suffix == ".cast":
            return (await cast_of(studio, view.size, moment, view.pace)).encode()
        if view.is_moving:
            return (await moving_svg_of(studio, view.size, moment, view.pace)).encode()
        await studio.show(moment, is_at_top=view.is_at_top)
        if view.keys:
            await studio.press(*view.keys)
        return _still(studio, suffix)


def _still(studio: Studio, suffix: str) -> bytes:
    match suffix:
        case ".txt":
            return text_of(studio.strips).encode()
        case ".svg":
            return studio.svg.encode()
        case ".png":
            return png_of(studio.svg)
        case _:
            to_page = to_html if suffix == ".html" else to_markdown
            return to_page(studio.conversation, _facts(studio), plain_text).encode()


def _facts(studio: Studio) -> ExportFacts:
    film = studio.player.film
    return ExportFacts(
        agent_title=film.agent,
        cwd=film.header.cwd,
        session_id=str(studio.player.front or ""),
        title=studio.conversation.title,
    )
