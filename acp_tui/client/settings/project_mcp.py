"""The MCP servers that a project brings along in its `.mcp.json`.

Such a file says what is to be started on the user's machine, and may come with any clone: what is read here is
only to be shown, until the user has trusted it (`trust`).
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import stat
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from acp_tui.client.errors import SettingsError
from acp_tui.client.settings.mcp import Server, ServerList, StdioServer
from acp_tui.client.settings.mcp_entries import read_servers

FILE_NAME: Final = ".mcp.json"
MAX_BYTES: Final = 1 << 20

# O_NONBLOCK: opening a named pipe must not wait for its other end.
_OPEN = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class ProjectServers:
    """What a project declares, read once: what the user was shown is what is trusted and sent."""

    file: Path
    """Absolute, without symbolic links."""
    digest: str
    """SHA-256 of the file's bytes."""
    declared: ServerList


def read_project_servers(cwd: Path) -> ProjectServers | None:
    """The servers of the project in `cwd`, None where it has no such file.

    Raises SettingsError for a file that cannot be used, or had better not be.
    """
    file = cwd.resolve() / FILE_NAME
    content = _read(file)
    if content is None:
        return None
    declared = read_servers(_server_table(file, content), f"{file}: mcpServers")
    anchored = tuple(_anchored(server, file.parent) for server in declared.servers)
    return ProjectServers(file, hashlib.sha256(content).hexdigest(), replace(declared, servers=anchored))


def _read(file: Path) -> bytes | None:
    try:
        fd = os.open(file, _OPEN)
        try:
            return _read_opened(file, fd)
        finally:
            os.close(fd)
    except FileNotFoundError:
        return None
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise SettingsError(f"{file} is not used: it is a symbolic link") from error
        raise SettingsError(f"{file} cannot be read: {error.strerror}") from error


def _read_opened(file: Path, fd: int) -> bytes:
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        raise SettingsError(f"{file} is not used: it is not a regular file")
    with os.fdopen(fd, "rb", closefd=False) as opened:
        content = opened.read(MAX_BYTES + 1)
    if len(content) > MAX_BYTES:
        raise SettingsError(f"{file} is not used: it is larger than {MAX_BYTES:,} bytes")
    return content


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
