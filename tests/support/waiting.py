"""The time limits of all waits in tests, the one way to poll, and work counted without a clock.

A limit only ends a test that hangs, so it is far longer than a busy machine needs.
"""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable
from time import monotonic
from typing import Any, Final

import anyio

LIMIT_S: Final = 60.0
"""For a single event."""
TEST_LIMIT_S: Final = 180.0
"""For all waits of one test together."""
HANG_S: Final = 2 * TEST_LIMIT_S
"""Such a test waits for nothing that could be abandoned, so its process is ended."""


async def until(
    is_so: Callable[[], object], step: Callable[[], Awaitable[object]], shown: Callable[[], str] = str
) -> None:
    """Take steps until the condition holds; in a failure, `shown` tells how far it got."""
    deadline = monotonic() + LIMIT_S
    while not is_so():
        assert monotonic() < deadline, f"it never happened:\n{shown()}"
        await step()


class Bell:
    """Signals that the condition may hold now: for things that report their changes, without polling."""

    def __init__(self) -> None:
        self._rung = anyio.Event()

    def ring(self, *_: Any) -> None:
        """Wake those who wait. Accepts any arguments of a listener."""
        self._rung.set()
        self._rung = anyio.Event()

    async def until(self, is_so: Callable[[], object], shown: Callable[[], str] = str) -> None:
        """Wait until the condition holds; in a failure, `shown` tells how far it got."""
        try:
            with anyio.fail_after(LIMIT_S):
                while not is_so():
                    await self._rung.wait()
        except TimeoutError:
            raise AssertionError(f"it never happened:\n{shown()}") from None


# Work in calls: a measure that no clock, machine, or other process disturbs

LINEAR: Final = 2.2
"""The most that calls may grow for twice the size; by four would be quadratic."""


def calls(run: Callable[[], object]) -> int:
    """How many functions it calls, in Python and in C. What is loaded or cached by a first run doesn't count."""
    count = 0

    def see(_frame: object, event: str, _argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    run()
    sys.setprofile(see)
    try:
        run()
    finally:
        sys.setprofile(None)
    return count


def growth(run: Callable[[int], object], size: int, *, besides: int = 100) -> float:
    """How many times the calls of `run(size)` twice the size takes, without some `besides` that any size takes."""
    return (calls(lambda: run(2 * size)) - besides) / calls(lambda: run(size))
