"""How a session stands, in a word and a mark: for the tabs, the board, the window's title and a replay's sessions."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from acp_tui.conversation.conversation import Conversation


class TabState(Enum):
    """What a user wants to know of a tab that is not looked at, the most urgent last."""

    STARTING = "starting"
    IDLE = "idle"
    DONE = "done"
    """A turn has ended, and the user has not seen it."""
    WORKING = "working"
    FAILED = "failed"
    NEEDS_YOU = "needs you"


MARKS: Final = {
    TabState.STARTING: ("○", "$foreground-muted"),
    TabState.IDLE: ("●", "$foreground-muted"),
    TabState.DONE: ("✓", "$text-success"),
    TabState.WORKING: ("◐", "$text-accent"),
    TabState.FAILED: ("✗", "$text-error"),
    TabState.NEEDS_YOU: ("▲", "$text-warning"),
}
"""A mark means the same everywhere; the status line uses them too."""
LEAST_CELLS: Final = 8
"""A title is not shortened to less."""
MOST_CELLS: Final = 36


def state_of_tab(conversation: Conversation, *, has_news: bool) -> TabState:
    """How a tab with this conversation stands; `has_news`: a turn ended unseen."""
    if not conversation.is_connected:
        return TabState.FAILED
    if conversation.permissions or conversation.elicitations:
        return TabState.NEEDS_YOU
    if not conversation.is_idle:
        return TabState.WORKING
    if has_news:
        return TabState.FAILED if conversation.last_stop_reason is None else TabState.DONE
    return TabState.IDLE
