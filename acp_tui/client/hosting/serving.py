"""Where clients of a host connect: a Unix socket of this user's and, if requested, TCP with a token.

A client must be the user that the host runs as. On the socket, the system says who it is; over TCP, the token proves
it.
"""

from __future__ import annotations

import hmac
import logging
import os
import secrets
import socket
import ssl
import struct
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from functools import partial
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final

import anyio
from anyio.abc import TaskGroup

from acp_tui.client.agents.address import is_loopback
from acp_tui.client.errors import ClientError
from acp_tui.client.extras import command_to_add
from acp_tui.client.hosting import extension_methods
from acp_tui.client.hosting.finding import HostPaths
from acp_tui.client.hosting.host import ClientAccess, Host
from acp_tui.client.private_files import replace_file
from acp_tui.client.processes import HOST_TOKEN_VARIABLE

try:
    from websockets.asyncio.server import Server, ServerConnection, serve, unix_serve
    from websockets.http11 import Request, Response
except ImportError as error:
    raise ClientError(f"hosting sessions needs the package {error.name}", hint=command_to_add("remote")) from error

from acp_tui.rpc.websocket import CLOSE_LIMIT_S, MAX_SIZE, PING_S, WebSocketStream
from acp_tui.values import dataclass

TOKEN_BYTES: Final = 32
WATCH_TOKEN_BYTES: Final = 16
"""Short, because people type it or scan it, and still beyond any guess."""
ENDED: Final = 4410
"""The close code of a WebSocket after which reconnecting is pointless."""
REVOKED: Final = 4401
"""The same if its token isn't valid anymore."""
_QUIET: Final = logging.getLogger("acp_tui.client.hosting.connections")
"""Clients that only check whether a host listens, or disconnect early, aren't errors."""
_QUIET.addHandler(logging.NullHandler())
_QUIET.propagate = False


@dataclass(frozen=True, slots=True)
class Listening:
    """A TCP address, in addition to the socket."""

    host: str
    port: int
    certificate: Path | None = None
    key: Path | None = None


def read_listening(text: str, certificate: Path | None = None, key: Path | None = None) -> Listening:
    """HOST:PORT, with TLS files unless it's loopback. Raises ClientError."""
    host, separator, port = text.rpartition(":")
    if not separator or not port.isdecimal() or int(port) > 0xFFFF:
        raise ClientError(f"{text!r} isn't an address to listen on", hint="it looks like 127.0.0.1:8765")
    listening = Listening(host.strip("[]") or "127.0.0.1", int(port), certificate, key)
    if (certificate is None) != (key is None):
        raise ClientError("TLS needs both files", hint="--tls-cert FILE --tls-key FILE")
    if certificate is None and not is_loopback(listening.host):
        raise ClientError(
            f"{listening.host} is reachable from other machines, so it needs TLS",
            hint="use --tls-cert FILE --tls-key FILE, or listen on 127.0.0.1 and connect through ssh",
        )
    return listening


@asynccontextmanager
async def listening_at(
    host: Host, place: HostPaths, listener: socket.socket, tcp: Listening | None
) -> AsyncIterator[str]:
    """Serve clients until the block ends. Yields the TCP address, or "" if there is none. Raises ClientError."""
    options: dict[str, Any] = {
        "compression": None,
        "max_size": MAX_SIZE,
        "ping_interval": PING_S,
        "ping_timeout": PING_S,
        "close_timeout": CLOSE_LIMIT_S,
        "server_header": None,
        "logger": _QUIET,
    }
    async with AsyncExitStack() as stack:
        local = await stack.enter_async_context(
            unix_serve(partial(_serve_local, host), sock=listener, process_request=_require_same_user, **options)
        )
        stack.callback(place.clear)
        stack.push_async_callback(_say_it_ended, local)
        if tcp is None:
            yield ""
            return
        tokens = _Tokens(place)
        handle, check = partial(_serve_remote, host, tokens), partial(_require_token, tokens)
        try:
            server = await stack.enter_async_context(
                serve(handle, tcp.host, tcp.port, process_request=check, ssl=_tls(tcp), **options)
            )
        except (OSError, ssl.SSLError) as error:
            raise ClientError(f"{tcp.host}:{tcp.port}: can't listen: {error.strerror or error}") from error
        stack.push_async_callback(_say_it_ended, server)
        ending = await stack.enter_async_context(anyio.create_task_group())
        host.revoke = partial(_revoke, tokens, server, ending)
        port = next(iter(server.sockets)).getsockname()[1]
        host_name = socket.gethostname() if tcp.host in ("0.0.0.0", "::") else tcp.host
        shown = f"[{host_name}]" if ":" in host_name else host_name
        yield f"{'ws' if tcp.certificate is None else 'wss'}://{shown}:{port}/"


async def _say_it_ended(server: Server) -> None:
    """Tell clients that the host has ended, so that they don't try to reconnect."""
    async with anyio.create_task_group() as tasks:
        for connection in server.connections:
            tasks.start_soon(connection.close, ENDED, "the host has ended")


def _revoke(tokens: _Tokens, server: Server, ending: TaskGroup) -> bool:
    tokens.renew()
    for connection in server.connections:
        ending.start_soon(connection.close, REVOKED, "its token was revoked")
    return True


async def _serve_local(host: Host, connection: ServerConnection) -> None:
    assert connection.request is not None
    await host.serve(WebSocketStream(connection), ClientAccess(is_read_only=_wants_to_watch(connection.request)))


async def _serve_remote(host: Host, tokens: _Tokens, connection: ServerConnection) -> None:
    request, where = connection.request, connection.remote_address[0]
    is_full = tokens.kind_in(request) if request is not None else None
    if request is None or is_full is None:  # revoked during the handshake
        await connection.close(REVOKED, "its token was revoked")
        return
    await host.serve(WebSocketStream(connection), ClientAccess(where, not is_full or _wants_to_watch(request)))


def _wants_to_watch(request: Request) -> bool:
    return any(request.headers.get(name) == value for name, value in extension_methods.READ_ONLY.items())


# ClientAccess control


def _require_same_user(connection: ServerConnection, _: Request) -> Response | None:
    user = _user_of(connection.transport.get_extra_info("socket"))
    if user == os.getuid():
        return None
    return connection.respond(HTTPStatus.FORBIDDEN, "This host serves another user.\n")


def _user_of(peer: socket.socket) -> int | None:
    """The user at the other end of a Unix socket; None if the system doesn't say."""
    with suppress(OSError, AttributeError):
        if sys.platform == "darwin":
            # struct xucred: the version, the user, ...
            version, user = struct.unpack_from("=II", peer.getsockopt(0, 0x001, 76))
            return user if version == 0 else None
        said = peer.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
        _, user, _ = struct.unpack("3i", said)
        return int(user)
    return None


def _require_token(tokens: _Tokens, connection: ServerConnection, request: Request) -> Response | None:
    if tokens.kind_in(request) is not None:
        return None
    return connection.respond(HTTPStatus.UNAUTHORIZED, "Show the token of this host.\n")


class _Tokens:
    """The two tokens of a host, in files that only the user can read: one for everything, one to watch."""

    def __init__(self, place: HostPaths) -> None:
        """The user may have chosen the one for everything. Raises ClientError."""
        self._place = place
        self._full = os.environ.get(HOST_TOKEN_VARIABLE, "") or secrets.token_urlsafe(TOKEN_BYTES)
        self._watching = secrets.token_urlsafe(WATCH_TOKEN_BYTES)
        try:
            self._write()
        except OSError as error:
            raise ClientError(f"{place.token} can't be written: {error.strerror or error}") from error

    def renew(self) -> None:
        """Replace both. If a file can't be written, nobody knows the new one, which is safe."""
        self._full, self._watching = secrets.token_urlsafe(TOKEN_BYTES), secrets.token_urlsafe(WATCH_TOKEN_BYTES)
        with suppress(OSError):
            self._write()

    def _write(self) -> None:
        replace_file(self._place.token, self._full.encode())
        replace_file(self._place.watch_token, self._watching.encode())

    def kind_in(self, request: Request) -> bool | None:
        """Whether the request has the token for everything (True) or to watch (False); None for neither."""
        shown = request.headers.get_all("Authorization")
        if len(shown) != 1:
            return None
        given = shown[0].encode()
        is_full = hmac.compare_digest(given, f"Bearer {self._full}".encode())
        is_watching = hmac.compare_digest(given, f"Bearer {self._watching}".encode())
        return True if is_full else False if is_watching else None


def _tls(tcp: Listening) -> ssl.SSLContext | None:
    if tcp.certificate is None:
        return None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.load_cert_chain(tcp.certificate, tcp.key)
    return context
