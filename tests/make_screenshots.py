"""Takes the pictures in screenshots/: `python tests/make_screenshots.py`; with --check it only names the stale ones.

Each shows the whole app at work with the demo agent, as a process of its own, in a fresh copy of the demo's project.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import re
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final
from unittest.mock import patch

from acp_tui.client.agents.command import AgentCommand
from acp_tui.client.sessions.session import Session
from acp_tui.demo.project import copy_project
from acp_tui.ui.drawings import terminals
from acp_tui.ui.themes import LIGHT
from support.screens import Page, open_agent_page

SCREENSHOTS: Final = Path(__file__).parents[1] / "screenshots"
SIZE: Final = (120, 40)
TALL: Final = (120, 50)
"""Holds what belongs together: the diff, the tests and the answer; the card with the whole diff."""
Pictures = dict[str, str]
"""SVG by name."""


async def take_all() -> Pictures:
    """Every picture."""
    return {**await take_coding(), **await take_terminal(), **await take_markdown()}


async def take_coding() -> Pictures:
    """The decision, and what came of it, in the dark and in the light."""
    async with _demo("coding", TALL) as page:
        await page.send("The tests of durations.py fail. Find out why and fix it.")
        await page.until(lambda: page.card.display)
        await page.enter_card()
        await page.press("down")
        permission = _svg(page)
        await page.press("enter")
        await _turn_over(page)
        await page.until(lambda: "1 file" in page.status)
        await page.settled()
        coding = _svg(page)
        page.pilot.app.theme = LIGHT.name
        await page.settled()
        return {"permission": permission, "coding": coding, "light": _svg(page)}


async def take_terminal() -> Pictures:
    """Commands that run in the conversation."""
    async with _demo("terminal") as page:
        await page.send("Update everything, then build.")
        await _turn_over(page)
        return {"terminal": _svg(page)}


async def take_markdown() -> Pictures:
    """An answer with every construct of Markdown."""
    async with _demo("markdown", TALL) as page:
        await page.send("Show me what you can do with Markdown.")
        await _turn_over(page)
        await page.press("pageup")
        return {"markdown": _svg(page)}


@asynccontextmanager
async def _demo(scenario: str, size: tuple[int, int] = SIZE) -> AsyncIterator[Page]:
    command = AgentCommand("demo", (sys.executable, "-m", "acp_tui.demo", scenario, "--speed", "0"))
    with TemporaryDirectory() as directory:
        project = Path(directory, "project")
        copy_project(project)
        with _timeless():
            async with open_agent_page(command, project, size=size) as page:
                await page.until(lambda: page.status.startswith("●"))
                yield page


@contextmanager
def _timeless() -> Iterator[None]:
    """A picture shows no time of day, and every command took as long."""
    with (
        patch.object(Session, "now", staticmethod(lambda: None)),
        patch.object(terminals, "_duration", lambda _: "0.8 s"),
    ):
        yield


async def _turn_over(page: Page) -> None:
    await page.until(lambda: page.status.startswith("●"))
    await page.emulator_loaded()


def _svg(page: Page) -> str:
    svg = page.pilot.app.export_screenshot(title="acp-tui", simplify=True)
    # Rich makes the ids unique with a checksum of the contents, trailing blanks too.
    return re.sub(r"\bterminal-\d+-", "terminal-", svg)


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
    os.environ.pop("NO_COLOR", None)
    with tempfile.TemporaryDirectory() as home:
        # Nobody's own settings are to be seen in the pictures.
        os.environ.update(dict.fromkeys(("HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"), home))
        pictures = asyncio.run(take_all())
    names = stale(pictures)
    for name in names:
        sys.stdout.write(f"{name}.svg {'is stale' if is_check else 'is written'}\n")
        if not is_check and name in pictures:
            (SCREENSHOTS / f"{name}.svg").write_text(pictures[name], encoding="utf-8")
    return 1 if is_check and names else 0


if __name__ == "__main__":
    sys.exit(main())
