"""Says from when on a key or a click can have been meant as an answer; it knows neither question nor answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

GUARD_S: Final = 0.4
"""Nobody reads a question and answers it in less."""


class AnswerGuard:
    """Opens some time after it was armed last: what comes before was on its way to something else."""

    def __init__(self, clock: Callable[[], float]) -> None:
        """Armed; `clock` gives seconds."""
        self._clock = clock
        self._opens_at = 0.0
        self.arm()

    def arm(self) -> None:
        """Something new is to be answered, or has only now got the focus."""
        self._opens_at = self._clock() + GUARD_S

    @property
    def is_open(self) -> bool:
        """Whether an answer that comes now counts."""
        return self._clock() >= self._opens_at
