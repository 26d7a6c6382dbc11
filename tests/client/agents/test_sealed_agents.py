"""Agents behind TLS and proxies, over both transports: real certificates, and a local proxy.

No name is resolved: the proxy connects every name to this machine.
"""

from __future__ import annotations

import asyncio
import base64
import json
import re
import ssl
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import pytest

from acp_tui.client.agents.address import read_address
from acp_tui.client.agents.catalogue import command_at
from acp_tui.client.agents.command import AgentCommand
from acp_tui.client.errors import AgentLost, AgentUnreachable
from support.agents import running
from support.servers import SERVER_NAME, Authority, authority, http_server, listening, websocket_server

over_both = pytest.mark.parametrize("scheme", ["wss", "https"])
OF_PROXIES = ("http_proxy", "https_proxy", "all_proxy", "ws_proxy", "wss_proxy", "no_proxy")


@pytest.fixture(scope="module")
def ca(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return authority(tmp_path_factory.mktemp("ca"))


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in OF_PROXIES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


@pytest.fixture
def trusted(ca: Authority, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(ca.certificate))


async def greets(connection: Any) -> None:
    """An agent that says who it is."""
    async for frame in connection:
        answer = {"jsonrpc": "2.0", "id": json.loads(frame)["id"], "result": {"protocolVersion": 1}}
        await connection.send(json.dumps(answer))


@asynccontextmanager
async def agent_at(scheme: str, tls: ssl.SSLContext | None) -> AsyncIterator[int]:
    """Start such an agent; return its port."""
    async with AsyncExitStack() as stack:
        if scheme.startswith("ws"):
            command = await stack.enter_async_context(websocket_server(greets, ssl=tls))
        else:
            command = await stack.enter_async_context(http_server(greets, ssl=tls))
        yield int(command.name.rpartition(":")[2].partition("/")[0])


async def greet(command: AgentCommand) -> None:
    async with running(command) as agent:
        await agent.initialize()


async def failure(command: AgentCommand) -> AgentUnreachable:
    with pytest.raises(AgentLost) as caught:
        async with running(command) as agent:
            await agent.initialize()
    assert isinstance(caught.value, AgentUnreachable)
    return caught.value


# TLS


@over_both
@pytest.mark.usefixtures("trusted")
async def test_a_certificate_that_is_trusted_opens_the_way(scheme: str, ca: Authority):
    async with agent_at(scheme, ca.context("IP:127.0.0.1")) as port:
        await greet(command_at(f"{scheme}://127.0.0.1:{port}/acp"))


@over_both
@pytest.mark.usefixtures("trusted")
@pytest.mark.parametrize(
    ("names", "days", "words", "hint"),
    [
        (
            "DNS:other.example",
            2,
            "certificate is not valid for '127.0.0.1'",
            "the name that its certificate is for",
        ),
        ("IP:127.0.0.1", 0, "certificate has expired", "needs to be renewed"),
    ],
)
async def test_a_certificate_of_another_or_of_the_past_is_refused(
    scheme: str, names: str, days: int, words: str, hint: str, ca: Authority
):
    async with agent_at(scheme, ca.context(names, days)) as port:
        lost = await failure(command_at(f"{scheme}://127.0.0.1:{port}/acp"))
    assert f"127.0.0.1:{port}" in str(lost)
    assert "can't be trusted" in str(lost)
    assert words in str(lost)
    assert hint in lost.hint
    assert not lost.is_temporary


@over_both
async def test_a_certificate_from_an_unknown_issuer_is_refused(scheme: str, ca: Authority):
    async with agent_at(scheme, ca.context("IP:127.0.0.1")) as port:
        lost = await failure(command_at(f"{scheme}://127.0.0.1:{port}/acp"))
    assert "can't be trusted: unable to get local issuer certificate" in str(lost)
    assert "SSL_CERT_FILE" in lost.hint


@over_both
async def test_a_server_without_tls_is_said_so(scheme: str):
    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        writer.write(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
        await writer.drain()
        writer.close()

    async with listening(talk) as port:
        lost = await failure(command_at(f"{scheme}://127.0.0.1:{port}/acp"))
    assert "offers no TLS" in str(lost)
    assert {"wss": "ws://", "https": "http://"}[scheme] in lost.hint


@over_both
async def test_a_server_that_breaks_off_before_tls_is_said_so(scheme: str):
    async def talk(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.transport.abort()

    async with listening(talk) as port:
        lost = await failure(command_at(f"{scheme}://127.0.0.1:{port}/acp"))
    assert re.search("(can't be reached|is out of reach): .+", str(lost))
    assert lost.is_temporary


# Proxies


@dataclass
class Proxy:
    """Connects CONNECT requests and whole addresses to a local port; stores the requests."""

    port: int = 0
    leads_to: int = 0
    password: str = ""
    asked: list[str] = field(default_factory=list)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection."""
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            first, *rest = head.split("\r\n")
            self.asked.append(first)
            shown = f"Proxy-Authorization: Basic {base64.b64encode(self.password.encode()).decode()}"
            if self.password and shown.lower() not in [line.lower() for line in rest]:
                writer.write(b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n")
                return
            far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self.leads_to)
            if first.startswith("CONNECT "):
                writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
            else:
                far_writer.write(head.encode())
            await asyncio.gather(_pump(reader, far_writer), _pump(far_reader, writer))
        writer.close()


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(ConnectionError):
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    writer.close()


@pytest.fixture
async def proxy() -> AsyncIterator[Proxy]:
    proxy = Proxy()
    async with listening(proxy.serve) as proxy.port:
        yield proxy


@over_both
@pytest.mark.usefixtures("trusted")
@pytest.mark.parametrize("password", ["", "me:s3cret"])
async def test_the_proxy_of_the_environment_leads_to_the_agent_and_reads_nothing(
    scheme: str, password: str, proxy: Proxy, ca: Authority, monkeypatch: pytest.MonkeyPatch
):
    proxy.password = password
    monkeypatch.setenv("HTTPS_PROXY", f"http://{password}{'@' if password else ''}127.0.0.1:{proxy.port}")
    async with agent_at(scheme, ca.context(f"DNS:{SERVER_NAME}")) as proxy.leads_to:
        await greet(command_at(f"{scheme}://{SERVER_NAME}/acp"))
    assert set(proxy.asked) == {f"CONNECT {SERVER_NAME}:443 HTTP/1.1"}


@pytest.mark.parametrize("scheme", ["ws", "http"])
async def test_a_plain_address_goes_through_the_proxy_too(scheme: str, proxy: Proxy, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{proxy.port}")
    address = read_address(f"{scheme}://{SERVER_NAME}/acp", is_insecure=True)
    async with agent_at(scheme, None) as proxy.leads_to:
        await greet(AgentCommand("a", (address.url,), address=address))
    assert all(SERVER_NAME in asked for asked in proxy.asked)
    assert proxy.asked


@over_both
@pytest.mark.usefixtures("trusted")
async def test_a_host_that_no_proxy_names_is_reached_without_one(
    scheme: str, proxy: Proxy, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("HTTPS_PROXY", f"http://127.0.0.1:{proxy.port}")
    monkeypatch.setenv("NO_PROXY", ".invalid")
    lost = await failure(command_at(f"{scheme}://agent.invalid/acp"))
    assert "can't be reached" in str(lost)
    assert not proxy.asked


@over_both
async def test_this_machine_is_reached_without_a_proxy(
    scheme: str, proxy: Proxy, ca: Authority, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("HTTPS_PROXY", f"http://127.0.0.1:{proxy.port}")
    monkeypatch.setenv("SSL_CERT_FILE", str(ca.certificate))
    async with agent_at(scheme, ca.context("IP:127.0.0.1")) as port:
        await greet(command_at(f"{scheme}://127.0.0.1:{port}/acp"))
    assert not proxy.asked


@over_both
async def test_a_proxy_that_wants_a_password_is_said_so(scheme: str, proxy: Proxy, monkeypatch: pytest.MonkeyPatch):
    proxy.password = "me:s3cret"
    monkeypatch.setenv("HTTPS_PROXY", f"http://me:guessed@127.0.0.1:{proxy.port}")
    lost = await failure(command_at(f"{scheme}://{SERVER_NAME}/acp"))
    assert f"the proxy 127.0.0.1:{proxy.port} requires a name and a password (HTTP 407)" in str(lost)
    assert "guessed" not in f"{lost} {lost.hint} {lost.detail}"


@over_both
async def test_a_proxy_that_nobody_runs_is_named(scheme: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("HTTPS_PROXY", "http://me:s3cret@127.0.0.1:9")
    lost = await failure(command_at(f"{scheme}://{SERVER_NAME}/acp"))
    assert SERVER_NAME in str(lost)
    assert "can't be reached through the proxy 127.0.0.1:9: nothing listens there" in str(lost)
    assert "NO_PROXY" in lost.hint
    assert "s3cret" not in f"{lost} {lost.hint} {lost.detail}"


@over_both
@pytest.mark.parametrize("url", ["ftp://me:s3cret@host", "http://me:s3cret@host:none", "nonsense"])
async def test_an_address_that_is_no_proxys_is_said_so(scheme: str, url: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("HTTPS_PROXY", url)
    lost = await failure(command_at(f"{scheme}://{SERVER_NAME}/acp"))
    assert "proxy" in str(lost)
    assert "s3cret" not in f"{lost} {lost.hint} {lost.detail}"
