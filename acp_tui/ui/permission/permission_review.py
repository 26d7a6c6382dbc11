"""The full screen of one permission request. It answers through the docked card, and closes with the request."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from typing import ClassVar, Final

from textual import events
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.message import Message
from textual.screen import ModalScreen

from acp_tui.ui.commands.keys import keys_in_force
from acp_tui.ui.commands.table import bindings_of
from acp_tui.ui.permission.request_pane import CANCEL_TO_REFUSE, RequestPane
from acp_tui.ui.permission.request_view import RowCounts, share_out
from acp_tui.ui.permission.subject import Asked, SubjectDrawing, has_changes
from acp_tui.ui.rendering.diff import DiffLayout

COLUMNS_FROM_CELLS: Final = 116
"""From this width on the old text stands beside the new one; a terminal of 120 columns has as much."""
BRIEF_CELLS: Final = 90
"""With less room the keys are named in few words."""
SMALL_SCREEN: Final = (40, 14)
"""With fewer columns or rows there is no frame."""


class FullRequest(RequestPane):
    """A request in as much room as there is."""

    DEFAULT_CSS = "FullRequest { height: 1fr; }"

    BINDINGS: ClassVar[list[BindingType]] = bindings_of(
        "review_up",
        "review_down",
        "review_top",
        "review_end",
        "review_next_change",
        "review_change_before",
        "review_columns",
        "review_context",
        "review_option_next",
        "review_option_before",
    )

    def __init__(
        self, card: RequestPane, *, clock: Callable[[], float], drawing: SubjectDrawing, typed: str
    ) -> None:
        """`typed`: what was typed on the card right before."""
        super().__init__(clock=clock, drawing=drawing)
        self._typed = typed
        self._card = card
        self._wants_columns: bool | None = None
        """None: as the width says."""
        self._shows_whole_file = False

    def rows_for(self, wanted: RowCounts) -> RowCounts | None:
        """All that there are; what is not needed is left to the subject."""
        room = self.content_size.height
        rows = share_out(wanted, room)
        return rows._replace(subject=rows.subject + room - sum(rows)) if rows.subject else None

    def lay_out(self) -> None:
        """Show it, in a frame where there is room for one."""
        columns, height = SMALL_SCREEN
        self.set_class(self.app.size.width < columns or self.app.size.height < height, "-small")
        super().lay_out()

    def keys(self, *, has_focus: bool, is_cut: bool) -> Sequence[str]:
        """How to answer, to read, and to get back."""
        hint = keys_in_force(self).hint
        is_brief = self.content_size.width < BRIEF_CELLS
        reject = "{review_reject}: reject + why" if is_brief else "{review_reject}: reject and say why"
        changes = []
        if self.asked is not None and has_changes(self.asked.call):
            other = "one column" if self.layout_of_diffs == "columns" else "side by side"
            context = "changes only" if self._shows_whole_file else "whole file"
            changes = [
                "{review_next_change} {review_change_before}: changes",
                f"{{review_columns}}: {other}",
                f"{{review_context}}: {context}",
            ]
        keys = [
            *(["more: {review_up}{review_down} {review_page_down}"] if is_cut else []),
            self.answer_keys("{review_option_next} {review_confirm}"),
            *changes,
            "{review_raw}: raw" if is_brief else "{review_raw}: raw input",
            reject if self.can_reject else CANCEL_TO_REFUSE,
            "{leave_review}: back",
        ]
        return [key for key in map(hint, keys) if key]

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

    def hand_over(
        self, message: RequestPane.Typed | RequestPane.ReasonWanted, keys: Sequence[events.Key | events.Paste]
    ) -> None:
        """What is written here is written in the prompt, which is below."""
        if isinstance(self.screen, PermissionReview):
            self.screen.close()
        self._card.hand_over(message, keys)

    # What the user does

    def action_toggle_columns(self) -> None:
        """Show old and new lines side by side, or below each other."""
        self._wants_columns = self.layout_of_diffs == "unified"
        self.warn("")
        self.redraw()

    def action_toggle_context(self) -> None:
        """Show the whole file, or the changes with a few lines around them; the first change in view comes up."""
        index = self._change_from(self._at_row)
        self._shows_whole_file = not self._shows_whole_file
        self.warn("")
        self.redraw()
        if self._drawn.hunks:
            self._go_to(self._row_of_change(min(index, len(self._drawn.hunks) - 1)))

    def action_scroll(self, lines: int) -> None:
        """Move by lines."""
        self._go_to(max(self._at_row + lines, 0))

    def action_go_to_end(self, direction: int) -> None:
        """To the beginning for -1, to the end for 1."""
        self._go_to(0 if direction < 0 else len(self._drawn.lines))

    def action_next_change(self) -> None:
        """To where the next change begins."""
        is_at_end = self._at_row >= self._subject.max_scroll_y
        self._go_to_change(len(self._drawn.hunks) if is_at_end else self._change_from(self._at_row + 1))

    def action_previous_change(self) -> None:
        """To where the change before begins."""
        self._go_to_change(self._change_from(self._at_row) - 1)

    def _go_to_change(self, index: int) -> None:
        """To the first line of that change; where there is none, the nearest, and it is said."""
        last = len(self._drawn.hunks) - 1
        if last < 0:
            return
        end = "Only one change" if not last else "The first change" if index < 0 else "The last change"
        self.warn("" if last and 0 <= index <= last else end)
        self._go_to(self._row_of_change(max(0, min(index, last))))

    def _change_from(self, row: int) -> int:
        """The index of the first change that comes up at this row or below it; the number of all without one."""
        index = max(bisect_left(self._drawn.hunks, row) - 1, 0)
        while index < len(self._drawn.hunks) and self._row_of_change(index) < row:
            index += 1
        return index

    def _row_of_change(self, index: int) -> int:
        """Which row comes up for a change: the one above its first line, if there is room."""
        height = self._rows.subject if self._rows is not None else 1
        return max(self._drawn.first_changed(index) - (height > 2), 0)


class PermissionReview(ModalScreen[None]):
    """Shows one request until it is answered, withdrawn, or left for the card by Esc."""

    BINDINGS: ClassVar[list[BindingType]] = bindings_of("leave_review")

    def __init__(
        self,
        card: RequestPane,
        asked: Asked,
        *,
        clock: Callable[[], float],
        drawing: SubjectDrawing,
        typed: str = "",
    ) -> None:
        """`card` gets the answers; `drawing` may have been used for the same request before."""
        super().__init__()
        self.asked = asked
        self._pane = FullRequest(card, clock=clock, drawing=drawing, typed=typed)
        self._is_over = False

    def compose(self) -> ComposeResult:
        """The request alone."""
        yield self._pane

    def on_mount(self) -> None:
        """Show what is asked."""
        self._pane.show_request(self.asked)
        self._pane.focus()

    def show_request(self, asked: Asked | None) -> None:
        """The request as it is now; where it is not the one that was opened, this one is over."""
        if asked is None or asked.request.key != self.asked.request.key:
            self.close()
            return
        self.asked = asked
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
