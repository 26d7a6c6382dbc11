"""Measures each transport: from the prompt to the first chunk, and the client's CPU time for 10,000 chunks.

    .venv/bin/python tests/benchmarks/transports.py [ROUNDS]

The same agent is behind each way, in a process of its own; the ways are measured in turn, and the best round counts.
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

import anyio

from acp_tui.client.agents.catalogue import command_at
from acp_tui.client.agents.command import AgentCommand
from acp_tui.client.sessions.hub import open_hub
from acp_tui.conversation.content import Text
from acp_tui.conversation.conversation import Change

CHUNKS: Final = 10_000
WAYS: Final = ("stdio", "unix", "ws", "http")
MAX_OF_STDIO: Final = {"stdio": 1.0, "unix": 2.0, "ws": 2.0, "http": 5.0}
"""The most a transport may cost, as a multiple of stdio's CPU time. What faces the network is read by libraries."""
Send = Callable[[str], Awaitable[None]]


# The agent


async def answer(message: dict[str, Any], send: Send) -> None:
    """Answer a request; answer a prompt with many chunks."""
    results = {"initialize": {"protocolVersion": 1}, "session/new": {"sessionId": "s"}}
    method = message.get("method", "")
    if method == "session/prompt":
        content = {"type": "text", "text": "a few words "}
        update = {"sessionUpdate": "agent_message_chunk", "content": content}
        chunk = json.dumps(
            {"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "s", "update": update}}
        )
        for _ in range(CHUNKS):
            await send(chunk)
        results[method] = {"stopReason": "end_turn"}
    if method in results:
        await send(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": results[method]}))


async def serve_stdio() -> None:
    """Serve over stdin and stdout."""

    async def send(text: str) -> None:
        sys.stdout.write(text + "\n")
        if '"id"' in text:
            sys.stdout.flush()

    while line := await asyncio.to_thread(sys.stdin.readline):
        await answer(json.loads(line), send)


async def serve_websocket(address: str) -> None:
    """Serve on a port or a Unix socket."""
    from websockets.asyncio.server import ServerConnection, serve, unix_serve

    async def talk(connection: ServerConnection) -> None:
        async for frame in connection:
            await answer(json.loads(frame), connection.send)

    serving = unix_serve(talk, address) if "/" in address else serve(talk, "127.0.0.1", int(address))
    async with serving:
        print("ready", flush=True)
        await asyncio.Event().wait()


async def serve_http(port: str) -> None:
    """Serve the part of Streamable HTTP that one session needs."""
    streams: dict[str, asyncio.StreamWriter] = {}
    opened = asyncio.Condition()

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            try:
                head = await reader.readuntil(b"\r\n\r\n")
            except asyncio.IncompleteReadError:
                return
            lines = head.decode().split("\r\n")
            names = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines[1:])}
            session = names.get("acp-session-id", "")
            if lines[0].startswith("GET"):
                writer.write(
                    b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
                )
                async with opened:
                    streams[session] = writer
                    opened.notify_all()
                return
            body = json.loads(await reader.readexactly(int(names.get("content-length", "0"))) or b"{}")
            if body.get("method") == "initialize":
                result = json.dumps({"jsonrpc": "2.0", "id": body["id"], "result": {"protocolVersion": 1}}).encode()
                writer.write(b"HTTP/1.1 200 OK\r\nAcp-Connection-Id: c\r\nContent-Type: application/json\r\n")
                writer.write(b"Content-Length: %d\r\n\r\n%b" % (len(result), result))
                continue
            writer.write(b"HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n")
            async with opened:
                await opened.wait_for(lambda: session in streams)  # noqa: B023 - it is over with this round

            async def send(text: str, to: asyncio.StreamWriter = streams[session]) -> None:
                event = f"data: {text}\n\n".encode()
                to.write(b"%x\r\n%b\r\n" % (len(event), event))
                await to.drain()

            await answer(body, send)

    async with await asyncio.start_server(talk, "127.0.0.1", int(port)) as server:
        print("ready", flush=True)
        await server.serve_forever()


# The client


@asynccontextmanager
async def served(way: str) -> AsyncIterator[AgentCommand]:
    """The agent behind one of the transports."""
    program = (sys.executable, __file__)
    if way == "stdio":
        yield AgentCommand(way, (*program, "--serve", way))
        return
    with tempfile.TemporaryDirectory() as folder:
        place = f"{folder}/socket" if way == "unix" else str(free_port())
        url = f"unix://{place}" if way == "unix" else f"{way}://127.0.0.1:{place}/acp"
        async with await anyio.open_process([*program, "--serve", way, place], stderr=None) as process:
            assert process.stdout is not None
            await process.stdout.receive()
            yield command_at(url)
            process.kill()


def free_port() -> int:
    import socket

    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


async def turn(way: str) -> tuple[float, float]:
    """Milliseconds from the prompt to the first chunk, and CPU milliseconds for the turn."""
    first = 0.0

    def look(_: Change) -> None:
        nonlocal first
        if not first and len(session.conversation.entries) > 1:
            first = time.perf_counter()

    async with served(way) as command, open_hub() as hub:
        agent = await hub.start_agent(command)
        await agent.initialize()
        session = await agent.new_session(Path.cwd())
        session.subscribe(look)
        begun, cpu = time.perf_counter(), time.process_time()
        await session.send_prompt([Text("go")])
        cpu = time.process_time() - cpu
        [_, message] = session.conversation.entries
        assert len(message.text) == CHUNKS * len("a few words ")  # type: ignore[union-attr] # it is a Message
    return (first - begun) * 1000, cpu * 1000


def main(rounds: int) -> int:
    """Measure and print the table; return 1 if a transport costs too much."""
    figures: dict[str, list[tuple[float, float]]] = {way: [] for way in WAYS}
    for _ in range(rounds):
        for way in WAYS:
            figures[way].append(anyio.run(turn, way))
    least = {way: tuple(map(min, zip(*of_way, strict=True))) for way, of_way in figures.items()}
    print(f"{'':6}{'first chunk':>14}{f'CPU, {CHUNKS:,} chunks':>22}{'of stdio':>10}")
    for way, (first, cpu) in least.items():
        print(f"{way:6}{first:>11.1f} ms{cpu:>19.0f} ms{cpu / least['stdio'][1]:>10.2f}")
    return int(any(cpu > MAX_OF_STDIO[way] * least["stdio"][1] for way, (_, cpu) in least.items()))


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["--serve", "stdio"]:
            asyncio.run(serve_stdio())
        case ["--serve", "http", port]:
            asyncio.run(serve_http(port))
        case ["--serve", _, place]:
            asyncio.run(serve_websocket(place))
        case given:
            sys.exit(main(int(given[0]) if given else 5))
