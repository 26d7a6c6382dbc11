"""Decides whether a key or click can be a deliberate answer; and a dialog that requires it.

An answer counts only after a pause in which nothing was pressed and nothing changed, so typed text and held keys never
count. The guard doesn't know the question or the answer.
"""

from __future__ import annotations

import math
import time
from abc import abstractmethod
from collections.abc import Callable
from typing import ClassVar, Final, NamedTuple, TypeVar

from textual import events
from textual.events import Key, MouseDown
from textual.message import Message
from textual.screen import ModalScreen
from textual.widgets import Button

from acp_tui.ui.textual_gaps.internals import bindings_of_key

GUARD_S: Final = 0.4
"""Nobody reads a question and answers it faster, and nobody pauses this long between two letters of a word."""
REPEAT_S: Final = 1.1
"""Keyboards wait up to a second before they repeat a held key."""
MIN_WAIT_S: Final = 0.05


class _Press(NamedTuple):
    """The last key or click on any screen, because there is only one keyboard."""

    clock: Callable[[], float]
    key: str
    at_s: float
    seen: tuple[AnswerGuard, int] | None
    """The guard, and its version, that ignored it; None if it counted or may have been held since before."""


class AnswerGuard:
    """Opens after a pause, because earlier keys were meant for something else."""

    last_press: ClassVar[_Press | None] = None

    def __init__(self, clock: Callable[[], float]) -> None:
        """Starts armed; `clock` returns seconds."""
        self._clock = clock
        self._opens_at = 0.0
        self._armed_at = 0.0
        self._event: Message | None = None
        self._is_answer = False
        self._version = 0
        """Increases whenever the question changes or moves."""
        self._pressed: tuple[int, object] | None = None
        """The version and the target of the last mouse press."""
        self.arm()

    def arm(self) -> None:
        """Restart the pause: the question changed, moved, or got the focus just now."""
        self._version += 1
        self._armed_at = self._clock()
        self._opens_at = max(self._opens_at, self._armed_at + GUARD_S)

    @property
    def now_s(self) -> float:
        """The time on the guard's clock."""
        return self._clock()

    @property
    def is_open(self) -> bool:
        """Whether a key pressed now counts."""
        return self._clock() >= self._opens_at

    def takes(self, event: Message) -> bool:
        """Whether this key, click, or paste came after a pause. It restarts the pause in any case.

        Pass every event, in order. The time of the press counts, because keys wait while the screen is drawn. Called
        again with the last event, it returns the same result.
        """
        if event is not self._event:
            at_s = self._clock() - age_of(event.time, time.monotonic())
            key = event.key if isinstance(event, Key) else ""
            may_be_held = self._may_be_held(key, at_s)
            self._event, self._is_answer = event, at_s >= self._opens_at and not may_be_held
            self._opens_at = max(self._opens_at, at_s + GUARD_S)
            # A key that waited while the question appeared was meant for what was there before.
            is_in_vain = not self._is_answer and not may_be_held and at_s >= self._armed_at
            seen = (self, self._version) if is_in_vain else None
            AnswerGuard.last_press = _Press(self._clock, key, at_s, seen)
        return self._is_answer

    def _may_be_held(self, key: str, at_s: float) -> bool:
        """Whether the key may be held since before the question appeared, or since it counted."""
        last = self.last_press
        return (
            last is not None
            and bool(key)
            and (last.clock, last.key) == (self._clock, key)
            and at_s - last.at_s < REPEAT_S
            and last.seen != (self, self._version)
        )

    def note_text(self) -> None:
        """Note that the user is typing into a field of the question.

        So the key that ends it is deliberate and not held.
        """
        self._opens_at, AnswerGuard.last_press = -math.inf, None

    def press(self, event: MouseDown, what: object) -> None:
        """Record a mouse press on `what`."""
        self._pressed = (self._version, what) if self.takes(event) else None

    def is_click_on(self, what: object) -> bool:
        """Whether the mouse was pressed on `what`, and the question hasn't changed since. It restarts the pause.

        Otherwise, the second click of a slow double click would count: the first one brings the focus.
        """
        pressed, self._pressed = self._pressed, None
        self._opens_at = max(self._opens_at, self._clock() + GUARD_S)
        return pressed == (self._version, what)


def age_of(event_time: float, now: float) -> float:
    """How long an event has been waiting until `now`, by the same clock. Unnoticeable delays count as 0."""
    waited = now - event_time
    return waited if waited > MIN_WAIT_S else 0.0


T = TypeVar("T")


class QuestionScreen(ModalScreen[T]):
    """A dialog that handles keys at once, because Textual does so only after they have bubbled up to the app."""

    clock: ClassVar[Callable[[], float]] = staticmethod(time.monotonic)

    def __init__(self) -> None:
        super().__init__(classes="dialog")
        self.guard = AnswerGuard(type(self).clock)
        self._is_answer = False
        """Whether the key or click being handled can be an answer."""
        self._is_told = False
        """Whether the user was told that an answer came too soon."""

    @abstractmethod
    def answer_by(self, button: Button) -> None:
        """Give the answer of this button, if `may_answer`."""

    def may_answer(self) -> bool:
        """Whether the key or click can be a deliberate answer. If not, tell the user, once."""
        if not self._is_answer and not self._is_told:
            self._is_told = True
            self.notify("Ignored: pressed too soon. Pause, then answer again", severity="warning")
        return self._is_answer

    def on_screen_resume(self) -> None:
        """Rearm the guard: the question is visible only now."""
        self.guard.arm()

    def on_resize(self) -> None:
        """Rearm the guard: another button may be under the mouse."""
        self.guard.arm()

    async def on_key(self, event: events.Key) -> None:
        """Handle a key. Keys that a field takes as text don't arrive here."""
        self._is_answer = self.guard.takes(event)
        if event.key == "enter" and isinstance(self.focused, Button):
            event.stop()
            self.answer_by(self.focused)
        else:
            for binding in bindings_of_key(self, event.key):
                event.stop()
                await self.run_action(binding.action)
                break
        self._is_answer = False

    def on_paste(self, event: events.Paste) -> None:
        """A paste is no answer, and neither is a key right after it."""
        self.guard.takes(event)

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Record what is pressed: when the mouse button is released, something else may be there."""
        self.guard.press(event, self.get_widget_at(*event.screen_offset)[0])

    def on_button_pressed(self, event: Button.Pressed) -> None:
        """Handle a mouse click. Keys were handled before."""
        event.stop()
        self._is_answer = self.guard.is_click_on(event.button)
        self.answer_by(event.button)
        self._is_answer = False
