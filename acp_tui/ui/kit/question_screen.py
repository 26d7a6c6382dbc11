"""A dialog that asks something by itself, and takes only deliberate answers."""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Callable
from functools import partial
from itertools import chain
from typing import ClassVar, Final, TypeVar

from textual import events
from textual.binding import Binding
from textual.screen import ModalScreen
from textual.widgets import Button, TextArea

from acp_tui.ui.kit.answer_guard import HELD, AnswerGuard
from acp_tui.ui.kit.frame import Frame
from acp_tui.ui.textual_gaps.internals import bindings_of_key

T = TypeVar("T")

WRITING: Final = "What you write goes to your draft; Tab: answer here"


class QuestionScreen(ModalScreen[T]):
    """A dialog that handles keys at once, because Textual does so only after they have bubbled up to the app.

    It comes by itself, so the user may be writing: what can't be an answer goes to the draft below.
    """

    clock: ClassVar[Callable[[], float]] = staticmethod(time.monotonic)

    def __init__(self, keys: str) -> None:
        """`keys` tells the keys in the dialog's frame."""
        super().__init__(classes="dialog")
        self.guard = AnswerGuard(type(self).clock, self)
        self._keys = keys
        self._is_answer = False
        """Whether the key or click being handled can be an answer."""
        self._is_told = False
        """Whether the user was told that an answer came too soon."""
        self._typed = ""
        """The character that is held: it may be the first of a text."""
        self._is_writing = False
        """Whether the user is writing. Then all letters are text, after any pause, until a key or click comes here."""

    @abstractmethod
    def answer_by(self, button: Button) -> None:
        """Give the answer of this button, if `may_answer`."""

    def may_answer(self) -> bool:
        """Whether the key or click can be a deliberate answer. If not, tell the user, once."""
        if not self._is_answer and not self._is_told:
            self._is_told = True
            self.notify(self.guard.why_not("answer again"), severity="warning")
        return self._is_answer

    def on_screen_resume(self) -> None:
        """Rearm the guard: the question is visible only now. If there is a draft below, the user may be writing it."""
        prompt = self._prompt_below()
        if self.guard.is_unasked and prompt is not None and prompt.text:
            self._is_writing = True
            self._tell(WRITING)
        self.guard.arm()

    def on_resize(self) -> None:
        """Rearm the guard: another button may be under the mouse."""
        self._typed = ""
        self.guard.arm()

    async def on_key(self, event: events.Key) -> None:
        """Handle a key. Keys that a field takes as text don't arrive here."""
        is_answer = self.guard.takes(event)
        binding = next(iter(bindings_of_key(self, event.key)), None)
        if not event.is_printable or not self.guard.is_unasked:
            await self._act(event, binding, is_answer=is_answer)
        elif binding is None or not is_answer or self._typed or self._is_writing:
            event.stop()
            self._is_writing |= binding is None or bool(self._typed)
            if not self._is_writing:
                self.may_answer()  # says that it came too soon
            self._write(self._typed + (event.character or ""))
        else:
            event.stop()
            self._typed = event.character or ""
            self._tell(HELD.format(what=binding.description))
            await self.guard.hold(event, partial(self._decide, binding), partial(self._tell, ""))

    async def _act(self, event: events.Key, binding: Binding | None, *, is_answer: bool) -> None:
        # The Enter that ends a text isn't an answer, however late it comes.
        self._is_answer = is_answer and not (self._is_writing and event.key == "enter")
        self._typed = ""
        if event.key in ("tab", "shift+tab", "left", "right"):
            self._come()
        if event.key == "enter" and isinstance(self.focused, Button):
            event.stop()
            self.answer_by(self.focused)
        elif binding is not None:
            event.stop()
            await self.run_action(binding.action)
        self._is_answer = False

    async def _decide(self, binding: Binding) -> None:
        """Answer with a key that was held, and that nothing followed."""
        self._typed = ""
        self._tell("")
        if self.is_current:
            self._is_answer = True
            await self.run_action(binding.action)
            self._is_answer = False

    def _write(self, text: str) -> None:
        """Put what was typed into the draft below."""
        self._typed = ""
        self._tell(WRITING if self._is_writing else "")
        prompt = self._prompt_below()
        if prompt is not None:
            prompt.insert(text)

    def _prompt_below(self) -> TextArea | None:
        found = (screen.query("PromptInput").results(TextArea) for screen in reversed(self.app.screen_stack))
        return next(chain.from_iterable(found), None)

    def _come(self) -> None:
        """From now on, keys are meant for the dialog."""
        if self._is_writing:
            self._tell("")
        self.guard.is_unasked = self._is_writing = False

    def _tell(self, what: str) -> None:
        """Show this in place of the keys; "" shows the keys again."""
        for frame in self.query(Frame):
            frame.show_keys(what or self._keys)

    def on_paste(self, event: events.Paste) -> None:
        """A paste is no answer, and neither is a key right after it."""
        self.guard.takes(event)

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Record what is pressed: when the mouse button is released, something else may be there."""
        self._come()
        self.guard.press(event, self.get_widget_at(*event.screen_offset)[0])

    def on_button_pressed(self, event: Button.Pressed) -> None:
        """Handle a mouse click. Keys were handled before."""
        event.stop()
        self._is_answer = self.guard.is_click_on(event.button)
        self.answer_by(event.button)
        self._is_answer = False
