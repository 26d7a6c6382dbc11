"""The MCP servers that the user wants in every session: `[mcp.NAME]` in the settings file.

What else stands in that file is not its matter.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Final

from acp_tui.client.errors import SettingsError
from acp_tui.client.settings.mcp import ServerList
from acp_tui.client.settings.mcp_entries import read_servers
from acp_tui.client.settings.toml_file import read_toml

EXAMPLE: Final = """\
[mcp.github]
command = ["npx", "-y", "@modelcontextprotocol/server-github"]
env = { GITHUB_TOKEN = "${GITHUB_TOKEN}" }

[mcp.docs]
url = "https://docs.example/mcp"
type = "http"
headers = { Authorization = "Bearer ${DOCS_TOKEN}" }
"""


def servers_at_start(file: Path) -> ServerList:
    """The servers as the file had them when it was first asked for: before the first agent of this process ran.

    An agent may have written there since, to have a program of its choice run. Where the file says something else by
    now, a warning says so; another where it was of no use.
    """
    first = _first_read(file)
    with suppress(SettingsError):
        if read_user_servers(file) != first:
            changed = (
                f"{file}: mcp has changed while acp-tui runs; what it says now counts from the next start on"
            )
            return replace(first, warnings=(*first.warnings, changed))
    return first


@cache
def _first_read(file: Path) -> ServerList:
    try:
        return read_user_servers(file)
    except SettingsError as error:
        return ServerList(warnings=(f"{error}: {error.hint}" if error.hint else str(error),))


def read_user_servers(file: Path) -> ServerList:
    """The servers of the settings file, none where there is no file. Raises SettingsError where it is of no use."""
    content = read_toml(file, EXAMPLE)
    try:
        return read_servers(content.get("mcp", {}), f"{file}: mcp")
    except SettingsError as error:
        raise SettingsError(str(error), hint=f"it looks like:\n{EXAMPLE}") from error
