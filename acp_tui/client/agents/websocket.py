"""Opens a WebSocket to an agent over TCP, TLS, a proxy, or a Unix socket."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from typing import Final

import anyio

from acp_tui.client.agents import remote_errors
from acp_tui.client.agents.address import Address

try:
    from websockets import exceptions
    from websockets.asyncio.client import ClientConnection, connect
    from websockets.frames import CloseCode
except ImportError as error:
    raise remote_errors.missing(error) from error

from acp_tui.rpc.websocket import CLOSE_LIMIT_S, MAX_SIZE, PING_S, WebSocketStream

_FINAL: Final = frozenset({CloseCode.POLICY_VIOLATION, CloseCode.MESSAGE_TOO_BIG, *range(4400, 4500)})
"""Close codes after which trying again would end the same way."""
_MAX_PONG_BYTES: Final = 1 << 20
"""How many bytes of answers to pings may wait for a server that doesn't read."""


class _Stream(WebSocketStream, remote_errors.RemoteStream):
    @property
    def ended(self) -> remote_errors.Ended:
        return remote_errors.Ended(self.end, is_temporary=self.close_code not in _FINAL)


class _Connect(connect):
    """Follows no redirects, because the credentials are for the address that the user named."""

    def process_redirect(self, exc: Exception) -> Exception:
        return exc


class _Connection(ClientConnection):
    """Breaks off with a server that sends pings and doesn't read the answers, which would fill the memory."""

    _pongs = 0

    def data_received(self, data: bytes) -> None:
        waiting = self.transport.get_write_buffer_size()
        super().data_received(data)
        self._pongs = (self._pongs if waiting else 0) + self.transport.get_write_buffer_size() - waiting
        if self._pongs > _MAX_PONG_BYTES:
            self.transport.abort()


@asynccontextmanager
async def opened_websocket(address: Address, headers: Mapping[str, str]) -> AsyncIterator[_Stream]:
    """The agent's lines until the block ends. Raises AgentUnreachable."""
    stream = _Stream(await _open(address, headers))
    try:
        yield stream
    finally:
        with anyio.CancelScope(shield=True):
            await stream.aclose()


async def _open(address: Address, headers: Mapping[str, str]) -> ClientConnection:
    opened = partial(
        _Connect,
        additional_headers=headers,
        open_timeout=remote_errors.OPEN_LIMIT_S,
        ping_interval=PING_S,
        ping_timeout=PING_S,
        close_timeout=CLOSE_LIMIT_S,
        max_size=MAX_SIZE,
        max_queue=1,
        compression=None,  # costs more time than it saves
        create_connection=_Connection,
    )
    proxy = remote_errors.proxy_for(address)
    try:
        if address.socket_path:
            return await opened("ws://localhost/", unix=True, path=address.socket_path)
        return await opened(address.url, proxy=proxy)
    except exceptions.InvalidStatus as error:
        ended = remote_errors.refusal(error.response.status_code, error.response.headers.get("Location"))
    except OSError as error:
        ended = remote_errors.failure(error, proxy)
        if address.socket_path:  # the program that listened on this machine has ended
            ended = replace(ended, is_temporary=False)
    except exceptions.InvalidProxy as error:  # its own message repeats the address with its secrets
        ended = remote_errors.Ended(f"can't be reached: the proxy in the environment isn't valid ({error.msg})")
    except exceptions.InvalidProxyStatus as error:
        ended = remote_errors.proxy_refusal(proxy or "", f"HTTP {error.response.status_code}")
    except ValueError:
        ended = remote_errors.Ended("can't be reached: the proxy of the environment isn't valid", is_temporary=False)
    except (ImportError, exceptions.ProxyError) as error:
        ended = remote_errors.Ended(f"can't be reached through the proxy: {error}")
    except exceptions.InvalidMessage as error:
        is_cut = isinstance(error.__cause__, EOFError | OSError)
        how = "closed the connection without answering" if is_cut else f"doesn't speak WebSocket: {error}"
        ended = remote_errors.Ended(how, is_temporary=is_cut)
    except exceptions.InvalidHandshake as error:
        ended = remote_errors.Ended(f"doesn't speak WebSocket: {error}", is_temporary=False)
    raise ended.of(address.host)
