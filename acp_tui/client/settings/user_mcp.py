"""The MCP servers that the user wants in every session: `[mcp.NAME]` in the settings file.

What else stands in that file is not its matter.
"""

from __future__ import annotations

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


def read_user_servers(file: Path) -> ServerList:
    """The servers of the settings file, none where there is no file. Raises SettingsError where it is of no use."""
    content = read_toml(file, EXAMPLE)
    try:
        return read_servers(content.get("mcp", {}), f"{file}: mcp")
    except SettingsError as error:
        raise SettingsError(str(error), hint=f"it looks like:\n{EXAMPLE}") from error
