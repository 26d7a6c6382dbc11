"""A permission request docked below its conversation: which one is shown, and how many rows it takes.

It answers nothing, as the view that it is; what becomes of the request is the part of those who build on it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from textual.message import Message

from acp_tui.conversation.entries import TerminalState
from acp_tui.conversation.facts import PermissionRequest
from acp_tui.conversation.tool_calls import TerminalId, ToolCall
from acp_tui.ui.drawings.permission_subject import Asked
from acp_tui.ui.kit.toasts import place_toasts
from acp_tui.ui.permission.request_rows import RowCounts, is_enough, share_out
from acp_tui.ui.permission.request_view import RequestView

MAX_SHARE_OF_SCREEN: Final = 0.6
ALWAYS_ROWS: Final = 24
"""On a small screen it may take all that there is."""
ENOUGH_ROWS: Final = 14
"""With as many it leaves the plan in view."""
BORDER_ROWS: Final = 2
MARGIN_ROWS: Final = 2
"""A free row above it, and one line of the conversation above that."""
NARROW_CELLS: Final = 50
"""On a narrower screen nothing is left free beside the text, and of the conversation nothing need be left."""
CONVERSATION_ROWS: Final = 1


class DockedRequest(RequestView):
    """One request at a time: what the agent wants to do, and the agent's own options, always in view."""

    DEFAULT_CSS = "DockedRequest { display: none; height: auto; }"

    class Crowded(Message):
        """It needs the room of the plan, or no more."""

        def __init__(self, *, is_crowded: bool) -> None:
            super().__init__()
            self.is_crowded = is_crowded

    _room = 0
    _beside = 0
    _needs_all = False
    _is_crowded = False

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
        is_new = (asked is not None) != self.display
        self.display = asked is not None
        if is_new:
            # None may lie above it; the list comes back in another place with the next key.
            place_toasts(self.app)
            self.screen.query("SuggestionList").set(display=False)
        self.show_request(asked)
        self._tell_crowded()

    def fit(self, rows: int, beside: int = 0) -> None:
        """Take no more than so many rows, all counted; what stands beside it would like to have so many of them."""
        room = max(rows - (0 if self._is_narrow else CONVERSATION_ROWS), 0)
        if (room, beside) != (self._room, self._beside):
            self._room, self._beside = room, beside
            self.lay_out()

    def rows_for(self, wanted: RowCounts) -> RowCounts | None:
        """As many as the request needs; on a large screen the conversation keeps its share."""
        most = min(self._room, max(int(self.app.size.height * MAX_SHARE_OF_SCREEN), ALWAYS_ROWS))
        left = self._room - self._beside
        self._needs_all = left < min(BORDER_ROWS + sum(wanted), most, ENOUGH_ROWS)
        rows = share_out(wanted, (most if self._needs_all else min(most, left)) - BORDER_ROWS)
        return rows if is_enough(rows, wanted) else None

    def rows_too_small(self, title: int) -> RowCounts:
        """The keys before the title, and both before a border."""
        room = max(self._room - BORDER_ROWS * self._has_border, 0)
        return RowCounts(title=max(0, min(title, room - 1)), keys=min(1, room))

    def lay_out(self) -> None:
        """Show it, with as much of a frame as there is room for."""
        super().lay_out()
        rows = BORDER_ROWS + sum(self._rows or ())
        self.set_class(self._room - self._beside - rows >= MARGIN_ROWS, "-spaced")
        self.set_class(not self._has_border, "-bare")
        self.set_class(self._is_narrow, "-narrow")
        self._tell_crowded()

    @property
    def _is_narrow(self) -> bool:
        return self.app.size.width < NARROW_CELLS

    @property
    def _has_border(self) -> bool:
        return self._rows is not None or self._room >= BORDER_ROWS + 2

    def _tell_crowded(self) -> None:
        is_crowded = self.display and self._needs_all
        if is_crowded != self._is_crowded:
            self._is_crowded = is_crowded
            self.post_message(self.Crowded(is_crowded=is_crowded))
