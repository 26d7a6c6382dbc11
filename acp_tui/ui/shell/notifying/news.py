"""What of a tab is worth telling to somebody who does not look; how it is told is the business of `sequences`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from acp_tui.conversation.conversation import Conversation
from acp_tui.conversation.wording import duration
from acp_tui.ui.session.status import doing
from acp_tui.ui.session.tab_state import TabState

Kind: TypeAlias = Literal["needs_you", "done", "failed"]
"""Also the names of the settings that say where each is told."""


@dataclass(frozen=True, slots=True)
class News:
    """Something has come to be so."""

    kind: Kind
    text: str
    seconds: float = 0.0
    """How long the turn took that has ended."""


class Watch:
    """Follows one tab from look to look."""

    def __init__(self) -> None:
        self._state = TabState.STARTING
        self._begin_s = 0.0

    def look(self, state: TabState, conversation: Conversation | None, now_s: float) -> News | None:
        """What is new since the last look; None for nothing, or for what the user did."""
        before, self._state = self._state, state
        if state is TabState.WORKING and before is not TabState.NEEDS_YOU and before is not state:
            self._begin_s = now_s
        if conversation is None or state is before:
            return None
        if not conversation.is_connected:
            return News("failed", "the agent is gone")
        if state is TabState.NEEDS_YOU:
            return News(
                "needs_you", doing(conversation) if conversation.permissions else "asks you something"
            )
        if state is TabState.WORKING or before not in (TabState.WORKING, TabState.NEEDS_YOU):
            return None
        return _of_end(conversation.last_stop_reason, now_s - self._begin_s)


def _of_end(stop_reason: str | None, seconds: float) -> News | None:
    match stop_reason:
        case None:
            return News("failed", "the turn failed", seconds)
        case "cancelled":
            return None  # who did that knows
        case "end_turn":
            return News("done", f"done after {duration(seconds)}", seconds)
        case other:
            return News("done", f"the turn ended: {other}", seconds)
