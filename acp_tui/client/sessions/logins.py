"""The way around a login: a call is made again once the user has logged in. How that is done is its caller's."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

from acp_tui.client.errors import AuthenticationRequired

T = TypeVar("T")


async def logged_in(
    call: Callable[[], Awaitable[T]], log_in: Callable[[AuthenticationRequired], Awaitable[bool]]
) -> T:
    """Make `call`, and as often as the agent wants a login first, let the user log in and make it again (R-AUTH-3).

    `log_in` says whether that is worth it. Raises AuthenticationRequired where it is not, or there is no way to.
    """
    while True:
        try:
            return await call()
        except AuthenticationRequired as wanted:
            if not wanted.methods or not await log_in(wanted):
                raise
