"""What tells who and where: users, folders, hosts, and addresses of people and machines. It replaces nothing."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator
from ipaddress import IPv6Address
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


MAX_LOCAL: Final = 64
"""Of what stands before the @."""

_LOCAL: Final = re.compile(r"[\w.+-]*")
_DOMAIN: Final = re.compile(r"(?:[A-Za-z0-9-]{1,63}\.){1,10}[A-Za-z]{2,24}(?![\w-])")
_HOST: Final = re.compile(r"[A-Za-z0-9][\w-]+(?![\w.-]*\.[A-Za-z])")
_NOBODY: Final = ("git", "noreply", "no-reply", "ssh")
_IP4: Final = re.compile(r"\d\.\d{1,3}\.\d{1,3}\.\d{1,3}(?![\w.]\w)(?!\w)")
_IP4_BEGIN: Final = re.compile(r"(?<![\w.-])\d{1,3}\Z")
_NO_MACHINE: Final = re.compile(
    r"127\..*|0\..*|255\..*|\d+\.0\.0\.0|\d\.\d\.\d\.\d|(?:1\.1\.1\.1|8\.8\.[48]\.[48])"
)
"""Loopback, masks, networks, what could as well be a version, and servers that all use."""
_VERSION_BEFORE: Final = re.compile(r"(?:version|v|==|>=|<=|~=|[A-Za-z]/)\s*\Z", re.IGNORECASE)
_MAC: Final = re.compile(r"[0-9A-Fa-f]{2}([:-])(?:[0-9A-Fa-f]{2}\1){4}[0-9A-Fa-f]{2}(?![\w:-])")
_IP6: Final = re.compile(r"[0-9A-Fa-f]{1,4}:(?:[0-9A-Fa-f]{0,4}:){1,6}[0-9A-Fa-f]{1,4}(?![\w:])")


# Digits and hexadecimal digits as one letter each: what a quick look needs to tell that there is none of them.
_DIGITS: Final = bytes(ord("0") if chr(at).isdecimal() and at < 128 else at for at in range(256))
_HEX_DIGITS: Final = bytes(ord("0") if chr(at) in "0123456789abcdefABCDEF" else at for at in range(256))
_COLONS: Final = re.compile(rb"0:(?:0{0,4}:)+0")


def may_hold_address(text: str) -> bool:
    """Whether a look is worth its time."""
    if "@" in text:
        return True
    data = text.encode("utf-8", "surrogatepass")
    if b"0.0" in data.translate(_DIGITS) and _IP4.search(text) is not None:
        return True
    return _may_be_hardware(data)


def _may_be_hardware(data: bytes) -> bool:
    hexadecimal = data.translate(_HEX_DIGITS)
    return b"00-00-00-00" in hexadecimal or _COLONS.search(hexadecimal) is not None


def addresses(text: str, known_users: Container[str]) -> Iterator[Find]:
    """All of them."""
    if "@" in text:
        yield from _behind_names(text, known_users)
    data = text.encode("utf-8", "surrogatepass")
    if b"0.0" in data.translate(_DIGITS):
        yield from _ip4(text)
    if _may_be_hardware(data):
        yield from _hardware(text)


def _behind_names(text: str, known_users: Container[str]) -> Iterator[Find]:
    at = text.find("@")
    while at >= 0:
        # Read backwards: to look for the beginning from each letter on takes the length squared.
        local = _LOCAL.match(text[max(at - MAX_LOCAL, 0) : at][::-1])
        assert local is not None
        name = local[0][::-1].lstrip("-.")
        mail, host = _DOMAIN.match(text, at + 1), _HOST.match(text, at + 1)
        if name and mail is not None:
            if name.lower() not in _NOBODY and not _is_login(text, at):
                yield Find(at - len(name), mail.end(), "e-mail", False)
        elif host is not None and name in known_users and is_host(host[0]):
            yield Find(*host.span(), "host")
        at = text.find("@", at + 1)


def _is_login(text: str, at: int) -> bool:
    """Whether the @ stands behind the password of a URL."""
    before = text[max(at - 200, 0) : at]
    begin = before.rfind("://")
    return begin >= 0 and ":" in before[begin + 3 :] and not re.search(r"[\s/\"']", before[begin + 3 :])


def _ip4(text: str) -> Iterator[Find]:
    for found in _IP4.finditer(text):
        begin = _IP4_BEGIN.search(text, max(found.start() - 3, 0), found.start() + 1)
        if begin is None:
            continue
        address = text[begin.start() : found.end()]
        is_address = all(int(part) <= 255 and str(int(part)) == part for part in address.split("."))
        before = text[max(begin.start() - 12, 0) : begin.start()]
        if is_address and not _NO_MACHINE.fullmatch(address) and not _VERSION_BEFORE.search(before):
            yield Find(begin.start(), found.end(), "IP address", False)


def _hardware(text: str) -> Iterator[Find]:
    for found in _MAC.finditer(text):
        if not _is_within_word(text, found.start()) and len(set(found[0].replace(found[1], ""))) > 2:
            yield Find(*found.span(), "MAC address", False)
    if ":" in text:
        for found in _IP6.finditer(text):
            if not _is_within_word(text, found.start()) and _is_ip6(found[0]):
                yield Find(*found.span(), "IP address", False)


def _is_within_word(text: str, at: int) -> bool:
    before = text[at - 1 : at]
    return before.isalnum() or before in ("_", ":", "-") if before else False


def _is_ip6(text: str) -> bool:
    # "a::b" is what a programmer writes for a name in a module.
    if text.count(":") < 4 and not re.match(r"fe80:|f[cd][0-9a-f]{2}:|2[0-9a-f]{3}:", text, re.IGNORECASE):
        return False
    try:
        return bool(IPv6Address(text))
    except ValueError:
        return False
