"""Reads recordings: a line at a time, in constant memory, and whatever their state. What they mean is `replay`'s."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Final

from acp_tui.client.errors import ClientError
from acp_tui.client.transcript.events import Event, Header
from acp_tui.client.transcript.lines import BadLine, NotARecording, read_event, read_header
from acp_tui.values import dataclass

MAX_LINE_BYTES: Final = 512 << 20
MAX_PROBLEMS: Final = 100


class RecordingUnreadable(ClientError):
    """The file is no recording, or cannot be read."""


@dataclass(frozen=True, slots=True)
class Problem:
    """A line that was left out."""

    line: int
    """From 1."""
    why: str


class Recording:
    """A recording that is open; made by `open_recording`. Iterating gives its events, also those that come later."""

    def __init__(self, path: Path, file: BinaryIO, header: Header) -> None:
        self.path = path
        self.header = header
        self.problems: list[Problem] = []
        """The first ones, of the lines read so far."""
        self.half_line = b""
        """What stands behind the last line end: its writer was ended in the middle, or has not come further."""
        self._file = file
        self._line = 1

    def __iter__(self) -> Iterator[Event]:
        """The events from where the last iteration ended. On a file that still grows, ask again later."""
        while data := self._file.readline(MAX_LINE_BYTES):
            if not data.endswith(b"\n"):
                self.half_line = data
                self._file.seek(-len(data), 1)
                return
            self.half_line = b""
            self._line += 1
            event = self._read(data.rstrip(b"\r\n"))
            if event is not None:
                yield event

    def _read(self, line: bytes) -> Event | None:
        if not line or line.isspace():
            return None
        try:
            return read_event(line)
        except BadLine as error:
            if len(self.problems) < MAX_PROBLEMS:
                self.problems.append(Problem(self._line, str(error)))
            return None

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def __enter__(self) -> Recording:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def open_recording(path: Path) -> Recording:
    """Open a recording and read its header; a context manager. It blocks. Raises RecordingUnreadable."""
    try:
        file = path.open("rb")
    except OSError as error:
        raise RecordingUnreadable(f"{path} can't be read: {error.strerror or error}") from error
    try:
        return Recording(path, file, read_header(file.readline(MAX_LINE_BYTES)))
    except NotARecording as error:
        file.close()
        raise RecordingUnreadable(f"{path} isn't a recording: {error}") from error
    except OSError as error:
        file.close()
        raise RecordingUnreadable(f"{path} can't be read: {error.strerror or error}") from error
