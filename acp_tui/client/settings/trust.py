"""Remembers which files of projects the user trusts: a file as it was read, at the place where it lay.

It does not ask the user. What a trusted server's program does, and how that program changes, is beyond it.
"""

from __future__ import annotations

import json
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import Protocol, TypeAlias

from acp_tui.client.errors import SettingsError
from acp_tui.client.files import replace_file
from acp_tui.client.settings.mcp import ServerList, Skipped
from acp_tui.client.settings.project_mcp import ProjectServers

_Decisions: TypeAlias = dict[str, dict[str, object]]
"""By the path of the project's file, then by the digest of its content: a branch that comes back is known."""


class ProjectFile(Protocol):
    """A file that a project brings along, read once: what the user was shown is what is trusted."""

    @property
    def file(self) -> Path:
        """Absolute, without symbolic links."""

    @property
    def digest(self) -> str:
        """SHA-256 of its bytes."""


class Trust(StrEnum):
    """What the user has said of a project's file."""

    TRUSTED = "trusted"
    REJECTED = "rejected"
    UNDECIDED = "undecided"
    """Never asked, or the file has changed since."""


def trust_file() -> Path:
    """Where the decisions are kept."""
    import platformdirs  # only a project with servers of its own needs it

    return platformdirs.user_state_path("acp-tui") / "trusted-projects.json"


def trust_state(project: ProjectFile, file: Path) -> Trust:
    """What was decided; UNDECIDED also where `file` cannot be read, since nothing may count as trusted then."""
    try:
        decision = _read(file).get(str(project.file), {}).get(project.digest)
    except OSError:
        return Trust.UNDECIDED
    return next((trust for trust in Trust if trust == decision), Trust.UNDECIDED)


def trusted_servers(project: ProjectServers, trust: Trust) -> ServerList:
    """What the project declares where it is trusted; else no server, and each of them among the skipped."""
    declared = project.declared
    if trust is Trust.TRUSTED:
        return declared
    verdict = "you rejected" if trust is Trust.REJECTED else "you have not trusted yet"
    held_back = (Skipped(server.name, f"{verdict} {project.file}") for server in declared.servers)
    return replace(declared, servers=(), skipped=(*declared.skipped, *held_back))


def remember(project: ProjectFile, trust: Trust, file: Path) -> None:
    """Keep the decision for this very content, at this place. Raises SettingsError where it cannot be written."""
    try:
        decisions = _read(file)
        decisions.setdefault(str(project.file), {})[project.digest] = trust
        # Of two that write at once the last wins: the other's user is asked once more.
        replace_file(file, json.dumps(decisions, indent=1).encode())
    except OSError as error:
        raise SettingsError(
            f"the decision on {project.file} cannot be kept in {file}: {error.strerror}",
            hint="it holds until acp-tui ends",
        ) from error


def _read(file: Path) -> _Decisions:
    """Broken content is as good as none: the user is asked again."""
    try:
        content = json.loads(file.read_bytes())
    except (FileNotFoundError, ValueError, RecursionError):
        return {}
    if not isinstance(content, dict):
        return {}
    return {path: digests for path, digests in content.items() if isinstance(digests, dict)}
