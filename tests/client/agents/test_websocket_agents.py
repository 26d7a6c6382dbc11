"""Agents over WebSocket work as processes do, and each kind of failure has its own message."""

from __future__ import annotations

import asyncio
import json
import re
import sys
from contextlib import suppress
from http import HTTPStatus
from pathlib import Path
from typing import Any

import anyio
import pytest
from websockets.exceptions import ConnectionClosed
from websockets.frames import Frame, Opcode
from websockets.utils import accept_key

from acp_tui.client.agents.address import read_address
from acp_tui.client.agents.catalogue import command_at
from acp_tui.client.errors import AgentLost, AgentNotRunnable, AgentUnreachable, SettingsError
from acp_tui.client.extras import command_to_add
from acp_tui.rpc.websocket import MAX_SIZE
from support.agents import REPLY, agent_texts, running, scripted
from support.servers import agent_behind, hang_up, listening, unix_websocket_server, websocket_server

TALKS = scripted(
    """
    answer(expect("initialize"), protocolVersion=1)
    answer(expect("session/new"), sessionId="s1")
    prompt = expect("session/prompt")
    say("Hello " + "x" * 100_000)
    say(" there")
    answer(prompt, stopReason="end_turn")
    read()
    """
)


async def _one_turn(command: Any, cwd: Path) -> str:
    async with running(command) as agent:
        await agent.initialize()
        session = await agent.new_session(cwd)
        await session.send_prompt(REPLY)
        return "".join(agent_texts(session))


async def test_a_turn_over_a_websocket_is_a_turn(tmp_path: Path):
    async with websocket_server(agent_behind(TALKS)) as command:
        assert await _one_turn(command, tmp_path) == "Hello " + "x" * 100_000 + " there"


async def test_a_turn_over_a_unix_socket_is_a_turn(tmp_path: Path):
    async with unix_websocket_server(agent_behind(TALKS), tmp_path / "s") as command:
        assert (await _one_turn(command, tmp_path)).startswith("Hello ")


async def test_messages_that_are_printed_over_many_lines_are_read_whole(tmp_path: Path):
    async def pretty(connection: Any) -> None:
        await connection.recv()
        await connection.send('{\n "jsonrpc": "2.0",\n "id": 1,\n "result": {"protocolVersion": 1}\n}\n')
        await connection.wait_closed()

    async with websocket_server(pretty) as command, running(command) as agent:
        await agent.initialize()


async def test_messages_arrive_in_order_whatever_frames_they_come_in(tmp_path: Path):
    async def framed(connection: Any) -> None:
        def chunk(text: str) -> str:
            content = {"type": "text", "text": text}
            update = {"sessionUpdate": "agent_message_chunk", "content": content}
            return json.dumps({"method": "session/update", "params": {"sessionId": "s1", "update": update}})

        async def answer(**result: Any) -> None:
            request = json.loads(await connection.recv())
            await connection.send(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}))

        await answer(protocolVersion=1)
        await answer(sessionId="s1")
        whole = [chunk("a"), chunk("b" * 200), chunk("c" * 70_000), chunk("d" * 3_000_000)]
        await connection.send(whole[0])
        await connection.send([whole[1][:9], whole[1][9:50], whole[1][50:]])  # fragments
        await connection.ping()
        await connection.send(whole[2].encode())
        await connection.send(whole[3])
        await answer(stopReason="end_turn")
        await connection.wait_closed()

    async with websocket_server(framed, write_limit=1 << 24) as command:
        assert await _one_turn(command, tmp_path) == "a" + "b" * 200 + "c" * 70_000 + "d" * 3_000_000


@pytest.mark.parametrize("cut", [3, 60, -7, -4, -2, -1])
async def test_an_answer_to_the_handshake_may_come_in_pieces(cut: int, tmp_path: Path):
    """A proxy's pieces may end anywhere, and the last may contain the first frame."""
    port = 0

    async def piecewise(near: Any) -> None:
        async with await anyio.connect_tcp("127.0.0.1", port) as far, anyio.create_task_group() as tasks:
            await far.send(await near.receive())
            head = await far.receive()
            await near.send(head[:cut])
            await anyio.sleep(0.01)
            await near.send(head[cut:])

            async def pump(source: Any, target: Any) -> None:
                with suppress(anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError):
                    while True:
                        for byte in await source.receive():
                            await target.send(bytes([byte]))
                tasks.cancel_scope.cancel()

            tasks.start_soon(pump, near, far)
            tasks.start_soon(pump, far, near)

    async def pretty(connection: Any) -> None:
        await connection.recv()
        await connection.send('{"jsonrpc": "2.0", "id": 1, "result": {"protocolVersion": 1}}')
        await connection.wait_closed()

    async with websocket_server(pretty) as direct, anyio.create_task_group() as tasks:
        port = int(direct.name.rpartition(":")[2].partition("/")[0])
        listener = await anyio.create_tcp_listener(local_host="127.0.0.1")
        tasks.start_soon(listener.serve, piecewise)
        local_port = listener.extra(anyio.abc.SocketAttribute.local_port)
        async with running(command_at(f"ws://127.0.0.1:{local_port}/acp")) as agent:
            await agent.initialize()
        tasks.cancel_scope.cancel()


async def test_a_message_that_is_too_long_ends_the_connection_with_its_reason():
    async def endless(connection: Any) -> None:
        await connection.recv()
        with suppress(ConnectionClosed):
            await connection.send("x" * (MAX_SIZE + 1))
            await connection.wait_closed()

    async with websocket_server(endless) as command, running(command) as agent:
        with pytest.raises(AgentLost, match="a message of more than 67,108,864 bytes"):
            await agent.initialize()


async def test_a_connection_that_breaks_off_is_told_at_once():
    async with websocket_server(hang_up) as command, running(command) as agent:
        with pytest.raises(AgentLost, match="the connection broke"):
            await agent.initialize()


async def test_a_server_that_says_goodbye_is_quoted():
    async def leave(connection: Any) -> None:
        await connection.recv()
        await connection.close(1011, "out of memory")

    async with websocket_server(leave) as command, running(command) as agent:
        with pytest.raises(AgentLost, match=r"closed the connection \(1011: out of memory\)"):
            await agent.initialize()


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (HTTPStatus.UNAUTHORIZED, "asks for a token"),
        (HTTPStatus.FORBIDDEN, "denied you access"),
        (HTTPStatus.NOT_FOUND, "has no agent at this path"),
        (HTTPStatus.CONFLICT, "already serves another client"),
        (HTTPStatus.INTERNAL_SERVER_ERROR, "refuses the connection"),
    ],
)
async def test_a_server_that_refuses_is_said_in_words_and_with_its_status(status: HTTPStatus, said: str):
    def refuse(connection: Any, _: Any) -> Any:
        return connection.respond(status, "")

    async with websocket_server(hang_up, process_request=refuse) as command:
        with pytest.raises(AgentUnreachable, match=rf"{said} \(HTTP {status.value}\)"):
            async with running(command):
                pass


async def test_a_server_that_speaks_no_websocket_is_said_so():
    listener = await anyio.create_tcp_listener(local_host="127.0.0.1")

    async def garbage(stream: Any) -> None:
        await stream.send(b"220 mail.example ESMTP\r\n" * 3)
        await stream.aclose()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(listener.serve, garbage)
        port = listener.extra(anyio.abc.SocketAttribute.local_port)
        with pytest.raises(AgentUnreachable, match="doesn't speak WebSocket"):
            async with running(command_at(f"ws://127.0.0.1:{port}")):
                pass
        tasks.cancel_scope.cancel()
    await listener.aclose()


async def test_nobody_at_an_address_is_said_with_the_address():
    with pytest.raises(AgentUnreachable, match=r"127\.0\.0\.1:9 can't be reached") as caught:
        async with running(command_at("ws://127.0.0.1:9/acp")):
            pass
    assert caught.value.is_temporary


async def test_a_redirect_is_told_and_not_followed():
    asked: list[Any] = []

    def lead_on(connection: Any, request: Any) -> Any:
        asked.append(request.path)
        response = connection.respond(HTTPStatus.FOUND, "")
        response.headers["Location"] = "ws://127.0.0.1:9/elsewhere"
        return response

    async with websocket_server(hang_up, process_request=lead_on) as command:
        with pytest.raises(AgentUnreachable, match=r"redirects to ws:.*/elsewhere"):
            async with running(command):
                pass
    assert asked == ["/acp"]


async def test_without_the_extra_one_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "websockets.asyncio.client", None)
    monkeypatch.delitem(sys.modules, "acp_tui.client.agents.websocket", raising=False)
    with pytest.raises(AgentNotRunnable) as caught:
        async with running(command_at("ws://127.0.0.1:9/acp")):
            pass
    assert caught.value.hint == command_to_add("remote")


# Addresses


@pytest.mark.parametrize("url", ["ws://localhost/acp", "ws://[::1]:8080/acp", "http://127.0.0.9", "wss://a.b/acp"])
def test_an_address_may_be_plain_on_this_machine_and_sealed_anywhere(url: str):
    assert read_address(url).url == url


@pytest.mark.parametrize("url", ["ws://build.example/acp", "http://10.0.0.1/acp", "ws://localhost.example/"])
def test_a_plain_address_of_another_machine_needs_the_users_consent(url: str):
    with pytest.raises(SettingsError, match="would send everything unencrypted"):
        read_address(url)
    assert read_address(url, is_insecure=True).url == url


@pytest.mark.parametrize("url", ["wss://", "ftp://a/b", "wss://a b/c", "wss://host:none/", "wss://a/\x1b[2J"])
def test_what_is_no_address_is_said_so(url: str):
    with pytest.raises(SettingsError, match="isn't the address of an agent"):
        read_address(url)


def test_an_address_with_a_password_in_it_is_refused_and_the_password_not_repeated():
    with pytest.raises(SettingsError) as caught:
        read_address("wss://me:s3cret@host/acp")
    assert "s3cret" not in f"{caught.value}{caught.value.hint}"


async def test_pings_of_a_server_that_does_not_read_fill_no_memory():
    pings = Frame(Opcode.PING, b"p" * 125).serialize(mask=False) * 10_000

    async def flood(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        (key,) = re.findall("Sec-WebSocket-Key: (.*)\r", head)
        upgrade = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        writer.write(f"{upgrade}Sec-WebSocket-Accept: {accept_key(key)}\r\n\r\n".encode())
        with suppress(ConnectionError):
            while True:  # and it never reads
                writer.write(pings)
                await writer.drain()
        writer.close()

    async with listening(flood) as port, running(command_at(f"ws://127.0.0.1:{port}")) as agent:
        with pytest.raises(AgentLost, match="the connection broke"):
            await agent.initialize()
