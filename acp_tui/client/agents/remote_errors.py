"""What all connections to an address share: the proxy, and error messages for the user."""

from __future__ import annotations

import errno
from abc import abstractmethod
from ssl import SSLCertVerificationError, SSLEOFError, SSLError
from typing import Final
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from anyio.abc import ByteStream

from acp_tui.client.agents.address import Address
from acp_tui.client.errors import AgentNotRunnable, AgentUnreachable
from acp_tui.client.extras import command_to_add
from acp_tui.values import dataclass

OPEN_LIMIT_S: Final = 15.0
"""How long a server may take to accept a connection."""


def missing(error: ImportError) -> AgentNotRunnable:
    """What to raise if a library isn't installed."""
    return AgentNotRunnable(f"remote agents need the package {error.name}", hint=command_to_add("remote"))


@dataclass(frozen=True, slots=True)
class Ended:
    how: str
    """A clause, such as "closed the connection"."""
    hint: str = ""
    is_temporary: bool = True
    """Trying again later may work."""

    def of(self, who: str) -> AgentUnreachable:
        return AgentUnreachable(f"{who} {self.how}", hint=self.hint, is_temporary=self.is_temporary)


class RemoteStream(ByteStream):
    """Lines from and to an address."""

    @property
    @abstractmethod
    def ended(self) -> Ended:
        """How the stream ended. Use it only after the end."""


_SAID: Final = {
    401: ("asks for a token", "add a token to agents.toml: headers, or token_command"),
    403: ("denied you access", "is it the right token?"),
    404: ("has no agent at this path", "many agents are at /acp"),
    409: ("already serves another client", ""),
    410: ("closed this connection", ""),
}


def refusal(status: int, location: str | None = None) -> Ended:
    """What an HTTP status that isn't a success means."""
    if location is not None and 300 <= status < 400:
        hint = "acp-tui doesn't follow redirects; if you trust that address, use it"
        return Ended(f"redirects to {location}", hint, is_temporary=False)
    said, hint = _SAID.get(status, ("refuses the connection", ""))
    # If the server no longer knows the connection, we make a new one.
    return Ended(f"{said} (HTTP {status})", hint, is_temporary=status >= 500 or status in (409, 410, 429))


def proxy_for(address: Address) -> str | None:
    """The proxy from the environment for an address, but never for this machine."""
    if address.is_loopback or proxy_bypass(address.host):
        return None
    proxies = getproxies()
    schemes = ("wss", "https", "all") if address.url.startswith(("wss", "https")) else ("ws", "http", "all")
    return next((proxies[scheme] for scheme in schemes if scheme in proxies), None)


def proxy_refusal(proxy: str, said: str) -> Ended:
    """What it means that a proxy refuses; `said` is its status, such as `HTTP 403`."""
    if "407" in said:
        hint = "HTTPS_PROXY takes both: http://NAME:PASSWORD@HOST:PORT"
        how = f"can't be reached: the proxy {_shown(proxy)} requires a name and a password (HTTP 407)"
        return Ended(how, hint, is_temporary=False)
    return Ended(f"can't be reached: the proxy {_shown(proxy)} doesn't lead there ({said})", _HOW_WITHOUT)


def _shown(proxy: str) -> str:
    return urlsplit(proxy).netloc.rpartition("@")[2] or "of the environment"


_HOW_WITHOUT: Final = "NO_PROXY names hosts that are reached without a proxy"
_UNTRUSTED: Final = {
    10: "its certificate needs to be renewed; or is the clock of this machine wrong?",
    18: "if you trust it, SSL_CERT_FILE names a file with its certificate",
    19: "if you trust who has signed its certificate, SSL_CERT_FILE names a file with theirs",
    20: "if you trust who has signed its certificate, SSL_CERT_FILE names a file with theirs",
    62: "use the name that its certificate is for",
    64: "use the name that its certificate is for",
}
"""What to do, by OpenSSL error code (X509_V_ERR_...)."""


def failure(error: OSError, proxy: str | None = None) -> Ended:
    """What it means that a connection can't be opened, possibly through a proxy."""
    if isinstance(error, SSLCertVerificationError):
        hint = _UNTRUSTED.get(error.verify_code, "")
        return Ended(f"can't be trusted: {error.verify_message}", hint, is_temporary=False)
    if isinstance(error, SSLEOFError):
        error = ConnectionResetError()
    if isinstance(error, SSLError):
        hint = "is it plain ws:// or http://?" if error.reason == "WRONG_VERSION_NUMBER" else ""
        return Ended(f"offers no TLS that can be trusted: {error.reason or error}", hint, is_temporary=False)
    if isinstance(error, TimeoutError):
        reason = f"no answer within {OPEN_LIMIT_S:g} s"
    else:
        reason = error.strerror or str(error) or "the connection broke off"
    if error.errno == errno.ECONNREFUSED or "Connect call failed" in reason:
        reason = "nothing listens there"
    if proxy is not None:
        return Ended(f"can't be reached through the proxy {_shown(proxy)}: {reason}", _HOW_WITHOUT)
    return Ended(f"can't be reached: {reason}")
