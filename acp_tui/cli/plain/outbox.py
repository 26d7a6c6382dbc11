"""Brings lines to the console in their order, though some take a while to be worked out."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import TypeAlias

import anyio
from anyio import to_thread

Lines: TypeAlias = str | Callable[[], str]
"""Text, or what gives it: that runs in a thread, and must not look at what changes meanwhile."""


class Outbox:
    """What is put in comes out in that order."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._waiting: deque[Lines | anyio.Event] = deque()
        self._has_some = anyio.Event()

    def put(self, lines: Lines) -> None:
        """To be said behind what was put in before; "" is not."""
        self._add(lines)

    async def flush(self) -> None:
        """Return when all that was put in is said."""
        reached = anyio.Event()
        self._add(reached)
        await reached.wait()

    def _add(self, item: Lines | anyio.Event) -> None:
        self._waiting.append(item)
        self._has_some.set()

    async def run(self) -> None:
        """Until cancelled."""
        while True:
            await self._has_some.wait()
            self._has_some = anyio.Event()
            while self._waiting:
                item = self._waiting.popleft()
                if isinstance(item, anyio.Event):
                    item.set()
                    continue
                text = item if isinstance(item, str) else await to_thread.run_sync(item)
                if text:
                    self._say(text)
