"""Messages that log in and out; which ways there are comes with the handshake."""

from __future__ import annotations

from acp_tui.protocol.wire import WireModel


class AuthenticateRequest(WireModel):
    """`authenticate`."""

    method_id: str


class AuthenticateResponse(WireModel):
    """Nothing: logged in."""


class LogoutRequest(WireModel):
    """`logout`."""


class LogoutResponse(WireModel):
    """Nothing: logged out."""
