"""Keeps the last lines of a running agent for later viewing, without parsing them.

Also reads the update in a single frame, for code that taps a connection.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from enum import Enum
from itertools import islice
from struct import Struct
from time import monotonic
from typing import Any, Final, NamedTuple

from acp_tui.rpc import Direction
from acp_tui.rpc.messages import Notification, read_message

ENDED: Final = "the agent's process "
"""The beginning of the note on how the agent's process ended."""


class LineKind(Enum):
    IN = "in"
    """On the agent's stdout."""
    OUT = "out"
    """On its stdin, from the client."""
    STDERR = "stderr"
    NOTE = "note"
    """No stream: information that belongs here, such as the agent's end."""


class LoggedLine(NamedTuple):
    """A line without its newline."""

    at_s: float
    """Seconds since the agent started."""
    kind: LineKind
    data: bytes


MAX_BYTES: Final = 8 << 20
"""Per agent. Its last line stays, however long it is."""
LINE_BYTES: Final = 64
"""The memory a line takes besides its text."""
SHORT_BYTES: Final = 4 << 10
"""A line up to this length is kept with its time and kind in front of it: as objects, they take as much as the line."""
MAX_STDERR_LINE: Final = 64 << 10

_KINDS: Final = {Direction.IN: LineKind.IN, Direction.OUT: LineKind.OUT}
_FRONT: Final = Struct("=dB")
_NUMBERED: Final = tuple(LineKind)
_NUMBERS: Final = {kind: number for number, kind in enumerate(_NUMBERED)}


class FrameLog:
    """The lines of one agent, counted from 0; the oldest are dropped. Use it only on the event loop."""

    def __init__(self, agent: str = "", argv: tuple[str, ...] = (), *, max_bytes: int = MAX_BYTES) -> None:
        self.agent = agent
        self.argv = argv
        self.environ: Mapping[str, str] = {}
        """The agent's environment, whose secrets are masked when shown."""
        self.started_at = datetime.now(UTC)
        self.end = 0
        """The total number of lines so far."""
        self.listeners: list[Callable[[], None]] = []
        """Called for each line, for views."""
        self._begun = monotonic()
        self._lines: deque[LoggedLine | bytes] = deque()
        self._max_bytes = max_bytes
        self._bytes = 0
        self._half = b""
        self._is_ended = False

    @property
    def now_s(self) -> float | None:
        """Seconds since the agent started; None if it has ended."""
        return None if self._is_ended else monotonic() - self._begun

    @property
    def first(self) -> int:
        """The oldest line that is still kept."""
        return self.end - len(self._lines)

    def tap(self, direction: Direction, frame: bytes) -> None:
        self._put(_KINDS[direction], frame)

    def stderr(self, data: bytes) -> None:
        *whole, self._half = (self._half + data).split(b"\n")
        if len(self._half) > MAX_STDERR_LINE:
            whole.append(self._half)
            self._half = b""
        for line in whole:
            self._put(LineKind.STDERR, line)

    def exited(self, how: str) -> None:
        if self._half:
            self.stderr(b"\n")
        self._is_ended = True
        self._put(LineKind.NOTE, f"{ENDED}{how}".encode())

    def lines(self, start: int, stop: int) -> list[LoggedLine]:
        """The lines in this range that are still kept."""
        start, stop = max(start, self.first), min(stop, self.end)
        # Iterate from the end, which is usually closer.
        lines = list(map(_read, islice(reversed(self._lines), self.end - stop, max(self.end - start, 0))))
        return lines[::-1]

    def line(self, position: int) -> LoggedLine | None:
        """One line; None if it's dropped or doesn't exist yet."""
        return _read(self._lines[position - self.first]) if self.first <= position < self.end else None

    def _put(self, kind: LineKind, data: bytes) -> None:
        at_s = monotonic() - self._begun
        is_short = len(data) <= SHORT_BYTES
        self._lines.append(_FRONT.pack(at_s, _NUMBERS[kind]) + data if is_short else LoggedLine(at_s, kind, data))
        self.end += 1
        self._bytes += len(data) + LINE_BYTES
        while self._bytes > self._max_bytes and len(self._lines) > 1:
            self._bytes -= len(_read(self._lines.popleft()).data) + LINE_BYTES
        for listener in self.listeners:
            listener()


def _read(line: LoggedLine | bytes) -> LoggedLine:
    if isinstance(line, LoggedLine):
        return line
    at_s, number = _FRONT.unpack_from(line)
    return LoggedLine(at_s, _NUMBERED[number], line[_FRONT.size :])


def update_params(direction: Direction, frame: bytes) -> Any | None:
    """The params of an incoming session/update, as sent; None for any other frame."""
    if direction is not Direction.IN or b"session/update" not in frame:
        return None
    message = read_message(frame)
    if isinstance(message, Notification) and message.method == "session/update":
        return message.params
    return None
