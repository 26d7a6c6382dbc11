"""Prompts that the user wants sent at a time, or again and again until a command of theirs succeeds."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from math import inf
from typing import Final, NamedTuple

from acp_tui.conversation.wording import clock_time

TIMES: Final = 10
"""How often a prompt is repeated unless the user says otherwise."""
MAX_TIMES: Final = 100
MAX_WAIT_S: Final = 7 * 24 * 3600.0
LATER: Final = (
    f"Write when: /later 20m PROMPT, or 14:30, reset (of the limit), every 10m, every 10m x6 (otherwise {TIMES} times)."
)
_PAUSE: Final = re.compile(r"(\d{1,6})([smhd])", re.IGNORECASE)
_TIMES: Final = re.compile(r"x(\d{1,6})(?: +|$)", re.IGNORECASE)
_TIME: Final = re.compile(r"(\d{1,2}):(\d{2})")
_SECONDS: Final = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


class NotATime(Exception):
    """What was written names no time. The message tells what to write."""


class Schedule(NamedTuple):
    written: str
    """The command as the user wrote it; of a repeat, with the times that are left."""
    text: str
    due: float
    """When to send it, in seconds since the epoch; 0 for now, infinite while the command runs that may end it."""
    every_s: float = 0.0
    times: int = 1
    """How often it may still be sent."""
    until: str = ""
    """The user's command that ends it, once it succeeds; "" for none."""

    @property
    def words(self) -> str:
        when = clock_time(self.due) if 0 < self.due < inf else "your command runs" if self.due and self.until else "now"
        more = f", {self.times} more" if self.every_s else ""
        until = f" until `{self.until}`" if self.until else ""
        return f"{when}{more}: {self.text}{until}"

    def sent(self, now: float) -> Schedule | None:
        """What is left of a repeat once it was sent; None for nothing."""
        if self.times == 1:
            return None
        left = self.times - 1
        written = self.written.replace(f" x{self.times} ", f" x{left} ", 1)
        return self._replace(written=written, due=now + self.every_s, times=left)


def later(words: str, now: float, reset: float | None) -> Schedule:
    """What `/later` asks for. `reset` is when the agent's limit resets, as far as it said. Raises NotATime."""
    when, _, text = words.strip().partition(" ")
    clock = _TIME.fullmatch(when)
    if not text.strip():
        raise NotATime(LATER)
    if when == "every":
        return _repeat(text, now)
    if when == "reset":
        if reset is None:
            raise NotATime("The agent hasn't said when its limit resets.")
        due = reset
    elif clock is not None:
        due = _next(int(clock[1]), int(clock[2]), now)
    else:
        due = now + _seconds(when)
    return Schedule(f"/later {words}", text.strip(), due)


def _repeat(words: str, now: float) -> Schedule:
    """Begins at once."""
    every, _, rest = words.strip().partition(" ")
    counted = _TIMES.match(rest)
    times = TIMES if counted is None else int(counted[1])
    rest = rest if counted is None else rest[counted.end() :]
    before, has_until, after = f" {rest}".rpartition(" until ")
    text, until = (before, after) if has_until else (after, "")
    if not text.strip():
        raise NotATime(LATER)
    if not 1 <= times <= MAX_TIMES:
        raise NotATime(f"A prompt can be repeated up to {MAX_TIMES} times.")
    written = f"/later every {every} x{times} {rest}"
    return Schedule(written, text.strip(), now, _seconds(every), times, until.strip())


def _seconds(pause: str) -> float:
    found = _PAUSE.fullmatch(pause)
    if found is None:
        raise NotATime(LATER)
    seconds = int(found[1]) * _SECONDS[found[2].lower()]
    if not 0 < seconds <= MAX_WAIT_S:
        raise NotATime("The pause is at least a second and at most seven days.")
    return seconds


def _next(hour: int, minute: int, now: float) -> float:
    """The next moment at which clocks show this time."""
    if hour > 23 or minute > 59:
        raise NotATime(f"There is no such time: {hour:02}:{minute:02}.")
    today = datetime.fromtimestamp(now).replace(hour=hour, minute=minute, second=0, microsecond=0)
    return (today if today.timestamp() > now else today + timedelta(days=1)).timestamp()
