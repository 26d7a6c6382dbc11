"""Where lines come from: a running agent, or a recording. Both are read by position, and not understood."""

from __future__ import annotations

import os
from array import array
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final, Protocol

from anyio import to_thread

from acp_tui.client.inspection.frame_log import FrameLog
from acp_tui.client.inspection.line import ENDED, Kind, Line
from acp_tui.client.transcript.events import Dropped, Exited, Frame, Header, Stderr
from acp_tui.client.transcript.lines import BadLine, read_event
from acp_tui.client.transcript.reader import MAX_LINE_BYTES, open_recording
from acp_tui.client.transcript.secrets import Masker
from acp_tui.rpc import Direction

SLICE_LINES: Final = 512
SLICE_BYTES: Final = 1 << 20
"""What is read at once: a thread holds up the event loop while it parses."""
BLOCK_BYTES: Final = 4 << 10
"""Most lines are shorter."""


class Source(Protocol):
    """Lines by their position. What is gone or not there yet is left out."""

    @property
    def header(self) -> Header:
        """What it is of."""

    @property
    def first(self) -> int:
        """The oldest line that can be had."""

    @property
    def now_s(self) -> float | None:
        """The time by the clock of its lines; None where nothing comes any more."""

    async def read_on(self) -> tuple[int, Sequence[Line]]:
        """The next lines, and the position of the first; none where no more are there yet. Raises OSError."""

    async def lines_at(self, positions: Sequence[int]) -> Mapping[int, Line]:
        """These lines, without those that are gone. Raises OSError."""

    def listen(self, wake: Callable[[], None]) -> None:
        """Call `wake` when there is more to be read, where that is known here."""

    def close(self) -> None:
        """Nothing is read any more."""


class LiveSource:
    """The lines of a running agent, as far as they are kept."""

    def __init__(self, log: FrameLog) -> None:
        self._log = log
        self._next = log.first
        self._wake: Callable[[], None] | None = None
        self.header = Header(
            agent=log.agent,
            argv=Masker(log.environ).argv(log.argv),
            started_at=log.started_at.isoformat(timespec="milliseconds"),
            is_raw=True,
        )

    @property
    def first(self) -> int:
        """The oldest one that is kept."""
        return self._log.first

    @property
    def now_s(self) -> float | None:
        """As long as the agent lives."""
        return self._log.now_s

    async def read_on(self) -> tuple[int, Sequence[Line]]:
        """What came since, or is still there of it."""
        start = max(self._next, self._log.first)
        lines = self._log.lines(start, start + SLICE_LINES)
        self._next = start + len(lines)
        return start, lines

    async def lines_at(self, positions: Sequence[int]) -> Mapping[int, Line]:
        """Those that are still there."""
        lines = ((position, self._log.line(position)) for position in positions)
        return {position: line for position, line in lines if line is not None}

    def listen(self, wake: Callable[[], None]) -> None:
        """Each line wakes."""
        self._wake = wake
        self._log.listeners.append(wake)

    def close(self) -> None:
        """It lives on without us."""
        if self._wake in self._log.listeners:
            self._log.listeners.remove(self._wake)


class FileSource:
    """The lines of a recording, which may still be written: of each only its place is kept, 8 bytes."""

    first: Final = 0
    now_s: Final = None
    """What is still written to it may come late."""

    def __init__(self, path: Path) -> None:
        """It blocks. Raises RecordingUnreadable."""
        with open_recording(path) as recording:
            self.header = recording.header
        self.path = path
        self._offsets = array("Q")
        self._file = path.open("rb")
        self._file.readline(MAX_LINE_BYTES)

    async def read_on(self) -> tuple[int, Sequence[Line]]:
        """What was written since."""
        start, found = len(self._offsets), await to_thread.run_sync(self._read_slice)
        self._offsets.extend(offset for offset, _ in found)
        return start, [line for _, line in found]

    def _read_slice(self) -> list[tuple[int, Line]]:
        """The next lines with their places; only other events may be left out, and then it is read on."""
        found: list[tuple[int, Line]] = []
        begin = offset = self._file.tell()
        while len(found) < SLICE_LINES and (not found or offset - begin < SLICE_BYTES):
            data = self._file.readline(MAX_LINE_BYTES)
            if not data.endswith(b"\n"):
                self._file.seek(offset)  # its writer has not come further
                break
            line = _line_of(data)
            if line is not None:
                found.append((offset, line))
            offset += len(data)
        return found

    async def lines_at(self, positions: Sequence[int]) -> Mapping[int, Line]:
        """Read again."""
        places = [(at, self._offsets[at]) for at in positions if at < len(self._offsets)]
        return await to_thread.run_sync(self._read_at, places)

    def _read_at(self, places: Sequence[tuple[int, int]]) -> dict[int, Line]:
        if self._file.closed:
            return {}
        # One of our own: the file may be let go meanwhile.
        file = os.dup(self._file.fileno())
        try:
            lines = ((position, _line_of(_line_at(file, offset))) for position, offset in places)
            return {position: line for position, line in lines if line is not None}
        finally:
            os.close(file)

    def listen(self, wake: Callable[[], None]) -> None:
        """A file does not say that it grows: whoever watches it wakes."""

    def close(self) -> None:
        """Let the file go."""
        self._file.close()


def _line_at(file: int, offset: int) -> bytes:
    data, size = b"", BLOCK_BYTES
    while block := os.pread(file, size, offset + len(data)):
        data += block
        end = data.find(b"\n", len(data) - len(block))
        if end >= 0:
            return data[: end + 1]
        size = len(data) * 4
    return data


def _line_of(data: bytes) -> Line | None:
    """What stands in a line of a recording; None for what neither side has said."""
    try:
        event = read_event(data.rstrip(b"\r\n"))
    except BadLine as error:
        return Line(0.0, Kind.NOTE, f"a line that is no event: {error}".encode()) if data.strip() else None
    match event:
        case Frame(at, direction, frame):
            return Line(at, Kind.IN if direction is Direction.IN else Kind.OUT, frame)
        case Stderr(at, text):
            return Line(at, Kind.STDERR, text)
        case Exited(at, how):
            return Line(at, Kind.NOTE, f"{ENDED}{how}".encode())
        case Dropped(at, events, why):
            return Line(at, Kind.NOTE, f"{events:,} events are missing here: {why}".encode())
        case _:
            return None
