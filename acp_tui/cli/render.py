"""`acp-tui render`: writes a file of a recording or of the demo. What it looks like is `ui.picturing`'s matter."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from acp_tui.cli.exit_codes import ExitCode
from acp_tui.cli.requests import Render
from acp_tui.client.errors import ClientError
from acp_tui.ui.picturing.errors import CannotRender
from acp_tui.ui.picturing.rehearsal import DemoUser
from acp_tui.ui.picturing.render import View, film_of, film_of_demo, render, suffix_of
from acp_tui.ui.replaying.pace import Pace
from acp_tui.ui.themes import DARK


def run_render(request: Render) -> int:
    """Write the file; returns the exit status."""
    try:
        content = asyncio.run(_rendered(request))
        request.output.write_bytes(content)
    except ClientError as error:
        sys.stderr.write(f"acp-tui: {error}\n" + (f"  {error.hint}\n" if error.hint else ""))
        return ExitCode.USAGE
    except OSError as error:
        sys.stderr.write(f"acp-tui: {request.output} cannot be written: {error.strerror or error}\n")
        return ExitCode.ERROR
    return ExitCode.DONE


async def _rendered(request: Render) -> bytes:
    suffix = suffix_of(request.output)
    view = View(
        at=request.at,
        size=(request.columns, request.rows),
        theme=request.theme or DARK.name,
        is_at_top=request.is_at_top,
        pace=Pace(max_wait_s=request.max_wait_s),
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
        source = film_of_demo(request.source, DemoUser(prompts, request.answer), view.size)
    async with source as film:
        return await render(film, view, suffix)
