"""MCP servers in a project's .mcp.json."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from acp_tui.client.errors import SettingsError
from acp_tui.client.settings.mcp import ServerList
from acp_tui.client.settings.trust import MAX_BYTES, read_project_servers
from acp_tui.conversation.facts import HttpServer, StdioServer


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path.resolve() / ".mcp.json"


def declared(file: Path, servers: object) -> ServerList:
    file.write_text(json.dumps({"mcpServers": servers}))
    project = read_project_servers(file.parent)
    assert project is not None
    return project.declared


def test_a_project_without_the_file_has_no_servers(tmp_path: Path) -> None:
    assert read_project_servers(tmp_path) is None


def test_the_common_format_is_read_and_no_variable_expanded(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOKEN", "secret")
    servers = {
        "files": {"command": "npx", "args": ["-y", "files"], "env": {"TOKEN": "${TOKEN}"}},
        "docs": {"type": "http", "url": "https://docs.example", "headers": {"X-Token": "${TOKEN}"}},
        "news": {"type": "sse", "url": "https://news.example"},
        "typed": {"type": "stdio", "command": "typed", "args": None, "env": None},
    }

    assert declared(file, servers).servers == (
        StdioServer("files", "npx", ("-y", "files"), (("TOKEN", "${TOKEN}"),)),
        HttpServer("http", "docs", "https://docs.example", (("X-Token", "${TOKEN}"),)),
        HttpServer("sse", "news", "https://news.example"),
        StdioServer("typed", "typed"),
    )


@pytest.mark.parametrize("command", ["./server", "server/", "bin/server", "../server"])
def test_a_relative_command_lies_in_the_project_wherever_we_run(file: Path, command: str) -> None:
    (server,) = declared(file, {"x": {"command": command}}).servers

    assert isinstance(server, StdioServer)
    assert server.command == str(file.parent / command)


@pytest.mark.parametrize("command", ["server", "/bin/server", "${HOME}/server"])
def test_a_command_that_is_no_path_in_the_project_stays(file: Path, command: str) -> None:
    assert declared(file, {"x": {"command": command}}).servers == (StdioServer("x", command),)


def test_a_mistake_in_one_server_leaves_the_others_alone(file: Path) -> None:
    read = declared(file, {"bad\x1b": {"command": 5}, "good": {"command": "a", "timeout": 5}})

    assert [server.name for server in read.servers] == ["good"]
    assert [one.reason for one in read.skipped] == [
        rf"{file}: mcpServers.'bad\x1b'.command isn't a program, or a list of strings with the program first"
    ]
    assert read.warnings[0].startswith(f"{file}: mcpServers.good.timeout is unknown")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "isn't JSON"),
        (b"{", "isn't JSON"),
        (b"\xff", "isn't JSON"),
        (b"[" * 100_000, "isn't JSON"),
        (b"[]", "isn't a JSON object with mcpServers"),
        (b"{}", "mcpServers isn't a table"),
        (b'{"mcpServers": []}', "mcpServers isn't a table"),
        (b" " * (MAX_BYTES + 1), "is larger than 1,048,576 bytes"),
    ],
    ids=["empty", "cut", "not UTF-8", "too deep", "list", "no servers", "server list", "huge"],
)
def test_a_bad_file_is_a_clear_problem(file: Path, content: bytes, said: str) -> None:
    file.write_bytes(content)

    with pytest.raises(SettingsError, match=said) as failure:
        read_project_servers(file.parent)

    assert str(file) in str(failure.value)


def test_a_symbolic_link_is_refused_wherever_it_leads(file: Path, tmp_path: Path) -> None:
    (tmp_path / "real.json").write_text('{"mcpServers": {}}')
    file.symlink_to(tmp_path / "real.json")

    with pytest.raises(SettingsError, match="is a symbolic link"):
        read_project_servers(tmp_path)


def test_a_dangling_link_is_no_missing_file(file: Path) -> None:
    file.symlink_to("nowhere")

    with pytest.raises(SettingsError, match="is a symbolic link"):
        read_project_servers(file.parent)


def test_a_pipe_is_refused_without_waiting_for_its_other_end(file: Path) -> None:
    os.mkfifo(file)

    with pytest.raises(SettingsError, match="n't a regular file"):
        read_project_servers(file.parent)


def test_a_folder_is_refused(file: Path) -> None:
    file.mkdir()

    with pytest.raises(SettingsError, match="n't a regular file"):
        read_project_servers(file.parent)


def test_a_file_that_cannot_be_opened_is_said(file: Path) -> None:
    with pytest.raises(SettingsError, match="can't be read"):
        read_project_servers(file.parent / ("x" * 300))
