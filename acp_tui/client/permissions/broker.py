"""Requests of the agent that wait for the user. Nothing in here decides: an answer is only ever passed on."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import Generic, TypeAlias, TypeVar

import anyio

from acp_tui.conversation.facts import RequestKey

Answer = TypeVar("Answer")


class Broker(Generic[Answer]):
    """Parks the requests of one kind until the user answers them or they are taken back."""

    def __init__(self, keys: Iterator[int] | None = None) -> None:
        """`keys` is shared by the brokers whose requests must not have a key in common."""
        self._keys = count(1) if keys is None else keys
        self._parked: dict[RequestKey, anyio.Event] = {}
        self._answers: dict[RequestKey, Answer] = {}

    def park(self) -> RequestKey:
        """A place for a new request."""
        key = RequestKey(next(self._keys))
        self._parked[key] = anyio.Event()
        return key

    async def wait(self, key: RequestKey) -> Answer:
        """What the user answered. Forgets the request, also when it is withdrawn."""
        try:
            await self._parked[key].wait()
            return self._answers[key]
        finally:
            del self._parked[key]
            self._answers.pop(key, None)

    def answer(self, key: RequestKey, answer: Answer) -> bool:
        """Pass on the user's answer; False where the request was answered or withdrawn before."""
        event = self._parked.get(key)
        if event is None or event.is_set():
            return False
        self._answers[key] = answer
        event.set()
        return True

    @property
    def waiting(self) -> tuple[RequestKey, ...]:
        """The requests without an answer, oldest first."""
        return tuple(key for key, event in self._parked.items() if not event.is_set())


PermissionBroker: TypeAlias = Broker[str | None]
"""Answers with the id of the option that the user chose; None: cancelled with the turn."""
