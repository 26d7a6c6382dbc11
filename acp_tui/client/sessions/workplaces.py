"""What of the user's settings a session can be opened with at this agent, and a word on what it cannot."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from acp_tui.client import settings
from acp_tui.protocol.roles import AgentCapabilities


def usable_directories(
    capabilities: AgentCapabilities, wanted: Sequence[Path]
) -> tuple[tuple[Path, ...], tuple[str, ...]]:
    """The additional directories for an agent that takes any (R-DIR-1), and what is left out, a sentence each."""
    if wanted and not capabilities.additional_directories:
        left_out = ", ".join(map(str, wanted))
        return (), (f"The agent takes no additional directories: {left_out}",)
    missing = [path for path in wanted if not path.is_dir()]
    notes = [f"There is no directory {path}: it is left out." for path in missing]
    return tuple(path for path in wanted if path not in missing), tuple(notes)


def usable_servers(
    capabilities: AgentCapabilities,
    lists: Iterable[settings.ServerList],
    wanted: Sequence[str] | None = None,
) -> tuple[tuple[settings.Server, ...], tuple[str, ...]]:
    """The MCP servers that the agent can reach (R-MCP-2), and what is left out or odd, a sentence each.

    `wanted` names those that this agent is to get; None: all.
    """
    lists = tuple(lists)
    servers = tuple(server for found in lists for server in found.servers)
    known = {server.name for server in servers} | {entry.name for found in lists for entry in found.skipped}
    unknown = [name for name in wanted or () if name not in known]
    usable, skipped = settings.prepare(
        tuple(server for server in servers if wanted is None or server.name in wanted),
        http=capabilities.mcp_http,
        sse=capabilities.mcp_sse,
        environ=os.environ,
    )
    warnings = [warning for found in lists for warning in found.warnings]
    left_out = (*(entry for found in lists for entry in found.skipped), *skipped)
    notes = (f"{entry.name}: {entry.reason}" for entry in left_out if wanted is None or entry.name in wanted)
    missing = (f"{name}: there is no server of that name" for name in unknown)
    return tuple(usable), (*warnings, *notes, *missing)
