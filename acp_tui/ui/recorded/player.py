"""Where a replay stands, and what is to be seen then; it neither waits nor draws."""

from __future__ import annotations

from acp_tui.client.transcript.replay import Replay, Step
from acp_tui.conversation.conversation import Conversation
from acp_tui.conversation.facts import SessionId
from acp_tui.ui.recorded.film import Film


class Player:
    """A film at a moment."""

    def __init__(self, film: Film) -> None:
        self.film = film
        self.restart()

    def restart(self) -> None:
        """To the beginning: its conversations are others from now on."""
        self.moment = 0
        self.front: SessionId | None = None
        """The session that the user turned to last."""
        self._replay = Replay(self.film.events)
        self._known: set[SessionId | None] = {None}

    @property
    def is_at_end(self) -> bool:
        """Whether nothing is left."""
        return self.moment >= self.film.length

    @property
    def at_s(self) -> float:
        """The time of the last event."""
        return self._replay.position_s

    @property
    def gap_s(self) -> float:
        """From there to the next event."""
        return 0.0 if self.is_at_end else self.film.events[self.moment].at - self.at_s

    def step(self) -> Step:
        """Apply the next event."""
        step = self._replay.step()
        assert step is not None
        self.moment += 1
        is_prompt = self.film.is_prompt(self.moment)
        for touch in step.touched:
            if touch.session_id is not None and (is_prompt or touch.session_id not in self._known):
                self.front = touch.session_id
            self._known.add(touch.session_id)
        return step

    @property
    def conversations(self) -> dict[SessionId, Conversation]:
        """Of every session that there was so far."""
        return self._replay.conversations

    def conversation(self, session_id: SessionId | None) -> Conversation:
        """That session's; what belongs to no session, where it is none or not there yet."""
        found = self.conversations.get(session_id) if session_id is not None else None
        return found or self._replay.outside
