"""The thread in which emulators work, so that a flood never delays the event loop.

One thread for all terminals: libghostty takes 70 MB/s without the GIL, more than a small machine's PTYs deliver.
"""

from __future__ import annotations

import asyncio
import atexit
import logging
import threading
from collections.abc import Callable
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Final, TypeAlias

log = logging.getLogger(__name__)

END_S: Final = 1.0
"""For the job that a thread has as we end."""

Job: TypeAlias = tuple[Callable[[], None], Callable[[], None], asyncio.AbstractEventLoop]


class Feeder:
    """Does one job after the other in a thread, which it starts with the first of them."""

    def __init__(self) -> None:
        self._jobs: SimpleQueue[Job | None] = SimpleQueue()
        self._has_thread = False
        self._is_closed = False
        self.last_run = float("-inf")
        """When it got a job last, by the event loop's clock."""

    def run(self, work: Callable[[], None], on_done: Callable[[], None]) -> None:
        """Do `work` in the thread, then call `on_done` on the event loop, where this has to be called too."""
        if self._is_closed:  # nobody looks any more
            return
        if not self._has_thread:
            self._has_thread = True
            # A daemon: quitting waits for no more than the job that is under way.
            FeederThread(self._jobs).start()
        loop = asyncio.get_running_loop()
        self.last_run = loop.time()
        self._jobs.put((work, on_done, loop))

    def close(self) -> None:
        """Take no more jobs, and let the thread end after those that it has. May be called twice."""
        self._is_closed = True
        self._jobs.put(None)


class FeederThread(threading.Thread):
    """Works off jobs until there is a None among them."""

    def __init__(self, jobs: SimpleQueue[Job | None]) -> None:
        super().__init__(name="terminal-feeder", daemon=True)
        self._jobs = jobs

    def run(self) -> None:
        """In the thread."""
        _work_off(self._jobs)

    def end(self) -> None:
        """Wait for the job that is under way; those behind it are dropped."""
        with suppress(Empty):
            while True:
                self._jobs.get_nowait()
        self._jobs.put(None)
        self.join(END_S)


@atexit.register
def _end_all() -> None:
    """The interpreter must not be taken down under a thread within libghostty: it would end by a segmentation fault."""
    for thread in threading.enumerate():
        if isinstance(thread, FeederThread):
            thread.end()


def _work_off(jobs: SimpleQueue[Job | None]) -> None:
    while (job := jobs.get()) is not None:
        work, on_done, loop = job
        try:
            work()
        except Exception:
            # Whatever a program prints must not stop the other terminals.
            log.exception("a terminal's emulator has failed")
        with suppress(RuntimeError):  # the loop has ended meanwhile
            loop.call_soon_threadsafe(on_done)
        del job, work, on_done  # which would keep a released terminal alive until the next job
