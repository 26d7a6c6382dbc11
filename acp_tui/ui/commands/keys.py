"""Every key of an app passes here before a widget sees it; `keymap` says which keys are in force."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any, Final

import anyio
from textual import events
from textual.app import App
from textual.widget import Widget

from acp_tui.ui.commands.command import Command
from acp_tui.ui.commands.keymap import AS_BUILT, Keymap, is_writing, places_of
from acp_tui.ui.kit.answer_guard import GUARD_S, REPEAT_S, AnswerGuard, age_of
from acp_tui.ui.kit.toasts import ASKING
from acp_tui.ui.textual_gaps.internals import has_priority

CAUGHT_UP_S: Final = 0.5
"""A field needs no longer for the keys on their way to it."""
ACTING_KEYS: Final = frozenset({"enter", "escape"})
"""They send the draft, cancel the turn, or choose what is marked in a dialog."""


class Keys:
    """Turns the keys that the user chose into what they stand for, and knows when one was pressed last."""

    def __init__(self, app: App[Any], clock: Callable[[], float]) -> None:
        """`clock` gives seconds."""
        self._app = app
        self._clock = clock
        self.pressed_at = math.inf
        """When something was pressed, clicked or pasted last, by the clock."""
        self.pause_s = 0.0
        """How long nothing was, before that."""
        self._stray: tuple[str, float] | None = None
        """The key pressed last, and when, since a question with the keyboard went away; None behind a pause."""
        self._gone_took_text = False
        self._has_told_stray = False

    @property
    def idle_s(self) -> float:
        """For how long nothing was pressed, clicked or pasted."""
        return self._clock() - self.pressed_at

    async def take(self, event: events.Event) -> bool:
        """Do what a chosen key stands for: True. False: pass it on, as the key that the widgets know."""
        if isinstance(event, events.Mount | events.Key | events.Paste | events.MouseDown):
            now_s = self._clock()
            self.pause_s, self.pressed_at = now_s - self.pressed_at, now_s
        is_stray = isinstance(event, events.Key | events.Paste) and self.is_stray(event)
        if is_stray and isinstance(event, events.Paste):
            self._tell_stray()
            return True
        if not isinstance(event, events.Key) or event.is_forwarded:
            return False
        app, screen = self._app, self._app.screen
        above = self._above_question(event.key)
        if above is not None:
            self._end_pause(event)
            await app.run_action(above.action, app.screen_stack[0])
            return True
        meaning = self._meaning(event)
        if isinstance(meaning, Command):
            self._end_pause(event)
            await app.run_action(meaning.action, screen)
            return True
        has_effect_anywhere = bool(meaning) and has_priority(screen, meaning)
        if not meaning or has_effect_anywhere:
            self._end_pause(event)
        if is_stray and not has_effect_anywhere:
            self._tell_stray()
            return True
        if not meaning:
            return True
        if meaning != event.key:  # the same event: when it was pressed counts for the permission card
            event.key, event.character = meaning, meaning if len(meaning) == 1 else None
        before_key = getattr(screen, "before_key", None)
        if before_key is not None:
            before_key(event)
        return False

    def note_question_gone(self, *, took_text: bool) -> None:
        """An Enter or Esc from now on without a pause was meant for the question that had the keyboard.

        `took_text`: all else was as well, since the user was writing into a field of it.
        """
        self._stray, self._gone_took_text, self._has_told_stray = ("enter", self._clock()), took_text, False

    def is_stray(self, event: events.Key | events.Paste) -> bool:
        """Whether it was meant for a question that is gone."""
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
        """An answer needs a pause before it: of a key that goes elsewhere, what asks there hears only here."""
        for widget in (self._app.focused, self._app.screen):
            guard = getattr(widget, "guard", None)
            if isinstance(guard, AnswerGuard):
                guard.takes(event)

    def _above_question(self, key: str) -> Command | None:
        """The command that this key runs though a question of the agent's is open; None where it goes to that."""
        if not self._app.screen.has_class(ASKING):
            return None
        command = _keymap_of(self._app).command_at(("session", "app"), key)
        if command is None or not command.works_above_questions:
            return None
        copies = command.id == "interrupt" and bool(getattr(self._app.focused, "selected_text", ""))
        return None if copies else command

    def _meaning(self, event: events.Key) -> Command | str:
        focused = self._app.focused
        if event.is_printable and is_writing(focused):
            return event.key
        return _keymap_of(self._app).meaning(places_of(focused or self._app.screen), event.key)


def _keymap_of(app: App[Any]) -> Keymap:
    """The keymap of an app of ours, which is its reactive `keymap`; that of another, in which nobody chose a key."""
    keymap = getattr(app, "keymap", None)
    return keymap if isinstance(keymap, Keymap) else AS_BUILT


def _keys_of(widget: Widget) -> Keys | None:
    keys = getattr(widget.app, "keys", None)
    return keys if isinstance(keys, Keys) else None


def keys_in_force(widget: Widget) -> Keymap:
    """Those of the widget's app."""
    return _keymap_of(widget.app)


def idle_s(widget: Widget) -> float:
    """For how long no key was pressed and nothing clicked or pasted."""
    keys = _keys_of(widget)
    return keys.idle_s if keys is not None else 0.0


def pause_before_key_s(widget: Widget) -> float:
    """For how long nothing was pressed, clicked or pasted before the key that came last."""
    keys = _keys_of(widget)
    return keys.pause_s if keys is not None else 0.0


def note_question_gone(widget: Widget, *, took_text: bool = False) -> None:
    """Have strays dropped that were meant for this question, which had the keyboard (`Keys.note_question_gone`)."""
    keys = _keys_of(widget)
    if keys is not None:
        keys.note_question_gone(took_text=took_text)


def is_stray(widget: Widget, event: events.Key) -> bool:
    """Whether the key was meant for a question that is gone."""
    keys = _keys_of(widget)
    return keys is not None and keys.is_stray(event)


def follow_keys(widget: Widget, redraw: Callable[[], None]) -> None:
    """Call `redraw` when other keys come into force, as long as the widget is there."""
    if _keys_of(widget) is not None:
        widget.watch(widget.app, "keymap", redraw, init=False)


async def caught_up(field: Widget) -> None:
    """Wait until the field has what was typed before: a key that is bound with priority overtakes those before it."""
    has_all = anyio.Event()
    if field.call_later(has_all.set):
        with anyio.move_on_after(CAUGHT_UP_S):
            await has_all.wait()
