"""Where the user writes: Enter sends, a key of its own makes a new line; it grows with what is in it."""

from __future__ import annotations

from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.widgets import TextArea

from acp_tui.ui.rejection_reason import reason_prompt
from acp_tui.ui.widgets.prompt.assistant import Assistant

MAX_LINES = 10
PLACEHOLDER = "Write a prompt. Enter sends it, Ctrl+J makes a new line"
SHELL = "Enter runs this in your shell, not in the agent"
WHY_NOT = "Why not? Enter sends it as your next prompt"
WHY_NOT_PLACEHOLDER = "The reason for your rejection. Esc: give none"


class PromptInput(TextArea):
    """The draft of the next prompt."""

    DEFAULT_CSS = "PromptInput { height: 3; max-height: 12; }"

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+j,shift+enter,alt+enter", "newline", "New line", show=False),
        Binding("alt+up", "pull_back", "Take the last queued prompt back", show=False),
        Binding("pageup", "page(-1)", "Page up", show=False),
        Binding("pagedown", "page(1)", "Page down", show=False),
    ]

    class Submitted(Message):
        """The user wants to send this text, made of the draft; the draft stays until `clear_draft`."""

        def __init__(self, text: str, *, is_command: bool = False) -> None:
            super().__init__()
            self.text = text
            self.is_command = is_command
            """For the user's shell, not for the agent."""

    class LeaveRequested(Message):
        """Tab: the user wants to be where else something waits."""

    class EscapeRequested(Message):
        """Esc: the user wants to stop what is going on."""

    class DropRequested(Message):
        """The user does not want the next prompt to take the last output along."""

    class PullBackRequested(Message):
        """The user wants the last queued prompt back."""

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
            placeholder=PLACEHOLDER,
        )
        self._rejected: tuple[str, ...] = ()
        """The titles of the calls that a reason is being written for; empty for any other prompt."""
        self._put_aside = ""
        """The draft that comes back when the reason is given."""
        self.assistants: list[Assistant] = []
        """Who is asked about a key before it becomes text, in this order."""
        # A blinking cursor would draw while nothing happens.
        self.cursor_blink = False

    async def _on_key(self, event: events.Key) -> None:
        """Take Enter, Tab and Esc before they become text or move the focus."""
        if any(assistant.takes_key(event) for assistant in self.assistants):
            event.stop()
            event.prevent_default()
            return
        if self._rejected and (event.key == "escape" or (event.key == "enter" and not self.text.strip())):
            event.stop()
            event.prevent_default()
            self.give_no_reason()
            return
        message = {
            "enter": lambda: self.Submitted(self._text_to_send, is_command=self._is_command),
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

    def action_pull_back(self) -> None:
        """Have the last queued prompt back, to change it or to drop it."""
        self.post_message(self.PullBackRequested())

    def action_page(self, direction: int) -> None:
        """Page through the conversation."""
        self.post_message(self.PageRequested(direction))

    def action_delete_left(self) -> None:
        """Delete; where there is nothing to delete, the last output that would go along."""
        if self.text:
            super().action_delete_left()
        else:
            self.post_message(self.DropRequested())

    @property
    def _is_command(self) -> bool:
        return not self._rejected and len(self.text.strip()) > 1 and self.text.startswith("!")

    @property
    def _text_to_send(self) -> str:
        return reason_prompt(self._rejected, self.text) if self._rejected else self.text

    def clear_draft(self) -> None:
        """The draft was sent, or is not wanted; where it was the reason for a rejection, the one before comes back."""
        self._set_draft(self._put_aside)
        self._ask_no_more()

    def ask_why(self, title: str) -> None:
        """What is written next is the reason for having rejected this call; the draft is put aside for it."""
        if not self._rejected:
            self._put_aside = self.text
            self._set_draft("")
        self._rejected = (*self._rejected, title)
        self.border_title = WHY_NOT
        self.placeholder = WHY_NOT_PLACEHOLDER

    def put_before(self, text: str) -> None:
        """Put this back into the draft, before what is written there."""
        self._set_draft("\n".join(filter(None, (text, self.text))))

    def give_no_reason(self) -> None:
        """The draft comes back, and what was written as a reason goes on below it. Where none is asked: nothing."""
        if not self._rejected:
            return
        self._set_draft("\n".join(filter(None, (self._put_aside, self.text))))
        self._ask_no_more()

    def _ask_no_more(self) -> None:
        self._rejected, self._put_aside = (), ""
        self.border_title = None
        self.placeholder = PLACEHOLDER

    def _set_draft(self, text: str) -> None:
        self.text = text
        self.move_cursor(self.document.end)

    def on_text_area_changed(self) -> None:
        """Grow and shrink by lines; between line changes the height stays, so that a key costs no layout."""
        self._fit()
        self._tell_assistants()
        if not self._rejected:
            title = SHELL if self.text.startswith("!") else None
            if self.border_title != title:
                self.border_title = title

    def on_text_area_selection_changed(self) -> None:
        """What helps at one place may not at another."""
        self._tell_assistants()

    def _tell_assistants(self) -> None:
        for assistant in self.assistants:
            assistant.draft_changed()

    def _on_resize(self) -> None:
        """In another width the draft wraps into another number of lines."""
        super()._on_resize()
        self._fit()

    def _fit(self) -> None:
        lines = min(max(self.wrapped_document.height, 1), MAX_LINES)
        height = lines + self.gutter.height
        if self.styles.height is None or self.styles.height.value != height:
            self.styles.height = height
