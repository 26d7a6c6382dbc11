"""Keeps the last lines of a running agent, so that whoever looks later sees what has happened; reads none of them.

Also reads the update out of a single frame, for whoever taps a connection.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from enum import Enum
from itertools import islice
from time import monotonic
from typing import Any, Final, NamedTuple

from acp_tui.rpc import Direction
from acp_tui.rpc.messages import Notification, read_message

ENDED: Final = "the agent's process "
"""How a note begins that says how it ended."""


class Kind(Enum):
    """Where a line stood."""

    IN = "in"
    """On the agent's stdout."""
    OUT = "out"
    """On its stdin: the client's."""
    STDERR = "stderr"
    NOTE = "note"
    """Nowhere: what is to be known at this place, such as the agent's end."""


class Line(NamedTuple):
    """A line without its end. A tuple, since one is made of every frame that passes."""

    at_s: float
    """Seconds since the agent was started."""
    kind: Kind
    data: bytes


MAX_BYTES: Final = 8 << 20
"""Of one agent; its last line stays, however long it is."""
LINE_BYTES: Final = 160
"""What a line takes beside its text."""
MAX_STDERR_LINE: Final = 64 << 10

_KINDS: Final = {Direction.IN: Kind.IN, Direction.OUT: Kind.OUT}


class FrameLog:
    """The lines of one agent, counted from 0; the oldest are let go. All of it happens on the event loop."""

    def __init__(
        self,
        agent: str = "",
        argv: tuple[str, ...] = (),
        environ: Mapping[str, str] | None = None,
        *,
        max_bytes: int = MAX_BYTES,
    ) -> None:
        """`environ` is what the agent runs with: what is secret there is masked where it is shown."""
        self.agent = agent
        self.argv = argv
        self.environ = environ or {}
        self.started_at = datetime.now(UTC)
        self.end = 0
        """How many lines there were."""
        self.listeners: list[Callable[[], None]] = []
        """Called for each line: whoever looks."""
        self._begun = monotonic()
        self._lines: deque[Line] = deque()
        self._max_bytes = max_bytes
        self._bytes = 0
        self._half = b""
        self._is_ended = False

    @property
    def now_s(self) -> float | None:
        """Since the agent was started; None when it has ended."""
        return None if self._is_ended else monotonic() - self._begun

    @property
    def first(self) -> int:
        """The oldest line that is still there."""
        return self.end - len(self._lines)

    def tap(self, direction: Direction, frame: bytes) -> None:
        """A frame passes (rpc.peer.Tap)."""
        self._put(_KINDS[direction], frame)

    def stderr(self, data: bytes) -> None:
        """The agent wrote to stderr."""
        *whole, self._half = (self._half + data).split(b"\n")
        if len(self._half) > MAX_STDERR_LINE:
            whole.append(self._half)
            self._half = b""
        for line in whole:
            self._put(Kind.STDERR, line)

    def exited(self, how: str) -> None:
        """The agent's process has ended."""
        if self._half:
            self.stderr(b"\n")
        self._is_ended = True
        self._put(Kind.NOTE, f"{ENDED}{how}".encode())

    def lines(self, start: int, stop: int) -> list[Line]:
        """Those of these lines that are still there."""
        start, stop = max(start, self.first), min(stop, self.end)
        # From the end on, which is nearer mostly.
        lines = list(islice(reversed(self._lines), self.end - stop, max(self.end - start, 0)))
        return lines[::-1]

    def line(self, position: int) -> Line | None:
        """One line; None where it is gone, or not there yet."""
        return self._lines[position - self.first] if self.first <= position < self.end else None

    def _put(self, kind: Kind, data: bytes) -> None:
        self._lines.append(Line(monotonic() - self._begun, kind, data))
        self.end += 1
        self._bytes += len(data) + LINE_BYTES
        while self._bytes > self._max_bytes and len(self._lines) > 1:
            self._bytes -= len(self._lines.popleft().data) + LINE_BYTES
        for listener in self.listeners:
            listener()


def update_params(direction: Direction, frame: bytes) -> Any | None:
    """The params of a session/update that came in, as they were sent; None for any other frame."""
    if direction is not Direction.IN or b"session/update" not in frame:
        return None
    message = read_message(frame)
    if isinstance(message, Notification) and message.method == "session/update":
        return message.params
    return None
