"""Remembers which project files the user trusts: a file with a specific content at a specific path."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import stat
from collections.abc import Sequence
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import Final, Protocol

from acp_tui.client.errors import SettingsError
from acp_tui.client.private_files import decide, decisions
from acp_tui.client.settings.location import state_folder
from acp_tui.client.settings.mcp import Server, ServerList, Skipped, read_servers, readings
from acp_tui.conversation.facts import StdioServer
from acp_tui.conversation.wording import from_home
from acp_tui.values import dataclass

MAX_BYTES: Final = 1 << 20

# O_NONBLOCK: opening a named pipe must not wait for its other end.
_OPEN: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def read_project_file(file: Path, most: int = MAX_BYTES) -> bytes | None:
    """The file's bytes; None if there is no file. Raises SettingsError for a file that shouldn't be used."""
    try:
        fd = os.open(file, _OPEN)
        try:
            return _read_opened(file, fd, most)
        finally:
            os.close(fd)
    except FileNotFoundError:
        return None
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise SettingsError(f"{from_home(file)} isn't used: it is a symbolic link") from error
        raise SettingsError(f"{from_home(file)} can't be read: {error.strerror}") from error


def _read_opened(file: Path, fd: int, most: int) -> bytes:
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        raise SettingsError(f"{from_home(file)} isn't used: it isn't a regular file")
    with os.fdopen(fd, "rb", closefd=False) as opened:
        content = opened.read(most + 1)
    if len(content) > most:
        raise SettingsError(f"{from_home(file)} isn't used: it is larger than {most:,} bytes")
    return content


# Such a file names programs to start on the user's machine and may come with any clone. Until the user trusts it, its
# content is only shown.

FILE_NAME: Final = ".mcp.json"


@dataclass(frozen=True, slots=True)
class ProjectServers:
    """What a project declares, read once: what the user sees is what they trust and what is sent."""

    file: Path
    """Absolute, without symbolic links."""
    digest: str
    """SHA-256 of the file's bytes and the variables it reads, which is what the user agrees to."""
    declared: ServerList


def read_project_servers(cwd: Path) -> ProjectServers | None:
    """The servers of the project in `cwd`; None if it has no such file.

    Raises SettingsError for a file that can't or shouldn't be used.
    """
    file = cwd.resolve() / FILE_NAME
    content = read_project_file(file)
    if content is None:
        return None
    declared = read_servers(_server_table(file, content), f"{from_home(file)}: mcpServers")
    anchored = tuple(_anchored(server, file.parent) for server in declared.servers)
    return ProjectServers(file, _digest(content, anchored), replace(declared, servers=anchored))


def _digest(content: bytes, servers: Sequence[Server]) -> str:
    """Without variables, the digest of just the file."""
    read = [(server.name, reading.variable, reading.goes_to) for server in servers for reading in readings(server)]
    return hashlib.sha256(content + (b"\0" + json.dumps(read).encode() if read else b"")).hexdigest()


def _server_table(file: Path, content: bytes) -> object:
    try:
        value = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise SettingsError(f"{from_home(file)} isn't JSON: {error}") from error
    if not isinstance(value, dict):
        raise SettingsError(f"{from_home(file)} isn't a JSON object with mcpServers")
    return value.get("mcpServers")


def _anchored(server: Server, folder: Path) -> Server:
    """Resolve a command such as ./server in the project. A plain name stays, because it's looked up on PATH."""
    if not isinstance(server, StdioServer):
        return server
    command = server.command
    if "/" not in command or command.startswith(("/", "${")):
        return server
    return replace(server, command=str(folder / command))


class ProjectFile(Protocol):
    """A file of a project, read once: what the user sees is what they trust."""

    @property
    def file(self) -> Path:
        """Absolute, without symbolic links."""

    @property
    def digest(self) -> str:
        """SHA-256 of its bytes."""


class Trust(StrEnum):
    """The user's decision about a project's file."""

    TRUSTED = "trusted"
    REJECTED = "rejected"
    UNDECIDED = "undecided"
    """Never asked, or the file has changed since."""


def trust_file() -> Path:
    return state_folder() / "trusted-projects.json"


def trust_state(project: ProjectFile, file: Path) -> Trust:
    """The decision. UNDECIDED also if `file` can't be read, because then nothing may count as trusted."""
    decision = decisions(file).get(str(project.file), {}).get(project.digest)
    return next((trust for trust in Trust if trust == decision), Trust.UNDECIDED)


def trusted_servers(project: ProjectServers, trust: Trust) -> ServerList:
    """The project's servers if it's trusted, otherwise none, with each of them listed as skipped."""
    declared = project.declared
    if trust is Trust.TRUSTED:
        return declared
    verdict = "you rejected" if trust is Trust.REJECTED else "you haven't trusted yet"
    held_back = (Skipped(server.name, f"{verdict} {from_home(project.file)}") for server in declared.servers)
    return replace(declared, servers=(), skipped=(*declared.skipped, *held_back))


def remember(project: ProjectFile, trust: Trust, file: Path) -> None:
    """Store the decision for exactly this content at this path. Raises SettingsError if the file can't be written."""
    try:
        decide(file, str(project.file), project.digest, trust)  # all digests: switching branches keeps decisions
    except OSError as error:
        raise SettingsError(
            f"the decision on {from_home(project.file)} can't be kept in {from_home(file)}: {error.strerror}",
            hint="it lasts until acp-tui ends",
        ) from error
