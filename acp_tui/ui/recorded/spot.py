"""How a moment of a recording is named; where that is, is for `moments` to find. Loads nothing else."""

from __future__ import annotations

import re
from dataclasses import dataclass

QUESTION = "question"
_CLOCK = re.compile(r"(?:(\d+):)?(\d+):(\d\d(?:\.\d+)?)")
_SECONDS = re.compile(r"(\d+(?:\.\d+)?)s")


@dataclass(frozen=True, slots=True)
class Spot:
    """A moment of a recording; just one of these is set."""

    events: int | None = None
    """When so many events have happened."""
    seconds: float | None = None
    text: str | None = None
    """When this was said first."""
    is_question: bool = False
    """When the user is asked for a permission first."""

    @property
    def shown(self) -> str:
        """What never came, in words."""
        return f"nothing says {self.text!r}" if self.text is not None else "no permission is asked for"


def read_spot(text: str) -> Spot:
    """120 (events), 12.5s, 1:05, or question. Raises ValueError."""
    if text == QUESTION:
        return Spot(is_question=True)
    if clock := _CLOCK.fullmatch(text):
        hours, minutes, seconds = clock.groups()
        return Spot(seconds=int(hours or 0) * 3600 + int(minutes) * 60 + float(seconds))
    if seconds_only := _SECONDS.fullmatch(text):
        return Spot(seconds=float(seconds_only[1]))
    if text.isdecimal():
        return Spot(events=int(text))
    raise ValueError(f"{text!r} is no moment: 120 (events), 12.5s, 1:05, or {QUESTION}")
