"""Records one agent process: the event loop collects events, a thread writes them, and a `Scribe` removes secrets."""

from __future__ import annotations

import json
import logging
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from threading import Event as Signal
from threading import Thread
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any, BinaryIO, Final

from acp_tui.client.secrets.heuristics import open_block
from acp_tui.client.secrets.masking import MASK, Masker
from acp_tui.client.transcript import events, extension_updates, lines
from acp_tui.client.transcript.frame_log import MAX_STDERR_LINE
from acp_tui.conversation import updates
from acp_tui.conversation.facts import SessionId
from acp_tui.rpc import Direction
from acp_tui.values import dataclass

if TYPE_CHECKING:
    from acp_tui.client.transcript.index import IndexedRecording

log = logging.getLogger(__name__)

BATCH_S: Final = 0.05
"""Events within this time are written together. Nothing runs while there are none."""
LONG_BYTES: Final = 4_000_000
LONG_S: Final = 0.4
"""How long to let others work first if so much is to be written: a frame of megabytes keeps the GIL for long."""
EVENTS_PER_SLICE: Final = 64
"""After this many events, the thread lets the event loop run, because they share the GIL."""
CLOSE_S: Final = 5.0
"""If the disk takes longer for the rest, the rest is lost."""
TOO_FAST: Final = "they arrived faster than they could be written"
FULL: Final = "the recording reached its size limit"


@dataclass(frozen=True, slots=True)
class Outlet:
    """A file to write to. Its functions are called in the writer's thread."""

    open_file: Callable[[], BinaryIO]
    max_bytes: int = 64 << 20
    is_raw: bool = False
    """Keep secrets."""
    index: IndexedRecording | None = None
    """Follows what is written."""


class Recorder:
    """One recording from its first line to `close`. Everything except writing runs on the event loop and is cheap."""

    def __init__(
        self,
        header: events.Header,
        outlets: Sequence[Outlet],
        *,
        buffer_bytes: int = 64 << 20,
        terminal_bytes: int = 4 << 20,
        environ: Mapping[str, str] | None = None,
        on_trouble: Callable[[str], None],
    ) -> None:
        """`buffer_bytes` is for events waiting to be written, `terminal_bytes` for the start of each terminal's output.

        `environ` is the agent's environment, whose secrets are masked.
        `on_trouble` is called in the writer's thread, at most once for each outlet.
        """
        self.header = header
        self._buffer_bytes, self._terminal_bytes = buffer_bytes, terminal_bytes
        self._begun = monotonic()
        self._events: deque[events.Event] = deque()
        self._put_bytes = self._taken_bytes = self._missed = 0
        self._printed: dict[str, int] = {}
        self._prompt: events.OwnAction | None = None
        """The prompt the user just sent. Either the next event is its frame, or there is no frame."""
        self._stderr = b""
        self._wake, self._closing = Signal(), Signal()
        self._writers = [_Writer(header, outlet, environ, on_trouble) for outlet in outlets]
        self._thread = Thread(target=self._write, name="recorder", daemon=True)
        self._thread.start()

    # Events

    def tap(self, direction: Direction, frame: bytes) -> None:
        self.put(events.Frame(self._now(), direction, frame), len(frame))

    def stderr(self, data: bytes) -> None:
        *whole, self._stderr = (self._stderr + data).split(b"\n")
        if len(self._stderr) > MAX_STDERR_LINE:
            whole.append(self._stderr)
            self._stderr = b""
        for line in whole:
            self.put(events.Stderr(self._now(), line), len(line))

    def own(self, session_id: SessionId | None, update: updates.SessionUpdate) -> None:
        """Record a change to a session, unless only the agent's frames can have caused it."""
        if type(update) not in extension_updates.KINDS:
            return
        if isinstance(update, updates.PromptSent):
            self._prompt = events.OwnAction(self._now(), session_id, update)
            return
        if isinstance(update, updates.TerminalOutput):
            update = self._within_limit(update)
            if not update.data:
                return
        elif isinstance(update, updates.TerminalExited):
            self._note_cut(update.terminal_id)
        size = len(update.data) if isinstance(update, updates.TerminalOutput) else 0
        self.put(events.OwnAction(self._now(), session_id, update), size)

    def learn(self, environ: Mapping[str, str]) -> None:
        """Mask the secrets among these variables, too, in what is written from now on."""
        for writer in self._writers:
            writer.learn(environ)

    def closed(self, session_id: SessionId) -> None:
        """Record that a session was closed and its updates are now ignored."""
        self.put(events.Closed(self._now(), session_id))

    def resized(self, columns: int, rows: int) -> None:
        self.put(events.Resized(self._now(), columns, rows))

    def exited(self, how: str) -> None:
        if self._stderr:
            self.stderr(b"\n")
        for terminal_id in tuple(self._printed):
            self._note_cut(terminal_id)
        self.put(events.Exited(self._now(), how))

    def close(self) -> bool:
        """Write the remaining events and end. Blocks for at most `CLOSE_S`; returns whether all was written by then."""
        self._closing.set()
        self._wake.set()
        self._thread.join(CLOSE_S)
        return not self._thread.is_alive()

    # The buffer

    def _now(self) -> float:
        return monotonic() - self._begun

    def put(self, event: events.Event, size: int = 0) -> None:
        prompt, self._prompt = self._prompt, None
        if prompt is not None:
            is_sent = isinstance(event, events.Frame) and event.direction is Direction.OUT
            self._append(_notes_of(prompt) if is_sent else prompt)
        self._append(event, size)

    def _append(self, event: events.Event, size: int = 0) -> None:
        if self._put_bytes - self._taken_bytes > self._buffer_bytes:
            self._missed += 1
            return
        if self._missed:
            self._events.append(events.Dropped(event.at, self._missed, TOO_FAST))
            self._missed = 0
        self._put_bytes += _EVENT_BYTES + size
        self._events.append(event)
        if not self._wake.is_set():
            self._wake.set()

    def _within_limit(self, output: updates.TerminalOutput) -> updates.TerminalOutput:
        printed = self._printed.get(output.terminal_id, 0)
        self._printed[output.terminal_id] = printed + len(output.data)
        left = max(0, self._terminal_bytes - printed)
        return output if len(output.data) <= left else replace(output, data=output.data[:left])

    def _note_cut(self, terminal_id: str) -> None:
        dropped = self._printed.pop(terminal_id, 0) - self._terminal_bytes
        if dropped > 0:
            self.put(events.TerminalCut(self._now(), terminal_id, dropped))

    # The thread

    def _write(self) -> None:
        for writer in self._writers:
            writer.open()
        while not self._closing.is_set():
            self._wake.wait()
            self._wake.clear()
            self._closing.wait(BATCH_S)
            if self._put_bytes - self._taken_bytes > LONG_BYTES:
                self._closing.wait(LONG_S)
            self._write_batch()
        if self._missed:
            self._events.append(events.Dropped(self._now(), self._missed, TOO_FAST))
        self._write_batch()
        for writer in self._writers:
            writer.close()

    def _write_batch(self) -> None:
        batch = [self._events.popleft() for _ in range(len(self._events))]
        for writer in self._writers:
            writer.write(batch)
        self._taken_bytes += sum(map(_size, batch))


def _notes_of(prompt: events.OwnAction) -> events.OwnAction:
    """The part that isn't in its frame."""
    assert isinstance(prompt.update, updates.PromptSent)
    return replace(prompt, update=updates.PromptSent((), prompt.update.notes))


_EVENT_BYTES: Final = 64
"""The size of an event besides its bytes."""


def _size(event: events.Event) -> int:
    match event:
        case events.Frame() | events.Stderr():
            return _EVENT_BYTES + len(event.data)
        case events.OwnAction(_, _, updates.TerminalOutput(_, data)):
            return _EVENT_BYTES + len(data)
        case events.Dropped():
            return 0
        case _:
            return _EVENT_BYTES


class _Writer:
    """Writes batches to a file up to its size limit. After the first failure, it writes nothing more."""

    def __init__(
        self,
        header: events.Header,
        outlet: Outlet,
        environ: Mapping[str, str] | None,
        on_trouble: Callable[[str], None],
    ) -> None:
        self._header = replace(header, is_raw=outlet.is_raw)
        self._open_file = outlet.open_file
        self._masker = None if outlet.is_raw else Masker(environ)
        self._scribe = Scribe(self._masker)
        self._room = outlet.max_bytes
        self._on_trouble = on_trouble
        self._index = outlet.index
        self._file: BinaryIO | None = None
        self._is_full = False
        self._left_out = 0
        self._last_at = 0.0

    def learn(self, environ: Mapping[str, str]) -> None:
        if self._masker is not None:
            self._masker.learn(environ)

    def open(self) -> None:
        with self._until_it_fails():
            self._file = self._open_file()
            self._file.write(lines.header_line(self._header))
            self._file.flush()

    def write(self, batch: list[events.Event]) -> None:
        if self._file is None or not batch:
            return
        with self._until_it_fails():
            for at in range(0, len(batch), EVENTS_PER_SLICE):
                for event in batch[at : at + EVENTS_PER_SLICE]:
                    self._file.write(self._line(event))
                sleep(0)
            self._file.flush()
            if self._index is not None:
                self._index.flush()

    def _line(self, event: events.Event) -> bytes:
        self._last_at = event.at
        # Masked frames are about as long. Searching for secrets is slow, so skip frames that don't fit anyway.
        has_room = not self._is_full and _size(event) <= 2 * self._room
        line, message = self._scribe.write(event) if has_room else (b"", None)
        if not has_room or len(line) > self._room:
            self._is_full = True
            self._left_out += 1
            return lines.event_line(events.Dropped(event.at, 1, FULL)) if self._left_out == 1 else b""
        self._room -= len(line)
        if self._index is not None:
            self._index.see(event, message)
        return line

    def close(self) -> None:
        if self._file is None:
            return
        with self._until_it_fails():
            if self._left_out > 1:
                self._file.write(lines.event_line(events.Dropped(self._last_at, self._left_out - 1, FULL)))
            self._file.flush()
            if self._index is not None:
                self._index.close()
        if self._file is not None:
            self._file.close()

    @contextmanager
    def _until_it_fails(self) -> Iterator[None]:
        """Report an error and stop recording, because a recording must not affect the session."""
        try:
            yield
        except OSError as error:
            where = getattr(self._file, "name", None) or error.filename or "the recording"
            self._give_up(f"{where}: {error.strerror or error}")
        except Exception as error:
            log.exception("a recording failed")
            self._give_up(f"{type(error).__name__}: {error}")

    def _give_up(self, why: str) -> None:
        file, self._file = self._file, None
        if file is not None:
            with suppress(OSError):  # what it couldn't write before, it can't write now
                file.close()
        self._on_trouble(f"Recording stopped: {why}")


_FORM: Final = b"elicitation/create"
MAX_KEY_LINES: Final = 100
"""How many lines of stderr to hide after the beginning of a private key without an end."""


class SecretsSent:
    """Learns the secrets that an agent is sent, besides those in its environment."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self.masker = Masker(environ)
        self._scribe = Scribe(self.masker)

    def tap(self, direction: Direction, frame: bytes) -> None:
        if direction is Direction.OUT or b"elicitation" in frame:
            self._scribe.write(events.Frame(0.0, direction, frame))


class Scribe:
    """Writes one connection, event by event."""

    def __init__(self, masker: Masker | None) -> None:
        """Without a masker, secrets are kept."""
        self._masker = masker
        self._forms: set[tuple[type, Any]] = set()
        """The IDs of the agent's open questions, whose answers come from the user."""
        self._key_lines = 0
        """How many more lines of stderr may belong to a private key that has begun there."""

    def write(self, event: events.Event) -> tuple[bytes, Any]:
        """The event's line and, for a JSON frame, its content as written."""
        match event:
            case events.Frame(at, direction, data):
                return self._frame(at, direction, data)
            case events.Stderr(at, data) if self._masker is not None:
                event = events.Stderr(at, self._stderr(self._masker, data))
            case events.OwnAction(_, _, updates.TerminalOutput() | updates.ElicitationAnswered() as update) if (
                self._masker is not None
            ):
                event = replace(event, update=masked_update(update, self._masker))
            case events.OwnAction() | events.Exited() if self._masker is not None:
                return self._masked(event, self._masker), None
        return lines.event_line(event), None

    def _frame(self, at: float, direction: Direction, data: bytes) -> tuple[bytes, Any]:
        message = lines.parsed(data)
        is_answer = self._is_answer_to_form(direction, data, message)
        if self._masker is None or not (is_answer or _is_suspect(self._masker, data, message)):
            return lines.frame_line(at, direction, data, is_json=message is not None), message
        loose = message if message is not None else _loosely(data)
        if loose is None:
            return lines.frame_line(at, direction, self._line(self._masker, data), is_json=False), None
        hidden = self._masker.message(loose, is_answer_to_form=is_answer)
        if hidden != loose:
            data = json.dumps(hidden, ensure_ascii=message is None, separators=(",", ":")).encode()
        return lines.frame_line(at, direction, data, is_json=message is not None), hidden

    def _is_answer_to_form(self, direction: Direction, data: bytes, message: Any) -> bool:
        if direction is Direction.IN:
            if _FORM in data or rb"elicitation\/create" in data:
                asked = message if message is not None else _loosely(data)
                if isinstance(asked, dict) and isinstance(asked.get("id"), str | int | float):
                    self._forms.add((type(asked["id"]), asked["id"]))
            return False
        if not self._forms or not isinstance(message, dict) or "method" in message:
            return False
        answered = (type(message.get("id")), message.get("id"))
        is_answer = answered in self._forms
        self._forms.discard(answered)
        return is_answer

    def _stderr(self, masker: Masker, data: bytes) -> bytes:
        """Mask stderr across lines, because single lines of a private key can't be recognized."""
        has_ended = b"-----END " in data
        if self._key_lines and not has_ended:
            self._key_lines -= 1
            return MASK.encode() if data.strip() else data
        begun = open_block(data.decode("utf-8", "replace"))
        self._key_lines = MAX_KEY_LINES if begun is not None and b"PRIVATE KEY" in data else 0
        return self._line(masker, data)

    @staticmethod
    def _line(masker: Masker, data: bytes) -> bytes:
        return masker.line(data.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")

    @staticmethod
    def _masked(event: events.OwnAction | events.Exited, masker: Masker) -> bytes:
        line = lines.event_line(event)
        if not masker.is_suspect(line):
            return line
        fields = json.loads(line)
        update = event.update if isinstance(event, events.OwnAction) else None
        return lines.line(masked_fields(update, fields, masker))


def masked_update(update: updates.SessionUpdate, masker: Masker) -> updates.SessionUpdate:
    """The update without what its fields can't be searched for: output, and answers to forms."""
    match update:
        case updates.TerminalOutput(terminal_id, data):
            return updates.TerminalOutput(terminal_id, masker.output(data))
        case updates.ElicitationAnswered():  # what was typed is between the user and the agent
            values = tuple(value if value.is_choice else replace(value, value=MASK) for value in update.values)
            return replace(update, values=values)
        case _:
            return update


def masked_fields(update: updates.SessionUpdate | None, fields: Any, masker: Masker) -> Any:
    # A question about a file contains the file, and code must not be treated as a log.
    is_text = isinstance(
        update, updates.PermissionAsked | updates.ToolCallReported | updates.PromptSent | updates.PromptJoined
    )
    return masker.message(fields) if is_text else masker.log(fields)


def _is_suspect(masker: Masker, data: bytes, message: Any) -> bool:
    """Most frames of a long turn are pieces of text. For them, check only the text, which is a tenth of the frame."""
    text = _plain_text(message)
    return masker.is_suspect(data) if text is None else masker.is_suspect_text(text)


def _plain_text(message: Any) -> str | None:
    """The text of an update that otherwise contains only IDs and kinds."""
    if type(message) is not dict or message.keys() != {"jsonrpc", "method", "params"}:
        return None
    params = message["params"]
    if type(params) is not dict or params.keys() != {"sessionId", "update"}:
        return None
    update = params["update"]
    if type(update) is not dict or not update.keys() <= {"sessionUpdate", "content", "messageId"}:
        return None
    block = update.get("content")
    if type(block) is not dict or block.keys() != {"type", "text"} or type(block["text"]) is not str:
        return None
    return block["text"]


def _loosely(data: bytes) -> Any:
    """Parse slightly invalid JSON as the connection does (rpc.messages)."""
    try:
        value = json.loads(data.decode("utf-8-sig", "replace"))
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict | list) else None
