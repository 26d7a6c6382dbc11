"""Who and where: the users, hosts and folders that paths and addresses name; it replaces nothing."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator
from typing import Final

from acp_tui.client.redaction.patterns import Find

MIN_NAME: Final = 3
"""A shorter name is replaced in paths only: it stands in too many words."""

# What names nobody.
# fmt: off
_COMMON_USERS: Final = frozenset((
    "root", "user", "users", "username", "you", "me", "admin", "shared", "public", "default", "guest", "runner",
    "ubuntu", "debian", "vscode", "node", "app", "linuxbrew", "git", "www", "data", "nobody",
))
_COMMON_HOSTS: Final = frozenset((
    "localhost", "github", "gitlab", "host", "hostname", "server", "docker", "container",
))
_COMMON_FOLDERS: Final = frozenset((
    "home", "users", "root", "tmp", "private", "var", "srv", "opt", "mnt", "media", "usr", "local", "data", "work",
    "workspace", "workspaces", "src", "code", "projects", "project", "repos", "repo", "folders", "t", "volumes",
))
# fmt: on
_HOMES: Final = ("/home", "/Users", "/var/home", "/export/home")

_NAME: Final = r"[^\s/\\:\"'`<>|*?,;()\[\]{}=%&#!]*[^\s/\\:\"'`<>|*?,;()\[\]{}=%&#!.]"
_USERS: Final = (
    re.compile(rf"(?<![\w.])(?:/var|/export)?/(?:home|Users)/({_NAME})"),
    re.compile(rf"(?<![\w.])(?:/mnt)?/[a-z]/Users/({_NAME})"),
    re.compile(rf"(?<!\w)[A-Za-z]:[\\/]+Users[\\/]+([^\\/:*?\"<>|\r\n]+(?=[\\/])|{_NAME})", re.IGNORECASE),
)
_TILDE: Final = re.compile(r"(?<![\w.~/-])~([A-Za-z_](?:[\w.-]*\w)?)(/?)")
_AT: Final = re.compile(r"(?<![\w.+-])([\w.-]+)@([A-Za-z0-9][\w-]+)(?![\w.-]*\.[A-Za-z])")


def users(text: str) -> Iterator[Find]:
    """Users, as paths to their homes name them."""
    if "home/" in text or "sers" in text.lower():
        for pattern in _USERS:
            for found in pattern.finditer(text):
                if not is_common_user(found[1]):
                    yield Find(*found.span(1), "user", len(found[1]) >= MIN_NAME)
    if "~" in text:
        for found in _TILDE.finditer(text):
            if not is_common_user(found[1]):
                yield Find(*found.span(1), "user", bool(found[2]) and len(found[1]) >= MIN_NAME)


def hosts(text: str, known_users: Container[str]) -> Iterator[Find]:
    """Hosts, as in the prompt of a shell: behind a user who is known."""
    if "@" in text:
        for found in _AT.finditer(text):
            if found[1] in known_users and is_host(found[2]):
                yield Find(*found.span(2), "host")


def is_common_user(name: str) -> bool:
    """Whether many are called so, and nobody is told by it."""
    return name.lower() in _COMMON_USERS


def is_host(name: str) -> bool:
    """Whether the name tells which machine it is."""
    return len(name) >= MIN_NAME and name.lower() not in _COMMON_HOSTS and not name.isdigit()


def private_folders(path: str) -> Iterator[tuple[str, str]]:
    """The folders above a path that tell something, each with the path above it; homes are their users'."""
    above = ""
    for name in [name for name in path.split("/") if name][:-1]:
        if name.lower() not in _COMMON_FOLDERS and above not in _HOMES:
            yield above, name
        above += f"/{name}"
