"""Decides whether a key or click can have been meant as an answer, and a dialog whose answer counts only then.

An answer counts only after a pause in which nothing was pressed and nothing changed: typed text and held keys never do.
The guard knows neither question nor answer.
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
"""Nobody reads a question and answers it in less, and nobody waits so long between two letters of a word."""
REPEAT_S: Final = 1.1
"""Keyboards wait up to a second before they repeat a key that is held down."""
LEAST_WAIT_S: Final = 0.05


class _Press(NamedTuple):
    """What was pressed last, on whichever screen: there is one keyboard."""

    clock: Callable[[], float]
    key: str
    at_s: float
    seen: tuple[AnswerGuard, int] | None
    """On what it was pressed in vain, by the guard's version; None where it counted, or may have been held since."""


class AnswerGuard:
    """Opens when nothing has happened for a while: what comes before was on its way to something else."""

    _last: ClassVar[_Press | None] = None

    def __init__(self, clock: Callable[[], float]) -> None:
        """Armed; `clock` gives seconds."""
        self._clock = clock
        self._opens_at = 0.0
        self._armed_at = 0.0
        self._event: Message | None = None
        self._is_answer = False
        self._version = 0
        """Another number whenever something else is to be answered, or it moved."""
        self._pressed: tuple[int, object] | None = None
        """On what the mouse was pressed."""
        self.arm()

    def arm(self) -> None:
        """Something new is to be answered, has moved, or has only now got the focus."""
        self._version += 1
        self._armed_at = self._clock()
        self._opens_at = max(self._opens_at, self._armed_at + GUARD_S)

    @property
    def now_s(self) -> float:
        """What its clock says."""
        return self._clock()

    @property
    def is_open(self) -> bool:
        """Whether a key pressed now counts."""
        return self._clock() >= self._opens_at

    def takes(self, event: Message) -> bool:
        """Whether this key, click or paste came behind a pause; it ends the pause in any case.

        To be told of everything that is pressed, in order. What counts is when it was pressed: keys wait while the
        screen is being drawn. Asked again about the last event, it says the same again.
        """
        if event is not self._event:
            at_s = self._clock() - age_of(event.time, time.monotonic())
            key = event.key if isinstance(event, Key) else ""
            may_be_held = self._may_be_held(key, at_s)
            self._event, self._is_answer = event, at_s >= self._opens_at and not may_be_held
            self._opens_at = max(self._opens_at, at_s + GUARD_S)
            # A key that waited while something else came to be asked was pressed on what was there before.
            is_in_vain = not self._is_answer and not may_be_held and at_s >= self._armed_at
            seen = (self, self._version) if is_in_vain else None
            AnswerGuard._last = _Press(self._clock, key, at_s, seen)
        return self._is_answer

    def _may_be_held(self, key: str, at_s: float) -> bool:
        """Whether the key may have been held down since it was pressed on something else, or counted."""
        last = self._last
        return (
            last is not None
            and bool(key)
            and (last.clock, last.key) == (self._clock, key)
            and at_s - last.at_s < REPEAT_S
            and last.seen != (self, self._version)
        )

    def note_text(self) -> None:
        """The user writes into a field of what is asked: the key that ends that is meant, and was not held."""
        self._opens_at, AnswerGuard._last = -math.inf, None

    def press(self, event: MouseDown, what: object) -> None:
        """The mouse is pressed on this."""
        self._pressed = (self._version, what) if self.takes(event) else None

    def is_click_on(self, what: object) -> bool:
        """Whether the mouse was pressed on this, and it was the same all the while."""
        pressed, self._pressed = self._pressed, None
        return pressed == (self._version, what)


def age_of(event_time: float, now: float) -> float:
    """How long a key or a click has waited until now, both by the same clock; less than one notices is nothing."""
    waited = now - event_time
    return waited if waited > LEAST_WAIT_S else 0.0


T = TypeVar("T")


class QuestionScreen(ModalScreen[T]):
    """Works its keys off as they come: Textual would, when they have come up to the app, and another may be there."""

    clock: ClassVar[Callable[[], float]] = staticmethod(time.monotonic)

    def __init__(self) -> None:
        super().__init__(classes="dialog")
        self.guard = AnswerGuard(type(self).clock)
        self._is_answer = False
        """Whether the key or click that is being worked off can be an answer."""
        self._is_told = False
        """That an answer came too soon."""

    @abstractmethod
    def answer_by(self, button: Button) -> None:
        """Give the answer of this button, if `may_answer`."""

    def may_answer(self) -> bool:
        """Whether what the user does can have been meant as an answer; where not, it is said, once."""
        if not self._is_answer and not self._is_told:
            self._is_told = True
            self.notify("Ignored: pressed too soon. Pause, then answer again", severity="warning")
        return self._is_answer

    def on_screen_resume(self) -> None:
        """It is to be seen only now."""
        self.guard.arm()

    def on_resize(self) -> None:
        """Another button may be under the mouse."""
        self.guard.arm()

    async def on_key(self, event: events.Key) -> None:
        """Do what the key does here. One that a field has taken for its text does not come here."""
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
        """It is no answer, and what comes right behind it is none."""
        self.guard.takes(event)

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Note what is pressed: by the time the mouse button is released it may be something else."""
        self.guard.press(event, self.get_widget_at(*event.screen_offset)[0])

    def on_button_pressed(self, event: Button.Pressed) -> None:
        """By the mouse: keys have been worked off."""
        event.stop()
        self._is_answer = self.guard.is_click_on(event.button)
        self.answer_by(event.button)
        self._is_answer = False
