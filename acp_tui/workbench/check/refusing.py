"""Whoever sits at the session while an agent is checked: refuses all that it asks for, in the way that it offers."""

from __future__ import annotations

from anyio.abc import TaskGroup

from acp_tui.client.sessions.agent import Agent
from acp_tui.client.sessions.session import Session
from acp_tui.conversation.conversation import Change
from acp_tui.conversation.facts import Fact


class Refusing:
    """Nothing is allowed, no form is filled in, no page is visited."""

    def __init__(self, tasks: TaskGroup) -> None:
        self._tasks = tasks

    def attend_agent(self, agent: Agent) -> None:
        """Decline what it asks outside of sessions."""

        def decline() -> None:
            self._tasks.start_soon(_decline, agent)

        agent.on_elicitations = decline

    def attend(self, session: Session) -> None:
        """Refuse what it asks in this session."""

        def on_change(change: Change) -> None:
            if Fact.PERMISSIONS in change.facts:
                self._tasks.start_soon(_reject, session)
            if Fact.ELICITATIONS in change.facts:
                self._tasks.start_soon(_decline, session)

        session.subscribe(on_change)


async def _reject(session: Session) -> None:
    """Once each; where the agent does not offer that, only cancelling the turn refuses."""
    for request in list(session.conversation.permissions.values()):
        rejection = request.rejection_once
        if rejection is None:
            session.cancel()
            return
        session.answer_permission(request.key, rejection.option_id)


async def _decline(side: Agent | Session) -> None:
    asked = side.elicitations if isinstance(side, Agent) else side.conversation.elicitations
    for key in list(asked):
        side.answer_elicitation(key, "decline")
