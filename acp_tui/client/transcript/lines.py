"""The lines of a recording: converts events to JSON and back, and reads files in constant memory, whatever their state.

`replay` interprets them.
"""

from __future__ import annotations

import json
import os
import re
import sys
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO, Final, TypeVar

from pydantic_core import from_json

from acp_tui.client.errors import ClientError
from acp_tui.client.transcript import events, extension_updates
from acp_tui.conversation.facts import SessionId
from acp_tui.rpc import Direction
from acp_tui.rpc.messages import has_too_many_values
from acp_tui.values import dataclass

FORMAT: Final = "acp-tui-recording"
VERSION: Final = 1
MAX_S: Final = 10 * 365 * 86_400
"""No recording takes longer. Clocks and calendars have limits."""

# A frame that is JSON is in its line unchanged, byte for byte. So we recognize our lines by their beginning, and the
# rest is the frame. jq sees an object, and no other JSON library has to write numbers exactly like the original.
_FRAME_LINE = re.compile(rb'\{"t":(\d+(?:\.\d+)?),"type":"(in|out)","frame":')

_DIRECTIONS: Final = {direction.value.encode(): direction for direction in Direction}


T = TypeVar("T", bound=events.Event)


class BadLine(Exception):
    """A line that isn't an event."""


# Writing


def header_line(header: events.Header) -> bytes:
    screen = None if header.screen is None else dict(zip(("columns", "rows"), header.screen, strict=True))
    return line(
        {
            "format": FORMAT,
            "version": VERSION,
            "started_at": header.started_at,
            "client": {"name": "acp-tui", "version": header.client},
            "agent": {"name": header.agent, "command": list(header.argv), "env": list(header.env_names)},
            "cwd": header.cwd,
            "sandbox": header.sandbox or None,
            "screen": screen,
            "raw": header.is_raw,
            "pid": header.pid,
        }
    )


def frame_line(at: float, direction: Direction, data: bytes, *, is_json: bool) -> bytes:
    """A frame. With `is_json`, it's one JSON value in UTF-8 that every parser accepts."""
    if is_json:
        return b'{"t":%.6f,"type":"%s","frame":%s}\n' % (at, direction.value.encode(), data)
    return _event(at, direction.value, extension_updates.as_text(data))


def event_line(event: events.Event) -> bytes:
    """Any event except a frame."""
    match event:
        case events.Frame():
            raise TypeError("a frame is written by frame_line")
        case events.Stderr(at, data):
            return _event(at, "stderr", extension_updates.as_text(data))
        case events.OwnAction(at, session_id, update):
            kind = extension_updates.KINDS[type(update)]
            return _event(at, kind, {"session": session_id, **extension_updates.as_fields(update)})
        case events.Closed(at, session_id):
            return _event(at, "session_closed", {"session": session_id})
        case events.Resized(at, columns, rows):
            return _event(at, "screen_resized", {"columns": columns, "rows": rows})
        case events.TerminalCut(at, terminal_id, dropped_bytes):
            return _event(at, "terminal_cut", {"terminal_id": terminal_id, "dropped_bytes": dropped_bytes})
        case events.Dropped(at, count, why):
            return _event(at, "dropped", {"events": count, "why": why})
        case events.Restarted(_, header):
            return header_line(header)
        case events.Exited(at, how):
            return _event(at, "agent_exited", {"how": how})
        case events.UnknownEvent(at, kind, fields):
            return _event(at, kind, fields)


def _event(at: float, kind: str, fields: Mapping[str, Any]) -> bytes:
    return line({"t": round(at, 6), "type": kind, **fields})


def line(value: Any) -> bytes:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    try:
        return text.encode() + b"\n"
    except UnicodeEncodeError:  # a lone surrogate
        return json.dumps(value, separators=(",", ":")).encode() + b"\n"


# Reading


def read_header(data: bytes) -> events.Header | None:
    """The header, including of a later version; None if the first line isn't ours."""
    value = _object(data)
    version = value.get("version") if value is not None else None
    if value is None or value.get("format") != FORMAT or type(version) is not int:
        return None
    agent, client, screen = (mapping(value.get(key)) for key in ("agent", "client", "screen"))
    size = (screen.get("columns"), screen.get("rows"))
    cwd = str(value.get("cwd", ""))
    return events.Header(
        agent=str(agent.get("name", "")),
        argv=_texts(agent.get("command")),
        env_names=_texts(agent.get("env")),
        client=str(client.get("version", "")),
        cwd=cwd if cwd.startswith("/") else "",  # a relative path has no meaning here
        sandbox=sandbox if isinstance(sandbox := value.get("sandbox"), str) else "",
        screen=(size[0], size[1]) if isinstance(size[0], int) and isinstance(size[1], int) else None,
        started_at=str(value.get("started_at", "")),
        is_raw=value.get("raw") is True,
        version=version,
        pid=pid if type(pid := value.get("pid")) is int else None,
    )


def written_frame(data: bytes) -> tuple[float, Direction, bytes] | None:
    """The content of a `Frame` whose line is unchanged, without checking whether it's JSON."""
    ours = _FRAME_LINE.match(data)
    if ours is None or not data.endswith(b"}") or (at := float(ours[1])) > MAX_S:
        return None
    return at, _DIRECTIONS[ours[2]], data[ours.end() : -1]


def read_event(data: bytes) -> events.Event:
    """An event, possibly of an unknown kind. Raises BadLine."""
    return read_event_and_message(data)[0]


def read_event_and_message(data: bytes) -> tuple[events.Event, dict[str, Any] | list[Any] | None]:
    """An event, and what is in its frame as `parsed` has it; None for other events. Raises BadLine."""
    written = written_frame(data)
    if written is not None and (message := parsed(written[2])) is not None:
        return events.Frame(*written), message
    event = _read_event(data)
    return event, parsed(event.data) if isinstance(event, events.Frame) else None


def _read_event(data: bytes) -> events.Event:
    value = _object(data)
    if value is None or value.get("t") is None:
        if (header := read_header(data)) is not None:
            return events.Restarted(0.0, header)
        raise BadLine("no JSON object with a time")
    at = _time(value["t"])
    kind = value.get("type")
    if not isinstance(kind, str):
        raise BadLine("an event without a type")
    try:
        return _read(at, kind, value)
    except (KeyError, TypeError, ValueError, OverflowError, extension_updates.NotReadable):
        return events.UnknownEvent(at, kind, value)


def _time(value: Any) -> float:
    """Raises BadLine."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise BadLine("a time that isn't a number")
    if not 0 <= value <= MAX_S:  # also excludes NaN
        raise BadLine("a time that can't be")
    return float(value)


def _read(at: float, kind: str, value: dict[str, Any]) -> events.Event:
    match kind:
        case "in" | "out":
            return events.Frame(at, Direction(kind), _frame(value))
        case "stderr":
            return events.Stderr(at, extension_updates.from_text(value))
        case "session_closed":
            return events.Closed(at, SessionId(str(value["session"])))
        case "screen_resized":
            return events.Resized(at, int(value["columns"]), int(value["rows"]))
        case "terminal_cut":
            return events.TerminalCut(at, str(value["terminal_id"]), int(value["dropped_bytes"]))
        case "dropped":
            return events.Dropped(at, int(value["events"]), str(value.get("why", "")))
        case "agent_exited":
            return events.Exited(at, str(value["how"]))
        case _ if kind in extension_updates.TYPES:
            session_id = value.get("session")
            update = extension_updates.from_fields(kind, value)
            return events.OwnAction(at, None if session_id is None else SessionId(str(session_id)), update)
        case _:
            return events.UnknownEvent(at, kind, value)


def _frame(value: dict[str, Any]) -> bytes:
    if "frame" in value:  # another program rewrote the line: the frame means the same, but its bytes may differ
        return line(value["frame"])[:-1]
    return extension_updates.from_text(value)


def parsed(data: bytes) -> dict[str, Any] | list[Any] | None:
    """The object or list; None for anything else, for JSON that only some parsers accept, and for too many values."""
    if has_too_many_values(data):
        return None
    try:
        value = from_json(data, allow_inf_nan=False, cache_strings="none")
    except ValueError:
        return None
    return value if isinstance(value, dict | list) else None


def _object(line: bytes) -> dict[str, Any] | None:
    if has_too_many_values(line):
        return None
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _texts(value: Any) -> tuple[str, ...]:
    return tuple(map(str, value)) if isinstance(value, list) else ()


MAX_LINE_BYTES: Final = 512 << 20
READ_AT_ONCE: Final = 256 << 10
"""Bytes. Lines of 20 KB take a quarter of the time that they take with Python's 8 KB."""
MAX_PROBLEMS: Final = 100


class RecordingUnreadable(ClientError):
    """The file isn't a recording, or can't be read."""


@dataclass(frozen=True, slots=True)
class SkippedLine:
    """A line that was left out."""

    line: int
    """From 1."""
    why: str


class Recording:
    """Open recordings, from `open_recording`. Iterating returns their events, including those added to the last one.

    They follow each other like the lines of one file, and in time.
    """

    def __init__(self, paths: Sequence[Path], files: Sequence[BinaryIO], header: events.Header) -> None:
        self.paths = paths
        self.header = header
        """That of the first one."""
        self.problems: list[SkippedLine] = []
        """The first ones, in the lines read so far."""
        self.half_line = b""
        """Text after the last newline: the writer was killed mid-line, or hasn't finished the line."""
        self.place = range(0)
        """The bytes that are the line of the last event, as if the files were one."""
        self._files = files
        self._starts = [0]
        """Where each file begins that was reached."""
        self._restarts, self._restarts_s = [0], [0.0]
        """Where each recording begins, and when."""
        self._line = 1
        self._at = files[0].tell()
        self._last_s = 0.0

    def __iter__(self) -> Iterator[events.Event]:
        """The events after the last iteration. If the file still grows, iterate again later."""
        return (event for event, _ in self.with_messages())

    def with_messages(
        self, skip: Callable[[bytes], bool] = lambda _: False
    ) -> Iterator[tuple[events.Event, dict[str, Any] | list[Any] | None]]:
        """The same with what is in their frames, so that nobody parses them again. Lines to `skip` aren't read."""
        for data in self._lines():
            self.half_line = b""
            self._line += 1
            self._at += len(data)
            if skip(data):
                continue
            line = data.rstrip(b"\r\n")
            if line and (read := self._read(line)) is not None:
                self.place = range(self._at - len(data), self._at)
                if isinstance(read[0], events.Restarted):
                    self._restarts_s.append(self._last_s)
                    self._restarts.append(self.place.start)
                event = self._in_time(read[0])
                self._last_s = max(self._last_s, event.at)
                yield event, read[1]

    def _lines(self) -> Iterator[bytes]:
        while True:
            file = self._files[len(self._starts) - 1]
            data = file.readline(MAX_LINE_BYTES)
            if data.endswith(b"\n"):
                yield data
            elif file is self._files[-1]:
                self.half_line = data
                file.seek(-len(data), 1)
                return
            else:
                self._at += len(data)
                self._starts.append(self._at)

    def event_in(self, place: range) -> events.Event:
        """The event in a `place` again; an unknown one if another program has changed the file. Raises OSError."""
        number = bisect_right(self._starts, place.start) - 1
        data = os.pread(self._files[number].fileno(), len(place), place.start - self._starts[number])
        written = written_frame(line := data.rstrip(b"\r\n"))
        if written is not None:
            return self._in_time(events.Frame(*written), place.start)  # it was JSON when it was read
        try:
            return self._in_time(read_event(line), place.start)
        except BadLine as error:
            return events.UnknownEvent(0.0, str(error))

    def _in_time(self, event: T, place: int = sys.maxsize) -> T:
        """The event, in the recording that is in this place, at its time since the first one began."""
        since_s = self._restarts_s[bisect_right(self._restarts, place) - 1]
        return replace(event, at=event.at + since_s) if since_s else event

    def last(self, most: int) -> tuple[int, bytes]:
        """The last bytes of the file, and how many more there are before them than were read. Raises OSError."""
        fd = self._files[-1].fileno()
        start = max(os.fstat(fd).st_size - most, 0)
        return start - self._at, os.pread(fd, most, start)

    def _read(self, line: bytes) -> tuple[events.Event, dict[str, Any] | list[Any] | None] | None:
        if line.isspace():
            return None
        try:
            return read_event_and_message(line)
        except BadLine as error:
            if len(self.problems) < MAX_PROBLEMS:
                self.problems.append(SkippedLine(self._line, str(error)))
            return None

    def close(self) -> None:
        for file in self._files:
            file.close()

    def __enter__(self) -> Recording:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def open_recording(*paths: Path) -> Recording:
    """Open a recording, or several as one, and read their headers; a context manager. Blocks.

    Raises RecordingUnreadable.
    """
    files, headers = list[BinaryIO](), list[events.Header]()
    with ExitStack() as opened:
        for each in paths:
            try:
                files.append(opened.enter_context(each.open("rb", READ_AT_ONCE)))
                header = read_header(files[-1].readline(MAX_LINE_BYTES))
            except OSError as error:
                raise RecordingUnreadable(f"{each} can't be read: {error.strerror or error}") from error
            if header is None:
                raise RecordingUnreadable(f"{each} isn't a recording: it doesn't start with a recording's header")
            headers.append(header)
        for file in files[1:]:
            file.seek(0)
        opened.pop_all()
    return Recording(paths, files, headers[0])
