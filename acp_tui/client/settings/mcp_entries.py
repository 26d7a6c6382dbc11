"""Reads tables of MCP servers by name, as they stand in the user's settings and in a project's file alike.

It opens no file. A server with a mistake is skipped and the mistake said; the others are read all the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, TypeGuard

from acp_tui.client.errors import SettingsError
from acp_tui.client.settings.mcp import HttpKind, HttpServer, Pairs, Server, ServerList, Skipped, StdioServer
from acp_tui.client.settings.wording import shown_name

_HTTP_KINDS: Final[Mapping[str, HttpKind]] = {"http": "http", "streamable-http": "http", "sse": "sse"}
_STDIO_KEYS: Final = ("command", "args", "env", "type", "disabled")
_HTTP_KEYS: Final = ("url", "headers", "type", "disabled")


def read_servers(table: object, where: str) -> ServerList:
    """The servers of a table; `where` names the table in messages. Raises SettingsError where it is no table."""
    if not isinstance(table, dict):
        raise SettingsError(f"{where} is not a table of MCP servers by name")
    servers: list[Server] = []
    skipped: list[Skipped] = []
    warnings: list[str] = []
    for name, value in table.items():
        key = f"{where}.{shown_name(name)}"
        try:
            entry = _read_entry(value, key)
            servers.append(_read_server(name, entry, key))
            warnings += _unknown_keys(entry, key)
        except SettingsError as error:
            skipped.append(Skipped(name, str(error)))
    return ServerList(tuple(servers), tuple(skipped), tuple(warnings))


def _read_entry(value: object, key: str) -> dict[str, object]:
    if not isinstance(value, dict):
        raise _wrong(key, "a table with a command or a url")
    entry = {name: item for name, item in value.items() if item is not None}
    if ("command" in entry) == ("url" in entry):
        raise SettingsError(f"{key} needs either a command (to be started) or a url (that runs already)")
    if entry.get("disabled") is True:
        raise SettingsError(f"{key} is disabled")
    return entry


def _read_server(name: str, entry: Mapping[str, object], key: str) -> Server:
    if not name:
        raise SettingsError(f"{key} has an empty name")
    return _read_stdio(name, entry, key) if "command" in entry else _read_http(name, entry, key)


def _read_stdio(name: str, entry: Mapping[str, object], key: str) -> StdioServer:
    if entry.get("type", "stdio") != "stdio":
        raise _wrong(f"{key}.type", '"stdio", as for every server with a command')
    command, *args = _argv(entry, key)
    return StdioServer(name, command, tuple(args), _pairs(entry, "env", key))


def _read_http(name: str, entry: Mapping[str, object], key: str) -> HttpServer:
    kind, url = entry.get("type", "http"), entry["url"]
    if not (isinstance(kind, str) and kind in _HTTP_KINDS):
        raise _wrong(f"{key}.type", '"http" or "sse"')
    if not isinstance(url, str):
        raise _wrong(f"{key}.url", "a string")
    return HttpServer(_HTTP_KINDS[kind], name, url, _pairs(entry, "headers", key))


def _argv(entry: Mapping[str, object], key: str) -> list[str]:
    command = entry["command"]
    words = [command] if isinstance(command, str) else command
    if not (_is_strings(words) and words and words[0]):
        raise _wrong(f"{key}.command", "a program, or a list of strings with the program first")
    args = entry.get("args", [])
    if not _is_strings(args):
        raise _wrong(f"{key}.args", "a list of strings")
    return [*words, *args]


def _is_strings(value: object) -> TypeGuard[list[str]]:
    return isinstance(value, list) and all(isinstance(word, str) for word in value)


def _pairs(entry: Mapping[str, object], name: str, key: str) -> Pairs:
    table = entry.get(name, {})
    if not (isinstance(table, dict) and all(isinstance(value, str) for value in table.values())):
        raise _wrong(f"{key}.{name}", "a table of strings")
    return tuple(table.items())


def _unknown_keys(entry: Mapping[str, object], key: str) -> list[str]:
    known = _STDIO_KEYS if "command" in entry else _HTTP_KEYS
    return [
        f"{key}.{shown_name(name)} means nothing and is ignored; known: {', '.join(known)}"
        for name in entry
        if name not in known
    ]


def _wrong(key: str, expected: str) -> SettingsError:
    return SettingsError(f"{key} is not {expected}")
