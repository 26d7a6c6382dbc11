"""The sessions of a recording on one line; hidden where there is only one."""

from __future__ import annotations

from collections.abc import Mapping

from textual.content import Content
from textual.widgets import Static

from acp_tui.conversation.conversation import Conversation
from acp_tui.conversation.facts import SessionId
from acp_tui.ui.session.status import title_of
from acp_tui.ui.session.tab_state import LEAST_CELLS, MARKS, MOST_CELLS, state_of_tab


class SessionLine(Static):
    """Says which sessions there are, how they stand, and which one is shown."""

    DEFAULT_CSS = "SessionLine { height: 1; display: none; }"

    def __init__(self) -> None:
        super().__init__(markup=False)

    def show(self, conversations: Mapping[SessionId, Conversation], shown: SessionId | None) -> None:
        """Show these."""
        self.display = len(conversations) > 1
        if self.display:
            width = self.app.size.width
            room = min(MOST_CELLS, max(LEAST_CELLS, width // len(conversations)))
            labels = [
                _label(number, conversation, room, is_shown=session_id == shown)
                for number, (session_id, conversation) in enumerate(conversations.items(), 1)
            ]
            self.update(Content.assemble(*labels).truncate(width, ellipsis=True))


def _label(number: int, conversation: Conversation, cells: int, *, is_shown: bool) -> Content:
    mark, style = MARKS[state_of_tab(conversation, has_news=False)]
    look = "bold $text on $surface" if is_shown else "$foreground-muted"
    before = f" {number} "
    name = Content(title_of(conversation) or "session").truncate(cells - len(before) - 3, ellipsis=True)
    return Content.assemble(
        (before, look), (mark, f"{style} on $surface" if is_shown else style), (f" {name.plain} ", look)
    )
