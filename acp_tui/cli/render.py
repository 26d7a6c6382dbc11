"""`acp-tui render`: writes a file of a recording or of the demo. `ui.recorded` decides what it looks like."""

from __future__ import annotations

import asyncio
import shlex
from dataclasses import replace
from pathlib import Path
from typing import Final

from acp_tui.cli.arguments import Given, WrongUse
from acp_tui.cli.exit_codes import ExitCode
from acp_tui.cli.replay import spot_of
from acp_tui.cli.saying import say, say_error
from acp_tui.client.errors import ClientError
from acp_tui.client.files import replacing
from acp_tui.ui.kit.themes import DARK
from acp_tui.ui.recorded.bar import clock
from acp_tui.ui.recorded.film import Film
from acp_tui.ui.recorded.formats import CannotRender
from acp_tui.ui.recorded.player import Pace, Spot
from acp_tui.ui.recorded.rehearsal import DemoUser
from acp_tui.ui.recorded.render import View, film_of, film_of_demo, render, suffix_of

PLAYED_SPEED: Final = 4.0
"""How many times as fast a scenario is played for a film, so that the machine's own delays are hardly seen."""
HESITATES_S: Final = 0.5
"""Long enough, in the film, to read the question."""


def run(given: Given) -> int:
    """Write the file; returns the exit status."""
    if given.at is not None and given.at_text is not None:
        raise WrongUse("--at and --at-text both name a moment; use one")
    if given.speed == 0:
        raise WrongUse("--speed 0 leaves nothing of a film; for a still, write an .svg or .png")
    if given.animate and given.output.suffix.lower() != ".svg":
        raise WrongUse("--animate makes an .svg: acp-tui render SOURCE -o FILE.svg --animate")
    view = View(
        at=spot_of(given.at) if given.at_text is None else Spot(text=given.at_text),
        size=given.size,
        theme=given.theme or DARK.name,
        is_at_top=given.scroll == "top",
        pace=Pace(given.speed, given.max_wait),
        is_moving=given.animate,
    )
    prompts = () if given.prompt is None else (given.prompt,)
    return run_render(given.word, given.output, view, DemoUser(prompts, given.answer))


def run_render(source: Path | str, output: Path, view: View, user: DemoUser) -> int:
    """Write a view of a recording, or of what the scripted agent plays for `user`; returns the exit status."""
    try:
        content = asyncio.run(_rendered(source, suffix_of(output), view, user))
        with replacing(output) as file:
            file.write(content)
    except ClientError as error:
        say_error(error)
        return ExitCode.USAGE
    except OSError as error:
        say(f"can't write {output}: {error.strerror or error}")
        return ExitCode.ERROR
    say(f"written to {output}")
    if isinstance(source, Path):
        redact = shlex.join(["acp-tui", "redact", str(source), "-o", "OUT.jsonl"])
        say(f"it shows what is in {source}; to share it, first run: {redact}, then render OUT.jsonl")
    return ExitCode.DONE


async def _rendered(source: Path | str, suffix: str, view: View, user: DemoUser) -> bytes:
    if isinstance(source, Path):
        if source.suffix == ".toml":
            raise CannotRender(
                f"{source} isn't a recording", hint=f"to play a scenario: acp-tui render demo:{source}"
            )
        opened = film_of(source)
    elif suffix == ".cast" or view.is_moving:
        say(f"the scripted agent plays {source} …")
        user = replace(user, hesitates_s=HESITATES_S)
        opened = film_of_demo(source, user, view.size, speed=PLAYED_SPEED)
    else:  # in a still there is no time
        opened = film_of_demo(source, user, view.size, speed=0)
    async with opened as film:
        if view.at is not None and _is_beyond(film, view.at):
            say(
                f"the recording ends at {clock(film.length_s)} ({film.length_s:.1f}s), "
                f"after {film.length:,} events, so its end is shown"
            )
        return await render(film, view, suffix)


def _is_beyond(film: Film, spot: Spot) -> bool:
    return (spot.events or 0) > film.length or (spot.seconds or 0.0) > film.length_s
