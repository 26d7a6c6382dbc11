"""The docked card that shows the oldest permission request and opens its full screen."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, ClassVar, Final

from textual.containers import Vertical
from textual.geometry import Size
from textual.message import Message

from acp_tui.client.line_comparison import CONTEXT_LINES
from acp_tui.conversation.request_outline import ShownRequest
from acp_tui.ui.commands.command import Place as KeyPlace
from acp_tui.ui.commands.keys import keys_in_force, note_question_gone
from acp_tui.ui.commands.table import bindings_of
from acp_tui.ui.kit.answer_guard import STRAYED
from acp_tui.ui.kit.notice_lines import ASKING
from acp_tui.ui.permission.request_body import Place, RequestBody, RowCounts, is_enough, share_out
from acp_tui.ui.permission.request_drawing import MAX_NUMBER
from acp_tui.ui.permission.request_keys import CANCEL_TO_REFUSE, AnswerableRequest, TakesDecisions
from acp_tui.ui.rendering.diff import DiffLayout, roomy_layout

if TYPE_CHECKING:
    from acp_tui.ui.permission.full_request import RequestScreen

ALWAYS_ROWS: Final = 18
"""The card may take this many rows, also where it leaves the conversation less than a third of the screen."""
WHOLE_ROWS: Final = 23
"""To show all of a request, it may take this many, two thirds of the screen, or what the conversation leaves empty."""
CONTEXTS: Final = (CONTEXT_LINES, 1, CONTEXT_LINES)
"""Fewer unchanged lines are shown around each change if the request is in view as a whole then."""
COMING_ROWS: Final = 2
"""The conversation may have yet to draw the call that the request is about."""
ENOUGH_ROWS: Final = 14
"""If this many rows are left next to the plan, the card leaves it in view."""
BORDER_ROWS: Final = 2
MARGIN_ROWS: Final = 2
"""A free row above the card, and one line of the conversation above that."""
NARROW_CELLS: Final = 50
"""On a narrower screen, the text has no margins, and the card may cover the whole conversation."""
CONVERSATION_ROWS: Final = 1


class Docked(Place):
    """Docked above the prompt, next to the plan, with the conversation above."""

    CLASSES: ClassVar = f"{ASKING} -docked"

    class Crowded(Message):
        """The request needs the plan's room, or no longer does."""

        def __init__(self, *, is_crowded: bool) -> None:
            super().__init__()
            self.is_crowded = is_crowded

    def __init__(self, card: Vertical) -> None:
        super().__init__(card)
        self.contexts = CONTEXTS
        self.room = 0
        self._beside = 0
        self._said = 0
        self._size = Size()
        self._needs_all = False
        self._is_crowded = False

    def fit(self, rows: int, beside: int, said: int) -> bool:
        before = self.room, self._beside, self._said
        self.room, self._beside = max(rows - (0 if self._is_narrow else CONVERSATION_ROWS), 0), beside
        if not self.card.display or self._size != self.card.app.size:
            self._said, self._size = said, self.card.app.size  # what is said later doesn't move the card
        return before != (self.room, self._beside, self._said)

    def rows_for(self, wanted: RowCounts) -> RowCounts | None:
        """As many as the request needs. On a large screen, the conversation keeps a third of a request that is cut."""
        whole, height = BORDER_ROWS + sum(wanted), self.card.app.size.height
        is_roomy = whole <= max(height * 2 // 3, WHOLE_ROWS, self.room - self._said - COMING_ROWS)
        most = min(self.room, whole if is_roomy else max(self.room - height // 3, ALWAYS_ROWS))
        left = self.room - self._beside
        self._needs_all = left < min(whole, most, ENOUGH_ROWS)
        rows = share_out(wanted, (most if self._needs_all else min(most, left)) - BORDER_ROWS)
        return rows if is_enough(rows, wanted) else None

    def rows_too_small(self, title: int) -> RowCounts:
        """Prefers the keys to the title, and both to a border."""
        room = max(self.room - BORDER_ROWS * self._has_border(None), 0)
        return RowCounts(title=max(0, min(title, room - 1)), keys=min(1, room))

    def frame(self, rows: RowCounts | None) -> None:
        """As much of a border and margins as fits. Tells the panel if the plan has to go."""
        left = self.room - self._beside - BORDER_ROWS - sum(rows or ())
        self.card.set_class(left >= MARGIN_ROWS, "-spaced")
        self.card.set_class(not self._has_border(rows), "-bare")
        self.card.set_class(self._is_narrow, "-narrow")
        is_crowded = self.card.display and self._needs_all
        if is_crowded != self._is_crowded:
            self._is_crowded = is_crowded
            self.card.post_message(self.Crowded(is_crowded=is_crowded))

    @property
    def layout_of_diffs(self) -> DiffLayout:
        return roomy_layout(self.card.content_size.width)

    def _has_border(self, rows: RowCounts | None) -> bool:
        return rows is not None or self.room >= BORDER_ROWS + 2

    @property
    def _is_narrow(self) -> bool:
        return self.card.app.size.width < NARROW_CELLS


class PermissionCard(AnswerableRequest):
    """The card where the user answers. It can be left without an answer."""

    DEFAULT_CLASSES = Docked.CLASSES
    PLACE: ClassVar[KeyPlace] = "card"
    WAY_IN: ClassVar = "{leave_prompt}"
    """The key that leads to it."""
    WRITES_TO: ClassVar = "your prompt"
    BINDINGS = bindings_of("review", "leave_question", at="card")

    def __init__(self, user: TakesDecisions, *, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(user, clock)
        self._place = Docked(self)
        self.body = RequestBody(self, self._place, raw_hint=self.RAW_HINT)
        self._review: RequestScreen | None = None
        self.wrote = ""
        """The beginning of the draft, if that was pressed here, and turned out to be text."""
        self.is_explained = False
        """Whether the user is writing why not."""

    # What it shows

    def note_request(self, asked: ShownRequest | None, *, is_other: bool) -> None:
        """Give the keyboard back if there is none."""
        if asked is None and self.has_focus_within:  # has_focus comes later: with an event to the card
            note_question_gone(self)
            self.user.leave()
        if asked is not None and self.asked is None:
            self.wrote = ""
        super().note_request(asked, is_other=is_other)

    def keys(self, *, is_cut: bool) -> Sequence[str]:
        """How to answer and read on."""
        hint = keys_in_force(self).hint
        if not self.has_room:
            way_in = "" if self.has_focus else f"{self.WAY_IN}, then "
            return [hint(f"{way_in}{{review}} to see it and answer")]
        if not self.has_focus and self.is_explained:
            return [hint(f"Sending the reason rejects this; {self.WAY_IN} to answer otherwise")]
        if not self.has_focus:
            return [hint(f"{self.WAY_IN} to answer"), *([] if self._rejection else [CANCEL_TO_REFUSE])]
        arrows = ["↑↓ Enter answer"] * (len(self.options) > MAX_NUMBER)
        has_more_files = is_cut or self.body.at_row > 0
        ways = self._ways_to_answer(is_cut=is_cut, has_more_files=has_more_files, choose=arrows)
        # The full screen first, so that it's in view even in one row. It names the keys of the raw report and back.
        return [each for each in map(hint, ["{review} full screen", *ways]) if each]

    @property
    def warning(self) -> str:
        """Says that keys went elsewhere."""
        keys = self.guard.strayed or self.wrote[: bool(self.reason)]
        if not keys or self.has_focus or not self.has_room:
            return ""
        strayed = STRAYED.format(keys=" ".join(keys), where=self.WRITES_TO, way_in=self.WAY_IN)
        return keys_in_force(self).hint(strayed + ": the rest is your reason" * bool(self.reason))

    @property
    def reason(self) -> str:
        """What follows in the draft after the key that lets the user say why, if that was pressed here."""
        binding = self.guard.binding_typed(self.key_in(self.guard.draft))
        return self.guard.draft[1:] if binding is not None and binding.action == "reject_and_say_why" else ""

    def key_in(self, draft: str) -> str:
        """The key that a draft begins with, if it was pressed here, and answers; otherwise ""."""
        return self.wrote[:1] if draft.startswith(self.wrote) and self._decision(self.wrote[:1]) else ""

    # What the user does

    def action_move(self, step: int) -> None:
        self.action_choose(step)

    def _warn_too_small(self) -> None:
        """Show a notice if the card itself has no room; otherwise the card says it."""
        if not self.has_room and self._place.room < 2:  # one row is counted even if there is none
            self.notify(keys_in_force(self).hint("{review} shows all of it"), severity="warning", markup=False)

    def watch_has_focus(self, has_focus: bool) -> None:
        """Warn the user if the card may not be visible."""
        super().watch_has_focus(has_focus)
        self.guard.had_keyboard |= has_focus
        if has_focus and self.asked is not None:
            self.call_after_refresh(self._warn_too_small)  # its tab may just have come to the front

    def enter(self) -> None:
        """Take the focus because the user wants to answer."""
        self.guard.enter(self)

    def action_leave(self) -> None:
        self.user.leave()

    def action_choose_before(self) -> None:
        """Go to the conversation: what the agent showed before it asked may be folded."""
        self.user.leave(to_read=True)

    def show_rest(self) -> None:
        self.action_review()

    def action_review(self) -> None:
        """Show the whole request on its own screen, where it can be answered too."""
        if self.asked is None or self._review is not None:
            return
        from acp_tui.ui.permission.full_request import FullRequest, RequestScreen  # loading point: BEFORE_A_COMMAND

        self._review = RequestScreen(FullRequest(self), self.asked)
        self.body.mirrors.add(self._review.put_up)
        self.app.push_screen(self._review, self._on_review_closed)

    def _on_review_closed(self, _: None) -> None:
        assert self._review is not None
        self.body.mirrors.discard(self._review.put_up)
        self._review = None
        self.body.lay_out()  # what was seen there is seen
