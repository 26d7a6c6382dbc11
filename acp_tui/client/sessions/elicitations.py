"""Elicitations of one session, or of none: shown, answered once, withdrawn, completed. Nobody but the user answers."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from typing import Final

from acp_tui.client.permissions import Broker
from acp_tui.client.sessions.form_values import in_words, misfit
from acp_tui.conversation.conversation import Conversation
from acp_tui.conversation.elicitation import Elicitation, FilledIn, Form, FormValues
from acp_tui.conversation.facts import RequestKey
from acp_tui.conversation.updates import (
    ElicitationAction,
    ElicitationAnswered,
    ElicitationAsked,
    ElicitationCompleted,
    SessionUpdate,
)
from acp_tui.protocol.roles import ElicitationAnswer

CANCEL: Final = ElicitationAnswer("cancel")


class Elicitations:
    """Keeps `conversation` and what the agent waits for in step; `apply` is how the conversation is changed."""

    def __init__(
        self,
        conversation: Conversation,
        apply: Callable[[SessionUpdate], None],
        keys: Iterator[int] | None = None,
        now: Callable[[], float | None] = time.time,
    ) -> None:
        """`now` gives seconds since the epoch; None: nobody is to know."""
        self._conversation = conversation
        self._apply = apply
        self._broker = Broker[ElicitationAnswer](keys)
        self._now = now

    def ask(self, elicitation: Elicitation, *, is_cancelled: bool = False) -> Awaitable[ElicitationAnswer]:
        """Park it and show it; gives the user's answer. `is_cancelled`: its turn is, so nobody is asked."""
        key = self._broker.park()
        self._apply(ElicitationAsked(replace(elicitation, key=key)))
        if is_cancelled:
            self._settle(key, CANCEL)
        return self._answer_to(key)

    async def _answer_to(self, key: RequestKey) -> ElicitationAnswer:
        try:
            return await self._broker.wait(key)
        finally:
            # Withdrawn by the agent: the question must not stay on the screen.
            if key in self._conversation.elicitations:
                self._apply(ElicitationAnswered(key, "cancel", self._now()))

    def answer(self, key: RequestKey, action: ElicitationAction, values: FormValues | None) -> None:
        """Pass on what the user decided; for what does not wait any more, nothing happens.

        Raises ValueError for values that do not fit the form: they are not sent (R-ELIC-7, R-ELIC-8).
        """
        elicitation = self._conversation.elicitations.get(key)
        if elicitation is None:
            return
        if action != "accept" or not isinstance(elicitation, Form):
            self._settle(key, ElicitationAnswer(action))
            return
        filled_in = dict(values or {})
        flaw = misfit(elicitation, filled_in)
        if flaw is not None:
            raise ValueError(flaw)
        self._settle(key, ElicitationAnswer(action, filled_in), in_words(elicitation, filled_in))

    def cancel_all(self) -> None:
        """Take back every question that waits (R-CANC-5)."""
        for key in self._broker.waiting:
            self._settle(key, CANCEL)

    def _settle(self, key: RequestKey, answer: ElicitationAnswer, values: tuple[FilledIn, ...] = ()) -> None:
        if self._broker.answer(key, answer):
            self._apply(ElicitationAnswered(key, answer.action, self._now(), values))

    def complete(self, elicitation_id: str) -> None:
        """The agent says that a page is done with; one that is not known is ignored (R-ELIC-12)."""
        self._apply(ElicitationCompleted(elicitation_id))

    def dismiss(self, elicitation_id: str) -> None:
        """The user wants to hear no more of a page that was visited: the agent may never report it."""
        if elicitation_id in self._conversation.visits:
            self._apply(ElicitationCompleted(elicitation_id))
