"""Knows when the terminal has shown what was painted. What is composed may wait for seconds on its way there.

A terminal answers a question only after it has taken everything that was sent before it. So a question behind a frame
is a fence: keys read before its answer were pressed while something else was on the screen. Doesn't know what asks.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Collection, Hashable
from typing import Any, Final, Protocol

from textual._context import NoActiveAppError
from textual.app import App
from textual.errors import NoWidget
from textual.widget import Widget

from acp_tui.client.desktop import UNANSWERED_S
from acp_tui.ui.textual_gaps.flow_control import LOST_S

GLANCE_S: Final = 0.15
"""What is left sooner, as with a held key, was hardly shown. Nobody who looks presses keys this fast."""
RETRY_S: Final = 0.02
"""While Textual paints nothing, look again this often."""


class Questioned(Protocol):
    """A terminal that can be asked."""

    questions: int
    """How many it was asked."""
    lag_s: float
    """How long what it has answered may still be on its way to the user."""

    def ask(self, *, surely: bool = False) -> None:
        """Ask it for an answer to everything that was sent; `surely`: one that says which question it is for."""

    def question_behind_all(self) -> int:
        """The number of a question behind everything that was sent, counted from 1; asks it if there is none."""

    def has_input_since(self, at_s: float) -> bool:
        """Whether the user has done something since then that the app may not have handled yet."""


class _Wait:
    """Somebody waits until the terminal has shown these rows."""

    def __init__(self, tell: Callable[[float], None], is_known: bool, rows: range | None = None) -> None:
        self.tell = tell
        self.is_known = is_known
        self.rows = rows
        """None until the widget is painted."""
        self.number: int | None = None
        """The question behind the frame; None until all of the rows are sent."""
        self.asked_s = 0.0


class Fence:
    """The fence of one app. Belongs to the event loop. Times are in monotonic seconds."""

    def __init__(self, app: App[Any], terminal: Callable[[], Questioned | None], missed: Collection[int]) -> None:
        """`terminal` returns None if it can't be asked; `missed` are the rows of frames that were not sent."""
        self._app = app
        self._terminal = terminal
        self._missed = missed
        self._waits: dict[Hashable, _Wait] = {}
        self._begun_s = time.monotonic()
        self._answered = 0
        """The last question that was answered."""
        self._answered_s = -LOST_S
        self._lost = 0
        """How many answers something else has read; negative if there were more than questions."""
        self._doubted_s: float | None = None
        """When it was asked surely, because answers are missing. They may just be late."""
        self._has_answered = False
        self._is_exact = True
        """Whether there was never an answer without a question."""

    @property
    def is_silent(self) -> bool:
        """Whether this terminal answers nothing, so that only time can tell what it shows."""
        if self._terminal() is None:
            return True
        return not self._has_answered and time.monotonic() - self._begun_s >= LOST_S

    @property
    def lag_s(self) -> float:
        """How long what was answered may still be on its way to the user; 0.0 if the answers say what the user sees."""
        terminal = self._terminal()
        return UNANSWERED_S if terminal is None or self.is_silent or not self._is_exact else terminal.lag_s

    @property
    def unsent_rows(self) -> Collection[int]:
        """Those of painted widgets that somebody waits for and that aren't all sent. A whole screen has no haste."""
        waits, height = self._waits.values(), self._app.size.height
        unsent = [wait.rows for wait in waits if wait.number is None and wait.rows and len(wait.rows) < height]
        return set().union(*unsent)

    def is_awaited(self, key: Hashable) -> bool:
        """Whether `when_shown` was called with this key, and isn't done yet."""
        return key in self._waits

    def was_glanced_at(self, key: Hashable) -> bool:
        """Whether it will have been shown if it's left now: it was sent whole a moment ago."""
        wait = self._waits.get(key)
        return wait is None or (wait.number is not None and time.monotonic() >= wait.asked_s + GLANCE_S)

    def leave(self, key: Hashable) -> None:
        """Note that what was to be shown is gone."""
        if not self.was_glanced_at(key):
            del self._waits[key]

    def when_shown(
        self,
        key: Hashable,
        widget: Widget,
        tell: Callable[[float], None],
        *,
        is_known: bool = False,
        is_same: bool = False,
    ) -> None:
        """Call `tell` with the time when the terminal has shown this widget as it is now.

        `is_known`: its answer counts, whether or not the user's screen has got that far.
        A later call with the same key replaces this one, unless all of it was sent, and it `is_same`. Never calls
        `tell` if the widget isn't painted, because it or its screen is covered or hidden.
        """
        if is_same and key in self._waits and self._waits[key].number is not None:
            return
        wait = self._waits[key] = _Wait(tell, is_known)
        if not widget.call_after_refresh(self._note_painted, key, wait, widget):
            del self._waits[key]  # it's on its way out

    def _note_painted(self, key: Hashable, wait: _Wait, widget: Widget) -> None:
        if self._waits.get(key) is not wait:
            return
        if self._app._batch_count and widget.is_attached:  # nothing is painted yet
            asyncio.get_running_loop().call_later(
                RETRY_S, widget.call_after_refresh, self._note_painted, key, wait, widget
            )
            return
        # While the app ends, there may be no screen in front.
        is_in_front = widget.is_attached and widget.screen in self._app.screen_stack[-1:]
        rows = _rows_on_screen(widget) if is_in_front else range(0)
        if not rows:
            del self._waits[key]
            return
        wait.rows = rows
        self.note_sent()

    def note_sent(self) -> None:
        """Ask the terminal about rows that are all sent by now."""
        for key, wait in tuple(self._waits.items()):
            if wait.rows is not None and wait.number is None and not any(row in self._missed for row in wait.rows):
                self._ask(key, wait)

    def _ask(self, key: Hashable, wait: _Wait) -> None:
        terminal, now_s = self._terminal(), time.monotonic()
        wait.number = terminal.question_behind_all() if terminal is not None else 0
        wait.asked_s = now_s
        if self.is_silent:
            patience_s = UNANSWERED_S
        else:  # until it has answered once, it may be one that never does
            patience_s = LOST_S if self._has_answered else max(self._begun_s + LOST_S - now_s, UNANSWERED_S)
        asyncio.get_running_loop().call_later(patience_s, self._lose_patience, key, wait, now_s)
        if 0 < wait.number <= self._answered:  # nothing was sent since the last answer, because nothing looks different
            self._note_answer_to(key, wait, now_s)

    def _lose_patience(self, key: Hashable, wait: _Wait, asked_s: float) -> None:
        if self._waits.get(key) is not wait or wait.asked_s != asked_s:
            return
        terminal = self._terminal()
        if terminal is None or self.is_silent:
            self._tell(key, wait)
            return
        now_s = time.monotonic()
        if self._doubted_s is None:
            self._doubted_s = now_s
            terminal.ask(surely=True)
        elif self._answered_s > self._doubted_s and now_s - self._doubted_s >= LOST_S:  # it doesn't know that question
            self._is_exact, self._doubted_s = False, None
            self._lost += terminal.questions - self._answered
            terminal.ask()
        self._ask(key, wait)

    def note_answered(self, count: int, at_s: float, number: int | None = None) -> None:
        """Record that the terminal's answer with this count, from 1, was read at this time.

        `number` is that of its question, if the answer says it. So what is missing by then will never come.
        """
        terminal = self._terminal()
        if terminal is None:
            return
        if number is not None:
            self._lost, self._doubted_s = number - count, None
        self._has_answered, self._answered_s, self._answered = True, at_s, count + self._lost
        if self._answered > terminal.questions:
            self._is_exact, self._answered = False, terminal.questions
            self._lost = terminal.questions - count
        for key, wait in tuple(self._waits.items()):
            if wait.number is not None and wait.number <= self._answered:
                self._note_answer_to(key, wait, at_s)

    def _note_answer_to(self, key: Hashable, wait: _Wait, at_s: float) -> None:
        if not self.lag_s or (wait.is_known and self._is_exact):
            self._tell(key, wait, at_s)
        else:
            asyncio.get_running_loop().call_later(self.lag_s, self._tell, key, wait)

    def has_input_since(self, at_s: float) -> bool:
        """Whether the user has pressed something since then that may not be handled yet."""
        terminal = self._terminal()
        return terminal is not None and terminal.has_input_since(at_s)

    def restart(self) -> None:
        """Begin anew: the terminal was lent to a program, which may have read its answers and drawn over the frame."""
        self._lost, self._answered, self._doubted_s = 0, 0, None
        for key, wait in self._waits.items():
            if wait.rows is not None:
                self._waits[key] = _Wait(wait.tell, False, wait.rows)

    def _tell(self, key: Hashable, wait: _Wait, at_s: float | None = None) -> None:
        if self._waits.get(key) is wait:
            del self._waits[key]
            wait.tell(time.monotonic() if at_s is None else at_s)


def _rows_on_screen(widget: Widget) -> range:
    try:
        region = widget.screen.find_widget(widget).visible_region
    except NoWidget:
        return range(0)
    return range(region.y, region.bottom) if region.width else range(0)


def fence_of(widget: Widget) -> Fence | None:
    """The fence of the widget's app. None without a terminal, where what is painted is shown: in tests and pictures."""
    try:
        app = widget.app
    except NoActiveAppError:
        return None
    driver = getattr(app, "_driver", None)
    fence = getattr(getattr(app, "pacer", None), "fence", None)
    return fence if driver is not None and not driver.is_headless and isinstance(fence, Fence) else None
