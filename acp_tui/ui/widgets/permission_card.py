"""The docked card on which the user answers the agent's permission requests. It never answers by itself.

Keys and clicks count only some time after the card (or its next request) has appeared and has got the focus: what
was typed before was meant for something else.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import ClassVar, Final

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.message import Message

from acp_tui.conversation.facts import PermissionRequest, RequestKey
from acp_tui.conversation.tool_calls import ToolCall
from acp_tui.ui.drawings import permissions as drawings
from acp_tui.ui.rendering.wrapping import wrap
from acp_tui.ui.themes import palette_for
from acp_tui.ui.widgets.strip_view import StripView

GUARD_S: Final = 0.4
MAX_SHARE_OF_SCREEN: Final = 0.6
MIN_SUBJECT_ROWS: Final = 3


class PermissionCard(Vertical, can_focus=True):
    """One request at a time, oldest first: what the agent wants to do, and the agent's own options, always in view."""

    DEFAULT_CSS = "PermissionCard { display: none; height: auto; }"

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "choose(-1)", "Option above", show=False),
        Binding("down", "choose(1)", "Option below", show=False),
        Binding("enter", "confirm", "Answer with the chosen option", show=False),
        Binding("escape", "leave", "Back to the prompt", show=False),
        Binding("tab,shift+tab", "leave", "Back to the prompt", show=False),
        Binding("pageup", "page(-1)", "Page up", show=False),
        Binding("pagedown,space", "page(1)", "Page down", show=False),
        *(
            Binding(str(number), f"answer({number})", f"Option {number}", show=False)
            for number in range(1, 10)
        ),
    ]

    class Answered(Message):
        """The user chose an option."""

        def __init__(self, key: RequestKey, option_id: str) -> None:
            super().__init__()
            self.key = key
            self.option_id = option_id

    class Left(Message):
        """The user goes back to the prompt; a request that waits stays."""

    def __init__(
        self,
        *,
        clock: Callable[[], float] = time.monotonic,
        id: str | None = None,  # noqa: A002 - Textual's own name for it
    ) -> None:
        super().__init__(id=id)
        self._clock = clock
        self._request: PermissionRequest | None = None
        self._call: ToolCall | None = None
        self._cwd = ""
        self._waiting = 0
        self._chosen: int | None = None
        self._counts_from = 0.0
        self._option_rows: list[range] = []

    def compose(self) -> ComposeResult:
        """What is asked, and the answers below it."""
        yield StripView(id="subject")
        yield StripView(id="options")

    # What it shows

    def show(self, requests: Sequence[PermissionRequest], call: ToolCall | None, cwd: str = "") -> None:
        """Show the first of these requests and the call it is about; hide without one. `cwd` is the session's."""
        request = requests[0] if requests else None
        is_next = request is not None and (self._request is None or request.key != self._request.key)
        self._request, self._call, self._cwd, self._waiting = request, call, cwd, len(requests)
        if is_next:
            self._chosen = None
            self._guard()
        if request is None and self.has_focus:
            self.post_message(self.Left())
        self.display = request is not None
        self._draw()
        if is_next:
            self._subject.scroll_to(y=0, animate=False, force=True)

    @property
    def _subject(self) -> StripView:
        return self.query_one("#subject", StripView)

    def _guard(self) -> None:
        self._counts_from = self._clock() + GUARD_S

    def watch_has_focus(self, has_focus: bool) -> None:
        """Keys count a moment after the focus came; without it the card says how to come back."""
        super().watch_has_focus(has_focus)
        self._guard()
        self._draw()

    def on_resize(self) -> None:
        """Draw for the new width."""
        self._draw()

    def on_mount(self) -> None:
        """Draw again in other colours."""
        self.watch(self.app, "theme", self._draw, init=False)

    def _draw(self) -> None:
        # The scroll bar's column is kept free, so that the text does not jump when it appears.
        width = self.content_size.width - 1
        if self._request is None or self._call is None or width < 2:
            return
        palette = palette_for(self.app.current_theme)
        options = drawings.option_lines(self._request.options, self._chosen, palette, width)
        starts = [sum(map(len, options[:index])) for index in range(len(options))]
        self._option_rows = [
            range(start, start + len(lines)) for start, lines in zip(starts, options, strict=True)
        ]
        answers = [strip for lines in options for strip in lines]
        title = drawings.title_lines(self._call, self._waiting, palette, width)
        subject = [*title, *drawings.subject_lines(self._call, self._cwd, palette, width)]
        longest_hint = wrap([(self._hint(is_cut=True), palette.muted)], width)
        room = int(self.app.size.height * MAX_SHARE_OF_SCREEN) - len(answers) - len(longest_hint) - 3
        height = min(len(subject), max(room, MIN_SUBJECT_ROWS))
        self._subject.show(subject, height)
        answers += wrap([(self._hint(is_cut=height < len(subject)), palette.muted)], width)
        self.query_one("#options", StripView).show(answers, len(answers))

    def _hint(self, *, is_cut: bool) -> str:
        """What can be done now; `is_cut` where the subject is longer than what is seen of it."""
        assert self._request is not None
        keys = f"1-{min(len(self._request.options), 9)}" if len(self._request.options) > 1 else "1"
        refuse = (
            ""
            if any(option.is_rejection for option in self._request.options)
            else " · to refuse, cancel the turn"
        )
        if not self.has_focus:
            return f"Tab: answer here{refuse}"
        read_on = " · PgDn: read on" if is_cut else ""
        return f"{keys}: answer{read_on} · Esc: back to the prompt{refuse}"

    # What the user does

    def action_choose(self, step: int) -> None:
        """Move the choice; nothing is chosen until then."""
        if self._request is None or not self._request.options:
            return
        last = len(self._request.options) - 1
        start = (-1 if step > 0 else last + 1) if self._chosen is None else self._chosen
        self._chosen = max(0, min(last, start + step))
        self._draw()

    def action_confirm(self) -> None:
        """Answer with the chosen option; with none chosen, nothing happens."""
        if self._chosen is not None:
            self.action_answer(self._chosen + 1)

    def action_answer(self, number: int) -> None:
        """Answer with the option of that number, unless the key came too early to have been meant."""
        if self._request is None or self._clock() < self._counts_from:
            return
        if 1 <= number <= len(self._request.options):
            self.post_message(self.Answered(self._request.key, self._request.options[number - 1].option_id))

    def on_click(self, event: events.Click) -> None:
        """A click on an option answers with it."""
        options = self.query_one("#options", StripView)
        if event.widget is not options:
            return
        row = event.screen_y - options.region.y
        for number, rows in enumerate(self._option_rows, 1):
            if row in rows:
                self.action_answer(number)

    def action_leave(self) -> None:
        """Back to the prompt."""
        self.post_message(self.Left())

    def action_page(self, direction: int) -> None:
        """Page through a long request."""
        self._subject.page(direction)
