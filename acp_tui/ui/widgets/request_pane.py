"""The keys and clicks that answer a permission request, docked or on a screen of its own.

It never answers by itself: keys and clicks count only some time after the request has appeared and the pane has got
the focus, since what was typed before was meant for something else. How the request is shown is the view's part.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import ClassVar, Final

from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.timer import Timer

from acp_tui.conversation.facts import PermissionOption, RequestKey
from acp_tui.ui.drawings.permission_subject import SubjectDrawing
from acp_tui.ui.drawings.permissions import MAX_NUMBER
from acp_tui.ui.widgets.answer_guard import age_of
from acp_tui.ui.widgets.request_view import RequestView

CANCEL_TO_REFUSE: Final = "to refuse, cancel the turn"
WARNING_S: Final = 2.0
"""Long enough for a few words to be read; the guard has opened long before."""


class RequestPane(RequestView, can_focus=True):
    """A request that keys and clicks answer."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "confirm", "Answer with the chosen option", show=False),
        Binding("pageup", "page(-1)", "Page up", show=False),
        Binding("pagedown,space", "page(1)", "Page down", show=False),
        Binding("r", "toggle_raw", "Show or hide the raw report", show=False),
        Binding("w", "reject_and_say_why", "Reject and say why", show=False),
        *(
            Binding(str(number), f"answer({number})", f"Option {number}", show=False)
            for number in range(1, MAX_NUMBER + 1)
        ),
    ]

    class Answered(Message, namespace="permission_card"):
        """The user chose an option."""

        def __init__(self, key: RequestKey, option_id: str) -> None:
            super().__init__()
            self.key = key
            self.option_id = option_id

    class RejectedWithReason(Message, namespace="permission_card"):
        """The user rejects, and is about to write why."""

        def __init__(self, key: RequestKey, option_id: str, title: str) -> None:
            super().__init__()
            self.key = key
            self.option_id = option_id
            self.title = title
            """What the call was called, as the agent wrote it."""

    def __init__(
        self,
        *,
        clock: Callable[[], float],
        drawing: SubjectDrawing | None = None,
        id: str | None = None,  # noqa: A002 - Textual's own name for it
    ) -> None:
        super().__init__(clock=clock, drawing=drawing, id=id)
        self._age_s = 0.0
        """How long the last key or click has waited."""
        self._warning_time: Timer | None = None
        """Until the keys are named again; None while they are."""

    def warn_too_small(self) -> None:
        """Say that nothing can be answered here, if that is not to be seen anyway."""

    def answer_keys(self, others: str) -> str:
        """The keys that answer; `others` lead to options that have no number."""
        count = len(self.options)
        numbers = f"1-{min(count, MAX_NUMBER)}" if count > 1 else "1"
        return f"{numbers} {others}: answer" if count > MAX_NUMBER else f"{numbers}: answer"

    @property
    def can_reject(self) -> bool:
        """Whether the agent offers an option that refuses; else one can only cancel the turn."""
        return self._rejection is not None

    @property
    def _rejection(self) -> PermissionOption | None:
        return self._asked.request.rejection if self._asked is not None else None

    # What the user does

    def action_choose(self, step: int) -> None:
        """Move the choice; nothing is chosen until then."""
        if not self.options:
            return
        last = len(self.options) - 1
        start = (-1 if step > 0 else last + 1) if self._chosen is None else self._chosen
        self._chosen = max(0, min(last, start + step))
        self.warn("")

    def action_confirm(self) -> None:
        """Answer with the chosen option; with none chosen, nothing happens."""
        if self._chosen is not None:
            self._answer(self._chosen, "press Enter again")

    def action_answer(self, number: int) -> None:
        """Answer with the option of that number."""
        self._answer(number - 1, f"press {number} again")

    def on_key(self, event: events.Key) -> None:
        """Note when it was pressed: keys wait while the screen is being drawn. What it does, a binding says."""
        self._age_s = age_of(event.time, time.monotonic())

    def on_click(self, event: events.Click) -> None:
        """A click on an option answers with it."""
        self._age_s = age_of(event.time, time.monotonic())
        if event.widget is not self._options:
            return
        row = event.screen_y - self._options.region.y + self._options.scroll_offset.y
        for index, rows in enumerate(self._option_rows):
            if row in rows:
                self._answer(index, "click again")

    def action_reject_and_say_why(self) -> None:
        """Answer with the agent's own rejection, and let the user write the reason."""
        option = self._rejection
        if option is not None and self._asked is not None and self._counts("press w again"):
            request, title = self._asked.request, self._asked.call.shown_title
            self.tell(self.RejectedWithReason(request.key, option.option_id, title))

    def _answer(self, index: int, again: str) -> None:
        if self._asked is None or index >= len(self.options) or not self._counts(again):
            return
        option = self.options[index]
        if option.is_rejection or self.may_allow(option.option_id, again):
            self.tell(self.Answered(self._asked.request.key, option.option_id))

    def _counts(self, again: str) -> bool:
        """Whether what the user did can have been meant as an answer; where not, what to do is said."""
        if self._rows is None:
            self.warn_too_small()
            return False
        if not self.guard.was_open(self._age_s):
            self._warn_too_soon(again)
            return False
        return True

    def _warn_too_soon(self, again: str) -> None:
        """Say what to do for as long as it takes to read, and as long as it is true."""
        self.warn(f"Too soon to count: {again} to answer")
        if self._warning_time is not None:
            self._warning_time.stop()
        self._warning_time = self.set_interval(WARNING_S, self._end_warning)

    def _end_warning(self) -> None:
        if self._warning_time is not None and self.guard.is_open:
            self._warning_time.stop()
            self._warning_time = None
            self.warn("")

    def tell(self, message: Message) -> None:
        """Let those know who wait for a decision."""
        self.post_message(message)
