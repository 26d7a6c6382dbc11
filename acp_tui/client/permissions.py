"""Permission requests that wait for the user. Nothing in here decides: an answer is only ever passed on."""

from __future__ import annotations

from itertools import count

import anyio

from acp_tui.conversation.facts import RequestKey


class PermissionBroker:
    """Parks the requests of one session until the user answers them or their turn is cancelled."""

    def __init__(self) -> None:
        self._keys = count(1)
        self._parked: dict[RequestKey, anyio.Event] = {}
        self._answers: dict[RequestKey, str | None] = {}

    def park(self) -> RequestKey:
        """A place for a new request."""
        key = RequestKey(next(self._keys))
        self._parked[key] = anyio.Event()
        return key

    async def wait(self, key: RequestKey) -> str | None:
        """The id of the option that the user chose; None: cancelled. Forgets the request, also when it is withdrawn."""
        try:
            await self._parked[key].wait()
            return self._answers[key]
        finally:
            del self._parked[key]
            self._answers.pop(key, None)

    def answer(self, key: RequestKey, option_id: str | None) -> bool:
        """Pass on the user's choice, or None for a cancelled turn; False where it was answered or withdrawn before."""
        event = self._parked.get(key)
        if event is None or event.is_set():
            return False
        self._answers[key] = option_id
        event.set()
        return True

    @property
    def waiting(self) -> tuple[RequestKey, ...]:
        """The requests without an answer, oldest first."""
        return tuple(key for key, event in self._parked.items() if not event.is_set())
