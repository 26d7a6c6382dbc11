"""Methods beyond the protocol that an embedding program serves. Their names begin with "_" (R-EXT-1)."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias, TypeVar

from acp_tui.rpc import ErrorCode, RequestFailed

log = logging.getLogger(__name__)

ServeRequest: TypeAlias = Callable[[Any], Awaitable[Any]]
"""Gets the params and returns the result. Raises RequestFailed to refuse."""
TakeNotification: TypeAlias = Callable[[Any], None]
"""Gets the params. It runs inside the read loop, so it may only take note of them."""

F = TypeVar("F", bound=Callable[[Any], Any])


class Extensions:
    """The functions that serve extensions."""

    def __init__(self) -> None:
        self._requests: dict[str, ServeRequest] = {}
        self._notifications: dict[str, TakeNotification] = {}

    def on_request(self, method: str) -> Callable[[F], F]:
        """Decorate the coroutine function that serves `method`."""
        return _registration(self._requests, method)

    def on_notification(self, method: str) -> Callable[[F], F]:
        """Decorate the function that receives `method`."""
        return _registration(self._notifications, method)

    def serve(self, method: str, params: Any) -> Awaitable[Any]:
        """Handle a request. Raises RequestFailed if no function serves it (R-RPC-5)."""
        serve = self._requests.get(method)
        if serve is None:
            raise RequestFailed(ErrorCode.METHOD_NOT_FOUND, f"Method not found: {method}", {"method": method})
        return serve(params)

    def tell(self, method: str, params: Any) -> None:
        """Pass on a notification. It's ignored if no function is registered for it (R-RPC-5)."""
        take = self._notifications.get(method)
        if take is None:
            log.debug("the notification %s isn't known and was ignored", method)
        else:
            take(params)


def require_extension_name(method: str) -> None:
    """Raises ValueError for a name that is reserved for the protocol."""
    if not method.startswith("_"):
        raise ValueError(f"the name of an extension begins with '_', and {method!r} doesn't")


def _registration(registry: dict[str, Any], method: str) -> Callable[[F], F]:
    require_extension_name(method)

    def register(serve: F) -> F:
        registry[method] = serve
        return serve

    return register
