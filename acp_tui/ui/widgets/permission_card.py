"""The docked card on which the user answers the agent's permission requests. It never answers by itself.

Keys and clicks count only some time after the card (or its next request) has appeared and has got the focus: what
was typed before was meant for something else.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import ClassVar, Final

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from acp_tui.conversation.facts import PermissionOption, PermissionRequest, RequestKey
from acp_tui.conversation.tool_calls import BlockContent, TextDiff, ToolCall
from acp_tui.conversation.unset import UNSET
from acp_tui.conversation.visible import make_visible, make_visible_line
from acp_tui.ui.rendering.palette import Palette
from acp_tui.ui.rendering.wrapping import wrap
from acp_tui.ui.themes import palette_for

GUARD_S: Final = 0.4
KIND_WORDS: Final = {
    "allow_once": "once",
    "allow_always": "always: the agent will not ask again",
    "reject_once": "this time",
    "reject_always": "always: the agent will not ask again",
}


class PermissionCard(ScrollView, can_focus=True):
    """One request at a time, oldest first: what the agent wants to do, whole, and the agent's own options."""

    DEFAULT_CSS = """
    PermissionCard {
        display: none;
        height: auto;
        max-height: 60%;
        overflow-y: auto;
        overflow-x: hidden;
        scrollbar-size-vertical: 1;
    }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "choose(-1)", "Option above", show=False),
        Binding("down", "choose(1)", "Option below", show=False),
        Binding("enter", "confirm", "Answer with the chosen option", show=False),
        Binding("escape", "leave", "Back to the prompt", show=False),
        Binding("tab,shift+tab", "leave", "Back to the prompt", show=False),
        Binding("pageup", "scroll_page(-1)", "Page up", show=False),
        Binding("pagedown", "scroll_page(1)", "Page down", show=False),
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
        """The user goes back to the prompt; the request stays."""

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
        self._count = 0
        self._chosen: int | None = None
        self._counts_from = 0.0
        self._strips: list[Strip] = []
        self._option_rows: list[int] = []

    # What it shows

    def show(self, requests: Sequence[PermissionRequest], call: ToolCall | None) -> None:
        """Show the first of these requests and the call it is about; hide without one."""
        request = requests[0] if requests else None
        is_next = request is not None and (self._request is None or request.key != self._request.key)
        self._request, self._call, self._count = request, call, len(requests)
        self.display = request is not None
        if is_next:
            self._chosen = None
            self._guard()
        if request is None and self.has_focus:
            self.post_message(self.Left())
        self._draw()
        if is_next:
            self.scroll_to(y=0, animate=False, force=True)

    def on_focus(self) -> None:
        """Keys count a moment after this."""
        self._guard()
        self.refresh()

    def _guard(self) -> None:
        self._counts_from = self._clock() + GUARD_S

    def on_resize(self) -> None:
        """Draw for the new width."""
        self._draw()

    def on_mount(self) -> None:
        """Draw again in other colours."""
        self.watch(self.app, "theme", self._draw, init=False)

    def _draw(self) -> None:
        width = self.scrollable_content_region.width
        if self._request is None or self._call is None or not width:
            return
        palette = palette_for(self.app.current_theme)
        head = self._head(self._call, palette, width)
        options, rows = self._options(self._request.options, palette, width)
        self._strips = [*head, Strip([]), *options]
        self._option_rows = [len(head) + 1 + row for row in rows]
        self.virtual_size = Size(width, len(self._strips))
        self.refresh(layout=True)

    def _head(self, call: ToolCall, palette: Palette, width: int) -> list[Strip]:
        queue = f"1 of {self._count}  " if self._count > 1 else ""
        spans = [
            ("Permission  ", palette.warning + Style(bold=True)),
            (queue, palette.muted),
            (make_visible_line(call.shown_title), palette.strong),
        ]
        lines = wrap(spans, width)
        shown = {item.path for item in call.content if isinstance(item, TextDiff)}
        for location in call.locations:
            if location.path in shown:
                continue
            where = location.path if location.line is None else f"{location.path}:{location.line}"
            lines += wrap([(f"at {make_visible_line(where)}", palette.muted)], width)
        for item in call.content:
            lines += self._content(item, palette, width)
        return [*lines, *self._input(call, palette, width)]

    def _content(self, item: object, palette: Palette, width: int) -> list[Strip]:
        from acp_tui.ui.drawings.blocks import block_label  # with the first request
        from acp_tui.ui.rendering.diff import DiffRenderer

        if isinstance(item, TextDiff):
            return list(DiffRenderer(item.path, item.old_text, item.new_text).lines(width, palette))
        if isinstance(item, BlockContent):
            return wrap([(block_label(item.block), palette.text)], width)
        return []

    def _input(self, call: ToolCall, palette: Palette, width: int) -> list[Strip]:
        """The raw input, where nothing else says what is to be done."""
        if call.content:
            return []
        if call.raw_input is UNSET:
            return wrap([("its input is not reported by the agent", palette.muted)], width)
        import json  # with the first such request

        text = make_visible(json.dumps(call.raw_input, ensure_ascii=False, indent=2, default=str))
        return [strip for line in text.split("\n") for strip in wrap([(line, palette.code)], width)]

    def _options(
        self, options: tuple[PermissionOption, ...], palette: Palette, width: int
    ) -> tuple[list[Strip], list[int]]:
        strips: list[Strip] = []
        rows: list[int] = []
        for number, option in enumerate(options, 1):
            rows.append(len(strips))
            chosen = self._chosen == number - 1
            style = palette.error if option.is_rejection else palette.success
            word = KIND_WORDS.get(option.kind, make_visible_line(option.kind))
            spans = [
                ("❯ " if chosen else "  ", palette.accent),
                (f"{number} ", palette.muted),
                (make_visible_line(option.name), style + Style(bold=chosen)),
                (f"  ({word})", palette.muted),
            ]
            strips += wrap(spans, width)
        if not any(option.is_rejection for option in options):
            strips += wrap(
                [("no way to refuse is offered: Esc in the prompt cancels the turn", palette.muted)], width
            )
        hint = "Esc: back to the prompt" if self.has_focus else "Tab: answer"
        return [*strips, Strip([Segment(f"1-{len(options)} answers · {hint}", palette.muted)])], rows

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """As many lines as there are."""
        return len(self._strips)

    def render_line(self, y: int) -> Strip:
        """A line of the card."""
        width = self.scrollable_content_region.width
        background = self.visual_style.rich_style
        row = self.scroll_offset.y + y
        if row >= len(self._strips):
            return Strip.blank(width, background)
        return self._strips[row].adjust_cell_length(width).apply_style(background)

    # What the user does

    def action_choose(self, step: int) -> None:
        """Move the choice; nothing is chosen until then."""
        if self._request is None or not self._request.options:
            return
        last = len(self._request.options) - 1
        start = (-1 if step > 0 else last + 1) if self._chosen is None else self._chosen
        self._chosen = max(0, min(last, start + step))
        self._draw()
        self._show_choice()

    def _show_choice(self) -> None:
        """An option that lies below a long diff comes into view with the choice."""
        assert self._chosen is not None
        row, height = self._option_rows[self._chosen], self.scrollable_content_region.height
        if row >= self.scroll_offset.y + height:
            self.scroll_to(y=row - height + 1, animate=False, force=True)

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
        row = self.scroll_offset.y + event.y
        for number, option_row in enumerate(self._option_rows, 1):
            end = self._option_rows[number] if number < len(self._option_rows) else option_row + 1
            if option_row <= row < end:
                self.action_answer(number)

    def action_leave(self) -> None:
        """Back to the prompt."""
        self.post_message(self.Left())

    def action_scroll_page(self, direction: int) -> None:
        """Page through a long request."""
        height = self.scrollable_content_region.height
        self.scroll_to(y=self.scroll_offset.y + direction * max(height - 1, 1), animate=False, force=True)
