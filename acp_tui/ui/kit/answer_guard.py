"""Decides whether a key or click is a deliberate answer, or text. Doesn't know the question or the answer.

An answer counts only after a pause in which nothing was pressed, and nothing changed on the terminal's screen, so typed
text and held keys never count (`AnswerGuard`). To allow something, what the terminal has shown must also have had the
time to get to the user's own screen: tmux, for one, answers before that. What asks by itself gets the keyboard unasked.
There, a key may also be the first letter of a sentence, so it counts only if no other key follows (`QuestionGuard`).
For a rejection of what the user could read before, that is enough: such a pause after the key stands for the one before
it.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Hashable, Sequence
from functools import partial
from typing import Any, ClassVar, Final, NamedTuple, Protocol

from textual.binding import Binding
from textual.events import Key, MouseDown, Paste
from textual.message import Message
from textual.timer import Timer
from textual.widget import Widget

from acp_tui.conversation import GUARD_S
from acp_tui.ui.commands.keymap import parse_key
from acp_tui.ui.textual_gaps.fence import Fence, fence_of
from acp_tui.ui.textual_gaps.internals import bindings_of_key, press_in, take_waiting_keys

REPEAT_S: Final = 1.1
"""Keyboards wait up to a second before they repeat a held key."""
MIN_WAIT_S: Final = 0.05
HOLD_S = 0.4
"""Whoever writes presses the second key of a sentence sooner. Whoever writes slowly gets longer (`Keyboard.hold_s`)."""
WARNING_S: Final = 2.0
"""How long a warning shows: long enough to read a few words."""
LATE_KEY_S: Final = 0.03
"""While keys wait to be handled, or don't count yet, look again this often."""
SHOWN, IN_PLACE, ON_SCREEN, TOLD = "question", "place", "question on screen", "too soon"
"""What is to be shown by the terminal; the others are to be on the user's own screen, the last one for a warning."""
PAUSE: Final = "pause {wait_s} s, then {again}"
TOO_SOON: Final = f"Too soon: {PAUSE}"
ASKED_ELSEWHERE: Final = "Ignored: acp-tui has just asked something else. Pause until that is gone, then {again}"
HELD: Final = "{what} in a moment; to write instead, type on"
"""What a held key will do."""
MAX_STRAYED: Final = 8
"""More characters than these are text."""
STRAYED: Final = "{keys} went into {where}; press {way_in}, then {keys}"
"""What to say of keys that would have acted on the question a moment later."""
NO_SUCH_ANSWER: Final = "No answer has that number"
COMING: Final = frozenset({"tab", "shift+tab"})
"""These bring the user to a question: what is pressed after them is meant for it."""


class Keyboard(Protocol):
    """What an app knows of its user's keys, as `keys`."""

    @property
    def hold_s(self) -> float:
        """How long to hold a key that may be the beginning of a sentence."""

    @property
    def is_asked_elsewhere(self) -> bool:
        """Whether something other than a question has just asked the user to press a key."""


class Asks(Protocol):
    """A card, form, or dialog, as far as its guard knows it."""

    def warn(self, text: str) -> None:
        """Show this in place of the keys; "" shows the keys again."""

    def write(self, text: str, *, is_paste: bool = False) -> None:
        """Put this into the user's draft: it was typed here, but it's no answer."""

    def binding_of(self, key: str) -> Binding | None:
        """What the key stands for now; None if it does nothing."""

    async def run_action(self, action: str) -> object:
        """Do what a key stands for."""

    def set_timer(self, delay: float, callback: Callable[[], Any]) -> Timer:
        """Call back after this many seconds."""


class TakesText(Protocol):
    """What is below a card: the prompt, or a dialog.

    `keys` are those that wait behind the one that led here. Handle them at once: the next key would overtake a message.
    """

    def leave(self, *, to_read: bool = False) -> None:
        """Take the keyboard back, or give it to the conversation, if there is one here. The question waits."""

    def write(self, text: str, keys: Sequence[Key | Paste], *, is_paste: bool) -> None:
        """Take the keyboard back, and this text, which was typed on the question."""


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
        self._times = dict.fromkeys((SHOWN, IN_PLACE, ON_SCREEN), math.inf if widget is not None else clock())
        """When the terminal had shown the question as it is now, and when the user's own screen surely had.

        For a key, it's enough that this had it as it reads; for a click, it must also be where it is now.
        """
        self._was_on_screen = False
        self.is_early = True
        """Whether the last key or click came before a pause with the question on the user's own screen."""
        self._was_read = False
        self._pressed_at = -math.inf
        self._event: Message | None = None
        self._is_answer = self._may_repeat = False
        self._version = 0
        """Increases whenever the question changes or moves."""

    def arm(self) -> None:
        """Restart the pause: something else was in view, or is about to be."""
        self.note_move(is_other=True)

    def note_news(self) -> None:
        """Restart the pause: the question reads differently, so nobody has read it yet."""
        self.arm()
        self._was_read = False

    def note_move(self, *, is_other: bool = False) -> None:
        """Restart the pause: something else may be under the mouse. It begins when that is shown.

        Unless it `is_other` than before, keys needn't wait again until it gets to the user's own screen.
        """
        self._version += 1
        self._was_read, self._was_on_screen = self.was_read(self._clock()), self._was_on_screen and not is_other
        self._times |= dict.fromkeys((SHOWN, IN_PLACE, ON_SCREEN), math.inf)
        self.when_shown(SHOWN, partial(self._note, SHOWN), is_known=True)
        self.when_shown(IN_PLACE, partial(self._note, IN_PLACE))
        tell = partial(self._note, ON_SCREEN)
        self.when_shown(ON_SCREEN, tell, is_known=self._was_on_screen, is_same=not is_other)

    def when_shown(
        self, what: Hashable, tell: Callable[[float], None], *, is_known: bool = False, is_same: bool = False
    ) -> None:
        """Call `tell` with the time when the terminal has shown the widget as it is now; at once without a terminal.

        A later call with the same `what` replaces this one, unless all of it was sent, and it `is_same`.
        """
        if self._widget is not None and self._fence is not None:
            self._fence.when_shown((self, what), self._widget, tell, is_known=is_known, is_same=is_same)
        else:
            tell(time.monotonic())

    def leave(self, what: Hashable) -> None:
        """Note that what was to be shown isn't there anymore."""
        if self._fence is not None:
            self._fence.leave((self, what))

    def was_glanced_at(self, what: Hashable) -> bool:
        """Whether it will have been shown if it's left now."""
        return self._fence is None or self._fence.was_glanced_at((self, what))

    def is_awaited(self, what: Hashable) -> bool:
        """Whether the terminal has yet to show it."""
        return self._fence is not None and self._fence.is_awaited((self, what))

    @property
    def _fence(self) -> Fence | None:
        return fence_of(self._widget) if self._widget is not None else None

    def _note(self, what: str, at_s: float) -> None:
        self._times[what] = self._by_clock(at_s)
        self._was_on_screen |= what == ON_SCREEN

    @property
    def _opens_at(self) -> float:
        return max(self._times[SHOWN], self._pressed_at) + GUARD_S

    @property
    def is_open(self) -> bool:
        """Whether a key pressed now counts."""
        return self._clock() >= self._opens_at

    def was_read(self, at_s: float) -> bool:
        """Whether the question was in view by then as it reads now, for as long as the pause takes."""
        return self._was_read or at_s >= self._times[SHOWN] + GUARD_S

    def was_shown_before(self, event: Message) -> bool:
        """Whether the terminal had shown the question as it is now when this was pressed."""
        return self._by_clock(event.time) >= self._times[SHOWN]

    def repeats(self, event: Key) -> bool:
        """Whether this is the last key again, without a pause: it's held, or was pressed twice. Ask before `takes`."""
        return self._is_last_again(event.key, self._by_clock(event.time), GUARD_S)

    def takes(self, event: Message) -> bool:
        """Whether this key, click, or paste came after a pause. It restarts the pause in any case.

        It may then do all but allow something: for that, it mustn't be early (`is_early`), either.
        Pass every event, in order. The time of the press counts, because keys wait while the screen is drawn. Called
        again with the last event, it returns the same result.
        """
        if event is not self._event:
            if self._times[SHOWN] == math.inf and not self.is_awaited(SHOWN):  # never painted, as something covered it
                self.arm()
            at_s = self._by_clock(event.time)
            key = event.key if isinstance(event, Key) else ""
            may_be_held = self._may_be_held(key, at_s)
            self._event = event
            self._is_answer = at_s >= self._opens_at and not may_be_held and not self.is_asked_elsewhere
            is_from_before = self._is_last_again(key, at_s) and self._pressed_at < self._times[ON_SCREEN]
            on_screen_at = self._times[ON_SCREEN] if key else max(self._times[ON_SCREEN], self._times[IN_PLACE])
            self.is_early = is_from_before or at_s < on_screen_at + GUARD_S
            self._may_repeat = may_be_held or is_from_before
            self._pressed_at = max(self._pressed_at, at_s)
            # A key that waited while the question appeared was meant for what was there before.
            is_in_vain = (self.is_early or not self._is_answer) and not may_be_held and at_s >= self._times[SHOWN]
            seen = (self, self._version) if is_in_vain else None
            AnswerGuard.last_press = _Press(self._clock, key, at_s, seen)
        return self._is_answer

    def _by_clock(self, at_s: float) -> float:
        return self._clock() - age_of(at_s, time.monotonic())

    def _may_be_held(self, key: str, at_s: float) -> bool:
        """Whether the key may be held since before the question appeared, or since it counted."""
        last = self.last_press
        return last is not None and last.seen != (self, self._version) and self._is_last_again(key, at_s)

    def _is_last_again(self, key: str, at_s: float, within_s: float = REPEAT_S) -> bool:
        """Whether the key may be held since the last press."""
        last = self.last_press if key else None
        return last is not None and (last.clock, last.key) == (self._clock, key) and at_s - last.at_s < within_s

    @property
    def is_asked_elsewhere(self) -> bool:
        """Whether the user has just been asked something else, which the key may be meant for."""
        return self._keyboard is not None and self._keyboard.is_asked_elsewhere

    @property
    def _keyboard(self) -> Keyboard | None:
        app: Any = None if self._widget is None else self._widget.app
        return getattr(app, "keys", None)

    def why_not(self, again: str, *, must_be_seen: bool = True) -> str:
        """Why the last key or click didn't count, and what to do: `again`."""
        why = ASKED_ELSEWHERE if self.is_asked_elsewhere else TOO_SOON
        return why.format(again=again, wait_s=self.wait_s(must_be_seen=must_be_seen))

    def wait_s(self, *, must_be_seen: bool = True) -> int:
        """How many seconds to pause before the last key or click counts. Until it was shown, it may seem to be held."""
        shown_at = self._times[ON_SCREEN if must_be_seen else SHOWN]
        lag_s = self._fence.lag_s if must_be_seen and shown_at == math.inf and self._fence is not None else 0.0
        may_repeat = self._may_repeat or self._pressed_at < shown_at
        return math.ceil(max(REPEAT_S if may_repeat else GUARD_S, lag_s + GUARD_S))


class QuestionGuard(AnswerGuard):
    """The guard of what asks by itself, which also tells answers from text. It gets every key, click, and paste."""

    def __init__(self, asks: Asks, clock: Callable[[], float]) -> None:
        """`clock` returns seconds."""
        super().__init__(clock, asks if isinstance(asks, Widget) else None)
        self._asks = asks
        self.can_answer = False
        """Whether the key or click that is being handled can be an answer."""
        self.allows = True
        """Whether to agree lets somebody do something. Not if it's what the user has just asked for."""
        self._pressed: tuple[int, object] | None = None
        """The version and the target of the last mouse press."""
        self._was_pressed_early = True
        self.is_unasked = True
        """Whether the keyboard came without the user's doing, so that keys may be meant for the draft."""
        self.had_keyboard = False
        """Whether the question, or one that it follows, has had the keyboard."""
        self.is_writing = False
        """Whether the user is writing. Then all letters are text, after any pause, until a key or click comes here."""
        self.typed = ""
        """The characters typed since the last pause. If they turn out to be text, all go to the draft."""
        self.draft = ""
        """What is typed elsewhere while the question waits: text, or keys that came too soon."""
        self._typed_at = -math.inf
        """When the last one was typed."""
        self._has_answer = False
        """Whether one of them would have decided."""
        self._has_just_come = False
        """Whether the keyboard came unasked, and no key was pressed since that was on the terminal's screen."""
        self._hold: Timer | None = None
        """Running while a key is held."""
        self._warning: Timer | None = None
        """Ends a warning."""
        self._is_too_soon = False
        """Whether it shows that the last key or click didn't count. It shows until the next one, or would count."""

    def come(self) -> None:
        """Note that the user has come to the question, so that each key is meant for it."""
        if self.is_unasked or self.is_writing:
            self.is_unasked = self.is_writing = False
            self._show("")

    def enter(self, part: Widget) -> None:
        """Give the keyboard to the question, or a part of it, because the user wants to answer.

        The keys that wait behind the one that led here are meant for it, too.
        """
        self.come()
        left = part.screen.focused
        part.screen.set_focus(part)
        for key in take_waiting_keys(left) if left is not None and left is not part else ():
            press_in(part, key)

    def follow(self, other: QuestionGuard, *, was_on_screen: bool) -> None:
        """Note that the question of the other guard is shown here from now on."""
        self.is_unasked, self._typed_at = other.is_unasked, other._typed_at
        self._was_read, self._was_on_screen = other.was_read(other._clock()), was_on_screen
        self.note_move()
        self.typed += other.take_typed()

    def come_unasked(self) -> None:
        """Let the question have the keyboard without the user's doing."""
        self.is_unasked = self._has_just_come = True
        if self._widget is not None:
            self._widget.screen.set_focus(self._widget)

    @property
    def awaits_keyboard(self) -> bool:
        """Whether the question is shown and hasn't had the keyboard yet. While it's being removed, it isn't shown."""
        widget = self._widget
        return widget is not None and widget.is_attached and widget.display and not self.had_keyboard

    def note_news(self) -> None:
        """Restart the pause. What was said of a key was about the question as it was."""
        if self._is_too_soon:
            self._show("")
        super().note_news()

    def arm(self) -> None:
        """Restart the pause. A key that is held was meant for what was there before."""
        self._end_hold()
        super().arm()

    def note_focus(self) -> None:
        """Restart the pause."""
        self._end_hold()
        self.note_move()

    def takes(self, event: Message) -> bool:
        """Whether this key, click, or paste can be an answer. The Enter that ends a text isn't, however late."""
        if event is not self._event:
            self._end_hold()
            if self._is_too_soon:
                self._show("")
        return super().takes(event) and not (self.is_writing and isinstance(event, Key) and event.key == "enter")

    async def take_key(
        self, event: Key, decides: str = "", no_answer: str = "", *, rejects: bool = False, asks_on: bool = False
    ) -> None:
        """Act on a key, or hold it, or write it. `decides` says what it would decide; "" if it decides nothing.

        `no_answer` is what to say instead of writing it; "" writes all but digits. `rejects`: it allows nothing.
        `asks_on`: nor does it decide before the user has written more, so it needs no pause before it.

        At once: by the time Textual resolves a binding, the question or the focus may have changed.
        """
        was_held, binding = self._hold is not None, self._asks.binding_of(event.key)
        is_soon = rejects and self._may_reject_soon(event)
        can_answer = self.takes(event)
        goes_on = self.is_unasked and self._by_clock(event.time) < self._typed_at + self._hold_s
        if (can_answer or is_soon) and not was_held and not goes_on:
            self.take_typed()
        is_text = self._is_text(event)
        if not is_text and binding is None and (no_answer or event.key.isdecimal()):
            event.stop()
            self.warn(no_answer or NO_SUCH_ANSWER)
        elif is_text or (binding is None and event.is_printable and not self.is_bound_above(event.key)):
            event.stop()
            self._asks.write(self.take_typed())
        elif binding is not None and event.is_printable and decides and (self.is_unasked or is_soon > can_answer):
            event.stop()
            self._has_answer = True
            self.can_answer = can_answer or is_soon
            if asks_on or self.may_answer(f"press {event.character} again", rejects=rejects):
                await self._hold_back(event, binding.action, decides)
            self.can_answer = False
        elif binding is not None:
            await self.act(event, binding.action)

    async def act(self, event: Key, action: str) -> None:
        """Do at once what a key stands for."""
        event.stop()
        self.can_answer = self.takes(event)
        await self._asks.run_action(action)
        self.can_answer = False
        if event.key in COMING:
            self.come()

    def _is_text(self, event: Key) -> bool:
        """Add the key's character to what was typed. Returns whether that must be meant for the draft.

        It must be if it was pressed before the keyboard's way here could be seen, or follows another that would decide.
        """
        if not event.is_printable:
            return False
        self.typed += event.character or ""
        self._typed_at = max(self._typed_at, self._by_clock(event.time))
        if self.is_writing or not self.is_unasked:
            return self.is_writing
        self._has_just_come = self._has_just_come and not self.was_shown_before(event)
        return self._has_just_come or (self._has_answer and len(set(self.typed)) > 1)

    def _may_reject_soon(self, event: Key) -> bool:
        """Whether a rejection may count without a pause before it, if one follows. Ask before `takes`.

        Not as the end of a word, though: no other character may have been typed just before.
        """
        at_s = self._by_clock(event.time)
        is_held = at_s < self._typed_at + GUARD_S or self._may_be_held(event.key, at_s)
        return self.was_read(at_s) and at_s >= self._times[SHOWN] and not is_held and not self.is_asked_elsewhere

    def is_bound_above(self, key: str) -> bool:
        """Whether the screen or the app does something for the key."""
        places = filter(None, (self._widget.screen, self._widget.app)) if self._widget is not None else ()
        return any(place.check_action(each.action, ()) for place in places for each in bindings_of_key(place, key))

    def take_typed(self) -> str:
        """Return the characters, and begin anew."""
        typed, self.typed, self._has_answer = self.typed, "", False
        return typed

    def note_draft(self, draft: str) -> None:
        """Note what is typed elsewhere while the question waits."""
        before, self.draft = self.draft, draft
        if draft[: MAX_STRAYED + 1] != before[: MAX_STRAYED + 1]:
            self._show("")

    @property
    def strayed(self) -> str:
        """The draft's characters, each once, if all are keys of the question, and it can't be a word; otherwise ""."""
        keys = "".join(dict.fromkeys(self.draft)) if len(self.draft) <= MAX_STRAYED else ""
        may_be_word = sum(map(str.isalnum, keys)) > 1
        return "" if may_be_word or not all(map(self.binding_typed, keys)) else keys

    def binding_typed(self, character: str) -> Binding | None:
        """What it would have done here to type this character; None if nothing."""
        key = parse_key(character)
        return self._asks.binding_of(key) if key is not None else None

    def take_paste(self, event: Paste) -> None:
        """Write what is pasted. It's never an answer."""
        event.stop()
        self.takes(event)
        self.take_typed()
        self._asks.write(event.text, is_paste=True)

    # A key that may begin a sentence

    async def _hold_back(self, event: Key, action: str, decides: str) -> None:
        """Answer a moment later, unless something is pressed or the question changes before that."""
        if self._hold_s <= 0:
            await self._decide(action)
        else:
            self._show(HELD.format(what=decides))
            self._hold_for(self._hold_s, event, action)

    @property
    def _hold_s(self) -> float:
        return HOLD_S if self._keyboard is None else self._keyboard.hold_s

    def _hold_for(self, wait_s: float, event: Key, action: str) -> None:
        async def end() -> None:
            if self._fence is not None and self._fence.has_input_since(event.time):
                self._hold_for(LATE_KEY_S, event, action)  # the next key was pressed, but isn't handled yet
                return
            self._hold = None
            self._show("")
            if self._widget is None or self._widget.screen.is_current:
                await self._decide(action)

        self._hold = self._asks.set_timer(wait_s, end)

    async def _decide(self, action: str) -> None:
        self.take_typed()
        self.can_answer = True
        await self._asks.run_action(action)
        self.can_answer = False

    def _end_hold(self) -> None:
        if self._hold is not None:
            self._hold.stop()
            self._hold = None
            self._show("")

    # What else answers, or doesn't

    def note_text(self) -> None:
        """Note that the user is typing into a field of the question.

        So the key that ends it is deliberate and not held.
        """
        self._pressed_at, AnswerGuard.last_press = -math.inf, None
        self._times = {what: -math.inf if at_s < math.inf else at_s for what, at_s in self._times.items()}

    def press(self, event: MouseDown, what: object) -> None:
        """Record what is pressed: when the mouse button is released, something else may be there."""
        self.come()
        self._pressed = (self._version, what) if self.takes(event) else None
        self._was_pressed_early = self.is_early

    def click(self, what: object, act: Callable[[], object]) -> None:
        """Do what a click on `what` stands for, if the mouse was pressed there, and nothing has changed since.

        It restarts the pause: the first click of a slow double click brings the focus, and the second mustn't count.
        """
        self.can_answer, self.is_early = self._pressed == (self._version, what), self._was_pressed_early
        self._pressed, self._pressed_at = None, max(self._pressed_at, self._clock())
        act()
        self.can_answer = False

    def may_answer(self, again: str, *, rejects: bool = False) -> bool:
        """Whether the key or click being handled can be an answer. If not, tell the user what to do: `again`."""
        must_be_seen = self.allows and not rejects
        counts = self.can_answer and not (must_be_seen and self.is_early)
        if not counts:
            self._show(self.why_not(again, must_be_seen=must_be_seen))
            self._is_too_soon, self._times[TOLD] = True, math.inf
            self.when_shown(TOLD, partial(self._note, TOLD))
            self._warning = self._asks.set_timer(WARNING_S, self._end_too_soon)
        return counts

    def _end_too_soon(self) -> None:
        """Show the keys again, unless there was no time to read that, or a key still wouldn't count."""
        on_screen_at = self._times[ON_SCREEN] if self.allows else -math.inf
        counts = self.is_open and self._clock() >= on_screen_at + GUARD_S and not self.is_asked_elsewhere
        if counts and self._clock() >= self._times[TOLD] + WARNING_S:
            self._show("")
        else:
            self._warning = self._asks.set_timer(GUARD_S, self._end_too_soon)

    def warn(self, text: str) -> None:
        """Show this for as long as it takes to read."""
        self._show(text)
        self._warning = self._asks.set_timer(WARNING_S, partial(self._show, ""))

    def _show(self, text: str) -> None:
        if self._warning is not None:
            self._warning.stop()
            self._warning = None
        self._is_too_soon = False
        self._asks.warn(text)


def has_left_question(clock: Callable[[], float], since_s: float) -> bool:
    """Whether Esc was the last key pressed on a question, within so many seconds of this clock."""
    last = AnswerGuard.last_press
    return last is not None and (last.clock, last.key) == (clock, "escape") and clock() - last.at_s <= since_s


def age_of(event_time: float, now: float) -> float:
    """How long an event has been waiting until `now`, by the same clock. Unnoticeable delays count as 0."""
    waited = now - event_time
    return waited if waited > MIN_WAIT_S else 0.0
