"""A dialog whose answer has consequences: it counts only when the answer guard lets it."""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Callable
from typing import ClassVar, TypeVar

from textual import events
from textual.screen import ModalScreen
from textual.widgets import Button

from acp_tui.ui.kit.answer_guard import AnswerGuard
from acp_tui.ui.textual_gaps.internals import bindings_of_key

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
            self.notify("Too soon to count: pause, then answer again", severity="warning")
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
