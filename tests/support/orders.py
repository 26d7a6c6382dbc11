"""An event loop whose time is its own, and a scheduler under Textual's message pump that delays and reorders by a seed.

Time passes only when nothing can be done, so waits take no time, and an order depends on nothing but its seed. What
waits for nothing is reported as a freeze, and so is what never comes to rest.
"""

from __future__ import annotations

import asyncio
import random
import selectors
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from typing import Any, Final
from zlib import crc32

import pytest
from anyio import to_thread
from textual.dom import DOMNode
from textual.events import Compose, Mount, Resize, Unmount
from textual.message_pump import MessagePump
from textual.messages import Prune
from textual.widget import Widget

from acp_tui.client.sessions.hub import SessionHub
from acp_tui.ui.kit.question_screen import QuestionScreen

MAX_ROUNDS: Final = 60_000
"""Of the loop, for one order. The longest take a tenth of it."""
LATE: Final = (Compose, Mount, Resize, Unmount, Prune)
"""What begins, ends, or places a widget is delayed longest."""
CLOCKS: Final = (time.monotonic, time.perf_counter, time.time)


class Frozen(AssertionError):
    """Nothing will ever happen, or something happens forever."""


class _Selector(selectors.DefaultSelector):  # type: ignore[misc, valid-type]  # which class it is depends on the system
    """Lets the loop's time pass instead of waiting."""

    def __init__(self) -> None:
        super().__init__()
        self.now_s = 1000.0
        self.rounds = 0
        self.give_up: Callable[[str], object] = _raise_frozen
        """Called with the reason when it is frozen."""

    def select(self, timeout: float | None = None) -> Any:
        """Never wait for longer than it takes to look."""
        self.rounds += 1
        found = super().select(0)
        if self.rounds > MAX_ROUNDS:
            self._end(f"it doesn't come to rest in {MAX_ROUNDS:,} rounds")
        elif not found and timeout is None:
            self._end("every task waits for another")
        elif not found and timeout is not None:
            self.now_s += max(timeout, 0)
        return found

    def _end(self, reason: str) -> None:
        self.rounds, give_up, self.give_up = 0, self.give_up, _raise_frozen
        give_up(reason)


def _raise_frozen(reason: str) -> None:
    raise Frozen(reason)


class OwnTimeLoop(asyncio.SelectorEventLoop):
    """A loop without threads: their work is done in the loop, a little later."""

    def __init__(self) -> None:
        self._own = _Selector()
        super().__init__(self._own)
        self.late_s: Callable[[], float] = float
        """How long the next work of a thread takes."""

    def time(self) -> float:
        """Seconds since some moment."""
        return self._own.now_s

    def begin(self, task: asyncio.Task[Any]) -> None:
        """An order begins in this task, which is canceled if nothing happens anymore, or too much."""
        self._own.rounds, self._own.give_up = 0, lambda reason: self.call_soon(task.cancel, reason)

    def run_in_executor(self, executor: Any, func: Any, *args: Any) -> Any:
        """Do it here."""
        done = self.create_future()

        def do() -> None:
            if done.cancelled():
                return
            try:
                done.set_result(func(*args))
            except Exception as error:  # noqa: BLE001 - raised to who awaits it
                done.set_exception(error)

        self.call_later(self.late_s(), do)
        return done


class Scheduler:
    """Delays every message of every widget by a seeded number of rounds, and some by a while."""

    def __init__(self, loop: OwnTimeLoop) -> None:
        self._loop = loop
        self._chance = random.Random(0)
        self._slow: dict[type, bool] = {}
        self.mark = 0
        """Tells whether two lives were the same to the last message: who got it, and when."""
        loop.late_s = lambda: self._chance.choice((0.0, 0.001, 0.02))

    def begin(self, seed: str) -> random.Random:
        """Begin the order with this seed; the result decides what else is random in it."""
        self._chance, self._slow = random.Random(seed), {}
        task = asyncio.current_task()
        assert task is not None
        self._loop.begin(task)
        return self._chance

    async def delay(self, of: object, *, is_late: bool) -> None:
        """Let others go first."""
        chance, kind = self._chance, type(of)
        self.mark = crc32(f"{kind.__name__} {self._loop.time()}".encode(), self.mark)
        if kind not in self._slow:
            self._slow[kind] = chance.random() < 0.2
        most = 24 if is_late else 4
        rounds = chance.randrange(most * 3) if self._slow[kind] else chance.choice((0, 0, 0, 1, most))
        for _ in range(rounds):
            await asyncio.sleep(0)
        if chance.random() < 0.01:
            await asyncio.sleep(chance.choice((0.005, 0.05, 0.3)))

    @contextmanager
    def installed(self) -> Iterator[None]:
        """Schedule every pump in this context."""
        dispatch, leave, loop = MessagePump._dispatch_message, Widget._message_loop_exit, self._loop

        async def dispatch_late(pump: MessagePump, message: Any) -> None:
            await self.delay(pump, is_late=isinstance(message, LATE))
            await dispatch(pump, message)

        async def leave_late(widget: Widget) -> None:
            await self.delay(widget, is_late=True)
            await leave(widget)

        async def run_sync(work: Any, *args: Any, **_: Any) -> Any:
            await asyncio.sleep(loop.late_s())
            return work(*args)

        def number_of(node: DOMNode) -> int:
            return int(node.__dict__.setdefault("_number", next(numbers)))

        numbers = count()
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(DOMNode, "__hash__", number_of)  # by which sets of widgets are in order
            patch.setattr(MessagePump, "_dispatch_message", dispatch_late)
            patch.setattr(Widget, "_message_loop_exit", leave_late)
            patch.setattr(to_thread, "run_sync", run_sync)
            for owner, name in _clocks():
                patch.setattr(owner, name, loop.time)
            yield


def _clocks() -> Iterator[tuple[object, str]]:
    """Wherever a widget may read the time, also under a name that it imported: what shows for five seconds would go
    in another round each time."""
    SessionHub.preload()  # what is loaded only in an order would keep its clock
    yield from ((time, clock.__name__) for clock in CLOCKS)
    for module in [*sys.modules.values()]:
        if module.__name__.startswith(("textual.", "acp_tui.")):
            yield from ((module, name) for name, value in vars(module).items() if value in CLOCKS)
    yield QuestionScreen, "clock"
