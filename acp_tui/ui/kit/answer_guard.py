"""Decides whether a key or click can be a deliberate answer.

An answer counts only after a pause in which nothing was pressed, and nothing changed on the terminal's screen, so typed
text and held keys never count. Where the keyboard came unasked, a key may also be the first letter of a sentence, so it
counts only if no other key follows. The guard doesn't know the question or the answer.
"""

from __future__ import annotations

import math
import time
from collections.abc import Awaitable, Callable
from typing import Any, ClassVar, Final, NamedTuple, Protocol

from textual.events import Key, MouseDown
from textual.message import Message
from textual.timer import Timer
from textual.widget import Widget

from acp_tui.ui.textual_gaps.fence import fence_of

GUARD_S: Final = 0.4
"""Nobody reads a question and answers it faster, and nobody pauses this long between two letters of a word."""
REPEAT_S: Final = 1.1
"""Keyboards wait up to a second before they repeat a held key."""
MIN_WAIT_S: Final = 0.05
HOLD_S = 0.4
"""Whoever writes presses the second key of a sentence sooner. Whoever writes slowly gets longer (`Keyboard.hold_s`)."""
WARNING_S: Final = 2.0
"""How long a warning shows: long enough to read a few words. The guard has opened long before."""
LATE_KEY_S: Final = 0.03
"""While keys wait to be handled, look again this often."""
TOO_SOON: Final = "Ignored: pressed too soon. Pause, then {again}"
ASKED_ELSEWHERE: Final = "Ignored: acp-tui has just asked something else. Pause until that is gone, then {again}"
HELD: Final = "{what} in a moment; to write instead, type on"
"""What a held key will do."""


class Keyboard(Protocol):
    """What an app knows of its user's keys, as `keys`."""

    @property
    def hold_s(self) -> float:
        """How long to hold a key that may be the beginning of a sentence."""

    @property
    def is_asked_elsewhere(self) -> bool:
        """Whether something other than a question has just asked the user to press a key."""


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

    def __init__(self, clock: Callable[[], float], widget: Widget | None = None) -> None:
        """`clock` returns seconds. A guard of a `widget` starts closed: nothing counts before it's armed and shown."""
        self._clock = clock
        self._widget = widget
        self.is_unasked = True
        """Whether the keyboard came without the user's doing, so that keys may be meant for the prompt."""
        self._shown_at = math.inf if widget is not None else clock()
        """When the terminal had shown the question as it is now."""
        self._pressed_at = -math.inf
        self._event: Message | None = None
        self._is_answer = False
        self._version = 0
        """Increases whenever the question changes or moves."""
        self._pressed: tuple[int, object] | None = None
        """The version and the target of the last mouse press."""
        self._hold: Timer | None = None
        """Running while a key is held."""
        self._drop: Callable[[], object] = lambda: None
        """Called if the key that is held turns out to be no answer."""

    def arm(self) -> None:
        """Restart the pause: the question changed, moved, or got the focus just now. It begins when that is shown."""
        self._version += 1
        self._end_hold()
        fence = None if self._widget is None else fence_of(self._widget)
        if fence is None or self._widget is None:
            self._shown_at = self._clock()
        else:
            self._shown_at = math.inf
            fence.when_shown(self, self._widget, self._note_shown)

    def _note_shown(self, at_s: float) -> None:
        self._shown_at = self._clock() - age_of(at_s, time.monotonic())

    @property
    def _opens_at(self) -> float:
        return max(self._shown_at, self._pressed_at) + GUARD_S

    @property
    def now_s(self) -> float:
        return self._clock()

    @property
    def is_open(self) -> bool:
        """Whether a key pressed now counts."""
        return self._clock() >= self._opens_at

    def was_shown_before(self, event: Message) -> bool:
        """Whether the terminal had shown the question as it is now when this was pressed."""
        return self._pressed_time(event) >= self._shown_at

    def takes(self, event: Message) -> bool:
        """Whether this key, click, or paste came after a pause. It restarts the pause in any case.

        Pass every event, in order. The time of the press counts, because keys wait while the screen is drawn. Called
        again with the last event, it returns the same result.
        """
        if event is not self._event:
            self._end_hold()
            self._arm_if_forgotten()
            at_s = self._pressed_time(event)
            key = event.key if isinstance(event, Key) else ""
            may_be_held = self._may_be_held(key, at_s)
            self._event = event
            self._is_answer = at_s >= self._opens_at and not may_be_held and not self.is_asked_elsewhere
            self._pressed_at = max(self._pressed_at, at_s)
            # A key that waited while the question appeared was meant for what was there before.
            is_in_vain = not self._is_answer and not may_be_held and at_s >= self._shown_at
            seen = (self, self._version) if is_in_vain else None
            AnswerGuard.last_press = _Press(self._clock, key, at_s, seen)
        return self._is_answer

    def _pressed_time(self, event: Message) -> float:
        return self._clock() - age_of(event.time, time.monotonic())

    def _arm_if_forgotten(self) -> None:
        """Arm it if what it waits for was never painted, because something covered it."""
        if self._widget is not None and self._shown_at == math.inf:
            fence = fence_of(self._widget)
            if fence is None or not fence.is_awaited(self):
                self.arm()

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

    @property
    def is_asked_elsewhere(self) -> bool:
        """Whether the user has just been asked something else, which the key may be meant for."""
        keyboard = self._keyboard
        return keyboard is not None and keyboard.is_asked_elsewhere

    @property
    def _keyboard(self) -> Keyboard | None:
        app: Any = None if self._widget is None else self._widget.app
        return getattr(app, "keys", None)

    def why_not(self, again: str) -> str:
        """Why the last key or click didn't count, and what to do: `again`."""
        return (ASKED_ELSEWHERE if self.is_asked_elsewhere else TOO_SOON).format(again=again)

    # Keys that may begin a sentence

    async def hold(self, event: Key, decide: Callable[[], Awaitable[None]], drop: Callable[[], object]) -> None:
        """Call `decide` a moment later; `drop` if something is pressed or the question changes before that."""
        keyboard = self._keyboard
        wait_s = HOLD_S if keyboard is None else keyboard.hold_s
        if wait_s <= 0 or self._widget is None:
            await decide()
        else:
            self._drop = drop
            self._hold_for(self._widget, wait_s, event, decide)

    def _hold_for(self, widget: Widget, wait_s: float, event: Key, decide: Callable[[], Awaitable[None]]) -> None:
        async def end() -> None:
            fence = fence_of(widget)
            if fence is not None and fence.has_input_since(event.time):
                self._hold_for(widget, LATE_KEY_S, event, decide)  # the next key was pressed, but isn't handled yet
            else:
                self._hold = None
                await decide()

        self._hold = widget.set_timer(wait_s, end)

    def _end_hold(self) -> None:
        if self._hold is not None:
            self._hold.stop()
            self._hold = None
            self._drop()

    def note_text(self) -> None:
        """Note that the user is typing into a field of the question.

        So the key that ends it is deliberate and not held.
        """
        self._pressed_at, AnswerGuard.last_press = -math.inf, None
        if self._shown_at < math.inf:
            self._shown_at = -math.inf

    def press(self, event: MouseDown, what: object) -> None:
        self._pressed = (self._version, what) if self.takes(event) else None

    def is_click_on(self, what: object) -> bool:
        """Whether the mouse was pressed on `what`, and the question hasn't changed since. It restarts the pause.

        Otherwise, the second click of a slow double click would count: the first one brings the focus.
        """
        pressed, self._pressed = self._pressed, None
        self._pressed_at = max(self._pressed_at, self._clock())
        return pressed == (self._version, what)


class Typing:
    """The characters typed on a question since the last pause. If they turn out to be text, all go to the prompt."""

    def __init__(self, guard: AnswerGuard, text: str = "") -> None:
        """`text` was typed right before."""
        self.text = text
        self.has_answer = False
        """Whether one of them would have decided."""
        self.has_just_come = False
        """Whether the keyboard came unasked, and no key was pressed since that was on the terminal's screen."""
        self._guard = guard

    def note(self, event: Key, *, is_answer: bool) -> bool:
        """Add a key's character. Returns whether it must be meant for the prompt; `is_answer` as the guard said.

        It must be if it was pressed before the keyboard's way here could be seen, or follows one that would decide.
        """
        if is_answer:
            self.take()
        if not event.is_printable:
            return False
        self.text += event.character or ""
        if not self._guard.is_unasked:
            return False
        is_early = self.has_just_come and not self._guard.was_shown_before(event)
        self.has_just_come = is_early
        return is_early or self.has_answer

    def take(self) -> str:
        """Return the characters, and begin anew."""
        text, self.text, self.has_answer = self.text, "", False
        return text


def age_of(event_time: float, now: float) -> float:
    """How long an event has been waiting until `now`, by the same clock. Unnoticeable delays count as 0."""
    waited = now - event_time
    return waited if waited > MIN_WAIT_S else 0.0
