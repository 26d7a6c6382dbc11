"""Choosing an agent that isn't installed: the question, the progress, and the way back to the list."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final

import anyio
import psutil
import pytest
from textual.app import App
from textual.screen import Screen

from acp_tui.client.agents.installed import all_installed, read_installed
from acp_tui.client.agents.installing import Tell
from acp_tui.ui.dialogs.agents import AgentList, InstallQuestion, StepDialog, choose_agent
from support.dialogs import NOTHING, DialogApp, DialogPage, open_dialog
from support.installers import Installers, installers

__all__ = ["installers"]

FIND: Final = (*"gemini", "enter")


class Choosing(DialogApp):
    """Lets the user choose an agent, above an empty screen."""

    def __init__(self) -> None:
        super().__init__(Screen())

    def on_mount(self) -> None:
        async def choose() -> None:
            self.result = await choose_agent(self)

        self.run_worker(choose())


@asynccontextmanager
async def choosing() -> AsyncIterator[DialogPage]:
    """The list of agents."""
    app: App[Any] = Choosing()
    async with app.run_test(size=(100, 30)) as pilot:
        page = DialogPage(pilot, app)  # type: ignore[arg-type]
        await page.until(lambda: "with npm" in page.text)
        yield page


def asks(page: DialogPage) -> bool:
    return isinstance(page.app.screen, InstallQuestion)


async def test_enter_asks_and_a_yes_installs_and_starts_it(installers: Installers) -> None:
    async with choosing() as page:
        await page.press(*FIND)
        await page.until(lambda: asks(page))
        assert "Install gemini?" in page.text
        assert "@google/gemini-cli 1.2.3, about 100 MB" in page.words
        assert all("--package-lock-only" in call for call in installers.calls)
        await page.press("y")
        await page.until(lambda: page.result is not NOTHING)
        made = read_installed("gemini")
        assert made is not None
        assert page.result.command == made.command


@pytest.mark.usefixtures("installers")
@pytest.mark.parametrize("key", ["n", "enter", "escape"])
async def test_anything_but_a_yes_installs_nothing_and_leads_back_to_the_list(key: str) -> None:
    async with choosing() as page:
        await page.press(*FIND)
        await page.until(lambda: asks(page))
        await page.press(key)
        await page.until(lambda: "Start an agent" in page.text)
        assert all_installed() == ()
        assert page.result is NOTHING
        await page.until(lambda: (agent := page.app.screen.query_one(AgentList).agent) and agent.name == "gemini")


async def test_offline_it_says_so_and_leads_back_to_the_list(installers: Installers) -> None:
    installers.do(is_offline=True)
    async with choosing() as page:
        await page.press(*FIND)
        await page.until(lambda: "can't be looked up: no connection (ENOTFOUND)" in page.text)
        assert "try again" in page.text
        await page.press("escape")
        await page.until(lambda: "Start an agent" in page.text)


async def test_escape_ends_an_installation_with_all_its_processes(installers: Installers) -> None:
    installers.do(hangs=True)
    async with choosing() as page:
        await page.press(*FIND)
        await page.until(lambda: asks(page))
        await page.press("y")
        await page.until(lambda: len(installers.pids) == 2)
        assert "fetched x-1.0.0.tgz" in page.text
        await page.press("escape")
        await page.until(lambda: "Start an agent" in page.text)
        assert not any(psutil.pid_exists(pid) for pid in installers.pids)
        assert all_installed() == ()


async def test_what_a_tool_says_is_shown_as_it_is() -> None:
    is_read = anyio.Event()

    async def step(tell: Tell) -> str:
        tell("[red]a\u202eb\x1b]0;x\x07")
        await is_read.wait()
        return "done"

    async with open_dialog(StepDialog("Installing …", step)) as page:
        await page.until(lambda: "[red]a" in page.text)
        assert "\u202e" not in page.text
        assert "\x1b" not in page.text
        is_read.set()
        await page.until(lambda: page.result == "done")
