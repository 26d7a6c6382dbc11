"""Tells which MCP servers an agent's sessions are opened with, and what was left out; it starts and asks nothing."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit

from anyio import to_thread

from acp_tui.client import settings
from acp_tui.client.errors import SettingsError
from acp_tui.client.sessions.agent import Agent
from acp_tui.client.sessions.driver import usable_servers


async def mcp_servers_told(agent: Agent, cwd: Path) -> str:
    """As the settings and the project's file are now, which is what the next session is opened with."""
    return await to_thread.run_sync(_told, agent, cwd)


def _told(agent: Agent, cwd: Path) -> str:
    lists: list[settings.ServerList] = []
    problems: list[str] = []
    for read in (_of_user, lambda: _of_project(cwd)):
        try:
            lists.append(read())
        except SettingsError as error:
            problems.append(str(error))
    servers, left_out = usable_servers(agent.capabilities, lists)
    used = "\n".join(map(_line, servers)) or "None."
    parts = [f"Every session of {agent.title} here is opened with:\n{used}"]
    if left_out or problems:
        parts.append("\n".join(("Left out, or odd:", *(f"- {note}" for note in (*problems, *left_out)))))
    parts.append(f"They are declared in {settings.settings_file()}, section mcp, and in {cwd / '.mcp.json'}.")
    return "\n\n".join(parts)


def _of_user() -> settings.ServerList:
    return settings.servers_at_start(settings.settings_file())


def _of_project(cwd: Path) -> settings.ServerList:
    project = settings.read_project_servers(cwd)
    if project is None:
        return settings.ServerList()
    return settings.trusted_servers(project, settings.trust_state(project, settings.trust_file()))


def _line(server: settings.Server) -> str:
    """Its name, and what it is; the rest of it may hold secrets."""
    if isinstance(server, settings.StdioServer):
        return f"- {server.name}: runs {server.command}"
    return f"- {server.name}: {server.kind} at {urlsplit(server.url).hostname}"
