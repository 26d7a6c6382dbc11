"""Films in asciicast v2: the frames of a replay at its recorded pace, for players of terminal recordings."""

from __future__ import annotations

import io
import json
from collections.abc import AsyncIterator, Iterator, Sequence
from typing import Final

from rich.console import Console

from acp_tui.ui.recorded.formats import rows_of
from acp_tui.ui.recorded.pace import Pace
from acp_tui.ui.recorded.studio import Studio

FRAME_S: Final = 1 / 12
"""What happens within this time is one frame."""
END_S: Final = 2.0
"""The last frame stays."""
HIDE_CURSOR: Final = "\x1b[?25l"
CLEAR: Final = "\x1b[2J"


async def cast_of(studio: Studio, size: tuple[int, int], until: int, pace: Pace) -> str:
    """The film up to this moment."""
    columns, rows = size
    header = {"version": 2, "width": columns, "height": rows, "env": {"TERM": "xterm-256color"}}
    lines = [json.dumps(header)]
    at_s = 0.0
    async for at_s, output in _frames(studio, columns, until, pace):
        lines.append(json.dumps([round(at_s, 3), "o", output], ensure_ascii=False))
    lines.append(json.dumps([round(at_s + END_S, 3), "o", ""]))
    return "\n".join(lines) + "\n"


async def _frames(studio: Studio, columns: int, until: int, pace: Pace) -> AsyncIterator[tuple[float, str]]:
    """When, and what is to be printed then."""
    console = Console(
        width=columns, file=io.StringIO(), force_terminal=True, color_system="truecolor", legacy_windows=False
    )
    shown: Sequence[str] = ()
    for at_s, moment in _cuts(studio, until, pace):
        await studio.show(moment)
        rows = rows_of(studio.strips, console)
        output = "".join(_changed(rows, shown))
        if not shown:
            output = HIDE_CURSOR + CLEAR + output
        if output:
            yield at_s, output
        shown = rows


def _cuts(studio: Studio, until: int, pace: Pace) -> Iterator[tuple[float, int]]:
    """At which time of the film which moment is shown; the last is `until`."""
    events = studio.player.film.events[:until]
    film_s, cut_s, recorded_s = 0.0, 0.0, events[0].at if events else 0.0
    for moment, event in enumerate(events):
        film_s += pace.wait_s(event.at - recorded_s)
        recorded_s = event.at
        if film_s - cut_s >= FRAME_S:
            yield cut_s, moment  # before this event
            cut_s = film_s
    yield cut_s, len(events)


def _changed(rows: Sequence[str], before: Sequence[str]) -> Iterator[str]:
    for y, row in enumerate(rows):
        if y >= len(before) or row != before[y]:
            yield f"\x1b[{y + 1};1H{row}"
