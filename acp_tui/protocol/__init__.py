"""ACP on the wire, version by version, turned into a conversation's values and back; no screen, no transport.

Begin with `roles` (what client and agent are to each other), then `connection`, `negotiation`, `v1.connection` and
`v1.inbound`; `v2` is loaded for agents that speak it, and takes from `v1` what has not changed. `wire` has what the
models of every version share; `conformance` judges whether an agent keeps to the protocol. What can be wrong with the
protocol itself stands here; the error replies are the transport's.

ProtocolError
├── MalformedMessage      what was received does not have the form that the schema asks for
└── UnsupportedVersion    the agent speaks a version that we do not
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

# What ACP adds to the codes of JSON-RPC (R-ERR-1).
AUTH_REQUIRED: Final = -32000
RESOURCE_NOT_FOUND: Final = -32002
UNSUPPORTED_VERSION: Final = -32022


class ProtocolError(Exception):
    """Any breach of the protocol."""


class MalformedMessage(ProtocolError):
    """A known message with a part that must be right and is not (R-LEN-3).

    The caller drops and logs a notification, answers a request with "invalid params", fails its own call.
    """

    def __init__(self, what: str, detail: str) -> None:
        super().__init__(f"malformed {what}: {detail}")
        self.what = what
        """The message's name in the schema."""
        self.detail = detail
        """Where it is malformed and how; without the received values, which may be secret."""


class UnsupportedVersion(ProtocolError):
    """The handshake has shown that the agent does not speak a version that we asked for (R-INIT-4)."""

    def __init__(self, *versions: int) -> None:
        """`versions` are those that the agent speaks, as far as it said."""
        super().__init__(f"the agent speaks {shown_versions(versions)} of the protocol")
        self.versions = versions


def shown_versions(versions: Collection[int]) -> str:
    """In words: "version 1", "versions 1 and 2"."""
    match [str(version) for version in versions]:
        case []:
            return "another version"
        case [only]:
            return f"version {only}"
        case words:
            return f"versions {', '.join(words[:-1])} and {words[-1]}"
