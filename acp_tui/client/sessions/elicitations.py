"""What an agent asks the user, parked until it's answered once or withdrawn. Only the user answers."""

from __future__ import annotations

import time
from asyncio import Future, get_running_loop
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from itertools import count
from typing import Any, Final, assert_never

from acp_tui.client.secrets.masking import MASK, masked_text
from acp_tui.client.secrets.questions import field_asks_for_secret, form_asks_for_secret
from acp_tui.conversation import elicitation, updates
from acp_tui.conversation.conversation import Conversation
from acp_tui.conversation.facts import RequestKey
from acp_tui.protocol.roles import ElicitationAnswer


def misfit(form: elicitation.Form, values: elicitation.FormValues) -> str | None:
    """What is invalid about the values; None if they fit."""
    fields = {field.name: field for field in form.fields}
    for name in values.keys() - fields.keys():
        return f"the form has no field {name!r}"
    for name, field in fields.items():
        if name not in values:
            if field.is_required:
                return f"the field {name!r} is required"
        elif not _fits(field, values[name]):
            return f"the value of {name!r} isn't valid for this field"
    return None


def _fits(field: elicitation.Field, value: Any) -> bool:
    match field:
        case elicitation.TextField():
            return isinstance(value, str)
        case elicitation.NumberField():
            return type(value) is int or (type(value) is float and not field.is_integer)
        case elicitation.BooleanField():
            return isinstance(value, bool)
        case elicitation.ChoiceField():
            return any(value == choice.value for choice in field.choices)
        case elicitation.MultiChoiceField():
            known = [choice.value for choice in field.choices]
            return isinstance(value, list) and all(item in known for item in value)
        case elicitation.UnknownField():
            return False
        case _:
            assert_never(field)


def in_words(form: elicitation.Form, values: elicitation.FormValues) -> tuple[elicitation.FieldAnswer, ...]:
    """Each filled-in field in words, for later reading. Values that look like secrets are masked."""
    asks_for_secret = form_asks_for_secret(form)
    return tuple(
        _filled_in(field, values[field.name], is_secret=asks_for_secret or field_asks_for_secret(field))
        for field in form.fields
        if field.name in values and not isinstance(field, elicitation.UnknownField)
    )


def _filled_in(field: elicitation.KnownField, value: Any, *, is_secret: bool) -> elicitation.FieldAnswer:
    is_secret = is_secret and not isinstance(field, elicitation.BooleanField)
    words = MASK if is_secret else masked_text(words_of(field, value))
    is_typed = isinstance(field, elicitation.TextField | elicitation.NumberField)
    return elicitation.FieldAnswer(field.title or field.name, words, is_choice=not (is_secret or is_typed))


def words_of(field: elicitation.Field, value: Any) -> str:
    """A value of the field as the user sees it."""
    match field:
        case elicitation.BooleanField():
            return "yes" if value else "no"
        case elicitation.ChoiceField():
            return _title(field, value)
        case elicitation.MultiChoiceField():
            return ", ".join(_title(field, each) for each in value) or "none"
        case _:
            return str(value)


def _title(field: elicitation.ChoiceField | elicitation.MultiChoiceField, value: str) -> str:
    return next((choice.title for choice in field.choices if choice.value == value), value)


CANCEL: Final = ElicitationAnswer("cancel")


class Elicitations:
    """Keeps `conversation` and the agent's open questions in step. `apply` changes the conversation."""

    def __init__(
        self,
        conversation: Conversation,
        apply: Callable[[updates.SessionUpdate], None],
        keys: Iterator[int] | None = None,
        now: Callable[[], float | None] = time.time,
    ) -> None:
        """`now` returns seconds since the epoch, or None if the time is unknown."""
        self._conversation = conversation
        self._apply = apply
        self._keys = count(1) if keys is None else keys
        self._parked: dict[RequestKey, Future[ElicitationAnswer]] = {}
        self._now = now

    def ask(self, asked: elicitation.Elicitation, *, is_cancelled: bool = False) -> Awaitable[ElicitationAnswer]:
        """Park a question and show it.

        Returns the user's answer. With `is_cancelled`, the turn is cancelled: don't ask.
        """
        key = RequestKey(next(self._keys))
        self._parked[key] = get_running_loop().create_future()
        self._apply(updates.ElicitationAsked(replace(asked, key=key)))
        if is_cancelled:
            self._settle(key, CANCEL)
        return self._answer_to(key)

    async def _answer_to(self, key: RequestKey) -> ElicitationAnswer:
        try:
            return await self._parked[key]
        finally:
            del self._parked[key]
            # The agent withdrew it, so the question must not stay on the screen.
            if key in self._conversation.elicitations:
                self._apply(updates.ElicitationAnswered(key, "cancel", self._now()))

    def answer(
        self, key: RequestKey, action: updates.ElicitationAction, values: elicitation.FormValues | None = None
    ) -> None:
        """Pass on the user's decision (R-ELIC-3). Does nothing if the question no longer waits.

        Raises ValueError for values that don't fit the form; they aren't sent (R-ELIC-7, R-ELIC-8).
        """
        asked = self._conversation.elicitations.get(key)
        if asked is None:
            return
        if action != "accept" or not isinstance(asked, elicitation.Form):
            self._settle(key, ElicitationAnswer(action))
            return
        filled_in = dict(values or {})
        flaw = misfit(asked, filled_in)
        if flaw is not None:
            raise ValueError(flaw)
        self._settle(key, ElicitationAnswer(action, filled_in), in_words(asked, filled_in))

    def cancel_all(self) -> None:
        """Withdraw every open question (R-CANC-5)."""
        for key in tuple(self._parked):
            self._settle(key, CANCEL)

    def _settle(
        self, key: RequestKey, answer: ElicitationAnswer, values: tuple[elicitation.FieldAnswer, ...] = ()
    ) -> None:
        parked = self._parked.get(key)
        if parked is not None and not parked.done():
            parked.set_result(answer)
            self._apply(updates.ElicitationAnswered(key, answer.action, self._now(), values))

    def complete(self, elicitation_id: str) -> None:
        """Mark a page as done, as the agent reports. An unknown one is ignored (R-ELIC-12)."""
        self._apply(updates.ElicitationCompleted(elicitation_id))

    def dismiss(self, elicitation_id: str) -> None:
        """Stop showing a visited page. The agent may never report that it's done."""
        if elicitation_id in self._conversation.visits:
            self._apply(updates.ElicitationCompleted(elicitation_id))
