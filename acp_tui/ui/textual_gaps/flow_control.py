"""Flow control: how much a terminal may be sent, judged by how long its answers take.

Over a slow connection, what is written waits in the buffers of the system, of SSH, and of the network, and a key's echo
waits behind it, often for seconds. No buffer says how full it is, but a terminal answers a question only after it has
taken all that was sent before. So each frame ends with a question, and what may be on its way is adapted to how long
the answers take, as in delay-based congestion control (LEDBAT, RFC 6817).
"""

from __future__ import annotations

import math
from collections import deque
from typing import Final, NamedTuple

AHEAD_S: Final = 0.05
"""What is on its way may need this long to be shown; a key's echo waits behind it."""
OVERDUE_S: Final = 0.2
"""An answer this late means that the connection has just become slower."""
LOST_S: Final = 10.0
"""An answer this late won't come: something else has read it."""
LAST_ANSWER_S: Final = (0.5, 3.0)
"""The end waits for an answer at least, and at most, for so long."""
SHORT: Final = 500
"""Output this short needs no time of its own, so its answer tells how long the way is."""
SHORT_DELAYS: Final = 32
"""How many of the latest delays count, since the way may change."""
GROWTH: Final = 2
"""By this factor, more may be on its way than has just arrived in time."""
MIN_WINDOW: Final = 500
"""However slow the terminal is, this much may be on its way."""


class Asked(NamedTuple):
    """A question that the terminal hasn't answered."""

    at_s: float
    since_s: float
    """From then on, there was always something on its way: `length` arrives in the time until the answer."""
    sent: int
    """Characters sent before it, in total."""
    length: int
    """Those of them that were still on their way."""


class FlowControl:
    """Estimates how much of the output is on its way. Lengths are in characters, times in monotonic seconds.

    Belongs to the event loop; the writer thread only calls `note_written`.
    """

    def __init__(self) -> None:
        self.sent = 0
        """The total number of characters passed to the writer thread."""
        self._written = 0
        self.restart()

    def restart(self) -> None:
        """Forget the terminal: it may be another one now, or something else may have read its answers."""
        self.answers = False
        """Whether the terminal answers at all. If not, nothing is held back."""
        self._asked: deque[Asked] = deque()
        self._taken = self.sent
        self._since_s: float | None = None
        """When it had taken that, if more was on its way by then."""
        self._window: float | None = None
        """How much may be on its way; None until a frame was measured."""
        self._short_delays: deque[float] = deque(maxlen=SHORT_DELAYS)

    @property
    def unwritten(self) -> int:
        """How much the writer thread still has to write."""
        return self.sent - self._written

    @property
    def last_answer_s(self) -> float:
        """How long the end should wait for answers that are missing."""
        shortest, longest = LAST_ANSWER_S
        return min(max(2 * max(self._short_delays, default=0.0), shortest), longest)

    def note_sent(self, length: int) -> None:
        """Record text passed to the writer thread."""
        self.sent += length

    def note_written(self, length: int) -> None:
        """Record text that the writer thread has written."""
        self._written += length

    def note_asked(self, now_s: float) -> None:
        """Record a question about everything that was sent."""
        if self._since_s is None:
            self._since_s = now_s
        self._asked.append(Asked(now_s, self._since_s, self.sent, self._on_its_way))

    def note_answered(self, now_s: float) -> None:
        """Record the answer to the oldest question, and adapt how much may be on its way."""
        self.answers = True
        if not self._asked:  # we had given it up
            return
        asked = self._asked.popleft()
        self._taken = asked.sent
        self._since_s = now_s if self._asked else None
        delay_s, took_s = now_s - asked.at_s, now_s - asked.since_s
        if asked.length <= SHORT:
            self._short_delays.append(delay_s)
        way_s = min(self._short_delays, default=delay_s)
        fits = asked.length * (way_s + AHEAD_S) / took_s if took_s else math.inf
        if delay_s > way_s + AHEAD_S:
            self._window = max(fits, MIN_WINDOW)
        elif self._window is not None or asked.length > SHORT:
            self._window = max(self._window or 0, min(fits, GROWTH * asked.length))

    def has_room(self, now_s: float, *, is_small: bool) -> bool:
        """Whether a frame, or a part of it, may be sent now. A small one only waits for the writer thread."""
        return not self.unwritten and (is_small or self.room(now_s) > 0)

    def room(self, now_s: float) -> float:
        """How much may be sent now; infinite for a whole frame."""
        if self._asked and now_s - self._asked[0].at_s > LOST_S:
            self.restart()
        if not self.answers:
            return math.inf
        on_its_way = self._on_its_way if self._asked else 0
        if self._window is None:  # one frame, to be measured
            return math.inf if on_its_way <= SHORT else 0.0
        if self._asked and now_s - self._asked[0].at_s > min(self._short_delays, default=0.0) + OVERDUE_S:
            return 0.0
        return self._window - on_its_way

    @property
    def _on_its_way(self) -> int:
        return self.sent - self._taken
