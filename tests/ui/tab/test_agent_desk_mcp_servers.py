"""The user's MCP servers go to the agent with each session, and a project's once trusted; others are reported."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from acp_tui.client.settings.location import settings_file
from acp_tui.client.settings.trust import Trust, read_project_servers, remember, trust_file
from acp_tui.conversation.updates import ClientRemark
from support.desks import SESSION
from support.tabs import OpenTabs

SERVED = SESSION + "serve_until_closed()"
"""An agent that accepts only servers it starts itself."""
OVER_HTTP = """
handshake(agentCapabilities={"mcpCapabilities": {"http": True}})
answer(expect("session/new"), sessionId="s1")
answer(expect("session/new"), sessionId="s2")
serve_until_closed()
"""
LOCAL = f'[mcp.local]\ncommand = ["{sys.executable}", "--serve"]\nenv = {{ LEVEL = "${{LEVEL}}" }}\n'
REMOTE = '[mcp.docs]\nurl = "https://docs.example/mcp"\n'
LOCAL_AS_SENT = {
    "name": "local",
    "command": sys.executable,
    "args": ["--serve"],
    "env": [{"name": "LEVEL", "value": "high"}],
}
REMOTE_AS_SENT = {"type": "http", "name": "docs", "url": "https://docs.example/mcp", "headers": []}


@pytest.fixture(autouse=True)
def level(monkeypatch: pytest.MonkeyPatch) -> None:
    """The variables the user's settings refer to."""
    monkeypatch.setenv("LEVEL", "high")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project's file that brings a server."""
    file = tmp_path / ".mcp.json"
    server = {"command": sys.executable, "args": ["--project"]}
    file.write_text(json.dumps({"mcpServers": {"theirs": server}}))
    return file


def user_has(*tables: str) -> None:
    file = settings_file()
    file.parent.mkdir(parents=True)
    file.write_text("".join(tables))


def names(servers: Sequence[Any]) -> list[str]:
    return [server["name"] for server in servers]


def test_settings_and_decisions_are_kept_in_the_home_of_the_test(home: Path) -> None:
    assert settings_file().is_relative_to(home)
    assert trust_file().is_relative_to(home)


# The user's own


async def test_the_users_servers_go_to_the_agent_with_each_session(open_tabs: OpenTabs) -> None:
    """R-MCP-1."""
    user_has(LOCAL, REMOTE)
    async with open_tabs(OVER_HTTP) as desk:
        await desk.has_session()
        await desk.do("begin_session")
        opened = await desk.gets("session/new", times=2)
        assert [params["mcpServers"] for params in opened] == [[LOCAL_AS_SENT, REMOTE_AS_SENT]] * 2


async def test_a_server_that_the_agent_cannot_reach_is_left_out_and_told(open_tabs: OpenTabs) -> None:
    """R-MCP-2."""
    user_has(LOCAL, REMOTE)
    async with open_tabs(SERVED) as desk:
        await desk.has_session()
        await desk.shows("MCP servers: docs: the agent doesn't support MCP servers over http")
        assert names(desk.sent("session/new")[0]["mcpServers"]) == ["local"]


async def test_what_is_left_out_is_told_once_in_each_session(open_tabs: OpenTabs) -> None:
    user_has(REMOTE)
    script = """
    answer(expect("session/new"), sessionId="s2")
    serve_until_closed()
    """
    async with open_tabs(SESSION, script) as desk:
        await desk.shows("MCP servers: docs")
        await desk.do("begin_session")
        await desk.until(lambda: len(desk.tabs) == 2)
        await desk.shows("MCP servers: docs")
        (remark,) = desk.shown_session.conversation.entries
        assert isinstance(remark, ClientRemark)
        assert desk.shown_session.conversation.is_blank


async def test_a_file_that_cannot_be_read_is_told_and_the_other_one_counts(open_tabs: OpenTabs, tmp_path: Path) -> None:
    (tmp_path / ".mcp.json").write_text("{")
    user_has(LOCAL)
    async with open_tabs(SERVED) as desk:
        await desk.has_session()
        await desk.shows(".mcp.json")
        assert names(desk.sent("session/new")[0]["mcpServers"]) == ["local"]


async def test_settings_that_cannot_be_read_are_told_with_what_to_do(open_tabs: OpenTabs) -> None:
    user_has("[mcp.local\n")
    async with open_tabs(SERVED) as desk:
        await desk.has_session()
        await desk.shows("fix it or move it away")
        assert desk.sent("session/new")[0]["mcpServers"] == []


# A project's


async def test_a_projects_servers_are_used_once_trusted_and_the_answer_is_kept(
    open_tabs: OpenTabs, project: Path
) -> None:
    user_has(LOCAL)
    async with open_tabs(SERVED) as desk:
        await desk.shows("Trust this project's servers?", "theirs", "--project")
        assert desk.sent("session/new") == []
        await desk.answer(True)
        await desk.has_session()
        assert names(desk.sent("session/new")[0]["mcpServers"]) == ["local", "theirs"]
    async with open_tabs(SERVED) as desk:
        await desk.has_session()
        assert names(desk.sent("session/new")[1]["mcpServers"]) == ["local", "theirs"]


async def test_a_projects_servers_are_left_out_without_a_yes_and_not_asked_for_again(
    open_tabs: OpenTabs, project: Path
) -> None:
    async with open_tabs(SERVED) as desk:
        await desk.shows("Trust this project's servers?")
        await desk.answer(False)
        await desk.shows("theirs: you rejected")
        assert desk.sent("session/new")[0]["mcpServers"] == []
    async with open_tabs(SERVED) as desk:
        await desk.has_session()
        assert "Trust this project" not in desk.words
        assert desk.sent("session/new")[1]["mcpServers"] == []


async def test_a_projects_file_that_changed_is_asked_for_again(open_tabs: OpenTabs, project: Path) -> None:
    found = read_project_servers(project.parent)
    assert found is not None
    remember(found, Trust.TRUSTED, trust_file())
    project.write_text(project.read_text().replace("--project", "--evil"))
    async with open_tabs(SERVED) as desk:
        await desk.shows("Trust this project's servers?", "--evil")
        await desk.answer(False)
        await desk.has_session()
        assert desk.sent("session/new")[0]["mcpServers"] == []


async def test_a_decision_that_cannot_be_kept_holds_for_now_and_is_told(
    open_tabs: OpenTabs, project: Path, home: Path
) -> None:
    (home / "state").write_text("in the way")
    user_has(LOCAL)
    async with open_tabs(SERVED) as desk:
        await desk.shows("Trust this project's servers?")
        await desk.answer(True)
        await desk.has_session()
        await desk.shows("it lasts until acp-tui ends")
        assert names(desk.sent("session/new")[0]["mcpServers"]) == ["local", "theirs"]


# Those that run here


async def test_a_server_that_runs_here_is_listed_as_such_and_told_when_it_ends(open_tabs: OpenTabs) -> None:
    user_has(LOCAL)
    script = """
    about = {"name": "agent", "version": "1"}
    answer(expect("initialize"), protocolVersion=2, info=about, capabilities={"session": {"mcp": {"acp": {}}}})
    answer(expect("session/new"), sessionId="s1")
    serve_until_closed()
    """
    async with open_tabs(script) as desk:
        await desk.shows("MCP server local exited with code")  # Python has no such option
        await desk.do("show_mcp")
        await desk.shows(f"local: runs {sys.executable} on this machine")
        (opened,) = desk.sent("session/new")
        assert [server.keys() for server in opened["mcpServers"]] == [{"type", "name", "serverId"}]
