"""The full screen of one permission request: all that it is about, to be read before it is answered.

It stands for the docked card, to which its answers go, and closes by itself when the request is over.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar, Final

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.screen import ModalScreen
from textual.widget import Widget

from acp_tui.ui.drawings.permission_subject import Asked, SubjectDrawing, has_changes
from acp_tui.ui.rendering.diff import DiffLayout
from acp_tui.ui.widgets.request_pane import CANCEL_TO_REFUSE, RequestPane, RowCounts

COLUMNS_FROM_CELLS: Final = 116
"""From this width on the old text stands beside the new one; a terminal of 120 columns has as much."""
OPTIONS_SHARE: Final = 0.4
BRIEF_CELLS: Final = 90
"""With less room the keys are named in few words."""


class FullRequest(RequestPane):
    """A request in as much room as there is."""

    DEFAULT_CSS = "FullRequest { height: 1fr; }"

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "scroll(-1)", "Line up", show=False),
        Binding("down", "scroll(1)", "Line down", show=False),
        Binding("home", "go_to_end(-1)", "To the beginning", show=False),
        Binding("end", "go_to_end(1)", "To the end", show=False),
        Binding("n", "next_change", "Next change", show=False),
        Binding("p", "previous_change", "Change before", show=False),
        Binding("s", "toggle_columns", "One column or two", show=False),
        Binding("c", "toggle_context", "The whole file, or the changes", show=False),
        Binding("tab", "choose(1)", "Next option", show=False),
        Binding("shift+tab", "choose(-1)", "Option before", show=False),
    ]

    def __init__(self, card: Widget, *, clock: Callable[[], float], drawing: SubjectDrawing) -> None:
        super().__init__(clock=clock, drawing=drawing)
        self._card = card
        self._wants_columns: bool | None = None
        """None: as the width says."""
        self._shows_whole_file = False

    def rows_for(self, subject: int, options: int, keys: int) -> RowCounts:
        """The subject has all that the answers leave."""
        room = self.content_size.height - keys - 1
        options = max(1, min(options, int(room * OPTIONS_SHARE)))
        return RowCounts(max(1, room - options), options, keys)

    def keys(self, *, has_focus: bool, is_cut: bool) -> Sequence[str]:
        """How to answer, to read, and to get back."""
        is_brief = self.content_size.width < BRIEF_CELLS
        refusal = (
            ("w: reject + why" if is_brief else "w: reject and say why")
            if self.can_reject
            else CANCEL_TO_REFUSE
        )
        changes = []
        if self._asked is not None and has_changes(self._asked.call):
            other = "one column" if self.layout_of_diffs == "columns" else "side by side"
            context = "changes only" if self._shows_whole_file else "whole file"
            changes = ["n p: changes", f"s: {other}", f"c: {context}"]
        return [
            self.answer_keys("Tab Enter"),
            *(["↑↓ PgUp PgDn: read"] if is_cut else []),
            *changes,
            "r: raw" if is_brief else "r: raw input",
            refusal,
            "Esc: back",
        ]

    @property
    def layout_of_diffs(self) -> DiffLayout:
        """As the user wants it, else as the width says."""
        wants_columns = self._wants_columns
        if wants_columns is None:
            wants_columns = self.content_size.width >= COLUMNS_FROM_CELLS
        return "columns" if wants_columns else "unified"

    @property
    def context_of_diffs(self) -> int | None:
        """As the user wants it."""
        return None if self._shows_whole_file else super().context_of_diffs

    def tell(self, message: Message) -> None:
        """What is answered here is answered on the card."""
        self._card.post_message(message)

    # What the user does

    def action_toggle_columns(self) -> None:
        """Show old and new lines side by side, or below each other."""
        self._wants_columns = self.layout_of_diffs == "unified"
        self.warn("")
        self.redraw()

    def action_toggle_context(self) -> None:
        """Show the whole file, or the changes with a few lines around them; the first change in view comes up."""
        above = sum([row < self._subject.scroll_offset.y for row in self._drawn.hunks])
        self._shows_whole_file = not self._shows_whole_file
        self.warn("")
        self.redraw()
        if self._drawn.hunks:
            self._go_to(self._drawn.hunks[min(above, len(self._drawn.hunks) - 1)])

    def action_scroll(self, lines: int) -> None:
        """Move by lines."""
        self._go_to(self._subject.scroll_offset.y + lines)

    def action_go_to_end(self, direction: int) -> None:
        """To the beginning for -1, to the end for 1."""
        self._go_to(0 if direction < 0 else len(self._drawn.lines))

    def action_next_change(self) -> None:
        """To where the next change begins."""
        y = self._subject.scroll_offset.y
        self._go_to(next((row for row in self._drawn.hunks if row > y), y))

    def action_previous_change(self) -> None:
        """To where the change before begins."""
        y = self._subject.scroll_offset.y
        self._go_to(next((row for row in reversed(self._drawn.hunks) if row < y), y))

    def _go_to(self, row: int) -> None:
        self._subject.scroll_to(y=row, animate=False, force=True)


class PermissionReview(ModalScreen[None]):
    """Shows one request until it is answered, withdrawn, or left for the card by Esc."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,f", "dismiss", "Back to the card", show=False)]

    def __init__(
        self, card: Widget, asked: Asked, *, clock: Callable[[], float], drawing: SubjectDrawing
    ) -> None:
        """`card` gets the answers; `drawing` may have been used for the same request before."""
        super().__init__()
        self._asked = asked
        self._pane = FullRequest(card, clock=clock, drawing=drawing)
        self._is_over = False

    def compose(self) -> ComposeResult:
        """The request alone."""
        yield self._pane

    def on_mount(self) -> None:
        """Show what is asked."""
        self._pane.show_request(self._asked)
        self._pane.focus()

    def show_request(self, asked: Asked | None) -> None:
        """The request as it is now; where it is not the one that was opened, this one is over."""
        if asked is None or asked.request.key != self._asked.request.key:
            self.close()
            return
        self._asked = asked
        if self._pane.is_mounted:
            self._pane.show_request(asked)

    def close(self) -> None:
        """Close, at once or as soon as nothing lies above it."""
        self._is_over = True
        self._pane.show_request(None)
        if self.is_active and self.is_running:
            self.dismiss()

    def on_screen_resume(self) -> None:
        """What was over while something else was to be seen need not be seen again."""
        if self._is_over:
            self.dismiss()
