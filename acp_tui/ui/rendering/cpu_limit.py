"""Stops a piece of work that takes too much of the processor, in the middle of a regular expression if need be.

A thread cannot do that, since a match in C holds the GIL, and a worker process costs memory, a round trip for each line
and care for its end. But `re` looks for signals while it matches, so a timer of the operating system ends it. The timer
counts the processor time that this process uses, so that other busy programs make nobody late.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from typing import Final, TypeVar

_AGAIN_S: Final = 0.02
"""Until the next attempt, where something on the way has swallowed the exception."""

_Result = TypeVar("_Result")


class OverLimit(BaseException):
    """The work was stopped. It is no `Exception`, so that the work cannot catch it by mistake."""


class CannotLimit(Exception):
    """There is no such timer here: only the main thread has one."""


class _Limit:
    """The one timer of the process."""

    is_installed = False
    is_running = False

    def install(self) -> None:
        """Take the timer's signal, for good: one that comes late finds nothing to stop, and ends nothing."""
        if not self.is_installed:
            signal.signal(signal.SIGVTALRM, self._stop)
            self.is_installed = True

    def _stop(self, _number: int, _frame: object) -> None:
        if self.is_running:
            raise OverLimit


_limit: Final = _Limit()


def run_within(cpu_s: float, work: Callable[[], _Result]) -> _Result:
    """What `work` returns. Raises OverLimit after about `cpu_s` seconds, and CannotLimit outside of the main thread.

    Work inside of limited work has the limit of the outer one.
    """
    if threading.current_thread() is not threading.main_thread():
        raise CannotLimit
    if _limit.is_running:
        return work()
    _limit.install()
    _limit.is_running = True
    try:
        signal.setitimer(signal.ITIMER_VIRTUAL, cpu_s, _AGAIN_S)
        return work()
    finally:
        _limit.is_running = False
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
