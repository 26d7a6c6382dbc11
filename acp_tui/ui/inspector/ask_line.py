"""The line on which the user writes what to look for, what to show, or where to go; what that means is the screen's."""

from __future__ import annotations

from enum import Enum
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.geometry import Size
from textual.message import Message
from textual.reactive import Reactive
from textual.widgets import Input, Static


class Wish(Enum):
    """What is asked for: how it is called, and what can be written."""

    FIND = ("Find", "a text")
    FILTER = ("Show only", 'method:prompt -kind:chunk session:… dir:in is:error is:lint "words"')
    GO = ("Go to", "120 for a frame, 12.5s or 1:05 for a time")


class _Field(Input):
    """One of which the text does not lay out the screen anew, and have all of it drawn, with each letter."""

    virtual_size = Reactive(Size(0, 0))


class AskLine(Horizontal):
    """One line; hidden until something is asked for."""

    DEFAULT_CSS = """
    AskLine { height: 1; display: none; }
    AskLine Input { width: 1fr; min-width: 24; }
    AskLine Static { width: auto; height: 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "close", "Close", show=False, priority=True)]

    class Changed(Message):
        """Something else stands there."""

        def __init__(self, wish: Wish, text: str) -> None:
            super().__init__()
            self.wish = wish
            self.text = text

    class Done(Changed):
        """The user means what stands there."""

    class Closed(Message):
        """The user wants nothing of that kind any more."""

        def __init__(self, wish: Wish) -> None:
            super().__init__()
            self.wish = wish

    def __init__(self) -> None:
        super().__init__()
        self.wish = Wish.FIND
        self._label = Static(markup=False)
        self._said = ""
        self._wrong = Static(classes="ask-wrong", markup=False)

    def compose(self) -> ComposeResult:
        """What is asked, and what is wrong with the answer."""
        yield self._label
        field = _Field(compact=True, select_on_focus=False)
        field.cursor_blink = False  # it would draw while nothing happens
        yield field
        yield self._wrong

    @property
    def is_shown(self) -> bool:
        """Whether something is asked."""
        return bool(self.display)

    def ask(self, wish: Wish, text: str = "") -> None:
        """Have the user write."""
        label, placeholder = wish.value
        self.wish, self.display = wish, True
        self._label.update(f"{label}: ")
        field = self.query_one(Input)
        field.placeholder = placeholder
        with self.prevent(Input.Changed):
            field.value = text
        field.cursor_position = len(text)
        self.say("")
        self.screen.set_focus(field)  # at once: the next key may be on its way

    def say(self, wrong: str) -> None:
        """Say what is wrong; "" for nothing."""
        if wrong != self._said:
            self._said = wrong
            self._wrong.update(f"  {wrong}" if wrong else "")

    def on_input_changed(self, event: Input.Changed) -> None:
        """Tell what is written."""
        event.stop()
        self.post_message(self.Changed(self.wish, event.value))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Tell that it is meant."""
        event.stop()
        self.post_message(self.Done(self.wish, event.value))

    def action_close(self) -> None:
        """Be gone."""
        self.display = False
        self.post_message(self.Closed(self.wish))
