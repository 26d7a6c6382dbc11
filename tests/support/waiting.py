"""The time limits of all waits in tests, and the one way to poll.

What a test waits for is its own; a limit only ends what would hang, so it is far beyond what a busy machine needs.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from time import monotonic
from typing import Any, Final

import anyio

LIMIT_S: Final = 60.0
"""For one thing that is to happen."""
TEST_LIMIT_S: Final = 180.0
"""For all that one test waits for, one thing after the other."""
HANG_S: Final = 2 * TEST_LIMIT_S
"""A test that runs longer waits for nothing that could be given up: its process is ended."""


async def until(
    is_so: Callable[[], object], step: Callable[[], Awaitable[object]], shown: Callable[[], str] = str
) -> None:
    """Take steps until it is so; `shown` says in the failure how far it came."""
    deadline = monotonic() + LIMIT_S
    while not is_so():
        assert monotonic() < deadline, f"it never happened:\n{shown()}"
        await step()


class Bell:
    """Rings whenever something may have become so; for what tells of its changes, no polling."""

    def __init__(self) -> None:
        self._rung = anyio.Event()

    def ring(self, *_: Any) -> None:
        """Let those who wait look again. Takes whatever a listener is told."""
        self._rung.set()
        self._rung = anyio.Event()

    async def until(self, is_so: Callable[[], object], shown: Callable[[], str] = str) -> None:
        """Wait until it is so; `shown` says in the failure how far it came."""
        try:
            with anyio.fail_after(LIMIT_S):
                while not is_so():
                    await self._rung.wait()
        except TimeoutError:
            raise AssertionError(f"it never happened:\n{shown()}") from None
