"""Who and where: the users and folders that paths name, and which names tell nothing; it replaces nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from acp_tui.client.secrets.looks import Find

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
# Each begins with what is found quickly; what may stand before it is looked at then.
_HOME: Final = re.compile(rf"/(?:home|Users)/({_NAME})")
_BEFORE_HOME: Final = re.compile(r"(?:^|[^\w.]|/var|/export|/[a-z])\Z")
_WINDOWS: Final = re.compile(
    rf":[\\/]+[uU][sS][eE][rR][sS][\\/]+([^\\/:*?\"<>|\r\n]{{1,64}}(?=[\\/])|{_NAME})"
)
_DASHED: Final = re.compile(r"-(?:home|Users)-(?<![\w-]-home-)(?<![\w-]-Users-)([A-Za-z0-9]+)(?=-)")
"""As Claude Code calls the folder that it keeps of a project."""
_TILDE: Final = re.compile(r"~(?<![\w.~/-]~)([A-Za-z_](?:[\w.-]{0,64}\w)?)(?=/)")


def users(text: str) -> Iterator[Find]:
    """Users, as paths to their homes name them."""
    if "home" in text or "Users" in text:
        for found in _HOME.finditer(text):
            if _BEFORE_HOME.search(text, max(found.start() - 7, 0), found.start()):
                yield from _user(found)
        for found in _DASHED.finditer(text):
            yield from _user(found)
    if "sers" in text or "SERS" in text:
        for found in _WINDOWS.finditer(text):
            yield from _user(found)
    if "~" in text:
        for found in _TILDE.finditer(text):
            yield from _user(found)


def _user(found: re.Match[str]) -> Iterator[Find]:
    if not is_common_user(found[1]):
        yield Find(*found.span(1), "user", len(found[1]) >= MIN_NAME)


def is_common_user(name: str) -> bool:
    """Whether many are called so, and nobody is told by it."""
    return name.lower() in _COMMON_USERS


def is_host(name: str) -> bool:
    """Whether the name tells which machine it is."""
    return len(name) >= MIN_NAME and name.lower() not in _COMMON_HOSTS and not name.isdigit()


def may_name_someone(text: str) -> bool:
    """Whether a path to a home may stand there; quick."""
    return "home" in text or "sers" in text or "SERS" in text or "~" in text


def private_folders(path: str) -> Iterator[tuple[str, str]]:
    """The folders above a path that tell something, each with the path above it; homes are their users'."""
    above = ""
    for name in [name for name in path.split("/") if name][:-1]:
        if name.lower() not in _COMMON_FOLDERS and above not in _HOMES:
            yield above, name
        above += f"/{name}"
