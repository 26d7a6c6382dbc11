"""The docked card on which the user answers the agent's permission requests, oldest first.

It knows which requests wait, and opens the screen that shows the whole of one; answering is the pane's part.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar, Final

from textual.binding import Binding, BindingType
from textual.message import Message

from acp_tui.conversation.entries import TerminalState
from acp_tui.conversation.facts import PermissionRequest
from acp_tui.conversation.tool_calls import TerminalId, ToolCall
from acp_tui.ui.drawings.permission_subject import Asked
from acp_tui.ui.screens.permission_review import PermissionReview
from acp_tui.ui.widgets.answer_guard import GUARD_S as GUARD_S
from acp_tui.ui.widgets.request_pane import CANCEL_TO_REFUSE, RequestPane, RowCounts

MAX_SHARE_OF_SCREEN: Final = 0.6
MIN_SUBJECT_ROWS: Final = 3
MIN_OPTION_ROWS: Final = 6
"""Beyond as many the options scroll, where the subject has fewer rows than it should."""
FRAME_ROWS: Final = 4
"""Margin, border, and the gap above the options."""
BRIEF_CELLS: Final = 60
"""With less room the keys are named in few words."""
LONG_KEYS: Final = (
    "PgDn: read on",
    "f: full screen",
    "r: raw input",
    "w: reject and say why",
    "Esc: back to the prompt",
)
BRIEF_KEYS: Final = ("PgDn: more", "f: full", "r: raw", "w: no + why", "Esc: back")


class PermissionCard(RequestPane):
    """One request at a time: what the agent wants to do, and the agent's own options, always in view."""

    DEFAULT_CSS = "PermissionCard { display: none; height: auto; }"

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "choose(-1)", "Option above", show=False),
        Binding("down", "choose(1)", "Option below", show=False),
        Binding("f", "review", "Show it on the full screen", show=False),
        Binding("escape,tab,shift+tab", "leave", "Back to the prompt", show=False),
    ]

    class Left(Message):
        """The user goes back to the prompt; a request that waits stays."""

    def __init__(
        self,
        *,
        clock: Callable[[], float] = time.monotonic,
        id: str | None = None,  # noqa: A002 - Textual's own name for it
    ) -> None:
        super().__init__(clock=clock, id=id)
        self._clock = clock
        self._review: PermissionReview | None = None
        self._room = 0

    # What it shows

    def show(
        self,
        requests: Sequence[PermissionRequest],
        call: ToolCall | None,
        cwd: str = "",
        terminals: Mapping[TerminalId, TerminalState] | None = None,
    ) -> None:
        """Show the first of these requests and the call it is about; hide without one. `cwd` is the session's."""
        asked = None
        if requests and call is not None:
            asked = Asked(requests[0], call, cwd, len(requests), terminals or {})
        if asked is None and self.has_focus:
            self.post_message(self.Left())
        self.display = asked is not None
        self.show_request(asked)
        if self._review is not None:
            self._review.show_request(asked)

    def fit(self, rows: int) -> None:
        """Take no more than so many rows, margin and border counted."""
        if rows != self._room:
            self._room = rows
            self.lay_out()

    def rows_for(self, subject: int, options: int, keys: int) -> RowCounts:
        """Some options first, the keys, a little of the subject, all options; the rest is for the subject."""
        height = self.app.size.height
        room = max((self._room or height) - FRAME_ROWS, 3)
        some_options = max(1, min(options, MIN_OPTION_ROWS, room - 2))
        keys = max(1, min(keys, room - some_options - 1))
        least = max(1, min(subject, MIN_SUBJECT_ROWS, room - some_options - keys))
        options = max(1, min(options, room - keys - least))
        share = int(height * MAX_SHARE_OF_SCREEN) - FRAME_ROWS - keys - options
        return RowCounts(max(least, min(subject, share, room - keys - options)), options, keys)

    def keys(self, *, has_focus: bool, is_cut: bool) -> Sequence[str]:
        """How to answer, to read on, and to get away."""
        if not has_focus:
            return ["Tab: answer here", *([] if self.can_reject else [CANCEL_TO_REFUSE])]
        is_brief = self.content_size.width < BRIEF_CELLS
        read_on, full, raw, reject, back = BRIEF_KEYS if is_brief else LONG_KEYS
        refuse = reject if self.can_reject else CANCEL_TO_REFUSE
        answer = self.answer_keys("↑↓" if is_brief else "↑↓ Enter")
        return [answer, *([read_on] if is_cut else []), full, raw, refuse, back]

    # What the user does

    def action_leave(self) -> None:
        """Back to the prompt."""
        self.post_message(self.Left())

    def action_review(self) -> None:
        """Show the whole request on a screen of its own, where it can be answered as well."""
        if self._asked is None or self._review is not None:
            return
        self._review = PermissionReview(self, self._asked, clock=self._clock, drawing=self._drawing)
        self.app.push_screen(self._review, self._on_review_closed)

    def _on_review_closed(self, _: None) -> None:
        self._review = None

    def on_unmount(self) -> None:
        """What belongs to a session that is not shown any more cannot be answered."""
        if self._review is not None:
            self._review.close()
