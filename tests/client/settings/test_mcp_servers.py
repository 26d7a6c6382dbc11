"""MCP servers, from their declaration to the wire."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest

from acp_tui.client.errors import SettingsError
from acp_tui.client.settings.mcp import Server, Skipped, gate, prepare, resolve
from acp_tui.conversation.facts import HttpServer, StdioServer
from acp_tui.protocol.v1.outbound import mcp_server as wire
from support.schema import needs_schema, schema_v1

STDIO = StdioServer("files", "/bin/files")
HTTP = HttpServer("http", "docs", "https://docs.example/mcp")
SSE = HttpServer("sse", "news", "https://news.example/sse")


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """A program in a folder that can be on PATH."""
    program = tmp_path / "bin" / "files"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    return program


def test_a_server_to_start_has_no_type_and_all_its_lists_also_empty_ones_r_mcp_1() -> None:
    assert wire(STDIO) == {"name": "files", "command": "/bin/files", "args": [], "env": []}


def test_env_and_headers_are_sent_as_pairs_in_their_order_r_mcp_3() -> None:
    stdio = StdioServer("files", "/bin/files", ("-v",), (("B", "1"), ("A", "2")))
    sse = HttpServer("sse", "news", "https://news.example", (("Authorization", "Bearer x"),))

    assert wire(stdio)["env"] == [{"name": "B", "value": "1"}, {"name": "A", "value": "2"}]
    assert wire(sse) == {
        "type": "sse",
        "name": "news",
        "url": "https://news.example",
        "headers": [{"name": "Authorization", "value": "Bearer x"}],
    }


@needs_schema
def test_what_is_sent_is_as_the_schema_wants_it_r_sess_1() -> None:
    value: dict[str, Any] = {"cwd": "/", "mcpServers": [wire(server) for server in (STDIO, HTTP, SSE)]}
    schema = {"$ref": "#/$defs/NewSessionRequest", "$defs": schema_v1()["$defs"]}

    assert list(jsonschema.Draft202012Validator(schema).iter_errors(value)) == []


@pytest.mark.parametrize(
    "server",
    [
        StdioServer("files", "/bin/files", ("--token=secret",), (("TOKEN", "secret"),)),
        HttpServer("http", "docs", "https://me:secret@docs.example", (("Authorization", "secret"),)),
    ],
    ids=["stdio", "http"],
)
def test_the_repr_of_a_server_shows_no_secret_r_mcp_3(server: Server) -> None:
    assert "secret" not in repr(server)
    assert server.name in repr(server)


@pytest.mark.parametrize(
    ("http", "sse", "usable"),
    [
        (False, False, (STDIO,)),
        (True, False, (STDIO, HTTP)),
        (False, True, (STDIO, SSE)),
        (True, True, (STDIO, HTTP, SSE)),
    ],
)
def test_only_transports_that_the_agent_takes_are_used_r_mcp_2(
    http: bool, sse: bool, usable: tuple[Server, ...]
) -> None:
    assert gate((STDIO, HTTP, SSE), http=http, sse=sse)[0] == usable


def test_the_user_is_told_of_each_server_that_the_agent_does_not_take_r_mcp_2() -> None:
    assert gate((HTTP, SSE), http=False, sse=False)[1] == (
        Skipped("docs", "the agent doesn't support MCP servers over http"),
        Skipped("news", "the agent doesn't support MCP servers over sse"),
    )


@pytest.mark.parametrize("mine", [STDIO, SSE], ids=["usable", "not usable"])
def test_the_users_server_wins_over_another_of_its_name(mine: Server) -> None:
    theirs = StdioServer(mine.name, "/bin/theirs")

    usable, skipped = gate((mine, theirs), http=False, sse=False)

    assert theirs not in usable
    assert skipped[-1].name == mine.name
    assert "your settings have a server with that name" in skipped[-1].reason


def test_a_command_is_sent_with_its_absolute_path_r_mcp_1(program: Path) -> None:
    found = resolve(StdioServer("files", "files", ("-v",)), f"/nowhere:{program.parent}")

    assert found == StdioServer("files", str(program), ("-v",))


def test_an_absolute_command_stays_as_it_is(program: Path) -> None:
    server = StdioServer("files", str(program))

    assert resolve(server, "") == server


@pytest.mark.parametrize("path", ["bin", ".:bin", "", ":"])
def test_a_relative_entry_of_path_finds_nothing(program: Path, path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(program.parent.parent)

    with pytest.raises(SettingsError, match="'files' wasn't found"):
        resolve(StdioServer("files", "files"), path)


def test_a_relative_command_is_refused_even_where_it_would_be_found(
    program: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(program.parent.parent)

    with pytest.raises(SettingsError, match="relative path"):
        resolve(StdioServer("files", "bin/files"), "/")


@pytest.mark.parametrize("command", ["", "no-such-program", "/no/such/program", "a\0b", "/a\0b", "\ud800", "/"])
def test_a_command_that_cannot_be_is_said_to_be_missing(command: str) -> None:
    with pytest.raises(SettingsError, match="wasn't found"):
        resolve(StdioServer("files", command), "/usr/bin")


def test_a_file_that_is_not_executable_is_not_found(program: Path) -> None:
    program.chmod(0o644)

    with pytest.raises(SettingsError, match="executable"):
        resolve(StdioServer("files", "files"), str(program.parent))


def test_arguments_inside_a_command_are_explained_and_not_repeated() -> None:
    with pytest.raises(SettingsError, match="put them in args") as failure:
        resolve(StdioServer("files", "npx a/b --token secret"), "/usr/bin")

    assert "secret" not in str(failure.value)


def test_variables_are_filled_in_wherever_values_stand(program: Path) -> None:
    stdio = StdioServer("files", "${P}", ("--root=${A}",), (("${A}", "${A}"),))
    http = HttpServer("http", "docs", "https://${A}.example", (("${A}", "Bearer ${A}"),))
    environ = {"P": "files", "A": "x", "PATH": str(program.parent)}

    usable, skipped = prepare((stdio, http), http=True, sse=False, environ=environ)

    assert usable == (
        StdioServer("files", str(program), ("--root=x",), (("${A}", "x"),)),
        HttpServer("http", "docs", "https://x.example", (("${A}", "Bearer x"),)),
    )
    assert skipped == ()


def test_a_server_that_cannot_be_prepared_leaves_the_others_alone(program: Path) -> None:
    servers = (
        HttpServer("http", "token", "https://a.example", (("Authorization", "${TOKEN}"),)),
        HttpServer("http", "scheme", "${URL}"),
        StdioServer("missing", "no-such-program"),
        SSE,
        StdioServer("files", "files"),
    )
    environ = {"URL": "file:///secret", "PATH": str(program.parent)}

    usable, skipped = prepare(servers, http=True, sse=False, environ=environ)

    assert [server.name for server in usable] == ["files"]
    reasons = {one.name: one.reason for one in skipped}
    assert set(reasons) == {"token", "scheme", "missing", "news"}
    assert reasons["token"].startswith("the environment variable TOKEN isn't set: export it")
    assert reasons["scheme"] == "its url doesn't start with http:// or https://"


def test_a_server_of_the_users_that_cannot_be_prepared_gives_way_to_no_other(program: Path) -> None:
    mine, theirs = StdioServer("files", "no-such-program"), StdioServer("files", str(program))

    usable, skipped = prepare((mine, theirs), http=False, sse=False, environ={})

    assert usable == ()
    assert len(skipped) == 2
