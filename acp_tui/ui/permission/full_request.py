"""The full screen of one permission request. It closes with the request."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar, Final

from textual import events, on
from textual.app import ComposeResult
from textual.screen import ModalScreen

from acp_tui.client.line_comments import version_of
from acp_tui.client.line_comparison import CONTEXT_LINES
from acp_tui.conversation.request_outline import ShownRequest
from acp_tui.conversation.tool_calls import TextDiff
from acp_tui.ui.commands.command import Place as KeyPlace
from acp_tui.ui.commands.keys import keys_in_force
from acp_tui.ui.commands.table import MOVING, READING, bindings_of
from acp_tui.ui.kit.commenting import CommentView
from acp_tui.ui.kit.notice_lines import ASKING
from acp_tui.ui.permission.request_body import Place, RequestBody, RowCounts, share_out
from acp_tui.ui.permission.request_keys import AnswerableRequest
from acp_tui.ui.rendering.diff import DiffLayout

COLUMNS_FROM_CELLS: Final = 116
"""From this width on, old and new text are side by side. A terminal of 120 columns is wide enough."""


def ways_to_draw(layout: DiffLayout, *, is_whole: bool, has_pairs: bool) -> list[str]:
    """The keys that draw a diff with both an old and a new text in another way. `has_pairs`: it may have columns."""
    return [
        *["{diff_columns} one column" if layout == "columns" else "{diff_columns} side by side"] * has_pairs,
        "{diff_context} changes only" if is_whole else "{diff_context} whole file",
    ]


class WholeScreen(Place):
    """All rows. Diffs have two columns if they fit, unless the user chose otherwise."""

    wants_columns: bool | None = None
    """None: depends on the width."""

    def rows_for(self, wanted: RowCounts) -> RowCounts | None:
        """As many as the request needs. What is left stays free below the keys."""
        rows = share_out(wanted, self.card.content_size.height)
        return rows if rows.subject else None

    @property
    def layout_of_diffs(self) -> DiffLayout:
        """What the user chose, or what the width suggests."""
        wants_columns = self.wants_columns
        if wants_columns is None:
            wants_columns = self.card.content_size.width >= COLUMNS_FROM_CELLS
        return "columns" if wants_columns else "unified"


class FullRequest(AnswerableRequest):
    """A request that uses the whole screen."""

    DEFAULT_CLASSES = ASKING
    PLACE: ClassVar[KeyPlace] = "review"
    ALSO: ClassVar[tuple[KeyPlace, ...]] = ("reading", "card")
    BINDINGS = bindings_of(*MOVING, *READING)
    warning = ""

    def __init__(self, card: AnswerableRequest) -> None:
        super().__init__(card.user, card.clock)
        self._card, self._place = card, WholeScreen(self)
        self.body = RequestBody(self, self._place, raw_hint=self.RAW_HINT, source=card.body)
        self.body.subject = self._subject = CommentView(card.user.comments, id="subject")

    def begin(self, asked: ShownRequest) -> None:
        """Show the card's request, for the same user."""
        self.body.show_request(asked)
        self.guard.follow(self._card.guard, was_on_screen=self.body.drawing.seen.is_all_seen)
        self.body.lay_out()

    def keys(self, *, is_cut: bool) -> Sequence[str]:
        """How to answer, read, and go back."""
        hint = keys_in_force(self).hint
        content = self.asked.call.shown_content if self.asked is not None else ()
        diffs = [item for item in content if isinstance(item, TextDiff)]
        comments = self._subject.keys if diffs else ()
        layout, context = self._place.layout_of_diffs, self.body.context
        has_begun = len(comments) > 1  # a selection or a comment: what leads on comes first
        changes = [
            *(comments if has_begun else ()),
            *["{next_change} {previous_change} changes"] * (len(self.body.drawn.hunks) > 1),
            *ways_to_draw(layout, is_whole=context is None, has_pairs=self.body.drawn.has_pairs)
            * any(diff.old_text and diff.new_text for diff in diffs),
            *(comments if not has_begun else ()),
        ]
        ways = self._ways_to_answer(is_cut=is_cut, has_more_files=bool(diffs))
        keys = [*ways, *changes, "{interrupt} cancel the turn", "{raw} raw", "{leave_review} back"]
        return [key for key in map(hint, keys) if key]

    def make_way(self) -> Sequence[events.Key | events.Paste]:
        keys = super().make_way()
        if isinstance(self.screen, RequestScreen):
            self.screen.close()
        return keys

    @on(events.Key)
    def _note_key(self, event: events.Key) -> None:
        """End what was said of the key before. Who moves here has come to the request."""
        if self.body.warning:
            self.warn("")
        if not event.is_printable and event.key not in ("enter", "escape"):
            self.guard.come()

    # What the user does

    def action_toggle_columns(self) -> None:
        """Show old and new lines side by side, or one below the other."""
        self._place.wants_columns = self._place.layout_of_diffs == "unified"
        self.warn("")
        self.body.redraw()

    def action_toggle_context(self) -> None:
        """Switch between the whole file and only the changes. Keeps the first change in view."""
        index = self._change_from(self.body.at_row)
        self._place.contexts = [CONTEXT_LINES if self.body.context is None else None]
        self.warn("")
        self.body.redraw()
        if hunks := self.body.drawn.hunks:
            self.body.go_to(self._row_of_change(min(index, len(hunks) - 1)))

    def action_move(self, lines: int) -> None:
        if not self._subject.step(lines):
            self.body.go_to(max(self.body.at_row + lines, 0))

    @property
    def selected_text(self) -> str:
        return self._subject.selected_text

    def action_copy_text(self) -> None:
        self._subject.copy_selected()

    def action_select(self, step: int) -> None:
        self._subject.step(step, extends=True)

    def action_comment(self) -> None:
        if self.asked is not None:
            self._subject.comment(Path(self.asked.cwd), version_of)

    @on(CommentView.Moved)
    def _show_keys(self) -> None:
        self.body.lay_out()

    def action_go_to_end(self, direction: int) -> None:
        """Go to the beginning for -1, to the end for 1."""
        self.body.go_to(0 if direction < 0 else len(self.body.drawn.lines))

    def action_go_to_change(self, step: int) -> None:
        """Go to the next change (1), or to the previous one (-1). If there isn't one, go to the nearest and say so."""
        last = len(self.body.drawn.hunks) - 1
        if last < 0:
            return
        is_at_end = step > 0 and self.body.at_row >= self._subject.max_scroll_y
        index = last + 1 if is_at_end else self._change_from(self.body.at_row + (step > 0)) - (step < 0)
        which = "only" if not last else "first" if index < 0 else "last"
        self._subject.end()
        self.warn("" if last and 0 <= index <= last else f"This is the {which} change")
        self.body.go_to(self._row_of_change(max(0, min(index, last))))

    def _change_from(self, row: int) -> int:
        """The index of the first change that begins at this row or below; the number of changes if there isn't one."""
        index = max(bisect_left(self.body.drawn.hunks, row) - 1, 0)
        while index < len(self.body.drawn.hunks) and self._row_of_change(index) < row:
            index += 1
        return index

    def _row_of_change(self, index: int) -> int:
        """The row to scroll to for a change: the one above its first line, if it fits."""
        height = self.body.rows.subject if self.body.rows is not None else 1
        return max(self.body.drawn.first_changed(index) - (height > 2), 0)


class RequestScreen(ModalScreen[None]):
    """Shows one request until it's answered or withdrawn, or the user returns to the card with Esc."""

    BINDINGS = bindings_of("leave_review")
    # With fewer columns or rows, the request has no frame.
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (40, "-wide")]  # noqa: RUF012 - Textual has no ClassVar here either
    VERTICAL_BREAKPOINTS = [(0, "-low"), (14, "-high")]  # noqa: RUF012

    def __init__(self, request: FullRequest, asked: ShownRequest) -> None:
        super().__init__()
        self.asked = asked
        self._request = request

    def compose(self) -> ComposeResult:
        yield self._request

    def on_mount(self) -> None:
        self._request.begin(self.asked)
        self.set_focus(self._request)

    def put_up(self, asked: ShownRequest | None) -> None:
        """Show the request as it is now. Closes if it isn't the one that was opened, or that the user turned to."""
        if asked is None or asked.request.key not in (self.asked.request.key, self._request.body.source.turned_to):
            self.close()
        else:
            self.asked = asked
            self._request.body.show_request(asked)

    def action_copy_text(self) -> None:
        self._request.action_copy_text()

    def close(self) -> None:
        """Close, now or once no other screen covers it. Until then, it takes no answer."""
        self._request.body.show_request(None)
        self.dismiss()
