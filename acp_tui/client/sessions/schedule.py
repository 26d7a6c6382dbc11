"""Prompts that the user wants sent at a time, or again and again until a command of theirs succeeds."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from math import isfinite
from typing import Final, NamedTuple

from acp_tui.conversation.wording import clock_time

MAX_TIMES: Final = 100
MAX_WAIT_S: Final = 7 * 24 * 3600.0
LATER: Final = (
    "Write when: /later 20m PROMPT, /later 14:30 PROMPT, or /later reset PROMPT once the agent's limit resets."
)
REPEAT: Final = (
    "Write how often and how many times: /repeat 10m 6 PROMPT, and until COMMAND to end it once that succeeds."
)
_PAUSE: Final = re.compile(r"(\d{1,6})([smhd])", re.IGNORECASE)
_TIME: Final = re.compile(r"(\d{1,2}):(\d{2})")
_SECONDS: Final = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


class NotATime(Exception):
    """What was written names no time. The message tells what to write."""


class Schedule(NamedTuple):
    written: str
    """The command as the user wrote it; of a repeat, with the times that are left."""
    text: str
    due: float
    """When to send it, in seconds since the epoch; infinite while the command runs that may end it."""
    every_s: float = 0.0
    times: int = 1
    """How often it may still be sent."""
    until: str = ""
    """The user's command that ends it, once it succeeds; "" for none."""

    @property
    def words(self) -> str:
        when = clock_time(self.due) if isfinite(self.due) else "your command runs" if self.until else "now"
        more = f", {self.times} more" if self.every_s else ""
        until = f" until `{self.until}`" if self.until else ""
        return f"{when}{more}: {self.text}{until}"

    def sent(self, now: float) -> Schedule | None:
        """What is left of a repeat once it was sent; None for nothing."""
        if self.times == 1:
            return None
        command, every, _, rest = self.written.split(maxsplit=3)
        left = self.times - 1
        return self._replace(written=f"{command} {every} {left} {rest}", due=now + self.every_s, times=left)


def later(words: str, now: float, reset: float | None) -> Schedule:
    """What `/later` asks for. `reset` is when the agent's limit resets, as far as it said. Raises NotATime."""
    when, _, text = words.strip().partition(" ")
    clock = _TIME.fullmatch(when)
    if not text.strip():
        raise NotATime(LATER)
    if when == "reset":
        if reset is None:
            raise NotATime("The agent hasn't said when its limit resets.")
        due = reset
    elif clock is not None:
        due = _next(int(clock[1]), int(clock[2]), now)
    else:
        due = now + _seconds(when, LATER)
    return Schedule(f"/later {words}", text.strip(), due)


def repeat(words: str, now: float) -> Schedule:
    """What `/repeat` asks for. It begins at once. Raises NotATime."""
    every, times, text = [*words.split(maxsplit=2), "", "", ""][:3]
    before, has_until, after = f" {text}".rpartition(" until ")
    text, until = (before, after) if has_until else (after, "")
    if not text.strip() or not times.isdigit():
        raise NotATime(REPEAT)
    if not 1 <= int(times) <= MAX_TIMES:
        raise NotATime(f"A prompt can be repeated up to {MAX_TIMES} times.")
    return Schedule(f"/repeat {words}", text.strip(), now, _seconds(every, REPEAT), int(times), until.strip())


def _seconds(pause: str, usage: str) -> float:
    found = _PAUSE.fullmatch(pause)
    if found is None:
        raise NotATime(usage)
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
