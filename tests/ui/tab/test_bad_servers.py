"""Whatever a server does, the tab keeps working: a prompt stays, and failures are reported."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest

from acp_tui.client.agents import remote_errors, streamable_http
from acp_tui.client.agents.catalogue import command_at
from acp_tui.client.agents.command import AgentCommand
from support.frame_log import FrameLog
from support.servers import Talk, listening
from support.tabs import tabs_of

over_both = pytest.mark.parametrize("scheme", ["ws", "http"])


@asynccontextmanager
async def server(scheme: str, talk: Talk) -> AsyncIterator[AgentCommand]:
    async def until_gone(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            await talk(reader, writer)
        writer.close()

    async with listening(until_gone) as port:
        yield command_at(f"{scheme}://127.0.0.1:{port}/acp")


async def says_nothing(reader: asyncio.StreamReader, _: asyncio.StreamWriter) -> None:
    await reader.read()
    await asyncio.Event().wait()


async def trickles(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.readuntil(b"\r\n\r\n")
    writer.write(b"HTTP/1.1 200 OK\r\nX-Slow: ")
    while True:
        writer.write(b"x")
        await writer.drain()
        await asyncio.sleep(0.01)


async def floods(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.readuntil(b"\r\n\r\n")
    while True:
        writer.write(b"\x00garbage\n" * 10_000)
        await writer.drain()


async def breaks(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.readuntil(b"\r\n\r\n")
    writer.write(b"HTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n")


@over_both
@pytest.mark.parametrize(
    ("talk", "words"),
    [
        (says_nothing, "no answer within|hasn't answered within"),
        (trickles, "no answer within|hasn't answered within|doesn't speak WebSocket"),
        (floods, "doesn't speak|no answer within"),
        (breaks, r"refuses the connection \(HTTP 500\)"),
    ],
)
async def test_a_tab_lives_whatever_its_server_does(
    scheme: str, talk: Talk, words: str, tmp_path: Path, frame_log: FrameLog, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(remote_errors, "OPEN_LIMIT_S", 1.0)
    monkeypatch.setattr(streamable_http, "ACCEPT_TIMEOUT_S", 1.0)
    async with server(scheme, talk) as command, tabs_of(command, tmp_path, frame_log) as desk:
        await desk.send("alive")
        assert [prompt.text for prompt in desk.queue.prompts] == ["alive"], "it waits for a session"
        await desk.until(lambda: re.search(words, desk.words))
