"""Agents over Streamable HTTP: failures are explained, and credentials go nowhere else."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
from httpcore._async import http11

from acp_tui.client.agents import streamable_http
from acp_tui.client.agents.catalogue import command_at
from acp_tui.client.agents.command import AgentCommand
from acp_tui.client.errors import AgentLost, AgentRefused, AgentUnreachable
from acp_tui.conversation.content import Text
from support.agents import running
from support.servers import listening

Answer = Callable[[str, dict[str, str], Any], bytes | None]
"""A server's answer to a method, with its headers and body; None: it hangs up."""
INITIALIZED = json.dumps({"jsonrpc": "2.0", "id": 1, "result": {"protocolVersion": 1}}).encode()


def response(status: str, body: bytes = b"", **headers: str) -> bytes:
    names = {
        "Content-Length": str(len(body)),
        **{name.replace("_", "-"): value for name, value in headers.items()},
    }
    lines = "".join(f"{name}: {value}\r\n" for name, value in names.items())
    return f"HTTP/1.1 {status}\r\n{lines}\r\n".encode() + body


def stream(*events: bytes) -> bytes:
    """A stream of events that continues."""
    body = b"".join(b"data: %b\r\n\r\n" % event for event in events)
    return b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n" + body


def greeting(method: str, body: Any) -> bytes | None:
    """What a working server answers; None for what it isn't asked before a session."""
    if method == "GET":
        return stream()
    if body.get("method") == "initialize":
        return response("200 OK", INITIALIZED, Acp_Connection_Id="c", Content_Type="application/json")
    return None


@asynccontextmanager
async def served(answer: Answer, hangs_up_on: Callable[[int], bool] = lambda _: False) -> AsyncIterator[AgentCommand]:
    """An agent behind a server. It hangs up on a request by the number of the earlier ones on the same connection."""

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            for number in count():
                first, *rest = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
                headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in rest)}
                body = await reader.readexactly(int(headers.get("content-length", "0")))
                said = answer(first.partition(" ")[0], headers, json.loads(body or b"{}"))
                if said is None or hangs_up_on(number):
                    break
                writer.write(said)
        writer.close()

    async with listening(talk) as port:
        yield command_at(f"http://127.0.0.1:{port}/acp")


async def _failure(answer: Answer) -> AgentLost:
    async with served(answer) as command, running(command) as agent:
        with pytest.raises(AgentLost) as caught:
            await agent.initialize()
        return caught.value


@pytest.mark.parametrize(
    ("said", "words", "is_temporary"),
    [
        (response("401 Unauthorized"), r"asks for a token \(HTTP 401\)", False),
        (response("404 Not Found"), r"has no agent at this path \(HTTP 404\)", False),
        (response("409 Conflict"), r"already serves another client \(HTTP 409\)", True),
        (response("500 Oops"), r"refuses the connection \(HTTP 500\)", True),
        (response("200 OK", b"<html>", Content_Type="text/html"), r"\(text/html\) doesn't name a connection", False),
        (response("302 Found", Location="https://other.example/"), "redirects to https://other.example/", False),
        (b"220 mail.example ESMTP\r\n\r\n", "doesn't speak HTTP", False),
        (None, "can't be reached: the connection broke", True),
    ],
)  # fmt: skip
async def test_a_server_that_does_not_work_is_said_in_words(said: bytes | None, words: str, is_temporary: bool):
    error = await _failure(lambda *_: said)
    assert isinstance(error, AgentUnreachable)
    assert error.is_temporary is is_temporary
    with pytest.raises(AgentLost, match=words):
        raise error


async def test_a_stream_that_ends_is_the_end_of_the_connection():
    def close(method: str, _: dict[str, str], body: Any) -> bytes | None:
        ending = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 0\r\n\r\n"
        return ending if method == "GET" else greeting(method, body)

    async with served(close) as command, running(command) as agent:
        with suppress(AgentLost):
            await agent.initialize()
        with pytest.raises(AgentLost, match="closed the connection"):
            await agent.new_session(Path("/"))


def begins(method: str, _: dict[str, str], body: Any) -> bytes | None:
    """Also opens sessions."""
    if body.get("method") != "session/new":
        return greeting(method, body)
    answer = {"jsonrpc": "2.0", "id": body["id"], "result": {"sessionId": "s"}}
    return response("200 OK", json.dumps(answer).encode(), Content_Type="application/json")


async def test_a_message_after_a_pause_does_not_meet_the_end_of_an_idle_connection(monkeypatch: pytest.MonkeyPatch):
    """As with Node, which closes connections that were idle for 5 s."""
    now_s = 0.0
    monkeypatch.setattr(http11, "time", SimpleNamespace(monotonic=lambda: now_s))
    async with served(begins, lambda earlier: earlier > 0 and now_s >= 5.0) as command, running(command) as agent:
        await agent.initialize()
        for _ in range(2):  # the connection of the first one then carries the session's events
            await agent.new_session(Path("/"))
        now_s = 5.0
        await agent.new_session(Path("/"))


async def test_messages_in_quick_succession_share_a_connection():
    earlier: list[int] = []
    async with served(begins, lambda number: bool(earlier.append(number))) as command, running(command) as agent:
        await agent.initialize()
        for _ in range(5):
            await agent.new_session(Path("/"))
    assert max(earlier) >= 3


async def test_a_request_that_the_server_refuses_fails_alone():
    def refuse(method: str, _: dict[str, str], body: Any) -> bytes | None:
        return greeting(method, body) or response("503 Busy")

    async with served(refuse) as command, running(command) as agent:
        await agent.initialize()
        with pytest.raises(AgentRefused, match=r"the server refuses the connection \(HTTP 503\)"):
            await agent.new_session(Path("/"))
        assert agent.lost is None


async def test_a_token_goes_to_its_server_and_to_no_other(capfd: pytest.CaptureFixture[str]):
    leaked: list[dict[str, str]] = []
    seen: list[dict[str, str]] = []

    def take(_: str, headers: dict[str, str], __: Any) -> bytes:
        leaked.append(headers)
        return response("200 OK")

    async with served(take) as other:

        def lead_on(_: str, headers: dict[str, str], __: Any) -> bytes:
            seen.append(headers)
            return response("307 Temporary Redirect", Location=other.name)

        async with served(lead_on) as command:
            assert command.address is not None
            address = replace(command.address, headers={"Authorization": "Bearer s3cret", "X-Key": "s3cret"})
            async with running(replace(command, address=address)) as agent:
                with pytest.raises(AgentLost) as caught:
                    await agent.initialize()
    assert seen[0]["authorization"] == "Bearer s3cret"
    assert not leaked
    assert "s3cret" not in f"{caught.value} {caught.value.hint} {command!r} {''.join(capfd.readouterr())}"


async def test_a_command_gives_the_token_anew_for_each_connection(tmp_path: Path):
    seen: list[str] = []

    def note(_: str, headers: dict[str, str], __: Any) -> bytes:
        seen.append(headers["authorization"])
        return response("401 Unauthorized")

    script = f"echo t >> {tmp_path}/n; wc -l < {tmp_path}/n"
    async with served(note) as command:
        assert command.address is not None
        command = replace(command, address=replace(command.address, token_command=("sh", "-c", script)))
        for _ in range(2):
            async with running(command) as agent:
                with pytest.raises(AgentLost):
                    await agent.initialize()
    assert seen == ["Bearer 1", "Bearer 2"]


@pytest.fixture
def most_bytes(monkeypatch: pytest.MonkeyPatch) -> int:
    """The limit of a message, for servers that send more."""
    monkeypatch.setattr(streamable_http, "DEFAULT_MAX_FRAME_BYTES", 1 << 16)
    return 1 << 16


@pytest.mark.parametrize(
    "line", [b"data: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\n", b"x" * 50], ids=["no end", "one line"]
)
async def test_an_event_without_an_end_is_the_end_of_its_server(most_bytes: int, line: bytes):
    def flood(method: str, _: dict[str, str], body: Any) -> bytes | None:
        return stream() + line * (most_bytes // 40) if method == "GET" else greeting(method, body)

    async with served(flood) as command, running(command) as agent:
        with suppress(AgentLost):
            await agent.initialize()
        with pytest.raises(AgentLost, match="broke the protocol: it sent a message of more than 65,536 bytes"):
            await agent.new_session(Path("/"))


@pytest.mark.parametrize("asked", ["initialize", "session/new"])
async def test_an_answer_without_an_end_is_the_end_of_its_server(most_bytes: int, asked: str):
    content = b"x" * (2 * most_bytes)

    def flood(method: str, _: dict[str, str], body: Any) -> bytes | None:
        if body.get("method") == asked:
            return b"HTTP/1.1 200 OK\r\nAcp-Connection-Id: c\r\n\r\n" + content
        return greeting(method, body)

    async with served(flood) as command, running(command) as agent:
        with pytest.raises(AgentLost, match="more than 65,536 bytes"):
            await agent.initialize()
            await agent.new_session(Path("/"))


LOST_WITH = {
    **dict.fromkeys(
        ("sé\u2028", "s\r\nX-Evil: 1", "s\0", "s\ud800", "\x7f"), "sent a session id that can't be sent back"
    ),
    "s" * 100_000: "sessionId: .* a string of at most 4096 characters is wanted",
}


@pytest.mark.parametrize("name", LOST_WITH, ids=ascii)
async def test_a_name_that_no_header_can_hold_ends_its_server_and_nothing_else(name: str):
    answer = json.dumps({"jsonrpc": "2.0", "id": 2, "result": {"sessionId": name}}).encode()

    def say(method: str, _: dict[str, str], body: Any) -> bytes | None:
        return response("200 OK", answer) if body.get("method") == "session/new" else greeting(method, body)

    async with served(say) as command, running(command) as agent:
        await agent.initialize()
        with pytest.raises(AgentLost, match=LOST_WITH[name]):
            session = await agent.new_session(Path("/"))
            await session.send_prompt((Text("hello"),))


async def test_a_connection_that_no_header_can_name_is_refused():
    def say(*_: Any) -> bytes:
        return response("200 OK", INITIALIZED).replace(b"OK\r\n", b"OK\r\nAcp-Connection-Id: c\xe9\r\n", 1)

    with pytest.raises(AgentLost, match="doesn't name a connection"):
        raise await _failure(say)


async def test_a_server_opens_no_streams_of_sessions_that_were_not_asked_for():
    names: list[str] = []
    made_up = [json.dumps({"jsonrpc": "2.0", "id": 99, "result": {"sessionId": f"s{n}"}}) for n in range(50)]
    events = [*(each.encode() for each in made_up), INITIALIZED]
    answers = {"session/new": {"sessionId": "real"}, "session/prompt": {"stopReason": "end_turn"}}

    def say(method: str, headers: dict[str, str], body: Any) -> bytes | None:
        if method == "GET":
            names.append(headers.get("acp-session-id", ""))
            return stream() if names[-1] else stream(*events)
        if method == "DELETE" or body["method"] == "initialize":  # that is answered after the others
            return response("200 OK", Acp_Connection_Id="c")
        answer = {"jsonrpc": "2.0", "id": body["id"], "result": answers[body["method"]]}
        return response("200 OK", json.dumps(answer).encode())

    async with served(say) as command, running(command) as agent:
        await agent.initialize()
        session = await agent.new_session(Path("/"))
        await session.send_prompt((Text("hello"),))
        assert names == ["", "real"]


# A server that is slow, or sends without limit


@pytest.fixture
def in_a_hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streamable_http, "ACCEPT_TIMEOUT_S", 0.3)


@pytest.mark.usefixtures("in_a_hurry")
@pytest.mark.parametrize("trickle", [b"", b"HTTP/1.1 200 OK\r\nX: ", b"HTTP/1.1 200 OK\r\n\r\n{"])
async def test_a_server_whose_answer_never_ends_is_given_up(trickle: bytes):
    """Each byte arrives in time, and there is always another one."""

    async def talk(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(trickle)
        with suppress(ConnectionError):
            while True:
                writer.write(b"x" * bool(trickle))
                await writer.drain()
                await asyncio.sleep(0.02)

    async with listening(talk) as port, running(command_at(f"http://127.0.0.1:{port}/acp")) as agent:
        with pytest.raises(AgentLost, match=r"hasn't answered within 0\.3 s"):
            await agent.initialize()


async def test_a_stream_may_be_silent_for_as_long_as_the_agent_works(monkeypatch: pytest.MonkeyPatch):
    limits: dict[str, Any] = {}
    handle = httpx.AsyncHTTPTransport.handle_async_request

    async def note(self: httpx.AsyncHTTPTransport, request: Any) -> Any:
        limits[request.method] = request.extensions["timeout"]["read"]
        return await handle(self, request)

    monkeypatch.setattr(httpx.AsyncHTTPTransport, "handle_async_request", note)
    async with served(lambda method, _, body: greeting(method, body)) as command, running(command) as agent:
        await agent.initialize()
    assert limits["GET"] is None
    assert limits["POST"] is not None


async def test_garbage_among_the_events_is_passed_over():
    garbage = [b"\xff\xfe", b"{", b'{"id": {}}', b"[[[", b'"id"', b'{"id": 7, "result": "nobody asked"}']
    answer = json.dumps({"jsonrpc": "2.0", "id": 2, "result": {"sessionId": "s1"}}).encode()

    def mix(method: str, _: dict[str, str], body: Any) -> bytes | None:
        if method == "GET":
            return stream(*garbage) + b": a comment\r\n\r\nretry: 5\r\nno colon\r\n\r\n"
        return greeting(method, body) or response("200 OK", answer)

    async with served(mix) as command, running(command) as agent:
        await agent.initialize()
        assert (await agent.new_session(Path("/"))).session_id == "s1"
        assert agent.lost is None
