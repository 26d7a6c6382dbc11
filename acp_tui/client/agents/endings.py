"""What every way to an address shares: its proxy, and what it means for the user that it fails."""

from __future__ import annotations

import errno
from abc import abstractmethod
from ssl import SSLCertVerificationError, SSLError
from typing import Final

from anyio.abc import ByteStream

from acp_tui.client.agents.address import Address
from acp_tui.client.errors import AgentUnreachable
from acp_tui.values import dataclass

OPEN_LIMIT_S: Final = 15.0
"""How long a server may take to accept a connection."""


@dataclass(frozen=True, slots=True)
class Ended:
    """How the way to an agent ended."""

    how: str
    """A clause, such as "closed the connection"."""
    hint: str = ""
    is_temporary: bool = True
    """It may work a little later."""

    def of(self, who: str) -> AgentUnreachable:
        """The same for the user."""
        return AgentUnreachable(f"{who} {self.how}", hint=self.hint, is_temporary=self.is_temporary)


class RemoteStream(ByteStream):
    """Lines from and to an address."""

    @property
    @abstractmethod
    def ended(self) -> Ended:
        """How it ended; to be asked for once it has."""


_SAID: Final = {
    401: ("wants to know who you are", "agents.toml takes a token: headers, or token_command"),
    403: ("does not let you in", "is it the right token?"),
    404: ("has no agent at this path", "many serve theirs at /acp"),
    409: ("serves another client already", ""),
    410: ("has closed this connection", ""),
}


def refusal(status: int, location: str | None = None) -> Ended:
    """What an HTTP status means that is no success."""
    if location is not None and 300 <= status < 400:
        hint = "redirects are not followed; if you trust that address, use it"
        return Ended(f"leads on to {location}", hint, is_temporary=False)
    said, hint = _SAID.get(status, ("refuses the connection", ""))
    # A connection that is gone is made anew.
    return Ended(f"{said} (HTTP {status})", hint, is_temporary=status >= 500 or status in (409, 410, 429))


def proxy_for(address: Address) -> str | None:
    """The proxy that the environment names for an address, but never for this machine."""
    if address.is_loopback:
        return None
    from urllib.request import (  # brings all of http and email, for agents elsewhere alone
        getproxies,
        proxy_bypass,
    )

    if proxy_bypass(address.host):
        return None
    proxies = getproxies()
    schemes = ("wss", "https", "all") if address.url.startswith(("wss", "https")) else ("ws", "http", "all")
    return next((proxies[scheme] for scheme in schemes if scheme in proxies), None)


def failure(error: OSError) -> Ended:
    """What it means that a connection cannot be opened."""
    if isinstance(error, SSLCertVerificationError):
        return Ended(f"cannot be trusted: {error.verify_message}", is_temporary=False)
    if isinstance(error, SSLError):
        return Ended(f"speaks no TLS that can be trusted: {error.reason or error}", is_temporary=False)
    if isinstance(error, TimeoutError):
        return Ended(f"has not answered within {OPEN_LIMIT_S:g} s")
    reason = error.strerror or str(error)
    if error.errno == errno.ECONNREFUSED or "Connect call failed" in reason:
        reason = "nobody listens there"
    return Ended(f"cannot be reached: {reason}")
