"""What the user has set, and what projects bring along: so far the MCP servers for sessions.

The bottom layer of the client: it knows neither agents nor sessions, and asks the user nothing.
"""

from acp_tui.client.settings.masking import mask, masked
from acp_tui.client.settings.mcp import (
    HttpServer,
    Server,
    ServerList,
    Skipped,
    StdioServer,
    describe,
    gate,
    prepare,
    resolve,
    wire,
)
from acp_tui.client.settings.project_mcp import ProjectServers, read_project_servers
from acp_tui.client.settings.trust import Trust, remember, trust_file, trust_state, trusted_servers
from acp_tui.client.settings.user_mcp import read_user_servers, settings_file

__all__ = [
    "HttpServer",
    "ProjectServers",
    "Server",
    "ServerList",
    "Skipped",
    "StdioServer",
    "Trust",
    "describe",
    "gate",
    "mask",
    "masked",
    "prepare",
    "read_project_servers",
    "read_user_servers",
    "remember",
    "resolve",
    "settings_file",
    "trust_file",
    "trust_state",
    "trusted_servers",
    "wire",
]
