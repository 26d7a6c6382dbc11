"""What the user has set, and the MCP servers that projects bring. The bottom layer of the client."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from acp_tui.client.settings.location import cache_folder, settings_file, state_folder
    from acp_tui.client.settings.mcp import (
        HttpServer,
        Server,
        ServerList,
        Skipped,
        StdioServer,
        describe,
        gate,
        prepare,
        read_user_servers,
        resolve,
        servers_at_start,
        wire,
    )
    from acp_tui.client.settings.reader import Problem, SettingsRead, read_settings
    from acp_tui.client.settings.tree import RefusalRule, Settings
    from acp_tui.client.settings.trust import (
        ProjectServers,
        Trust,
        read_project_servers,
        remember,
        trust_file,
        trust_state,
        trusted_servers,
    )

# Loaded when first used: the first frame waits for the tree, but not for MCP servers, of which there may be none.
_NAMES = {
    "location": ("cache_folder", "settings_file", "state_folder"),
    "mcp": (
        "HttpServer",
        "Server",
        "ServerList",
        "Skipped",
        "StdioServer",
        "describe",
        "gate",
        "prepare",
        "read_user_servers",
        "resolve",
        "servers_at_start",
        "wire",
    ),
    "reader": ("Problem", "SettingsRead", "read_settings"),
    "tree": ("RefusalRule", "Settings"),
    "trust": (
        "ProjectServers",
        "Trust",
        "read_project_servers",
        "remember",
        "trust_file",
        "trust_state",
        "trusted_servers",
    ),
}
_MODULE_OF = {name: module for module, names in _NAMES.items() for name in names}

__all__ = [
    "HttpServer",
    "Problem",
    "ProjectServers",
    "RefusalRule",
    "Server",
    "ServerList",
    "Settings",
    "SettingsRead",
    "Skipped",
    "StdioServer",
    "Trust",
    "cache_folder",
    "describe",
    "gate",
    "prepare",
    "read_project_servers",
    "read_settings",
    "read_user_servers",
    "remember",
    "resolve",
    "servers_at_start",
    "settings_file",
    "state_folder",
    "trust_file",
    "trust_state",
    "trusted_servers",
    "wire",
]


def __getattr__(name: str) -> object:
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
