"""Tells when an app has done all it can: by the event loop and its widgets' queues, not by elapsed time.

Textual's own way sends a callback through every widget, each of which then looks for idle handlers: a quarter of the
work of a short test. And a time without work says little on a machine that is busy with other things.

Frames are laid out, but painted only where a test reads the screen, or asks for all of them: a fifth of the work.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, nullcontext
from functools import partial
from time import monotonic
from typing import Any, Final
from weakref import WeakKeyDictionary

import pytest
from anyio import to_thread
from rich.console import RenderableType
from textual._compositor import Compositor
from textual.message_pump import MessagePump
from textual.pilot import Pilot, WaitForScreenTimeout
from textual.screen import Screen

from support.waiting import until

POLL_S: Final = 0.004
"""The pause between two looks at what no task of the loop brings about: a thread, a process, a frame that is due."""
LOOK_S: Final = 0.015
"""The pause between two looks at the screen, for which it is painted."""
THREAD_S: Final = 1.0
"""A thread that takes longer needs its own wait, or is held up by the test."""
SPINS: Final = 500
"""A task that runs in every round of the loop, such as a cancellation delivered again and again, must not block this.
"""

paint: Final = Compositor.render_update
"""Textual's own method, which paints what has changed."""

_begun: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[object, float]] = WeakKeyDictionary()


def install(patch: pytest.MonkeyPatch) -> None:
    """From now on, track threads that have work, and paint only what is looked at."""
    in_thread, in_executor = to_thread.run_sync, asyncio.BaseEventLoop.run_in_executor

    async def run_sync(work: Any, *args: Any, **kwargs: Any) -> Any:
        async with nullcontext() if _runs_until_told(work, *args) else _at_work():
            return await in_thread(work, *args, **kwargs)

    def run_in_executor(self: asyncio.BaseEventLoop, *args: Any) -> Any:
        work = in_executor(self, *args)
        works, key = _begun.setdefault(self, {}), object()
        works[key] = monotonic()
        work.add_done_callback(lambda _: works.pop(key))
        return work

    patch.setattr(Compositor, "render_update", _leave_unpainted)
    patch.setattr(to_thread, "run_sync", run_sync)
    patch.setattr(asyncio.BaseEventLoop, "run_in_executor", run_in_executor)


def _leave_unpainted(self: Compositor, full: bool = False, **options: Any) -> RenderableType | None:
    if full:  # for a picture
        return paint(self, full, **options)
    self._dirty_regions.clear()
    return None


def _runs_until_told(work: Any, *args: Any) -> bool:
    """Whether it is given an event that ends it, as those are that follow files: they wait all the time."""
    return any(hasattr(each, "is_set") for each in (*getattr(work, "args", ()), *args))


@asynccontextmanager
async def _at_work() -> AsyncIterator[None]:
    works, key = _begun.setdefault(asyncio.get_running_loop(), {}), object()
    works[key] = monotonic()
    try:
        yield
    finally:
        del works[key]


def _is_thread_at_work() -> bool:
    begun = _begun.get(asyncio.get_running_loop())
    return bool(begun) and any(monotonic() - at < THREAD_S for at in begun.values())


async def _has_worked_off(pilot: Pilot[Any], timeout: float = 30.0) -> bool:
    """Wait until no task of the loop can continue, and the app and its widgets wait for messages.

    False if it crashed.
    """
    app, loop = pilot.app, asyncio.get_running_loop()
    ready: Any = loop._ready  # type: ignore[attr-defined]
    deadline, spins, is_polled = monotonic() + timeout, 0, False
    while True:
        await asyncio.sleep(0)
        if app._exception is not None or not app._screen_stack:
            return False
        if ready and spins < SPINS:
            spins, is_polled = spins + 1, False
        elif not is_polled:  # the next round checks files and timers
            is_polled = True
        elif all(map(is_waiting, (app, *app.screen.walk_children(with_self=True)))):
            return True
        elif monotonic() > deadline:
            raise WaitForScreenTimeout("a widget doesn't get done with a message")
        else:
            await asyncio.sleep(POLL_S)
            spins, is_polled = 0, False


def is_waiting(pump: MessagePump) -> bool:
    """Whether it has handled all of its messages, or has ended."""
    if pump._closed or pump._closing:
        return True
    is_ready = pump._message_queue.ready_event
    return not is_ready.is_set() and pump._pending_message is None and bool(is_ready._waiters)


async def settle(pilot: Pilot[Any], is_due: Callable[[], bool] = bool) -> None:
    """Wait until all messages are handled, laid out, and painted, and nothing `is_due`."""
    is_quiet = False

    async def step() -> None:
        nonlocal is_quiet
        is_there = await _has_worked_off(pilot)
        if is_there and wants_painting(pilot.app.screen):
            pilot.app.screen._on_timer_update()
        elif is_there and (_is_thread_at_work() or is_due()):
            await asyncio.sleep(POLL_S)
        else:
            is_quiet = True

    await until(lambda: is_quiet, step, lambda: "the screen doesn't settle")


def wants_painting(screen: Screen[Any]) -> bool:
    """Whether the screen has something to lay out or to paint."""
    if screen.app._batch_count:
        return False
    return bool(
        screen._layout_required
        or screen._scroll_required
        or screen._repaint_required
        or screen._recompose_required
        or screen._dirty_widgets
        or screen._callbacks
    )


async def until_so(pilot: Pilot[Any], is_so: Callable[[], object], shown: Callable[[], str] = str) -> None:
    """Wait for a thread's or a process's result. Lays out and paints the screen before each look at it."""
    await until(is_so, partial(_look_again, pilot), shown)


async def _look_again(pilot: Pilot[Any]) -> None:
    await asyncio.sleep(LOOK_S)
    if await _has_worked_off(pilot) and wants_painting(pilot.app.screen):
        pilot.app.screen._on_timer_update()
