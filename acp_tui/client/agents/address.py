"""The address of an agent that already runs, as the user gives it. Parses it; `channel` connects."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from ipaddress import ip_address
from typing import Final
from urllib.parse import unquote, urlsplit

from acp_tui.client.errors import SettingsError
from acp_tui.values import dataclass

SCHEMES: Final = ("wss", "ws", "https", "http", "unix")
_UNENCRYPTED_SCHEMES: Final = ("ws", "http")


@dataclass(frozen=True, slots=True)
class Address:
    url: str
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    token_command: tuple[str, ...] = ()
    """Prints a token to send as `Authorization: Bearer`. It runs for each connection, so the token may expire."""

    @property
    def host(self) -> str:
        """The host, with the port if there is one. For a Unix socket, its path."""
        return urlsplit(self.url).netloc or self.socket_path

    @property
    def socket_path(self) -> str:
        """The path of a Unix socket that speaks WebSocket; "" for any other address."""
        return unquote(urlsplit(self.url).path) if self.url.startswith("unix:") else ""

    @property
    def is_loopback(self) -> bool:
        return is_loopback(urlsplit(self.url).hostname or "")


def is_address(text: str) -> bool:
    """Whether `text` is an agent's address rather than its name."""
    scheme, separator, _ = text.partition("://")
    return bool(separator) and scheme.lower() in SCHEMES


def read_address(
    url: str,
    headers: Mapping[str, str] | None = None,
    token_command: tuple[str, ...] = (),
    *,
    is_insecure: bool = False,
) -> Address:
    """The address, if it's allowed. Raises SettingsError.

    With `is_insecure`, the user has agreed to send everything unencrypted.
    """
    try:
        parts = urlsplit(url)
        has_port = parts.port is None or parts.port > 0
    except ValueError:
        has_port = False
    is_whole = has_port and (parts.path if parts.scheme == "unix" else parts.hostname)
    if not (is_whole and is_address(url) and url.isprintable() and " " not in url):
        raise SettingsError(
            f"{url!r} isn't the address of an agent", hint="it looks like wss://host/acp or https://host/acp"
        )
    if parts.username is not None or parts.password is not None:
        raise SettingsError(
            "an address with a password in it would show in `ps` and in recordings",
            hint='put it into agents.toml: headers = { Authorization = "Bearer ${TOKEN}" }',
        )
    if parts.scheme in _UNENCRYPTED_SCHEMES and not (is_insecure or is_loopback(parts.hostname or "")):
        raise SettingsError(
            f"{parts.scheme}://{parts.netloc} would send everything unencrypted",
            hint=f"use {'wss' if parts.scheme == 'ws' else 'https'}://, or set insecure = true in agents.toml",
        )
    scheme, _, rest = url.partition("://")
    return Address(f"{scheme.lower()}://{rest}", headers or {}, token_command)


def is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
