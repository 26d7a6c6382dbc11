"""A dialog that asks something by itself, and takes only deliberate answers."""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Callable
from functools import partial
from itertools import chain
from typing import ClassVar, Final, TypeVar

from textual import events
from textual.binding import Binding, BindingType
from textual.screen import ModalScreen
from textual.widgets import Button, TextArea

from acp_tui.ui.kit.answer_guard import QuestionGuard
from acp_tui.ui.kit.frame import Frame
from acp_tui.ui.textual_gaps.internals import bindings_of_key

T = TypeVar("T")

WRITING: Final = "What you write goes to your draft; Tab: answer here"


class QuestionScreen(ModalScreen[T]):
    """A dialog that comes by itself, so the user may be writing: what can't be an answer goes to the draft below."""

    clock: ClassVar[Callable[[], float]] = staticmethod(time.monotonic)
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "press_button", "Answer with the chosen button", show=False),
        Binding("left", "app.focus_previous", "Other answer", show=False),
        Binding("right", "app.focus_next", "Other answer", show=False),
    ]

    def __init__(self, keys: str) -> None:
        """`keys` tells the keys in the dialog's frame."""
        super().__init__(classes="dialog")
        self.guard = QuestionGuard(self, type(self).clock)
        self._keys = keys

    @abstractmethod
    def answer_by(self, button: Button) -> None:
        """Give the answer of this button, if `may_answer`."""

    def may_answer(self) -> bool:
        """Whether the key or click can be a deliberate answer. If not, tell the user."""
        return self.guard.may_answer("answer again")

    def on_screen_resume(self) -> None:
        """Rearm the guard: the question is visible only now. If there is a draft below, the user may be writing it."""
        prompt = self._prompt_below()
        if self.guard.is_unasked and prompt is not None and prompt.text:
            self.guard.is_writing = True
            self.warn("")
        self.guard.arm()

    def on_resize(self) -> None:
        """Rearm the guard: another button may be under the mouse."""
        self.guard.arm()

    async def on_key(self, event: events.Key) -> None:
        """Handle a key. Keys that a field takes as text don't arrive here."""
        binding = next(iter(bindings_of_key(self, event.key)), None)
        await self.guard.take_key(event, binding, binding.description if binding is not None else "")
        if event.key in ("left", "right"):
            self.guard.come()

    def action_press_button(self) -> None:
        if isinstance(self.focused, Button):
            self.answer_by(self.focused)

    def write(self, text: str, *, is_paste: bool = False) -> None:
        """Put what was typed into the draft below."""
        self.guard.is_writing = True
        self.warn("")
        prompt = self._prompt_below()
        if prompt is not None:
            prompt.insert(text)

    def _prompt_below(self) -> TextArea | None:
        found = (screen.query("PromptInput").results(TextArea) for screen in reversed(self.app.screen_stack))
        return next(chain.from_iterable(found), None)

    def warn(self, text: str) -> None:
        """Show this in place of the keys; "" shows the keys again."""
        for frame in self.query(Frame):
            frame.show_keys(text or (WRITING if self.guard.is_writing else self._keys))

    def on_paste(self, event: events.Paste) -> None:
        """A paste is no answer, and neither is a key right after it."""
        self.guard.takes(event)

    def on_mouse_down(self, event: events.MouseDown) -> None:
        self.guard.press(event, self.get_widget_at(*event.screen_offset)[0])

    def on_button_pressed(self, event: Button.Pressed) -> None:
        """Handle a mouse click. Keys were handled before."""
        event.stop()
        self.guard.click(event.button, partial(self.answer_by, event.button))
