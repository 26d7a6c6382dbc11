"""The command palette's own commands: what is not ours in it works here too."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import anyio
import pytest

from acp_tui.client.agents.command import AgentCommand
from acp_tui.client.sessions.hub import open_hub
from acp_tui.ui.app import AcpTuiApp
from support.waiting import LIMIT_S


async def test_a_picture_of_the_screen_is_written_where_acp_tui_was_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with anyio.fail_after(LIMIT_S):
        async with open_hub() as hub:
            app = AcpTuiApp(hub, None, tmp_path)
            async with app.run_test() as pilot:
                app.deliver_screenshot("it.svg")
                while not (tmp_path / "it.svg").exists():
                    await pilot.pause()


async def test_no_command_stands_in_the_palette_twice(tmp_path: Path) -> None:
    with anyio.fail_after(LIMIT_S):
        async with open_hub() as hub:
            app = AcpTuiApp(hub, AgentCommand("none", (str(tmp_path / "none"),)), tmp_path)
            async with app.run_test():
                titles = Counter(command.title for command in app.get_system_commands(app.screen))
                assert "Quit" in titles
                assert max(titles.values()) == 1


async def test_over_a_dialog_it_offers_what_concerns_all_of_acp_tui_in_our_words(tmp_path: Path) -> None:
    with anyio.fail_after(LIMIT_S):
        async with open_hub() as hub:
            app = AcpTuiApp(hub, AgentCommand("none", (str(tmp_path / "none"),)), tmp_path)
            async with app.run_test() as pilot:
                await pilot.press("f1")
                offered = {command.title: command.help for command in app.get_system_commands(app.screen)}
    assert set(offered) == {"Theme", "Screenshot", "Quit"}
    assert offered["Quit"].startswith("Ctrl+Q")
