"""A mapping that forgets its oldest entries: what an agent makes us remember has a limit."""

from __future__ import annotations

from typing import Final, TypeVar

KEPT: Final = 10_000

K = TypeVar("K")
V = TypeVar("V")


class Recent(dict[K, V]):
    """Once something was forgotten, what is not in it may have been."""

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
