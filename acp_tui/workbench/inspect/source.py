"""Where lines come from: a running agent, or a recording."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from threading import Lock
from typing import Final, TypeAlias

from anyio import to_thread

from acp_tui.client.transcript.events import Dropped, Exited, Frame, Header, Stderr
from acp_tui.client.transcript.frame_log import ENDED, FrameLog, LineKind, LoggedLine
from acp_tui.client.transcript.lines import MAX_LINE_BYTES, BadLine, open_recording, parsed, read_event, written_frame

SLICE_LINES: Final = 512
SLICE_BYTES: Final = 1 << 20
"""The maximum to read at once, because a thread that parses holds up the event loop."""
BLOCK_BYTES: Final = 16 << 10
"""How much to read at once of lines to read again. Most have several lines."""


class LiveSource:
    """The lines of a running agent that its log still has."""

    def __init__(self, log: FrameLog) -> None:
        self._log = log
        self._next = log.first
        self._wake: Callable[[], None] | None = None
        self.header = Header(log.agent, (), started_at=log.started_at.isoformat(timespec="milliseconds"), is_raw=True)

    @property
    def first(self) -> int:
        """The oldest available line."""
        return self._log.first

    @property
    def now_s(self) -> float | None:
        """The agent's time; None once it has exited and no more lines come."""
        return self._log.now_s

    async def read_on(self) -> tuple[int, Sequence[LoggedLine]]:
        """The lines since the last call that are still there, and the position of the first."""
        start = max(self._next, self._log.first)
        lines = self._log.lines(start, start + SLICE_LINES)
        self._next = start + len(lines)
        return start, lines

    async def lines_at(self, positions: Sequence[int]) -> Mapping[int, LoggedLine]:
        lines = ((position, self._log.line(position)) for position in positions)
        return {position: line for position, line in lines if line is not None}

    async def matching(self, positions: Sequence[int], fits: Callable[[LoggedLine], bool]) -> list[int]:
        lines = await self.lines_at(positions)
        return await to_thread.run_sync(lambda: [at for at, line in lines.items() if fits(line)])

    def listen(self, wake: Callable[[], None]) -> None:
        self._wake = wake
        self._log.listeners.append(wake)

    def close(self) -> None:
        """Stop listening. The agent continues."""
        if self._wake in self._log.listeners:
            self._log.listeners.remove(self._wake)


class FileSource:
    """The lines of a recording, which may still grow. Stores only 9 bytes per line for its place."""

    first: Final = 0
    now_s: Final = None
    """Time doesn't matter here: lines may be written late."""

    def __init__(self, path: Path) -> None:
        """Blocks. Raises RecordingUnreadable."""
        with open_recording(path) as recording:
            self.header = recording.header
        self.path = path
        self._offsets = array("Q")
        self._is_frame = bytearray()
        """For each line, whether it contains a frame as it came, in JSON, which needn't be parsed again."""
        self._file = path.open("rb")
        self._file.readline(MAX_LINE_BYTES)
        self._again = path.open("rb", buffering=BLOCK_BYTES)
        """The same file, to read lines again, in any thread that has the lock."""
        self._lock = Lock()

    async def read_on(self) -> tuple[int, Sequence[LoggedLine]]:
        """The lines written since the last call, and the position of the first. Raises OSError."""
        start, found = len(self._offsets), await to_thread.run_sync(self._read_slice)
        self._is_frame.extend(is_frame for _, _, is_frame in found)
        self._offsets.extend(offset for offset, _, _ in found)
        return start, [line for _, line, _ in found]

    def _read_slice(self) -> list[tuple[int, LoggedLine, bool]]:
        """The next lines with their places.

        Returns none only at the end of the file, because it reads past other events.
        """
        found: list[tuple[int, LoggedLine, bool]] = []
        begin = offset = self._file.tell()
        while len(found) < SLICE_LINES and (not found or offset - begin < SLICE_BYTES):
            data = self._file.readline(MAX_LINE_BYTES)
            if not data.endswith(b"\n"):
                self._file.seek(offset)  # the writer hasn't finished the line
                break
            frame = _frame_of(data)
            is_frame = frame is not None and parsed(frame.data) is not None
            line = frame if is_frame else _line_of(data)
            if line is not None:
                found.append((offset, line, is_frame))
            offset += len(data)
        return found

    async def lines_at(self, positions: Sequence[int]) -> Mapping[int, LoggedLine]:
        """Read the lines again. Raises OSError."""
        return await to_thread.run_sync(lambda: dict(self._read_at(positions)))

    async def matching(self, positions: Sequence[int], fits: Callable[[LoggedLine], bool]) -> list[int]:
        """Read the lines again; return the positions of those that fit. Raises OSError."""
        return await to_thread.run_sync(lambda: [at for at, line in self._read_at(positions) if fits(line)])

    def _read_at(self, positions: Sequence[int]) -> Iterator[tuple[int, LoggedLine]]:
        with self._lock:
            for position in positions:
                if self._again.closed or position >= len(self._offsets):
                    continue
                self._again.seek(self._offsets[position])
                data = self._again.readline()
                line = (_frame_of(data) if self._is_frame[position] else None) or _line_of(data)
                if line is not None:
                    yield position, line

    def listen(self, wake: Callable[[], None]) -> None:
        """Do nothing: a file doesn't report its growth. Its watcher calls `wake`."""

    def close(self) -> None:
        self._file.close()
        with self._lock:
            self._again.close()


LineSource: TypeAlias = LiveSource | FileSource
"""Lines by position. Lines that are gone or not there yet are omitted."""


def _frame_of(data: bytes) -> LoggedLine | None:
    written = written_frame(data.rstrip(b"\r\n"))
    if written is None:
        return None
    at_s, direction, frame = written
    return LoggedLine(at_s, LineKind(direction.value), frame)


def _line_of(data: bytes) -> LoggedLine | None:
    """The content of a recorded line; None for events that neither side sent."""
    try:
        event = read_event(data.rstrip(b"\r\n"))
    except BadLine as error:
        return LoggedLine(0.0, LineKind.NOTE, f"a line that isn't an event: {error}".encode()) if data.strip() else None
    match event:
        case Frame(at, direction, frame):
            return LoggedLine(at, LineKind(direction.value), frame)
        case Stderr(at, text):
            return LoggedLine(at, LineKind.STDERR, text)
        case Exited(at, how):
            return LoggedLine(at, LineKind.NOTE, f"{ENDED}{how}".encode())
        case Dropped(at, events, why):
            return LoggedLine(at, LineKind.NOTE, f"{events:,} events are missing here: {why}".encode())
        case _:
            return None
