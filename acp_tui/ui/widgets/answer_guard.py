"""Says from when on a key or a click can have been meant as an answer; it knows neither question nor answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

GUARD_S: Final = 0.4
"""Nobody reads a question and answers it in less."""
LEAST_WAIT_S: Final = 0.05


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
        return self.was_open(0)

    def was_open(self, age_s: float) -> bool:
        """Whether an answer counts that was given so long ago: keys wait while the screen is being drawn."""
        return self._clock() - age_s >= self._opens_at


def age_of(event_time: float, now: float) -> float:
    """How long a key or a click has waited until now, both by the same clock; less than one notices is nothing."""
    waited = now - event_time
    return waited if waited > LEAST_WAIT_S else 0.0
