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
from acp_tui.conversation.updates import Reconnected
from acp_tui.ui.session.status_line import TabState
from acp_tui.ui.tab.agent import SessionsController
from support.frame_log import FrameLog
from support.reconnecting import RememberingAgent, cut_often
from support.servers import websocket_server
from support.tabs import tabs_of


async def test_a_session_goes_on_by_itself_once_there_is_a_connection_again(tmp_path: Path, frame_log: FrameLog):
    resume = {"sessionCapabilities": {"resume": {}}}
    async with anyio.create_task_group() as tasks:
        agent = RememberingAgent(tasks, 3, **resume)
        async with (
            cut_often(agent, lambda: None) as (command, proxy),
            tabs_of(command, tmp_path, frame_log) as desk,
        ):
            await desk.has_session()
            proxy.cut()
            await desk.shows("can't be reached: the connection broke")
            back = Reconnected(remembers=True, is_same=True)
            await desk.until(lambda: back in desk.shown_session.conversation.entries)
            await desk.has_session()
        tasks.cancel_scope.cancel()


async def test_as_long_as_there_is_no_way_the_tab_lives_and_says_that_it_tries(
    tmp_path: Path, frame_log: FrameLog, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(driver, "PAUSES_S", (0.05,))
    is_down = False
    async with anyio.create_task_group() as tasks:
        agent = RememberingAgent(tasks, 3, loadSession=True)
        async with (
            cut_often(agent, lambda: 1 if is_down else None) as (command, proxy),
            tabs_of(command, tmp_path, frame_log) as desk,
        ):
            await desk.has_session()
            is_down = True
            proxy.cut()
            await desk.shows("Reconnecting; Alt+R tries now")
            tried = proxy.cuts
            await desk.until(lambda: proxy.cuts > tried + 2)
            await desk.send("still here?")
            assert [prompt.text for prompt in desk.queue.prompts] == ["still here?"], "it waits"
            is_down = False
            await desk.has_session()
        tasks.cancel_scope.cancel()


async def test_a_server_that_lets_nobody_in_any_more_is_not_asked_for_ever(tmp_path: Path, frame_log: FrameLog):
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
            tabs_of(command, tmp_path, frame_log) as desk,
        ):
            await desk.has_session()
            connections[0].transport.abort()
            await desk.until(lambda: any("(HTTP 401)" in notice.message for notice in desk.notices))
            await desk.shows("The agent is gone; Alt+R restarts it")
            assert len(asked) == 2
        tasks.cancel_scope.cancel()


async def test_a_session_that_asks_and_is_lost_while_it_is_opened_is_opened_again(tmp_path: Path, frame_log: FrameLog):
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
        tabs_of(command, tmp_path, frame_log, opening=open_it) as desk,
    ):
        await desk.shows("as before", "Delete everything")
        assert desk.tab.state is TabState.NEEDS_YOU
        assert len(connections) == 2
