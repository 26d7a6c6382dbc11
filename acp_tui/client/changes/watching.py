"""Follows what happens in a set of directories, in a thread, for as long as it is awaited.

It does not look at files; it passes on which paths something happened to.
"""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

import anyio
from anyio import from_thread, to_thread

_DEBOUNCE_MS: Final = 200
_STEP_MS: Final = 50
_TIMEOUT_MS: Final = 100
"""How long at most until the first answer, from which it is clear that the watch has begun."""


@dataclass(frozen=True, slots=True)
class Happened:
    """What happened within a fraction of a second; absolute paths, as they were given to `watch`."""

    paths: frozenset[str]
    added: frozenset[str]
    """Those of them that are new under this name."""


async def watch(
    directories: Sequence[str], on_started: Callable[[], None], on_events: Callable[[Happened], None]
) -> str:
    """Report on this event loop, until cancelled; or until the watch fails, and then say why.

    Directories are watched one by one and not what is below them: so links are not followed, and what git ignores
    costs nothing. After a failure, what happened last may have been lost.
    """
    stop = threading.Event()
    reason = ""
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_set_when_cancelled, stop)
        try:
            # A thread of its own, not one of those that all the program's short work shares.
            own = anyio.CapacityLimiter(1)
            await to_thread.run_sync(partial(_follow, directories, stop, on_started, on_events), limiter=own)
        except (OSError, RuntimeError, ImportError) as error:
            reason = str(error)
        tasks.cancel_scope.cancel()
    return reason or "it ended by itself"


async def _set_when_cancelled(stop: threading.Event) -> None:
    try:
        await anyio.sleep_forever()
    finally:
        stop.set()


def _follow(
    directories: Sequence[str],
    stop: threading.Event,
    on_started: Callable[[], None],
    on_events: Callable[[Happened], None],
) -> None:
    import watchfiles  # loads a native library, for which no start should wait

    started = False
    for events in watchfiles.watch(
        *directories,
        watch_filter=None,
        debounce=_DEBOUNCE_MS,
        step=_STEP_MS,
        stop_event=stop,
        rust_timeout=_TIMEOUT_MS,
        yield_on_timeout=True,
        raise_interrupt=False,
        recursive=False,
    ):
        if not started:
            started = True
            from_thread.run_sync(on_started)
        if events:
            added = frozenset(path for change, path in events if change is watchfiles.Change.added)
            from_thread.run_sync(on_events, Happened(frozenset(path for _, path in events), added))
