"""The half of the app that knows which keys are in force: every key passes here before a widget sees it.

Which keys those are is worked out in `keymap`.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import ClassVar, Final

from textual import events
from textual.app import App
from textual.binding import Binding, BindingType
from textual.reactive import var
from textual.screen import ModalScreen
from textual.widget import Widget

from acp_tui.ui.asking import ASKING
from acp_tui.ui.command import Command
from acp_tui.ui.keymap import AS_BUILT, Keymap, is_writing, places_of
from acp_tui.ui.textual_internals import bindings_of_key, has_priority
from acp_tui.ui.widgets.answer_guard import GUARD_S, REPEAT_S, AnswerGuard, age_of

ACTING_KEYS: Final = frozenset({"enter", "escape"})
"""They send the draft, cancel the turn, or choose what is marked in a dialog."""


class KeyedApp(App[None]):
    """Turns the keys that the user chose into what they stand for."""

    BINDINGS: ClassVar[list[BindingType]] = [
        # Without priority, Textual passes over the app's bindings while a dialog is open.
        Binding("f1", "help_dialog", "Help", show=False, priority=True),
    ]

    clock: Callable[[], float] = staticmethod(time.monotonic)
    keymap: var[Keymap] = var(AS_BUILT, init=False)
    pressed_at = math.inf
    """When something was pressed, clicked or pasted last, by `clock`."""
    pause_s = 0.0
    """How long nothing was, before that."""
    _stray: tuple[str, float] | None = None
    """The key that was pressed last, and when, since a question with the keyboard went away; None behind a pause."""
    _gone_took_text = False
    _has_told_stray = False

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Whether it can be done now: a screen that is no dialog of ours, or has a help of its own, gives that."""
        if action == "help_dialog":
            is_ours = isinstance(self.screen, ModalScreen)
            return is_ours and not tuple(bindings_of_key(self.screen, "f1"))
        return super().check_action(action, parameters)

    def action_help_dialog(self) -> None:
        """Show the keys of the dialog that is open."""
        from acp_tui.ui.screens.dialog_help import DialogHelp  # when it is first asked for

        self.push_screen(DialogHelp(self.screen))

    async def on_event(self, event: events.Event) -> None:
        """Do what a chosen key stands for, or pass it on as the key that the widgets know."""
        if isinstance(event, events.Mount | events.Key | events.Paste | events.MouseDown):
            now_s = self.clock()
            self.pause_s, self.pressed_at = now_s - self.pressed_at, now_s
        is_stray = isinstance(event, events.Key | events.Paste) and self.is_stray(event)
        if is_stray and isinstance(event, events.Paste):
            self._tell_stray()
            return
        if isinstance(event, events.Key) and not event.is_forwarded:
            above = self._above_question(event.key)
            if above is not None:
                self._end_pause(event)
                await self.run_action(above.action, self.screen_stack[0])
                return
            meaning = self._meaning(event)
            if isinstance(meaning, Command):
                self._end_pause(event)
                await self.run_action(meaning.action, self.screen)
                return
            has_effect_anywhere = bool(meaning) and has_priority(self.screen, meaning)
            if not meaning or has_effect_anywhere:
                self._end_pause(event)
            if is_stray and not has_effect_anywhere:
                self._tell_stray()
                return
            if not meaning:
                return
            if meaning != event.key:  # the same event: when it was pressed counts for the permission card
                event.key, event.character = meaning, meaning if len(meaning) == 1 else None
            before_key = getattr(self.screen, "before_key", None)
            if before_key is not None:
                before_key(event)
        await super().on_event(event)

    def note_question_gone(self, *, took_text: bool) -> None:
        """An Enter or Esc from now on without a pause was meant for the question that had the keyboard.

        `took_text`: all else was as well, since the user was writing into a field of it.
        """
        self._stray, self._gone_took_text, self._has_told_stray = ("enter", self.clock()), took_text, False

    def is_stray(self, event: events.Key | events.Paste) -> bool:
        """Whether it was meant for a question that is gone."""
        if self._stray is None:
            return False
        key = event.key if isinstance(event, events.Key) else ""
        before, before_s = self._stray
        at_s = self.clock() - age_of(event.time, time.monotonic())
        if at_s - before_s >= (REPEAT_S if key == before else GUARD_S):
            self._stray = None
            return False
        self._stray = key, max(at_s, before_s)
        return self._gone_took_text or key in ACTING_KEYS

    def _tell_stray(self) -> None:
        if not self._has_told_stray:
            self._has_told_stray = True
            said = "Dropped what was pressed for a question that is gone: pause, then go on"
            self.notify(said, severity="warning")

    def _end_pause(self, event: events.Key) -> None:
        """An answer needs a pause before it: of a key that goes elsewhere, what asks there hears only here."""
        for widget in (self.focused, self.screen):
            guard = getattr(widget, "guard", None)
            if isinstance(guard, AnswerGuard):
                guard.takes(event)

    def _above_question(self, key: str) -> Command | None:
        """The command that this key runs though a question of the agent's is open; None where it goes to that."""
        if not self.screen.has_class(ASKING):
            return None
        command = self.keymap.command_at(("session", "app"), key)
        if command is None or not command.works_above_questions:
            return None
        copies = command.id == "interrupt" and bool(getattr(self.focused, "selected_text", ""))
        return None if copies else command

    def _meaning(self, event: events.Key) -> Command | str:
        if event.is_printable and is_writing(self.focused):
            return event.key
        return self.keymap.meaning(places_of(self.focused or self.screen), event.key)


def keys_in_force(widget: Widget) -> Keymap:
    """Those of the widget's app."""
    app = widget.app
    return app.keymap if isinstance(app, KeyedApp) else AS_BUILT


def idle_s(widget: Widget) -> float:
    """For how long no key was pressed and nothing clicked or pasted."""
    app = widget.app
    return app.clock() - app.pressed_at if isinstance(app, KeyedApp) else 0.0


def pause_before_key_s(widget: Widget) -> float:
    """For how long nothing was pressed, clicked or pasted before the key that came last."""
    app = widget.app
    return app.pause_s if isinstance(app, KeyedApp) else 0.0


def note_question_gone(widget: Widget, *, took_text: bool = False) -> None:
    """Have strays dropped that were meant for this question, which had the keyboard (`KeyedApp.note_question_gone`)."""
    if isinstance(widget.app, KeyedApp):
        widget.app.note_question_gone(took_text=took_text)


def is_stray(widget: Widget, event: events.Key) -> bool:
    """Whether the key was meant for a question that is gone."""
    return isinstance(widget.app, KeyedApp) and widget.app.is_stray(event)


def follow_keys(widget: Widget, redraw: Callable[[], None]) -> None:
    """Call `redraw` when other keys come into force, as long as the widget is there."""
    if isinstance(widget.app, KeyedApp):
        widget.watch(widget.app, "keymap", redraw, init=False)
