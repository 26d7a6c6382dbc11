"""Spreads long work on files over time, so that its cost doesn't depend on how many files there are."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from threading import Condition
from typing import Final, TypeVar

FREE_S: Final = 0.1
"""Processor time that's used without waiting for a reason to hurry. Enough for some ten thousand files."""
HURRIED_S: Final = 1.0
"""Processor time in addition, once there is one. Enough for some hundred thousand files in a repository."""
SLICE_S: Final = 0.005
"""Processor time between two rests."""
SHORT_REST: Final = 1
"""A rest is as long as the work before it, so that keys always come through."""
LONG_REST: Final = 20
"""The same in a hurry, when `HURRIED_S` has been used."""
IDLE_REST: Final = 200
"""The same without a reason to hurry, when `FREE_S` has been used."""

T = TypeVar("T")


class Stopped(Exception):
    """Nobody needs the rest of the work."""


class Pace:
    """The pace of all work on one folder. Any thread may use it."""

    def __init__(self) -> None:
        self._left_s = FREE_S
        self._is_hurried = self._is_stopped = False
        self._waiting = 0
        self._changed = Condition()

    def hurry(self) -> None:
        """From now on, work more, because the files may be changed."""
        with self._changed:
            if not self._is_hurried:
                self._is_hurried = True
                self._left_s += HURRIED_S
                self._changed.notify_all()

    @contextmanager
    def awaited(self) -> Iterator[None]:
        """Take only short rests within the block, because somebody waits for the result."""
        with self._changed:
            self._waiting += 1
            self._changed.notify_all()
        try:
            yield
        finally:
            self._waiting -= 1

    def stop(self) -> None:
        """Let all work end at its next step."""
        with self._changed:
            self._is_stopped = True
            self._changed.notify_all()

    def spread(self, items: Iterable[T]) -> Iterator[T]:
        """The same items, with rests in between. Blocks. Raises: Stopped."""
        began_s = time.thread_time()
        for item in items:
            if self._is_stopped:
                raise Stopped
            yield item
            used_s = time.thread_time() - began_s
            if used_s >= SLICE_S:
                self._rest_after(used_s)
                began_s = time.thread_time()

    def _rest_after(self, used_s: float) -> None:
        self._left_s -= used_s
        if self._waiting or self._left_s > 0:
            time.sleep(SHORT_REST * used_s)
        else:
            with self._changed:
                self._changed.wait((LONG_REST if self._is_hurried else IDLE_REST) * used_s)
