"""Handles every key of an app before a widget sees it. `keymap` has the keys in force."""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable, Collection
from functools import partial
from typing import Any, Final
from weakref import WeakSet

import anyio
from textual import events
from textual.app import App
from textual.dom import DOMNode
from textual.screen import Screen
from textual.timer import Timer
from textual.widget import Widget

from acp_tui.conversation import GUARD_S
from acp_tui.ui.commands.command import Command
from acp_tui.ui.commands.keymap import DEFAULT_KEYMAP, Keymap, is_writing, places_of
from acp_tui.ui.kit import answer_guard
from acp_tui.ui.kit.answer_guard import REPEAT_S, TOO_SOON, AnswerGuard, age_of
from acp_tui.ui.kit.notice_lines import ASKING, Notices
from acp_tui.ui.textual_gaps.internals import bindings_of_key, has_priority

MAX_GAPS: Final = 20
"""A few words tell how fast somebody types."""
PAUSE_S: Final = 1.5
"""A longer time between two characters is no typing."""
MAX_HOLD_S: Final = 1.0
CAUGHT_UP_S: Final = 0.5
"""A field handles the keys on their way to it in less time."""
ACTING_KEYS: Final = frozenset({"enter", "escape"})
"""These send the draft, cancel the turn, or choose the current row of a dialog."""


class Keys:
    """Translates the user's keys, and remembers when a key was last pressed."""

    def __init__(self, app: App[Any], clock: Callable[[], float]) -> None:
        """`clock` returns seconds."""
        self._app = app
        self._clock = clock
        self.pressed_at = math.inf
        """The time of the last key, click, or paste, by the clock."""
        self.pause_s = 0.0
        """The pause before that."""
        self._gaps: deque[float] = deque(maxlen=MAX_GAPS)
        """The times between the latest characters that were typed."""
        self._asked_elsewhere_until = -math.inf
        self.asked_again = ""
        """What asked the user to press the current key, just before it; "" if nothing did."""
        self.asks_again = ""
        """What asks for that now."""
        self._asking_again: tuple[Timer | None, Callable[[], None]] | None = None
        """When that ends, and what to do then."""
        self._stray: tuple[str, float] | None = None
        """The last key and its time, since a focused question went away; None after a pause."""
        self._gone_took_text = False
        self._has_told_stray = False
        self._entered: tuple[float, Collection[Screen[Any]]] | None = None
        """When the last Enter was pressed, -inf if text followed, and the screens that were open then."""
        self._was_text = True
        """Whether the last key was text."""

    @property
    def idle_s(self) -> float:
        """How long ago the last key, click, or paste was."""
        return self._clock() - self.pressed_at

    @property
    def hold_s(self) -> float:
        """How long to hold a key that may begin a sentence: longer than this user needs for nearly all letters."""
        slow_s = sorted(self._gaps)[-MAX_GAPS // 10] if len(self._gaps) == MAX_GAPS else 0.0
        return max(answer_guard.HOLD_S, min(slow_s * 1.5, MAX_HOLD_S)) if answer_guard.HOLD_S else 0.0

    @property
    def is_asked_elsewhere(self) -> bool:
        """Whether something other than a question has just asked the user to press a key."""
        return self._clock() < self._asked_elsewhere_until

    def note_asked(self, for_s: float) -> None:
        """Record that a notice asks the user to press a key within this time. Other questions take no answer then."""
        self._asked_elsewhere_until = self._clock() + for_s

    def ask_again(self, words: str, for_s: float | None, end_saying: Callable[[], None]) -> None:
        """Have `words` ask for a key again, until the next key, click, or paste, but no longer than any `for_s`."""
        self._end_asking_again()
        self.asks_again = words
        timer = self._app.set_timer(for_s, self._end_asking_again) if for_s is not None else None
        self._asking_again = timer, end_saying

    def _end_asking_again(self) -> None:
        self.asks_again = ""
        if self._asking_again is not None:
            (timer, end_saying), self._asking_again = self._asking_again, None
            if timer is not None:
                timer.stop()
            end_saying()

    async def take(self, event: events.Event) -> bool:
        """Run what the key stands for. Returns False to pass the event on, with the key that widgets know."""
        if isinstance(event, events.Mount | events.Key | events.Paste | events.MouseDown):
            now_s = self._clock()
            self.pause_s, self.pressed_at = now_s - self.pressed_at, now_s
            if isinstance(event, events.Key) and event.is_printable and self.pause_s < PAUSE_S:
                self._gaps.append(self.pause_s)
        if isinstance(event, events.Key | events.Paste | events.MouseDown) and not event.is_forwarded:
            self.asked_again = self.asks_again
            self._end_asking_again()
        is_stray = isinstance(event, events.Key | events.Paste) and self.is_stray(event)
        if is_stray and isinstance(event, events.Paste):
            self._tell_stray()
            return True
        if isinstance(event, events.Key) and not event.is_forwarded and self._is_for_what_was_before(event):
            return True
        if not isinstance(event, events.Key) or event.is_forwarded:
            return False
        around = self._app.focused.ancestors_with_self if self._app.focused is not None else []
        card = next((at for at, place in enumerate(around) if place.has_class(ASKING)), -1)
        is_behind, self._was_text = event.is_printable and not self._was_text, event.is_printable
        # What isn't text may move the focus before this key. Up to a card, it goes up to the card.
        for place in around[: max(card + 1, is_behind)]:
            await caught_up(place)
        app, screen = self._app, self._app.screen
        if screen.focused is not None and not screen.focused.is_attached:
            screen.set_focus(None)  # it got the focus while it was being removed, and would swallow every key
        above = self._above_question(event.key)
        is_text, places = event.is_printable and is_writing(app.focused), places_of(app.focused or screen)
        meaning = above or (event.key if is_text else keys_in_force(app).meaning(places, event.key))
        if isinstance(meaning, Command):
            self._end_pause(event)
            await app.run_action(meaning.action_by(event.key), screen if above is None else app.screen_stack[0])
            return True
        has_effect_anywhere = bool(meaning) and has_priority(screen, meaning)
        if not meaning or has_effect_anywhere:
            self._end_pause(event)
        if is_stray and not has_effect_anywhere:
            self._tell_stray()
            return True
        if not meaning:
            return True
        if meaning != event.key:  # keep the event: the permission card needs the time of the press
            event.key, event.character = meaning, meaning if len(meaning) == 1 else None
        before_key = getattr(screen, "before_key", None)
        return before_key is not None and before_key(event) is True

    def warn_on(self, screen: Screen[Any], text: str, asks: str = "") -> None:
        """Have this dialog warn until the next key, which it `asks` for with these words."""
        if (warn := getattr(screen, "warn", None)) is not None:
            warn(text)
            self.ask_again(asks, None, partial(warn, ""))

    def _is_for_what_was_before(self, event: events.Key) -> bool:
        """Whether this is Enter again, before anyone could see, and read, what Enter has just opened."""
        before = self._entered
        at_s, screen = self._clock() - age_of(event.time, time.monotonic()), self._app.screen
        if event.key != "enter":  # a key that isn't text may itself open what comes next
            may_still_open = before is not None and (event.is_printable or screen not in before[1])
            self._entered = (-math.inf, before[1]) if before is not None and may_still_open else None
            return False
        self._entered = at_s, WeakSet(self._app.screen_stack)
        if before is None or screen in before[1] or getattr(screen, "only_opens", False):
            return False
        opened = getattr(screen, "opened", None)
        is_shown = not isinstance(opened, AnswerGuard) or opened.was_shown_before(event)
        if is_shown and at_s - before[0] >= GUARD_S:
            return False
        self._entered = at_s, before[1]
        self.warn_on(screen, TOO_SOON.format(wait_s=1, again="press Enter again"))
        return True

    def note_question_gone(self, *, took_text: bool) -> None:
        """Drop Enter and Esc from now on until a pause: they are meant for the question that had the focus.

        With `took_text`, drop all other keys too, since the user was writing into a field of the question.
        """
        self._stray, self._gone_took_text, self._has_told_stray = ("enter", self._clock()), took_text, False

    def is_stray(self, event: events.Key | events.Paste) -> bool:
        """Whether the key or paste was meant for a question that is gone."""
        if self._stray is None:
            return False
        key = event.key if isinstance(event, events.Key) else ""
        before, before_s = self._stray
        at_s = self._clock() - age_of(event.time, time.monotonic())
        if at_s - before_s >= (REPEAT_S if key == before else GUARD_S):
            self._stray = None
            return False
        self._stray = key, max(at_s, before_s)
        return self._gone_took_text or key in ACTING_KEYS

    def _tell_stray(self) -> None:
        if not self._has_told_stray:
            self._has_told_stray = True
            said = "Ignored: that key was for a question that is gone. Pause, then continue"
            self._app.notify(said, severity="warning")

    def _end_pause(self, event: events.Key) -> None:
        """Tell a focused question about a key that goes elsewhere: an answer needs a pause before it."""
        for widget in (self._app.focused, self._app.screen):
            guard = getattr(widget, "guard", None)
            if isinstance(guard, AnswerGuard):
                guard.takes(event)

    def _above_question(self, key: str) -> Command | None:
        """The command that this key runs even while the agent asks something; None if the question gets it."""
        if not any(widget is not None and widget.has_class(ASKING) for widget in (self._app.screen, self._app.focused)):
            return None
        command = keys_in_force(self._app).command_at(("session", "app"), key)
        if command is None or not command.works_above_questions:
            return None
        copies = bool(getattr(self._app.focused, "selected_text", ""))
        closes = any(binding.id == "dialog_close" for binding in bindings_of_key(self._app.screen, key))
        return None if command.id == "interrupt" and (copies or closes) else command


def ask_again(node: App[Any] | Screen[Any], words: str, for_s: float | None = None) -> None:
    """Have a notice with these words ask for a key again, until the next one."""
    keys, notices = keys_of(node), getattr(node.app, "notices", None)
    if keys is not None and isinstance(notices, Notices):
        keys.ask_again(words, for_s, notices.drop_outdated)
        notices.is_over[words] = lambda: keys.asks_again != words
    node.notify(words, severity="warning", timeout=for_s)


def keys_of(widget: DOMNode) -> Keys | None:
    keys = getattr(widget.app, "keys", None)
    return keys if isinstance(keys, Keys) else None


def is_unbound_text(focused: Widget | None, event: events.Key) -> bool:
    """Whether the key is a character that means nothing where the focus is, neither as a key nor as text there."""
    places = focused.ancestors_with_self if focused is not None else ()
    has_use = is_writing(focused) or any(
        hasattr(place, "guard") or (isinstance(place, Widget) and any(bindings_of_key(place, event.key)))
        for place in places
    )
    return event.is_printable and not has_use


def keys_in_force(widget: DOMNode) -> Keymap:
    """The keymap of our app, its reactive `keymap`; the default keymap in other apps."""
    keymap = getattr(widget.app, "keymap", None)
    return keymap if isinstance(keymap, Keymap) else DEFAULT_KEYMAP


def idle_s(widget: Widget) -> float:
    """How long ago the last key, click, or paste was."""
    keys = keys_of(widget)
    return keys.idle_s if keys is not None else 0.0


def note_question_gone(widget: Widget, *, took_text: bool = False) -> None:
    """Drop keys that were meant for this question, which had the focus (`Keys.note_question_gone`)."""
    keys = keys_of(widget)
    if keys is not None:
        keys.note_question_gone(took_text=took_text)


def follow_keys(widget: Widget, redraw: Callable[[], None]) -> None:
    """Call `redraw` when the keymap changes, as long as the widget exists."""
    if keys_of(widget) is not None:
        widget.watch(widget.app, "keymap", redraw, init=False)


async def caught_up(field: DOMNode) -> None:
    """Wait until the field has received earlier keys: a key bound with priority overtakes those before it."""
    has_all = anyio.Event()
    if field.call_later(has_all.set):
        with anyio.move_on_after(CAUGHT_UP_S):
            await has_all.wait()
