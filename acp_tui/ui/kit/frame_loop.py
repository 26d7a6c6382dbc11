"""Runs a widget's drawing frame by frame, from any task. The widget decides what a frame draws."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Callable
from typing import Final

from textual.widget import Widget

FRAME_S: Final = 1 / 30
FLOOD_FRAME_S: Final = 1 / 12
"""For text or a terminal's output that comes faster than anyone can read: a frame is sent whole and slows it down."""


class Frames:
    """Calls `draw`, at the earliest one frame after the last."""

    def __init__(self, widget: Widget, draw: Callable[[], None], frame_s: Callable[[float], float]) -> None:
        """`frame_s` returns the length of a frame at a given time of the loop."""
        self._widget = widget
        self.draw = draw
        self._frame_s = frame_s
        self._loop: asyncio.AbstractEventLoop | None = None
        self._context = contextvars.copy_context()
        self._handle: asyncio.TimerHandle | None = None
        self.shown_at = 0.0

    def start(self) -> None:
        """Run frames in the caller's context from now on, because updates come from tasks outside the app."""
        self._context = contextvars.copy_context()
        self._loop = asyncio.get_running_loop()

    def stop(self) -> None:
        if self._handle is not None:
            self._handle.cancel()
        self._loop = None

    def schedule(self, pause_s: float = 0) -> None:
        """Run `draw` after a pause, or with the next frame. Cheap; call it from any task of the loop."""
        if self._loop is None or self._handle is not None:
            return
        now = self._loop.time()
        wait_s = pause_s or max(0.0, self.shown_at + self._frame_s(now) - now)
        self._handle = self._loop.call_later(wait_s, self.run, context=self._context)

    def run(self) -> None:
        """Draw now, unless the widget has left the screen or the app is ending."""
        self._handle = None
        if self._loop is not None and self._widget.is_attached:
            self.draw()

    @property
    def is_scheduled(self) -> bool:
        return self._handle is not None

    @property
    def now(self) -> float:
        """The loop's time; 0 while no frames run."""
        return self._loop.time() if self._loop is not None else 0.0

    def time_slice(self, length_s: float) -> Callable[[], bool]:
        deadline = self.now + length_s
        return lambda: self.now >= deadline
