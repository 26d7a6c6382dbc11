"""The MCP servers that a project brings along in its `.mcp.json`.

Such a file says what is to be started on the user's machine, and may come with any clone: what is read here is
only to be shown, until the user has trusted it (`trust`).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from acp_tui.client.errors import SettingsError
from acp_tui.client.settings.mcp import Server, ServerList, StdioServer, readings
from acp_tui.client.settings.mcp_entries import read_servers
from acp_tui.client.settings.project_file import read_project_file

FILE_NAME: Final = ".mcp.json"


@dataclass(frozen=True, slots=True)
class ProjectServers:
    """What a project declares, read once: what the user was shown is what is trusted and sent."""

    file: Path
    """Absolute, without symbolic links."""
    digest: str
    """SHA-256 of the file's bytes and of the variables that are read for it: what the user agrees to."""
    declared: ServerList


def read_project_servers(cwd: Path) -> ProjectServers | None:
    """The servers of the project in `cwd`, None where it has no such file.

    Raises SettingsError for a file that cannot be used, or had better not be.
    """
    file = cwd.resolve() / FILE_NAME
    content = read_project_file(file)
    if content is None:
        return None
    declared = read_servers(_server_table(file, content), f"{file}: mcpServers")
    anchored = tuple(_anchored(server, file.parent) for server in declared.servers)
    return ProjectServers(file, _digest(content, anchored), replace(declared, servers=anchored))


def _digest(content: bytes, servers: Sequence[Server]) -> str:
    """Without variables that of the file alone."""
    read = [
        (server.name, reading.variable, reading.goes_to) for server in servers for reading in readings(server)
    ]
    return hashlib.sha256(content + (b"\0" + json.dumps(read).encode() if read else b"")).hexdigest()


def _server_table(file: Path, content: bytes) -> object:
    try:
        value = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise SettingsError(f"{file} is not JSON: {error}") from error
    if not isinstance(value, dict):
        raise SettingsError(f"{file} is not a JSON object with mcpServers")
    return value.get("mcpServers")


def _anchored(server: Server, folder: Path) -> Server:
    """A command such as ./server lies in the project; a plain name is looked up on PATH, and so stays."""
    if not isinstance(server, StdioServer):
        return server
    command = server.command
    if "/" not in command or command.startswith(("/", "${")):
        return server
    return replace(server, command=str(folder / command))
