"""Takes the pictures in screenshots/: `python tests/make_screenshots.py`; with --check it only names the stale ones.

Each is what `acp-tui render` makes of the scripted agent, with the keys that a user would have pressed.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from acp_tui.ui.picturing.rehearsal import DemoUser
from acp_tui.ui.picturing.render import View, film_of_demo, render
from acp_tui.ui.replaying.spot import Spot
from acp_tui.ui.themes import LIGHT

SCREENSHOTS: Final = Path(__file__).parents[1] / "screenshots"
SIZE: Final = (100, 40)
"""Narrow enough to be read in the width of a page."""
TALL: Final = (100, 50)
"""Holds what belongs together: the diff, the tests and the plan; the card with the whole diff."""
Pictures = dict[str, str]
"""SVG by name."""


@dataclass(frozen=True)
class Take:
    """What is played, and the pictures that are made of it."""

    scenario: str
    prompt: str
    views: dict[str, View]


TAKES: Final = (
    Take(
        "coding",
        "The tests of durations.py fail. Find out why and fix it.",
        {
            "coding": View(Spot(text="8 passed"), TALL, keys=("ctrl+t",)),
            "permission": View(Spot(is_question=True), TALL, keys=("tab",)),
            "light": View(size=SIZE, theme=LIGHT.name),
        },
    ),
    Take("terminal", "Update everything, then build.", {"terminal": View(size=SIZE)}),
    Take(
        "markdown", "Show me what you can do with Markdown.", {"markdown": View(size=TALL, keys=("pageup",))}
    ),
)


async def take_all() -> Pictures:
    """Every picture."""
    pictures = {}
    for take in TAKES:
        async with film_of_demo(take.scenario, DemoUser((take.prompt,)), SIZE) as film:
            for name, view in take.views.items():
                pictures[name] = (await render(film, view, ".svg")).decode()
    return pictures


def stale(pictures: Pictures) -> list[str]:
    """The names of those that are not in screenshots/ as they are here, or only there."""
    kept = {path.stem: path.read_text(encoding="utf-8") for path in SCREENSHOTS.glob("*.svg")}
    return sorted(name for name in kept | pictures if kept.get(name) != pictures.get(name))


def main(arguments: Sequence[str] | None = None) -> int:
    """Take the pictures or check them; the exit status."""
    parser = argparse.ArgumentParser(description="Take the pictures in screenshots/.")
    parser.add_argument(
        "--check", action="store_true", help="change nothing; exit with 1 where some are stale"
    )
    is_check = parser.parse_args(arguments).check
    pictures = asyncio.run(take_all())
    names = stale(pictures)
    for name in names:
        sys.stdout.write(f"{name}.svg {'is stale' if is_check else 'is written'}\n")
        if not is_check and name in pictures:
            (SCREENSHOTS / f"{name}.svg").write_text(pictures[name], encoding="utf-8")
    return 1 if is_check and names else 0


if __name__ == "__main__":
    sys.exit(main())
