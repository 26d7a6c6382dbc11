"""MCP servers for a session: as declared, as prepared, and as sent. The agent starts them."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Final, TypeAlias

from acp_tui.client.errors import SettingsError
from acp_tui.client.settings.location import expand, is_strings, read_toml, referenced
from acp_tui.client.settings.wording import shown_name, unknown_keys
from acp_tui.conversation.facts import HttpKind, HttpServer, Pairs, StdioServer
from acp_tui.conversation.wording import from_home
from acp_tui.values import dataclass

_HTTP_KINDS: Final[Mapping[str, HttpKind]] = {"http": "http", "streamable-http": "http", "sse": "sse"}
_STDIO_KEYS: Final = ("command", "args", "env", "type", "disabled")
_HTTP_KEYS: Final = ("url", "headers", "type", "disabled")


def read_servers(table: object, where: str) -> ServerList:
    """The servers of a table, which messages call `where`. Raises SettingsError if it isn't a table."""
    if not isinstance(table, dict):
        raise SettingsError(f"{where} isn't a table of MCP servers by name")
    servers: list[Server] = []
    skipped: list[Skipped] = []
    warnings: list[str] = []
    for name, value in table.items():
        key = f"{where}.{shown_name(name)}"
        try:
            entry = _read_entry(value, key)
            if not name:
                raise SettingsError(f"{key} has an empty name")
            is_program = "command" in entry
            servers.append((_read_stdio if is_program else _read_http)(name, entry, key))
            warnings += unknown_keys(entry, _STDIO_KEYS if is_program else _HTTP_KEYS, f"{key}.")
        except SettingsError as error:
            skipped.append(Skipped(name, str(error)))
    return ServerList(tuple(servers), tuple(skipped), tuple(warnings))


def _read_entry(value: object, key: str) -> dict[str, object]:
    if not isinstance(value, dict):
        raise _wrong(key, "a table with a command or a url")
    entry = {name: item for name, item in value.items() if item is not None}
    if ("command" in entry) == ("url" in entry):
        raise SettingsError(f"{key} needs either a command to start or the url of a running one")
    if entry.get("disabled") is True:
        raise SettingsError(f"{key} is disabled")
    return entry


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
    if not (is_strings(words) and words and words[0]):
        raise _wrong(f"{key}.command", "a program, or a list of strings with the program first")
    args = entry.get("args", [])
    if not is_strings(args):
        raise _wrong(f"{key}.args", "a list of strings")
    return [*words, *args]


def _pairs(entry: Mapping[str, object], name: str, key: str) -> Pairs:
    table = entry.get(name, {})
    if not (isinstance(table, dict) and all(isinstance(value, str) for value in table.values())):
        raise _wrong(f"{key}.{name}", "a table of strings")
    return tuple(table.items())


def _wrong(key: str, expected: str) -> SettingsError:
    return SettingsError(f"{key} isn't {expected}")


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
    """The servers in the file when it was first read, before the first agent of this process ran.

    An agent may have changed the file since, to run a program of its choice. If the file now differs, a warning says
    so. Another warning says if it couldn't be used.
    """
    first = _first_read(file)
    with suppress(SettingsError):
        if read_user_servers(file) != first:
            changed = f"{from_home(file)}: mcp has changed; the change takes effect at the next start"
            return replace(first, warnings=(*first.warnings, changed))
    return first


@cache
def _first_read(file: Path) -> ServerList:
    try:
        return read_user_servers(file)
    except SettingsError as error:
        return ServerList(warnings=(f"{error}: {error.hint}" if error.hint else str(error),))


def read_user_servers(file: Path) -> ServerList:
    """The servers of the settings file; none if there is no file. Raises SettingsError if the file can't be used."""
    content = read_toml(file, EXAMPLE)
    try:
        return read_servers(content.get("mcp", {}), f"{from_home(file)}: mcp")
    except SettingsError as error:
        raise SettingsError(str(error), hint=f"it should look like:\n{EXAMPLE}") from error


Server: TypeAlias = StdioServer | HttpServer


@dataclass(frozen=True, slots=True)
class Skipped:
    """A server that is configured but not used."""

    name: str
    reason: str
    """For the user. Never contains a secret."""


@dataclass(frozen=True, slots=True)
class ServerList:
    servers: tuple[Server, ...] = ()
    """As written: variables aren't expanded, commands aren't looked up."""
    skipped: tuple[Skipped, ...] = ()
    warnings: tuple[str, ...] = ()
    """What else the user should know, such as unknown keys."""


@dataclass(frozen=True, slots=True)
class ServerVariable:
    variable: str
    goes_to: str
    """Where its value goes, in the file's own terms: "the header X-Key, sent to example.org"."""


def readings(server: Server) -> tuple[ServerVariable, ...]:
    """Every variable that is read for a server, once for each place its value goes to."""
    return tuple(
        dict.fromkeys(ServerVariable(name, place) for text, place in _places(server) for name in referenced(text))
    )


def _places(server: Server) -> Iterator[tuple[str, str]]:
    """Every text in which variables are expanded, and where it goes."""
    if isinstance(server, StdioServer):
        yield server.command, "the name of the program to run"
        yield from ((word, f"an argument of {server.command}") for word in server.args)
        yield from ((value, f"the variable {name} of {server.command}") for name, value in server.env)
        return
    host = _host(server.url)
    yield server.url, f"the address, at {host}"
    yield from ((value, f"the header {name}, sent to {host}") for name, value in server.headers)


_AMBIGUOUS: Final = re.compile(r"https?://[^/?#]*[\\;\s\x00-\x20\x7f-\xa0]")
"""A host that browsers and libraries parse differently."""


def _host(url: str) -> str:
    """The host of an address, as far as it's known before variables are expanded."""
    authority = re.match(r"https?://([^/?#\\]*)", url)
    host = "" if authority is None else authority[1].rpartition("@")[2]
    is_told = host and "$" not in host and not _AMBIGUOUS.match(url)
    return host if is_told else f"the host in {url}"


def prepare(
    servers: Sequence[Server],
    *,
    stdio: bool = True,
    http: bool,
    sse: bool,
    runs_here: bool = False,
    environ: Mapping[str, str],
) -> tuple[tuple[Server, ...], tuple[Skipped, ...]]:
    """The servers that can be sent to the agent now, and those that can't, with the reasons.

    With `runs_here`, acp-tui starts those that are programs.
    """
    usable, skipped = gate(servers, stdio=stdio or runs_here, http=http, sse=sse)
    if runs_here:
        usable = tuple(replace(each, runs_here=True) if isinstance(each, StdioServer) else each for each in usable)
    ready: list[Server] = []
    failed: list[Skipped] = []
    for server in usable:
        try:
            ready.append(resolve(expanded(server, environ), environ.get("PATH", "")))
        except SettingsError as error:
            failed.append(Skipped(server.name, str(error)))
    return tuple(ready), (*skipped, *failed)


def gate(
    servers: Sequence[Server], *, stdio: bool = True, http: bool, sse: bool
) -> tuple[tuple[Server, ...], tuple[Skipped, ...]]:
    """Separate the servers that the agent doesn't support (R-MCP-2) and duplicates: for each name, the first one stays.

    The user's own servers come first.
    """
    usable: list[Server] = []
    skipped: list[Skipped] = []
    names: set[str] = set()
    for server in servers:
        if server.name in names:
            skipped.append(Skipped(server.name, "your settings have a server with that name, which takes precedence"))
        elif isinstance(server, HttpServer) and not (http if server.kind == "http" else sse):
            skipped.append(Skipped(server.name, f"the agent doesn't support MCP servers over {server.kind}"))
        elif not (stdio or isinstance(server, HttpServer)):
            skipped.append(Skipped(server.name, "the agent doesn't start MCP servers"))
        else:
            usable.append(server)
        names.add(server.name)
    return tuple(usable), tuple(skipped)


def expanded(server: Server, environ: Mapping[str, str]) -> Server:
    """The server with its variables expanded. Raises SettingsError for one that isn't set."""
    if isinstance(server, StdioServer):
        return replace(
            server,
            command=expand(server.command, environ),
            args=tuple(expand(word, environ) for word in server.args),
            env=_expanded_pairs(server.env, environ),
        )
    url = expand(server.url, environ)
    if not url.startswith(("http://", "https://")):
        raise SettingsError("its url doesn't start with http:// or https://")
    if _AMBIGUOUS.match(url):
        raise SettingsError("its url has a host that isn't read in the same way everywhere")
    return replace(server, url=url, headers=_expanded_pairs(server.headers, environ))


def _expanded_pairs(pairs: Pairs, environ: Mapping[str, str]) -> Pairs:
    return tuple((name, expand(value, environ)) for name, value in pairs)


def resolve(server: Server, path: str) -> Server:
    """The server with the absolute path of its command, as found on `path`. Raises SettingsError (R-MCP-1)."""
    if not isinstance(server, StdioServer):
        return server
    # A relative path, even one on PATH, would refer to whatever folder we run in, often a project's.
    folders = ":".join(folder for folder in path.split(":") if folder.startswith("/"))
    found = None if _is_relative_path(server.command) else shutil.which(server.command, path=folders)
    if found is None:
        raise _not_found(server.command)
    return replace(server, command=found)


def _is_relative_path(command: str) -> bool:
    return "/" in command and not command.startswith("/")


def _not_found(command: str) -> SettingsError:
    if len(command.split()) > 1:  # don't repeat the command: its arguments may contain a secret
        return SettingsError("its command wasn't found: if it contains arguments, put them in args")
    if _is_relative_path(command):
        return SettingsError(f"its command {command!r} is a relative path: use the full path, as in ${{HOME}}/bin/x")
    return SettingsError(f"its command {command!r} wasn't found: is it installed, executable, and on PATH?")
