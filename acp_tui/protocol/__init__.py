"""ACP on the wire, for each version, converted to and from a conversation's values. No screen, no transport.

Start with `roles` (what client and agent are to each other), then read `connection`, `negotiation`, `v1.connection`,
and `v1.inbound`. `v2` is loaded only for agents that speak it, and reuses from `v1` what hasn't changed. `wire` has
what the models of all versions share. This module has the errors of the protocol itself; the transport has the error
replies.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

# ACP's addition to the JSON-RPC error codes (R-ERR-1).
AUTH_REQUIRED: Final = -32000
RESOURCE_NOT_FOUND: Final = -32002
UNSUPPORTED_VERSION: Final = -32022


class ProtocolError(Exception):
    """Any breach of the protocol."""


class MalformedMessage(ProtocolError):
    """A known message has an invalid part that must be valid (R-LEN-3).

    The caller drops and logs a notification, answers a request with "invalid params", or fails its own call.
    """

    def __init__(self, what: str, detail: str) -> None:
        super().__init__(f"malformed {what}: {detail}")
        self.what = what
        """The message's name in the schema."""
        self.detail = detail
        """Where and how it's malformed, without the received values, which may be secret."""


class UnsupportedVersion(ProtocolError):
    """The agent doesn't speak any version we asked for in the handshake (R-INIT-4)."""

    def __init__(self, *versions: int) -> None:
        """`versions` are those the agent speaks, as far as it said."""
        super().__init__(f"the agent speaks {shown_versions(versions)} of the protocol")
        self.versions = versions


def shown_versions(versions: Collection[int]) -> str:
    """Format versions for the user: "version 1", "versions 1 and 2"."""
    match [str(version) for version in versions]:
        case []:
            return "another version"
        case [only]:
            return f"version {only}"
        case words:
            return f"versions {', '.join(words[:-1])} and {words[-1]}"
