"""Where the user writes: Enter sends, a key of its own makes a new line; it grows with what is in it."""

from __future__ import annotations

from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.widgets import TextArea

MAX_LINES = 10


class PromptInput(TextArea):
    """The draft of the next prompt."""

    DEFAULT_CSS = "PromptInput { height: 3; max-height: 12; }"

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+j,shift+enter,alt+enter", "newline", "New line", show=False),
        Binding("pageup", "page(-1)", "Page up", show=False),
        Binding("pagedown", "page(1)", "Page down", show=False),
    ]

    class Submitted(Message):
        """The user wants to send the draft; it stays until `clear_draft`."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    class LeaveRequested(Message):
        """Tab: the user wants to be where else something waits."""

    class EscapeRequested(Message):
        """Esc: the user wants to stop what is going on."""

    class PageRequested(Message):
        """The user wants to page through the conversation without leaving the prompt."""

        def __init__(self, direction: int) -> None:
            super().__init__()
            self.direction = direction

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's own name for it
        super().__init__(
            id=id,
            soft_wrap=True,
            show_line_numbers=False,
            highlight_cursor_line=False,
            placeholder="Write a prompt. Enter sends it, Ctrl+J makes a new line",
        )
        # A blinking cursor would draw while nothing happens.
        self.cursor_blink = False

    async def _on_key(self, event: events.Key) -> None:
        """Take Enter, Tab and Esc before they become text or move the focus."""
        message = {
            "enter": lambda: self.Submitted(self.text),
            "tab": self.LeaveRequested,
            "escape": self.EscapeRequested,
        }.get(event.key)
        if message is None:
            await super()._on_key(event)
            return
        event.stop()
        event.prevent_default()
        self.post_message(message())

    def action_newline(self) -> None:
        """Break the line at the cursor."""
        self.insert("\n", maintain_selection_offset=False)

    def action_page(self, direction: int) -> None:
        """Page through the conversation."""
        self.post_message(self.PageRequested(direction))

    def clear_draft(self) -> None:
        """The draft was sent, or is not wanted."""
        self.text = ""

    def on_text_area_changed(self) -> None:
        """Grow and shrink by lines; between line changes the height stays, so that a key costs no layout."""
        self._fit()

    def _on_resize(self) -> None:
        """In another width the draft wraps into another number of lines."""
        super()._on_resize()
        self._fit()

    def _fit(self) -> None:
        lines = min(max(self.wrapped_document.height, 1), MAX_LINES)
        height = lines + self.gutter.height
        if self.styles.height is None or self.styles.height.value != height:
            self.styles.height = height
