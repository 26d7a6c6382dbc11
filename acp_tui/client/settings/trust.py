"""Remembers which projects' MCP servers the user trusts: a file as it was read, at the place where it lay.

It does not ask the user. What a trusted server's program does, and how that program changes, is beyond it.
"""

from __future__ import annotations

import json
import os
import tempfile
from contextlib import suppress
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TypeAlias

from acp_tui.client.errors import SettingsError
from acp_tui.client.settings.mcp import ServerList, Skipped
from acp_tui.client.settings.project_mcp import ProjectServers

_Decisions: TypeAlias = dict[str, dict[str, object]]
"""By the path of the project's file, then by the digest of its content: a branch that comes back is known."""


class Trust(StrEnum):
    """What the user has said of a project's servers."""

    TRUSTED = "trusted"
    REJECTED = "rejected"
    UNDECIDED = "undecided"
    """Never asked, or the file has changed since."""


def trust_file() -> Path:
    """Where the decisions are kept."""
    import platformdirs  # only a project with servers of its own needs it

    return platformdirs.user_state_path("acp-tui") / "trusted-projects.json"


def trust_state(project: ProjectServers, file: Path) -> Trust:
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


def remember(project: ProjectServers, trust: Trust, file: Path) -> None:
    """Keep the decision for this very content, at this place. Raises SettingsError where it cannot be written."""
    try:
        decisions = _read(file)
        decisions.setdefault(str(project.file), {})[project.digest] = trust
        _write(file, decisions)
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


def _write(file: Path, decisions: _Decisions) -> None:
    """All or nothing. Of two that write at once the last wins: the other's user is asked once more."""
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    fd, temporary = tempfile.mkstemp(dir=file.parent, prefix=f"{file.name}.")  # made with mode 0600
    try:
        with os.fdopen(fd, "w", encoding="utf-8") as opened:
            json.dump(decisions, opened, indent=1)
            opened.flush()
            os.fsync(fd)
        Path(temporary).replace(file)
    except BaseException:
        with suppress(OSError):
            Path(temporary).unlink()
        raise
