"""Spreads long work on files over time, so that its cost doesn't depend on how many files there are."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from threading import Event
from typing import Final, TypeVar

FREE_S: Final = 0.1
"""Processor time that's used without waiting for a reason to hurry. Enough for some ten thousand files."""
SLICE_S: Final = 0.005
"""Processor time between two rests."""
REST_RATIO: Final = 1
"""A rest is as long as the work before it, so that keys always come through."""
LONG_REST_RATIO: Final = 200
"""The same for what exceeds `FREE_S`, as long as there's no reason to hurry."""

T = TypeVar("T")


class Stopped(Exception):
    """Nobody needs the rest of the work."""


class Pace:
    """The pace of all work on one folder. Any thread may use it."""

    def __init__(self, free_s: float = FREE_S) -> None:
        self._free_s = free_s
        self._hurries = Event()
        self._is_stopped = False

    def hurry(self) -> None:
        """From now on, take only short rests, because the files may be changed or are asked for."""
        self._hurries.set()

    def stop(self) -> None:
        """Let all work end at its next step."""
        self._is_stopped = True
        self._hurries.set()

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
        self._free_s -= used_s
        if self._hurries.is_set() or self._free_s > 0:
            time.sleep(REST_RATIO * used_s)
        else:
            self._hurries.wait(LONG_REST_RATIO * used_s)
