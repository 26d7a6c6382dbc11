"""The help: every key is reached, and a long line goes on in its own column."""

import pytest

from acp_tui.ui.commands import COMMANDS
from acp_tui.ui.screens.help import HelpScreen
from support.dialogs import SIZE, open_dialog

SHOWN_KEY_CELLS = max(len(command.shown_key) for command in COMMANDS)


@pytest.mark.parametrize("size", [(40, 24), (80, 24), SIZE])
async def test_every_command_is_reached_by_scrolling(size: tuple[int, int]) -> None:
    async with open_dialog(HelpScreen(), size=size) as page:
        shown = set(_told(page.lines))
        for _ in COMMANDS:
            await page.press("pagedown")
            shown |= set(_told(page.lines))
        text = " ".join(shown)
        for command in COMMANDS:
            assert set(f"{command.title} {command.help}".split()) <= set(text.split())


def _told(lines: list[str]) -> list[str]:
    """What stands beside the keys."""
    return [line.strip("│▅▄▃▂▁▆▇ ") for line in (line[3 + SHOWN_KEY_CELLS :] for line in lines)]


async def test_a_long_line_goes_on_in_its_own_column() -> None:
    async with open_dialog(HelpScreen(), size=(80, 24)) as page:
        continued = [line for line in page.lines if line.startswith("│" + " " * (4 + SHOWN_KEY_CELLS))]
        assert any("tells them apart" in line for line in continued)


async def test_it_closes_by_the_key_that_opened_it() -> None:
    async with open_dialog(HelpScreen()) as page:
        await page.press("f1")
        assert page.result is None
