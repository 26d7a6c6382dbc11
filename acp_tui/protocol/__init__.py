"""ACP on the wire, version by version, turned into a conversation's values and back; no screen, no transport.

Begin with `roles` (what client and agent are to each other), then `v1.connection` and `v1.inbound`. `wire` has what the
models of every version share; `conformance` judges whether an agent keeps to the protocol. What can be wrong with the
protocol itself stands here; the error replies are the transport's.

ProtocolError
├── MalformedMessage      what was received does not have the form that the schema asks for
└── UnsupportedVersion    the agent speaks a version that we do not
"""

from __future__ import annotations

from typing import Final

# What ACP adds to the codes of JSON-RPC (R-ERR-1).
AUTH_REQUIRED: Final = -32000
RESOURCE_NOT_FOUND: Final = -32002


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
    """The agent answered the handshake with a version that we do not speak (R-INIT-4)."""

    def __init__(self, version: int) -> None:
        super().__init__(f"the agent speaks version {version} of the protocol")
        self.version = version
