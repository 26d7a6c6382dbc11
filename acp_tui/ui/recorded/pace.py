"""How fast the recorded time passes in a replay. Loads nothing else: the command line is read with it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

SPEEDS: Final = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0)
MAX_WAIT_S: Final = 2.0
"""Nobody wants to watch a recorded user think."""


@dataclass(frozen=True, slots=True)
class Pace:
    """How fast the recorded time passes."""

    speed: float = 1.0
    """How many times as fast; 0: without waiting."""
    max_wait_s: float = MAX_WAIT_S
    """No pause is longer, at whatever speed."""

    def wait_s(self, recorded_s: float) -> float:
        """How long to wait where the recording waited so long."""
        if self.speed <= 0:
            return 0.0
        return min(max(recorded_s, 0.0) / self.speed, self.max_wait_s)

    def changed(self, step: int) -> Pace:
        """The next speed of the usual ones, up for 1 and down for -1."""
        if step > 0:
            speed = next((each for each in SPEEDS if each > self.speed), SPEEDS[-1])
        else:
            speed = next((each for each in reversed(SPEEDS) if each < self.speed), SPEEDS[0])
        return Pace(speed, self.max_wait_s)
