"""What to know about a web address before opening it: where it leads, and what could mislead about that.

Nothing is opened or fetched here; the caller asks the user.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final
from urllib.parse import SplitResult, urlsplit

from acp_tui.conversation.visible import make_visible_line

_UNPRINTABLE: Final = re.compile(r"[\x00-\x20\x7f-\xa0]")
_SCRIPTS: Final = ("LATIN", "CYRILLIC", "GREEK", "ARMENIAN", "HEBREW", "ARABIC", "CHEROKEE", "THAI", "GEORGIAN")
"""Scripts whose letters look like those of other scripts."""


def is_openable(url: str) -> bool:
    """Whether it's clear what a browser would make of the address."""
    parts = _split(url)
    return bool(
        parts is not None
        and parts.scheme in ("http", "https")
        and parts.hostname
        and "\\" not in url
        and make_visible_line(url) == url
        and not _UNPRINTABLE.search(url)
    )


def misleads(url: str) -> bool:
    """Whether its host may be taken for another: there is a name before it, or it mixes scripts."""
    parts = _split(url)
    return parts is None or "@" in parts.netloc or _mixes_scripts(parts.hostname or "")


def host_of(url: str) -> str:
    """Return the address's host as written, plus its decoded form if it's Punycode; "" without a host."""
    parts = _split(url)
    host = (parts.hostname or "") if parts is not None else ""
    decoded = _decoded(host)
    return f"{host}  (shown as {decoded})" if decoded != host else host


def split_at_host(url: str) -> tuple[str, str, str]:
    """Split into the part before the host, the host with its port, and the rest. Without a host, all is before."""
    parts = _split(url)
    host = parts.netloc.rpartition("@")[2] if parts is not None else ""
    before, found, after = url.partition(f"//{parts.netloc}") if host and parts else (url, "", "")
    return before + found.removesuffix(host) if host else before, host if found else "", after


def place_of(url: str) -> str:
    """Return the scheme, host, and path, which are safe to keep; the rest may hold secrets."""
    place = re.split(r"[?#]", url, maxsplit=1)[0]
    before, host, after = split_at_host(place)
    if host:
        return f"{before.partition('//')[0]}//{host}{after}"
    return place.rpartition("@")[2]  # not a readable address, but it may contain a password


def warnings_of(url: str) -> tuple[str, ...]:
    """Return what could mislead about where the address leads, one sentence each."""
    found = []
    if _UNPRINTABLE.search(url) or make_visible_line(url) != url:
        found.append("It contains invisible characters, so it isn't opened.")
    if "\\" in url:
        found.append("It contains a backslash, which browsers interpret differently, so it isn't opened.")
    parts = _split(url)
    if parts is None:
        return (*found, "It isn't a readable address, so it isn't opened.")
    found += [*_scheme_warnings(parts), *_host_warnings(parts.hostname or "")]
    if "@" in parts.netloc:
        found.append("The part before the @ isn't the host: it's a user name, and may be made to look like a host.")
    return tuple(found)


def _split(url: str) -> SplitResult | None:
    try:
        parts = urlsplit(url)
        _ = parts.port  # checked only when read
    except ValueError:
        return None
    return parts


def _scheme_warnings(parts: SplitResult) -> list[str]:
    if parts.scheme == "https" and parts.hostname:
        return []
    if parts.scheme == "http" and parts.hostname:
        return ["It isn't encrypted (http): others on the network can read and change what you see."]
    scheme = make_visible_line(parts.scheme) or "none"
    return [f"It isn't a web page (scheme: {scheme}), so it isn't opened."]


def _host_warnings(host: str) -> list[str]:
    found = []
    if any(label.startswith("xn--") for label in host.split(".")):
        found.append("The host is in Punycode: letters of other scripts may look like familiar ones.")
    elif not host.isascii():
        found.append("The host has non-ASCII letters, which may look like familiar ones.")
    if _mixes_scripts(host):
        found.append("The host mixes scripts, as deceptive addresses do.")
    return found


def _mixes_scripts(host: str) -> bool:
    return any(len(_scripts(label)) > 1 for label in _decoded(host).split(".") if not label.isascii())


def _decoded(host: str) -> str:
    return ".".join(_decoded_label(label) for label in host.split("."))


def _decoded_label(label: str) -> str:
    if not label.startswith("xn--") or len(label) > 63:
        return label
    try:
        return label[4:].encode("ascii").decode("punycode")
    except ValueError:
        return label


def _scripts(label: str) -> set[str]:
    names = (unicodedata.name(char, "") for char in label if char.isalpha())
    return {name.split()[0] for name in names if name.split() and name.split()[0] in _SCRIPTS}
