"""A broken connection is reported right away and restored automatically; the session continues."""

from __future__ import annotations

from http import HTTPStatus
from pathlib import Path
from typing import Any

import anyio
import pytest

from acp_tui.client.sessions import driver
from support.cutting import cut_often
from support.remembering_agent import RememberingAgent
from support.screens import Page, open_agent_page
from support.served import websocket_server


async def _shows(page: Page, *texts: str) -> None:
    await page.until(lambda: all(text in page.words for text in texts))


async def test_a_session_goes_on_by_itself_once_there_is_a_connection_again(tmp_path: Path):
    resume = {"sessionCapabilities": {"resume": {}}}
    async with anyio.create_task_group() as tasks:
        agent = RememberingAgent(tasks, 3, **resume)
        async with (
            cut_often(agent, lambda: None) as (command, proxy),
            # So wide that no notice covers, for 5 s, what the conversation says.
            open_agent_page(command, tmp_path, size=(200, 30)) as page,
        ):
            await page.until(lambda: page.status.startswith("● "))
            proxy.cut()
            await _shows(page, "can't be reached: the connection broke")
            await _shows(page, "reconnected; the agent continues this session")
            await page.until(lambda: page.status.startswith("● "))
        tasks.cancel_scope.cancel()


async def test_as_long_as_there_is_no_way_the_tab_lives_and_says_that_it_tries(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(driver, "PAUSES_S", (0.05,))
    is_down = False
    async with anyio.create_task_group() as tasks:
        agent = RememberingAgent(tasks, 3, loadSession=True)
        async with (
            cut_often(agent, lambda: 1 if is_down else None) as (command, proxy),
            open_agent_page(command, tmp_path) as page,
        ):
            await page.until(lambda: page.status.startswith("● "))
            is_down = True
            proxy.cut()
            await page.until(lambda: "reconnecting; Alt+R tries now" in page.status)
            tried = proxy.cuts
            await page.until(lambda: proxy.cuts > tried + 2)
            await page.press(*"still here")
            await page.until(lambda: "still here" in page.words)
            is_down = False
            await page.until(lambda: page.status.startswith("● "))
        tasks.cancel_scope.cancel()


async def test_a_server_that_lets_nobody_in_any_more_is_not_asked_for_ever(tmp_path: Path):
    asked: list[Any] = []

    def only_once(connection: Any, request: Any) -> Any:
        asked.append(request)
        return None if len(asked) == 1 else connection.respond(HTTPStatus.UNAUTHORIZED, "")

    async with anyio.create_task_group() as tasks:
        agent = RememberingAgent(tasks, 3, loadSession=True)
        connections: list[Any] = []

        async def served(connection: Any) -> None:
            connections.append(connection)
            await agent.serve(connection)

        async with (
            websocket_server(served, process_request=only_once) as command,
            open_agent_page(command, tmp_path) as page,
        ):
            await page.until(lambda: page.status.startswith("● "))
            connections[0].transport.abort()
            await page.until(lambda: any("(HTTP 401)" in toast.message for toast in page.toasts))
            await page.until(lambda: "gone; Alt+R restarts it" in page.status)
            assert len(asked) == 2
        tasks.cancel_scope.cancel()
