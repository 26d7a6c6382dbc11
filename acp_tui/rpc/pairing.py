"""Which answer belongs to which request, in a stream of frames that passes live or was recorded.

What an agent makes us remember has a limit: `Recent` forgets the oldest.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any, Final, Generic, TypeAlias, TypeVar

from acp_tui.rpc.messages import Direction

KEPT: Final = 10_000

K = TypeVar("K")
V = TypeVar("V")
Key: TypeAlias = tuple[type, Any]


def key_of(request_id: Any) -> Key | None:
    """An id as something to find it by: 1, 1.0, true and "1" are four ids. None for what cannot be one."""
    is_id = request_id is None or isinstance(request_id, str | int | float)
    return (type(request_id), request_id) if is_id else None


class Recent(dict[K, V]):
    """A mapping that forgets its oldest entries. Once it has, what is not in it may have been."""

    def __init__(self, limit: int = KEPT) -> None:
        super().__init__()
        self._limit = limit
        self.has_forgotten = False

    def __setitem__(self, key: K, value: V) -> None:
        super().__setitem__(key, value)
        if len(self) > self._limit:
            del self[next(iter(self))]
            self.has_forgotten = True

    def may_know(self, key: K) -> bool:
        """False only where `key` was certainly never there, or was taken out."""
        return self.has_forgotten or key in self


class Pairing(Generic[V]):
    """The requests of a connection that wait for their answers, each as what its follower made of it.

    A side is named by the way its frames go: IN for the other side, OUT for ours.
    """

    def __init__(self, limit: int = sys.maxsize) -> None:
        """`limit`: so many requests of a side are known at a time; with more, the oldest is forgotten."""
        self._waiting: dict[Direction, Recent[Key, V]] = {side: Recent(limit) for side in Direction}

    def ask(self, asker: Direction, request_id: Any, request: V) -> V | None:
        """A request of `asker` passes. Gives the one that waits under the same id, and is answered by nobody now."""
        key, waiting = key_of(request_id), self._waiting[asker]
        if key is None:
            return None
        before = waiting.pop(key, None)  # the new one is the youngest
        waiting[key] = request
        return before

    def answer(self, answerer: Direction, request_id: Any) -> V | None:
        """An answer of `answerer` passes. Gives its request, which waits no longer; None: nobody waits for it."""
        key = key_of(request_id)
        return None if key is None else self._waiting[answerer.opposite].pop(key, None)

    def waiting(self, asker: Direction, request_id: Any) -> V | None:
        """The request of `asker` that waits under this id."""
        key = key_of(request_id)
        return None if key is None else self._waiting[asker].get(key)

    def all_waiting(self, asker: Direction) -> Iterator[V]:
        """Those of `asker` that wait, the oldest first."""
        yield from tuple(self._waiting[asker].values())

    def has_forgotten(self, asker: Direction) -> bool:
        """Whether an answer that seems to belong to no request of `asker` may belong to one all the same."""
        return self._waiting[asker].has_forgotten
