"""A dialog that asks for a yes or a no by itself, and takes only deliberate answers."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import ClassVar, Final

from textual import events, on
from textual.binding import Binding
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.widgets import Button, Static

from acp_tui.ui.commands.table import PAGES, STEPS, bindings_of
from acp_tui.ui.kit.answer_guard import QuestionGuard
from acp_tui.ui.kit.dialog import Dialog
from acp_tui.ui.textual_gaps.internals import bindings_of_key

WRITING: Final = "What you write goes to your draft; Tab to answer here"
NO: Final = "answer(False)"
SHORT_KEYS: Final = "y yes · n no · {dialog_close} no"
KEYS: Final = "y yes · n no · {move_up} {move_down} read on · {dialog_close} no"


class QuestionScreen(Dialog[bool]):
    """Returns True if the user agrees. Anything but an explicit yes is a no.

    It comes by itself, so the user may be writing: what can't be an answer goes to the draft below.
    """

    ALLOWS: ClassVar[bool] = False
    """Whether a yes lets somebody do something, not only what the user has just asked for."""
    PLACE: Final = "ask"
    BINDINGS = bindings_of(*STEPS, *PAGES, place=PLACE)

    def __init__(self, question: str | Content, lines: Sequence[Content], yes: str = "Yes, use them") -> None:
        """`lines` describe everything that would be used. There are none if the question says it all."""
        self.lines = lines
        self.guard = QuestionGuard(self, type(self).clock)
        self.guard.allows = self.ALLOWS
        self._no = Button("No", id="no", compact=True)
        text = Static(Content("\n").join(lines), markup=False)
        self._body = VerticalScroll(text, classes="dialog-body", can_focus=False)
        self._body.display = bool(lines)
        buttons = Horizontal(self._no, Button(yes, id="yes", compact=True), classes="dialog-buttons")
        super().__init__(question, KEYS if lines else SHORT_KEYS, self._body, buttons)

    def on_mount(self) -> None:
        """Focus No, so that Enter means no."""
        self.set_focus(self._no)

    def on_screen_resume(self) -> None:
        """Rearm the guard: the question is visible only now. If there is a draft below, the user may be writing it."""
        prompt = self.prompt_below
        if self.guard.is_unasked and prompt is not None and prompt.text:
            self.guard.is_writing = True
            self.warn("")
        self.guard.arm()

    def on_resize(self) -> None:
        self.guard.note_move()

    def warn(self, text: str) -> None:
        super().warn(text or (WRITING if self.guard.is_writing else ""))

    # Answers

    def action_answer(self, answer: bool) -> None:
        """Answer, unless the key was meant for something else. A yes scrolls on until everything was in view."""
        if self.guard.may_answer("answer again", rejects=not answer):
            if answer and self._body.scroll_offset.y < self._body.max_scroll_y:
                self._body.scroll_page_down(animate=False)
                self.guard.arm()
                return
            self.dismiss(answer)

    def action_close(self) -> None:
        self.action_answer(False)

    def action_press_button(self) -> None:
        if isinstance(self.focused, Button):
            self.action_answer(self.focused.id == "yes")

    def action_move(self, lines: int) -> None:
        self._body.scroll_relative(y=lines, animate=False)

    def action_page(self, direction: int) -> None:
        self.action_move(direction * self._body.size.height)

    def binding_of(self, key: str) -> Binding | None:
        """The key's binding. Ctrl+C copies what is selected, and otherwise closes."""
        bindings = bindings_of_key(self, key)
        return next((each for each in bindings if self.selections or each.action != "screen.copy_text"), None)

    async def on_key(self, event: events.Key) -> None:
        if self.guard.is_writing and not event.is_printable and self.write_key(event):
            event.stop()
            self.guard.takes(event)
            return
        binding = self.binding_of(event.key)
        rejects = binding is not None and binding.action == NO
        await self.guard.take_key(event, binding.description if binding is not None else "", rejects=rejects)
        if event.key in ("left", "right"):
            self.guard.come()

    def on_mouse_down(self, event: events.MouseDown) -> None:
        self.guard.press(event, self.get_widget_at(*event.screen_offset)[0])

    @on(Button.Pressed)
    def _answer_by_click(self, event: Button.Pressed) -> None:
        """Handle a mouse click. Keys were handled before."""
        event.stop()
        self.guard.click(event.button, partial(self.action_answer, event.button.id == "yes"))

    # Text

    def on_paste(self, event: events.Paste) -> None:
        self.guard.take_paste(event)

    def write(self, text: str, *, is_paste: bool = False) -> None:
        """Put what was typed into the draft below."""
        self.guard.is_writing = True
        self.warn("")
        self.write_below(text, is_paste=is_paste)
