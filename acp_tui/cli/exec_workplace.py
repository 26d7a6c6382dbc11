"""Where the one turn of an `exec` works: the directories and MCP servers that are settled. What is left out is said."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from acp_tui.client import settings
from acp_tui.client.errors import SettingsError
from acp_tui.client.sessions.workplaces import usable_directories, usable_servers
from acp_tui.protocol.capabilities import AgentCapabilities


def mcp_servers(
    capabilities: AgentCapabilities,
    cwd: Path,
    say: Callable[[str], None],
    wanted: Sequence[str] | None = None,
) -> Sequence[settings.Server]:
    """The user's servers, and the project's where the user has trusted them: nobody is here to be asked."""
    user = _readable(lambda: settings.servers_at_start(settings.settings_file()), say)
    project = _readable(lambda: _trusted_servers(cwd, say), say)
    servers, notes = usable_servers(capabilities, (user, project), wanted)
    for note in notes:
        say(f"MCP servers: {note}")
    return servers


def _readable(read: Callable[[], settings.ServerList], say: Callable[[str], None]) -> settings.ServerList:
    try:
        return read()
    except SettingsError as error:
        say(str(error))
        return settings.ServerList()


def _trusted_servers(cwd: Path, say: Callable[[str], None]) -> settings.ServerList:
    project = settings.read_project_servers(cwd)
    if project is None:
        return settings.ServerList()
    trust = settings.trust_state(project, settings.trust_file())
    if trust is settings.Trust.UNDECIDED and project.declared.servers:
        say(f"MCP servers left out: {project.file} is not trusted yet; acp-tui asks about it on the screen")
    return settings.trusted_servers(project, trust)


def additional_directories(
    capabilities: AgentCapabilities, wanted: Sequence[Path], say: Callable[[str], None]
) -> Sequence[Path]:
    """Those of the settings, where the agent takes any and they are there."""
    directories, notes = usable_directories(capabilities, wanted)
    for note in notes:
        say(note)
    return directories
