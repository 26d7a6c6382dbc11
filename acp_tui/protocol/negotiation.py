"""Agrees with an agent on a protocol version, with one `initialize` that all versions understand.

It asks for the highest version and sends the fields of all of them. The answer decides which connection to use.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, Literal, TypeAlias

from acp_tui.protocol import UNSUPPORTED_VERSION, UnsupportedVersion
from acp_tui.protocol.connection import Connection
from acp_tui.protocol.roles import Agreement, ClientOffer
from acp_tui.protocol.v1.connection import ConnectionV1
from acp_tui.protocol.v1.inbound import read_initialize_response
from acp_tui.protocol.v1.outbound import initialize_request
from acp_tui.protocol.wire import with_some
from acp_tui.rpc import RequestFailed

Version: TypeAlias = Literal[1, 2]
VERSIONS: Final[tuple[Version, ...]] = (1, 2)
NEWEST: Final = VERSIONS[-1]


async def initialize(connection: Connection, wanted: Version, choose: Callable[[Connection], None]) -> Agreement:
    """Agree on the version and capabilities, over the `connection` used until then.

    `choose` gets the connection to use from then on. It runs inside the read loop, before the next message. Raises
    UnsupportedVersion if the agent speaks none of our versions.
    """

    def read(result: Any) -> Agreement:
        kind, agreement = read_agreement(result, wanted)
        chosen = kind(connection.client, connection.offer)
        chosen.peer, chosen.early_modes = connection.peer, agreement.modes
        connection.peer.handler = chosen
        choose(chosen)
        return agreement

    request = initialize_params(wanted, connection.offer)
    return await connection.request("initialize", request, read, _read_error)


def _read_error(error: RequestFailed) -> Agreement:
    if error.code != UNSUPPORTED_VERSION:
        raise error
    supported = error.data.get("supported") if isinstance(error.data, dict) else None
    versions = supported if isinstance(supported, list) else []
    raise UnsupportedVersion(*(version for version in versions if type(version) is int)) from error


def initialize_params(wanted: Version, offer: ClientOffer) -> dict[str, Any]:
    """Return the handshake: for version 1 as always, otherwise with the fields of both versions."""
    params = initialize_request(wanted, offer)
    if wanted == 1:
        return params
    auth: dict[str, Any] | None = {"terminal": {}} if offer.auth_terminal else None
    capabilities = with_some({}, auth=auth, elicitation=params["clientCapabilities"].get("elicitation"))
    return {**params, "info": params["clientInfo"], "capabilities": capabilities}


def read_agreement(result: Any, wanted: Version = NEWEST) -> tuple[type[Connection], Agreement]:
    """Return the connection to use and what was agreed on. Raises UnsupportedVersion and MalformedMessage.

    fast-agent 0.10, gptme, and deepagents repeat the requested number but speak version 1. Only version 2's `info`
    shows that an agent really speaks it.
    """
    if speaks_v2(result):
        if wanted < 2:
            raise UnsupportedVersion(2)
        # Its models are only loaded for agents that speak it.
        from acp_tui.protocol.v2 import connection, inbound

        return connection.ConnectionV2, inbound.read_initialize_response(result)
    agreement = read_initialize_response(result)
    if agreement.version not in VERSIONS:
        raise UnsupportedVersion(agreement.version)
    return ConnectionV1, agreement


def speaks_v2(result: Any) -> bool:
    """Whether an answer to `initialize` is in the form of version 2."""
    return (
        isinstance(result, dict)
        and type(result.get("protocolVersion")) is int
        and result["protocolVersion"] == 2
        and isinstance(result.get("info"), dict)
    )
