"""A broken connection is reported right away and restored automatically; the session continues."""

from __future__ import annotations

import json
from contextlib import suppress
from http import HTTPStatus
from pathlib import Path
from typing import Any

import anyio
import pytest
from websockets.exceptions import ConnectionClosed

from acp_tui.client.sessions import driver
from acp_tui.client.sessions.session import Session
from acp_tui.conversation.facts import SessionId
from acp_tui.ui.tab.agent import SessionsController
from support.reconnecting import RememberingAgent, cut_often
from support.screens import Page, open_agent_page
from support.servers import websocket_server


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
            await page.until(lambda: any("(HTTP 401)" in notice.message for notice in page.notices))
            await page.until(lambda: "gone; Alt+R restarts it" in page.status)
            assert len(asked) == 2
        tasks.cancel_scope.cancel()


async def test_a_session_that_asks_and_is_lost_while_it_is_opened_is_opened_again(tmp_path: Path):
    connections: list[Any] = []

    async def served(connection: Any) -> None:
        """Asks before it has sent the history, and goes on with that once it was connected to twice."""
        connections.append(connection)

        async def say(**update: Any) -> None:
            await send(method="session/update", params={"sessionId": "s1", "update": update})

        async def send(**message: Any) -> None:
            await connection.send(json.dumps({"jsonrpc": "2.0", **message}))

        with suppress(ConnectionClosed):
            async for frame in connection:
                match json.loads(frame):
                    case {"id": asked, "method": "initialize"}:
                        offered = {"loadSession": True, "sessionCapabilities": {"resume": {}}}
                        await send(id=asked, result={"protocolVersion": 1, "agentCapabilities": offered})
                    case {"id": asked, "method": "session/resume"}:
                        await send(id=asked, result={})
                    case {"id": asked, "method": "session/load"}:
                        call = {"toolCallId": "c1", "title": "Delete everything"}
                        await say(sessionUpdate="tool_call", **call)
                        options = [{"optionId": "no", "name": "No", "kind": "reject_once"}]
                        params = {"sessionId": "s1", "toolCall": call, "options": options}
                        await send(id="q", method="session/request_permission", params=params)
                        if len(connections) == 1:
                            connection.transport.close()  # after what was sent
                        else:
                            content = {"type": "text", "text": "as before"}
                            await say(sessionUpdate="agent_message_chunk", content=content)
                            await send(id=asked, result={})

    async def open_it(sessions: SessionsController) -> Session:
        return await sessions.open(SessionId("s1"), tmp_path)

    async with (
        websocket_server(served) as command,
        open_agent_page(command, tmp_path, opening=open_it) as page,
    ):
        await _shows(page, "as before", "Delete everything")
        await page.until(lambda: page.status.startswith("▲ "))
        assert len(connections) == 2
