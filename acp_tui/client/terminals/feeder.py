"""The thread in which emulators work, so that a flood of output never delays the event loop.

There is one thread for all terminals: libghostty takes 300 MB/s without the GIL, more than a small machine's PTYs
deliver.
"""

from __future__ import annotations

import asyncio
import atexit
import logging
import threading
import weakref
from collections.abc import Callable
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Final, TypeAlias

log = logging.getLogger(__name__)

END_S: Final = 1.0
"""How long to wait at exit for a thread's current job."""

Job: TypeAlias = tuple[Callable[[], None], Callable[[], None], asyncio.AbstractEventLoop]


class Feeder:
    """Runs jobs one after the other in a thread, which starts with the first job."""

    def __init__(self) -> None:
        self._jobs: SimpleQueue[Job | None] = SimpleQueue()
        self._has_thread = False
        self._is_closed = False
        self.last_run = float("-inf")
        """When the last job was added, by the event loop's clock."""

    def run(self, work: Callable[[], None], on_done: Callable[[], None]) -> None:
        """Do `work` in the thread, then call `on_done` on the event loop. Call this on the event loop, too."""
        if self._is_closed:  # the terminal is gone
            return
        if not self._has_thread:
            self._has_thread = True
            # As a daemon, so that quitting waits only for the current job.
            FeederThread(self._jobs).start()
        loop = asyncio.get_running_loop()
        self.last_run = loop.time()
        self._jobs.put((work, on_done, loop))

    def close(self) -> None:
        """Accept no more jobs, and let the thread end after the remaining ones. May be called twice."""
        self._is_closed = True
        self._jobs.put(None)


class FeederThread(threading.Thread):
    """Runs jobs until it gets None."""

    def __init__(self, jobs: SimpleQueue[Job | None]) -> None:
        super().__init__(name="terminal-feeder", daemon=True)
        self._jobs = jobs

    def run(self) -> None:
        while (job := self._jobs.get()) is not None:
            work, on_done, loop = job
            try:
                work()
            except Exception:
                # No program's output may stop the other terminals.
                log.exception("a terminal's emulator has failed")
            with suppress(RuntimeError):  # the loop has ended
                loop.call_soon_threadsafe(on_done)
            del job, work, on_done  # otherwise a released terminal would stay alive until the next job

    def end(self) -> None:
        """Wait for the current job and drop the others."""
        with suppress(Empty):
            while True:
                self._jobs.get_nowait()
        self._jobs.put(None)
        self.join(END_S)


def _end_all() -> None:
    """End the threads first: ending the interpreter while one is inside libghostty causes a segmentation fault."""
    for thread in threading.enumerate():
        if isinstance(thread, FeederThread):
            thread.end()


# What is registered last is called first. With its first finalizer, `weakref` registers what frees emulators at exit.
weakref.finalize(_end_all, bool)
atexit.register(_end_all)
