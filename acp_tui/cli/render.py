"""`acp-tui render`: writes a file of a recording or of the demo. What it looks like is `ui.picturing`'s matter."""

from __future__ import annotations

import asyncio
import shlex
from pathlib import Path
from typing import Final

from acp_tui.cli.exit_codes import ExitCode
from acp_tui.cli.requests import Render
from acp_tui.cli.saying import say, say_error
from acp_tui.client.errors import ClientError
from acp_tui.client.files import replacing
from acp_tui.ui.picturing.errors import CannotRender
from acp_tui.ui.picturing.rehearsal import DemoUser
from acp_tui.ui.picturing.render import View, film_of, film_of_demo, render, suffix_of
from acp_tui.ui.replaying.bar import clock
from acp_tui.ui.replaying.film import Film
from acp_tui.ui.replaying.pace import Pace
from acp_tui.ui.replaying.spot import Spot
from acp_tui.ui.themes import DARK

PLAYED_SPEED: Final = 4.0
"""So many times as fast is a scenario played for a film: what takes the machine its time shows no longer than that."""
HESITATES_S: Final = 0.5
"""Long enough, in the film, to read what is asked."""


def run_render(request: Render) -> int:
    """Write the file; returns the exit status."""
    try:
        content = asyncio.run(_rendered(request))
        with replacing(request.output) as file:
            file.write(content)
    except ClientError as error:
        say_error(error)
        return ExitCode.USAGE
    except OSError as error:
        say(f"{request.output} cannot be written: {error.strerror or error}")
        return ExitCode.ERROR
    say(f"written to {request.output}")
    if isinstance(request.source, Path):
        redact = shlex.join(["acp-tui", "redact", str(request.source), "-o", "OUT.jsonl"])
        say(f"it shows what is in {request.source}; to give it away: {redact}, then render OUT.jsonl")
    return ExitCode.DONE


async def _rendered(request: Render) -> bytes:
    suffix = suffix_of(request.output)
    view = View(
        at=request.at,
        size=(request.columns, request.rows),
        theme=request.theme or DARK.name,
        is_at_top=request.is_at_top,
        pace=Pace(request.speed, request.max_wait_s),
    )
    if isinstance(request.source, Path):
        if request.source.suffix == ".toml":
            name = request.source
            raise CannotRender(
                f"{name} is no recording", hint=f"a scenario? acp-tui render demo:{name} plays it"
            )
        source = film_of(request.source)
    else:
        prompts = () if request.prompt is None else (request.prompt,)
        is_film = suffix == ".cast"  # in a still there is no time
        if is_film:
            say(f"the scripted agent plays {request.source} …")
        user = DemoUser(prompts, request.answer, HESITATES_S if is_film else 0)
        source = film_of_demo(request.source, user, view.size, speed=PLAYED_SPEED if is_film else 0)
    async with source as film:
        if request.at is not None and _is_beyond(film, request.at):
            say(
                f"the recording ends at {clock(film.length_s)} ({film.length_s:.1f}s), "
                f"after {film.length:,} events: its end is shown"
            )
        return await render(film, view, suffix)


def _is_beyond(film: Film, spot: Spot) -> bool:
    return (spot.events or 0) > film.length or (spot.seconds or 0.0) > film.length_s
