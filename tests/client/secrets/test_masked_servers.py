"""No secret of an MCP server reaches a log (R-MCP-3)."""

from __future__ import annotations

import copy
import json

import pytest

from acp_tui.client.secrets.masking import Masker, mask
from acp_tui.conversation.facts import HttpServer, StdioServer
from acp_tui.protocol.v1.outbound import mcp_server as wire

SERVERS = [
    wire(
        StdioServer(
            "files",
            "/usr/bin/npx",
            ("-y", "--token", "secret-1", "--key=secret-2"),
            (("TOKEN", "secret-3"), ("EMPTY", "")),
        )
    ),
    wire(
        HttpServer(
            "http",
            "docs",
            "https://docs.example:8080/secret-4/mcp?key=secret-5",
            (("Authorization", "Bearer secret-6"), ("X-Token", "secret-7")),
        )
    ),
    wire(HttpServer("sse", "news", "https://me:secret-8@news.example/sse")),
]
MASKED_SERVERS = [
    {
        "name": "files",
        "command": "/usr/bin/npx",
        "args": ["***"] * 4,
        "env": [{"name": "TOKEN", "value": "***"}, {"name": "EMPTY", "value": ""}],
    },
    {
        "type": "http",
        "name": "docs",
        "url": "https://docs.example:8080/***",
        "headers": [{"name": "Authorization", "value": "***"}, {"name": "X-Token", "value": "***"}],
    },
    {"type": "sse", "name": "news", "url": "***", "headers": []},
]


def masked(frame: object) -> object:
    return Masker().message(frame)


def request(method: str, servers: object) -> dict[str, object]:
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": {"cwd": "/work", "mcpServers": servers}}


@pytest.mark.parametrize("method", ["session/new", "session/load", "session/resume", "_vendor/fork"])
def test_a_request_keeps_its_form_and_loses_its_secrets(method: str) -> None:
    frame = request(method, SERVERS)

    assert masked(frame) == request(method, MASKED_SERVERS)
    assert "secret" not in json.dumps(masked(frame))


def test_the_frame_that_is_sent_is_not_changed() -> None:
    frame = request("session/new", SERVERS)
    before = copy.deepcopy(frame)

    masked(frame)

    assert frame == before


def test_what_an_agent_echoes_in_its_refusal_is_masked_too() -> None:
    received = {"mcpServers": SERVERS, "cwd": "/work"}
    data = {"issues": [{"path": ["mcpServers", 0], "received": received}]}
    frame = {"jsonrpc": "2.0", "id": 1, "error": {"code": -32602, "message": "Invalid params", "data": data}}

    assert "secret" not in json.dumps(masked(frame))


def test_frames_without_servers_stay_as_they_are() -> None:
    frame = {"jsonrpc": "2.0", "method": "session/update", "params": {"a": [1, None, True, {"x": "env"}]}}

    assert masked(frame) == frame


@pytest.mark.parametrize(
    "servers",
    [
        "secret",
        ["secret"],
        {"files": {"command": "npx", "env": {"TOKEN": "secret", "name": "secret"}}},
        {"name": "files", "env": [{"name": "TOKEN", "value": "secret"}]},
        [{"name": ["secret"], "command": {"a": "secret"}, "type": ["secret"]}],
        [{"name": "x", "env": "TOKEN=secret", "args": "secret", "headers": {"Authorization": "secret"}}],
        [{"name": "x", "env": [{"name": ["secret"], "value": ["secret"], "more": "secret"}, "secret"]}],
        [{"name": "x", "token": "secret", "oauth": {"client": "secret"}, "_meta": {"a": ["secret"]}}],
        [{"name": "x", "url": "https://user:12/secret@host.example"}],
        [{"name": "x", "url": "https://[secret"}],
        [{"name": "x", "url": "secret"}],
        [{"name": "x", "url": ["https://secret"]}],
    ],
)
def test_in_whatever_form_servers_come_no_secret_survives(servers: object) -> None:
    assert "secret" not in json.dumps(masked(request("session/new", servers)))


def test_a_frame_is_searched_as_deep_as_it_can_be_sent() -> None:
    frame: object = {"mcpServers": SERVERS}
    for _ in range(400):
        frame = [{"a": frame}]

    assert "secret" not in json.dumps(masked(frame))


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://a.example", "https://a.example/***"),
        ("http://[::1]:80/x", "http://[::1]:80/***"),
        ("https://a.example?key=secret", "https://a.example/***"),
        ("https://a_b:secret", "***"),
    ],
)
def test_the_host_of_a_url_stays_where_it_is_certain(url: str, shown: str) -> None:
    assert masked({"mcpServers": [{"name": "x", "url": url}]}) == {"mcpServers": [{"name": "x", "url": shown}]}


def test_an_empty_value_is_seen_to_be_empty() -> None:
    assert (mask("secret"), mask("")) == ("***", "")
