"""MCP servers in the user's settings file."""

from __future__ import annotations

from pathlib import Path

import pytest

from acp_tui.client.errors import SettingsError
from acp_tui.client.settings.location import settings_file
from acp_tui.client.settings.mcp import EXAMPLE, ServerList, read_user_servers, servers_at_start
from acp_tui.conversation.facts import HttpServer, StdioServer


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "settings.toml"


def test_the_settings_stand_in_the_config_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))

    assert settings_file().is_relative_to(tmp_path)
    assert settings_file().parts[-2:] == ("acp-tui", "settings.toml")


def test_without_a_file_there_are_no_servers(file: Path) -> None:
    assert read_user_servers(file) == ServerList()


def test_other_settings_are_left_to_others(file: Path) -> None:
    file.write_text('theme = "dark"\n[keys]\nmcp = 5\n')

    assert read_user_servers(file) == ServerList()


def test_the_example_of_the_hint_is_valid(file: Path) -> None:
    file.write_text(EXAMPLE)

    assert read_user_servers(file) == ServerList(
        (
            StdioServer(
                "github",
                "npx",
                ("-y", "@modelcontextprotocol/server-github"),
                (("GITHUB_TOKEN", "${GITHUB_TOKEN}"),),
            ),
            HttpServer("http", "docs", "https://docs.example/mcp", (("Authorization", "Bearer ${DOCS_TOKEN}"),)),
        )
    )


@pytest.mark.parametrize(
    "command",
    ['command = "a"\nargs = ["b", "c"]', 'command = ["a", "b", "c"]', 'command = ["a", "b"]\nargs = ["c"]'],
)
def test_a_command_is_a_program_with_args_or_one_list(file: Path, command: str) -> None:
    file.write_text(f"[mcp.x]\n{command}\n")

    assert read_user_servers(file).servers == (StdioServer("x", "a", ("b", "c")),)


@pytest.mark.parametrize(
    ("line", "kind"),
    [("", "http"), ('type = "http"', "http"), ('type = "streamable-http"', "http"), ('type = "sse"', "sse")],
)
def test_a_url_is_streamable_http_unless_it_says_otherwise(file: Path, line: str, kind: str) -> None:
    file.write_text(f'[mcp.x]\nurl = "https://x.example"\n{line}\n')

    (server,) = read_user_servers(file).servers
    assert isinstance(server, HttpServer)
    assert server.kind == kind


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ("mcp.x = 5", "mcp.x isn't a table with a command or a url"),
        ("[mcp.x]", "mcp.x needs either a command"),
        ('[mcp.x]\ncommand = "a"\nurl = "b"', "mcp.x needs either a command"),
        ("[mcp.x]\ncommand = 5", "mcp.x.command isn't a program, or a list of strings"),
        ("[mcp.x]\ncommand = []", "mcp.x.command isn't a program, or a list of strings"),
        ('[mcp.x]\ncommand = ""', "mcp.x.command isn't a program, or a list of strings"),
        ('[mcp.x]\ncommand = "a"\nargs = "b"', "mcp.x.args isn't a list of strings"),
        ('[mcp.x]\ncommand = "a"\nargs = [1]', "mcp.x.args isn't a list of strings"),
        ('[mcp.x]\ncommand = "a"\nenv = ["A=1"]', "mcp.x.env isn't a table of strings"),
        ('[mcp.x]\ncommand = "a"\nenv = { A = 1 }', "mcp.x.env isn't a table of strings"),
        ('[mcp.x]\ncommand = "a"\ntype = "http"', 'mcp.x.type isn\'t "stdio"'),
        ("[mcp.x]\nurl = 5", "mcp.x.url isn't a string"),
        ('[mcp.x]\nurl = "a"\ntype = "ws"', 'mcp.x.type isn\'t "http" or "sse"'),
        ('[mcp.x]\nurl = "a"\ntype = []', 'mcp.x.type isn\'t "http" or "sse"'),
        ('[mcp.x]\nurl = "a"\nheaders = 5', "mcp.x.headers isn't a table of strings"),
        ('[mcp.""]\nurl = "a"', "mcp.'' has an empty name"),
        ('[mcp."a\\nb"]\nurl = 5', "mcp.'a\\nb'.url isn't a string"),
        ('[mcp.x]\ncommand = "a"\ndisabled = true', "mcp.x is disabled"),
    ],
)
def test_a_mistake_skips_its_server_and_is_said_with_file_key_and_what_is_allowed(
    file: Path, entry: str, said: str
) -> None:
    file.write_text(f'{entry}\n[mcp.other]\ncommand = "good"\n')

    read = read_user_servers(file)

    assert [server.name for server in read.servers] == ["other"]
    (skipped,) = read.skipped
    assert skipped.reason.startswith(f"{file}: {said}")


def test_unknown_keys_warn_and_the_server_is_used(file: Path) -> None:
    file.write_text('[mcp.x]\ncommand = "a"\ncwd = "/"\n')

    read = read_user_servers(file)

    assert read.servers == (StdioServer("x", "a"),)
    assert read.warnings == (f"{file}: mcp.x.cwd is unknown and ignored; known: command, args, env, type, disabled",)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"mcp = [", "can't be read"),
        (b"\xff", "can't be read"),
        (b"a = " + b"[" * 10_000, "can't be read"),
        (b"mcp = 5", "mcp isn't a table of MCP servers by name"),
    ],
    ids=["not TOML", "not UTF-8", "too deep", "not a table"],
)
def test_a_file_that_is_of_no_use_is_said_with_an_example(file: Path, content: bytes, said: str) -> None:
    file.write_bytes(content)

    with pytest.raises(SettingsError, match=said) as failure:
        read_user_servers(file)

    assert str(file) in str(failure.value)
    assert EXAMPLE in failure.value.hint


def test_servers_that_come_while_we_run_are_not_used_and_that_is_said(file: Path) -> None:
    """An agent that runs a command can write there; that must not start a server of its choice."""
    file.write_text('[mcp.mine]\ncommand = "a"\n')
    first = servers_at_start(file)
    assert servers_at_start(file) == first

    file.write_text('[mcp.mine]\ncommand = "evil"\n[mcp.more]\ncommand = "evil"\n')

    now = servers_at_start(file)
    assert now.servers == (StdioServer("mine", "a"),)
    assert "takes effect at the next start" in now.warnings[-1]
