"""Where lines come from, a running agent or a recording, and the files they are saved to."""

from __future__ import annotations

import os
from array import array
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO, Final, Protocol

from anyio import to_thread

from acp_tui import __version__
from acp_tui.client.errors import ClientError
from acp_tui.client.files import create_private
from acp_tui.client.secrets.masking import Masker
from acp_tui.client.transcript import lines as recorded
from acp_tui.client.transcript.events import Dropped, Exited, Frame, Header, Stderr
from acp_tui.client.transcript.frame_log import ENDED, FrameLog, Kind, Line
from acp_tui.client.transcript.lines import (
    MAX_LINE_BYTES,
    BadLine,
    open_recording,
    parsed,
    read_event,
    written_frame,
)
from acp_tui.rpc import Direction
from acp_tui.workbench.inspect.outline import pretty

SLICE_LINES: Final = 512
SLICE_BYTES: Final = 1 << 20
"""What is read at once: a thread holds up the event loop while it parses."""
BLOCK_BYTES: Final = 4 << 10
"""Most lines are shorter."""
MAX_BLOCK_BYTES: Final = 256 << 10
"""Where neighbours are wanted too."""
MAX_GAP_BYTES: Final = 16 << 10
"""From one line to the next that is wanted, on average: it is quicker to read over it."""


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

    async def matching(self, positions: Sequence[int], fits: Callable[[Line], bool]) -> list[int]:
        """Those of these lines that fit, as a thread finds. Raises OSError."""

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

    async def matching(self, positions: Sequence[int], fits: Callable[[Line], bool]) -> list[int]:
        """Of those that are still there."""
        lines = await self.lines_at(positions)
        return await to_thread.run_sync(lambda: [at for at, line in lines.items() if fits(line)])

    def listen(self, wake: Callable[[], None]) -> None:
        """Each line wakes."""
        self._wake = wake
        self._log.listeners.append(wake)

    def close(self) -> None:
        """It lives on without us."""
        if self._wake in self._log.listeners:
            self._log.listeners.remove(self._wake)


class FileSource:
    """The lines of a recording, which may still be written: of each only its place is kept, 9 bytes."""

    first: Final = 0
    now_s: Final = None
    """What is still written to it may come late."""

    def __init__(self, path: Path) -> None:
        """It blocks. Raises RecordingUnreadable."""
        with open_recording(path) as recording:
            self.header = recording.header
        self.path = path
        self._offsets = array("Q")
        self._is_frame = bytearray()
        """Of each line whether a frame stands in it as it came, and is JSON: it need not be parsed again."""
        self._file = path.open("rb")
        self._file.readline(MAX_LINE_BYTES)

    async def read_on(self) -> tuple[int, Sequence[Line]]:
        """What was written since."""
        start, found = len(self._offsets), await to_thread.run_sync(self._read_slice)
        self._is_frame.extend(is_frame for _, _, is_frame in found)
        self._offsets.extend(offset for offset, _, _ in found)
        return start, [line for _, line, _ in found]

    def _read_slice(self) -> list[tuple[int, Line, bool]]:
        """The next lines with their places; only other events may be left out, and then it is read on."""
        found: list[tuple[int, Line, bool]] = []
        begin = offset = self._file.tell()
        while len(found) < SLICE_LINES and (not found or offset - begin < SLICE_BYTES):
            data = self._file.readline(MAX_LINE_BYTES)
            if not data.endswith(b"\n"):
                self._file.seek(offset)  # its writer has not come further
                break
            frame = _frame_of(data)
            is_frame = frame is not None and parsed(frame.data) is not None
            line = frame if is_frame else _line_of(data)
            if line is not None:
                found.append((offset, line, is_frame))
            offset += len(data)
        return found

    async def lines_at(self, positions: Sequence[int]) -> Mapping[int, Line]:
        """Read again."""
        return await to_thread.run_sync(lambda: dict(self._read_at(positions)))

    async def matching(self, positions: Sequence[int], fits: Callable[[Line], bool]) -> list[int]:
        """Read again, a block at a time."""
        return await to_thread.run_sync(lambda: [at for at, line in self._read_at(positions) if fits(line)])

    def _read_at(self, positions: Sequence[int]) -> Iterator[tuple[int, Line]]:
        positions = [at for at in positions if at < len(self._offsets)]
        if self._file.closed or not positions:
            return
        extent = self._offsets[positions[-1]] - self._offsets[positions[0]]
        is_dense = extent < len(positions) * MAX_GAP_BYTES
        # One of our own: the file may be let go meanwhile.
        file = os.dup(self._file.fileno())
        try:
            blocks = _Blocks(file, MAX_BLOCK_BYTES if is_dense and extent else BLOCK_BYTES)
            for position in positions:
                data = blocks.line_at(self._offsets[position])
                line = (_frame_of(data) if self._is_frame[position] else None) or _line_of(data)
                if line is not None:
                    yield position, line
        finally:
            os.close(file)

    def listen(self, wake: Callable[[], None]) -> None:
        """A file does not say that it grows: whoever watches it wakes."""

    def close(self) -> None:
        """Let the file go."""
        self._file.close()


class _Blocks:
    """Lines of a file by where they begin; one that was read along with another is not read again."""

    def __init__(self, file: int, size: int) -> None:
        self._file, self._size = file, size
        self._start, self._data = 0, b""

    def line_at(self, offset: int) -> bytes:
        """The line with its end, where that is there."""
        begin = offset - self._start
        end = self._data.find(b"\n", begin) if begin >= 0 else -1
        if end < 0:
            begin, end = 0, self._read(offset)
        return self._data[begin : end + 1]

    def _read(self, offset: int) -> int:
        """Read until the line is whole; gives where it ends."""
        self._start, self._data = offset, b""
        size = self._size
        while block := os.pread(self._file, size, offset + len(self._data)):
            self._data += block
            end = self._data.find(b"\n", len(self._data) - len(block))
            if end >= 0:
                return end
            size = len(self._data) * 4
        return len(self._data)


def _frame_of(data: bytes) -> Line | None:
    """The frame that stands in a line as it came."""
    written = written_frame(data.rstrip(b"\r\n"))
    if written is None:
        return None
    at_s, direction, frame = written
    return Line(at_s, _kind_of(direction), frame)


def _kind_of(direction: Direction) -> Kind:
    return Kind.IN if direction is Direction.IN else Kind.OUT


def _line_of(data: bytes) -> Line | None:
    """What stands in a line of a recording; None for what neither side has said."""
    try:
        event = read_event(data.rstrip(b"\r\n"))
    except BadLine as error:
        return Line(0.0, Kind.NOTE, f"a line that isn't an event: {error}".encode()) if data.strip() else None
    match event:
        case Frame(at, direction, frame):
            return Line(at, _kind_of(direction), frame)
        case Stderr(at, text):
            return Line(at, Kind.STDERR, text)
        case Exited(at, how):
            return Line(at, Kind.NOTE, f"{ENDED}{how}".encode())
        case Dropped(at, events, why):
            return Line(at, Kind.NOTE, f"{events:,} events are missing here: {why}".encode())
        case _:
            return None


class SavingFailed(ClientError):
    """Nothing is written, or not all of it."""


class FileIsThere(SavingFailed):
    """There is such a file, and it was not to be replaced."""


async def save_frames(
    path: Path, header: Header, slices: AsyncIterator[list[Line]], *, is_raw: bool, overwrite: bool
) -> int:
    """Write a recording of these lines; gives how many there were. Raises SavingFailed."""
    count = 0
    header = replace(header, is_raw=is_raw, client=__version__)
    try:
        file = await to_thread.run_sync(_open, path, overwrite)
        with file:
            file.write(recorded.header_line(header))
            async for lines in slices:
                await to_thread.run_sync(file.writelines, [_recorded(line) for line in lines])
                count += len(lines)
    except FileExistsError as error:
        raise FileIsThere(f"{path} already exists") from error
    except OSError as error:
        raise SavingFailed(f"Can't write {path}: {error.strerror or error}") from error
    return count


def save_json(path: Path, line: Line, *, overwrite: bool) -> None:
    """Write one frame as JSON over several lines, or as it is where it is no JSON. It blocks. Raises SavingFailed."""
    try:
        text = pretty(line.data.decode("utf-8", "replace")) + "\n"
        data = text.encode("utf-8", "surrogatepass")
    except ValueError:
        data = line.data + b"\n"
    try:
        with _open(path, overwrite) as file:
            file.write(data)
    except FileExistsError as error:
        raise FileIsThere(f"{path} already exists") from error
    except OSError as error:
        raise SavingFailed(f"Can't write {path}: {error.strerror or error}") from error


def _open(path: Path, overwrite: bool) -> BinaryIO:
    """A new file, readable by the user only."""
    if overwrite:
        with suppress(FileNotFoundError):
            path.unlink()
    return create_private(path)


def _recorded(line: Line) -> bytes:
    at_s, kind, data = line
    match kind:
        case Kind.STDERR:
            return recorded.event_line(Stderr(at_s, data))
        case Kind.NOTE:
            return recorded.event_line(Exited(at_s, data.decode("utf-8", "replace").removeprefix(ENDED)))
        case _:
            direction = Direction.IN if kind is Kind.IN else Direction.OUT
            is_json = recorded.parsed(data) is not None
            return recorded.frame_line(at_s, direction, data, is_json=is_json)
