"""The line where the user types which frames to show. The screen interprets it."""

from __future__ import annotations

from typing import Final

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.geometry import Size
from textual.message import Message
from textual.reactive import Reactive
from textual.widgets import Input, Static

from acp_tui.ui.commands.table import bindings_of

WHAT = 'session/prompt -chunk is:error is:lint is:open "several words"'


class _Field(Input):
    """An input whose text doesn't trigger a layout and a full redraw with each letter."""

    virtual_size = Reactive(Size(0, 0))


class QueryBar(Horizontal):
    """One line, hidden until it's asked for."""

    DEFAULT_CSS = """
    QueryBar { height: 1; display: none; }
    QueryBar Input { width: 1fr; min-width: 24; }
    QueryBar Static { width: auto; height: 1; }
    """
    PLACE: Final = "query"
    BINDINGS = bindings_of(place=PLACE)

    class Changed(Message):
        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    class Closed(Message):
        """The user submitted the text or closed the line. A filter stays."""

    def __init__(self) -> None:
        super().__init__()
        self._field = _Field(placeholder=WHAT, compact=True, select_on_focus=False)
        self._field.cursor_blink = False  # it would redraw while nothing happens

    def compose(self) -> ComposeResult:
        yield Static("Show only: ", markup=False)
        yield self._field

    def ask(self, text: str) -> None:
        self.display = True
        field = self._field
        with self.prevent(Input.Changed):
            field.value = text
        field.cursor_position = len(text)
        self.screen.set_focus(field)  # at once, because the next key may be on its way

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        self.post_message(self.Changed(event.value))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.action_close()

    def action_close(self) -> None:
        self.display = False
        self.post_message(self.Closed())
