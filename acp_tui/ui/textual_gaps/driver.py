"""Our terminal driver: repairs input before Textual parses it, merges frames for a slow terminal, and repaints.

With it, pastes never become keys, and keys keep their modifiers. Textual 8.2.8 reads text after an escape character in
a paste as keys, Alt+Enter as Enter, Alt+Backspace as Ctrl+W, and Alt with a digit as a character. It doesn't support
the form in which tmux and xterm report Shift+Enter. It queues thirty frames, and the system buffers more, so over a
slow connection an echo came seconds late.

The terminal gets only what has changed, and scrolls rows that moved. Textual sends every row of a changed region; while
an answer streams, all rows move but few are new.
"""

from __future__ import annotations

import asyncio
import os
import re
import select
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import field
from typing import Any, Final, TextIO, TypeAlias, cast

from rich.console import Console, RenderableType
from textual._compositor import ChopsUpdate, CompositorUpdate, LayoutUpdate
from textual._xterm_parser import XTermParser
from textual.app import App
from textual.driver import Driver
from textual.drivers import linux_driver
from textual.drivers.linux_driver import LinuxDriver
from textual.geometry import Size
from textual.message import Message
from textual.strip import Strip

from acp_tui.ui.textual_gaps.internals import draw_rows_again
from acp_tui.values import dataclass

MIN_SAVED: Final = 3
"""Scroll only if it saves sending at least this many rows."""

RESET: Final = "\x1b[0m"
STYLE: Final = re.compile(r"\x1b\[[\d;]+m")
"""A style begins with this, and ends with `RESET`: see Rich's `Style.render`."""

Piece: TypeAlias = tuple[int, Strip]
"""A part of a row, and its first column."""


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a row."""

    end: int
    """The column after it."""
    text: str
    """The characters sent for it."""
    strip: Strip = field(compare=False)

    @classmethod
    def at(cls, x: int, strip: Strip, console: Console) -> Part:
        """Create the part for a strip at a column."""
        return cls(x + strip.cell_length, _joined(strip.render(console)), strip)


Row: TypeAlias = Mapping[int, Part]
"""The parts of a row by their first column."""


class ShownRows:
    """The content of the terminal, row by row."""

    def __init__(self) -> None:
        self._size = Size()
        self._rows: list[Row | None] = []
        """None for a row that isn't fully known."""

    def forget(self) -> None:
        """Forget everything: something else may have written to the terminal or cleared it."""
        self._rows = [None] * len(self._rows)

    def lean(self, update: RenderableType, size: Size) -> RenderableType:
        """Wrap a screen update so that it sends as few characters as possible. Other updates stay as they are."""
        if size != self._size:
            self._size, self._rows = size, [None] * size.height
        return LeanUpdate(self, update) if isinstance(update, LayoutUpdate | ChopsUpdate) else update

    def written(self, update: LayoutUpdate | ChopsUpdate, console: Console) -> str:
        """Return the characters to send for an update, and record it as shown."""
        changed = {y: row for y, pieces in _pieces_of(update) if (row := self._merged(y, pieces, console))}
        is_layout = isinstance(update, LayoutUpdate)  # Textual requests a full redraw
        written, moved = ("", {}) if is_layout else self._scrolled(changed)
        for y, row in {**moved, **changed}.items():
            shown = {} if is_layout else self._shown(y) or {}
            new = [(x, part.text) for x, part in row.items() if shown.get(x) != part]
            written += "".join(f"\x1b[{y + 1};{x + 1}H{text}" for x, text in new)
            if y < len(self._rows):  # a growing window may be laid out before its size is known here
                self._rows[y] = row if self._is_whole(row) else None
        return written

    def _merged(self, y: int, pieces: Iterable[Piece], console: Console) -> Row:
        """The row with these pieces in it, or only the pieces if the rest isn't known."""
        new = {x: Part.at(x, strip, console) for x, strip in pieces if strip.cell_length}
        row = {**new}
        for x, part in (self._shown(y) or {}).items():
            for at, strip in _uncovered(x, part, new):
                row[at] = Part.at(at, strip, console)
        row = dict(sorted(row.items()))
        return row if self._is_whole(row) else new

    def _is_whole(self, row: Row) -> bool:
        """Whether its parts cover the whole width without gaps."""
        return [*row, self._size.width] == [0, *(part.end for part in row.values())]

    def _scrolled(self, changed: Mapping[int, Row]) -> tuple[str, Mapping[int, Row]]:
        """Return a sequence that scrolls a part of the screen, and the rows wanted there; nothing if it saves little.

        To scroll, it sets margins, feeds lines at the bottom or in reverse at the top, and resets the margins.
        """
        step = self._step_of_most(changed)
        moved = [y for y, row in changed.items() if step and row == self._shown(y + step)]
        if not moved:
            return "", {}
        region = range(min(moved) + min(step, 0), max(moved) + max(step, 0) + 1)
        before = {y: row for y in region if (row := self._shown(y)) is not None}
        after = {y: before.get(y + step) for y in region}
        wanted = {y: changed.get(y, row) for y, row in before.items()}
        saved = sum(row != before[y] for y, row in wanted.items()) - sum(row != after[y] for y, row in wanted.items())
        if saved < MIN_SAVED or len(before) < len(region):
            return "", {}
        self._rows[region.start : region.stop] = after.values()
        at, feed = (region.stop, "\n") if step > 0 else (region.start + 1, "\x1bM")
        margins = f"\x1b[{region.start + 1};{region.stop}r"
        return f"{margins}\x1b[{at};1H{feed * abs(step)}\x1b[r", wanted

    def _shown(self, y: int) -> Row | None:
        return self._rows[y] if 0 <= y < len(self._rows) else None

    def _step_of_most(self, changed: Mapping[int, Row]) -> int:
        """By how many rows most of them have moved up; negative for down, 0 if none have moved."""
        keys = [row and _key(row) for row in self._rows]
        counts = Counter(keys)
        places = {key: y for y, key in enumerate(keys) if key is not None and counts[key] == 1}
        steps = Counter(places[key] - y for y, row in changed.items() if (key := _key(row)) in places)
        return steps.most_common(1)[0][0] if steps else 0


def _joined(text: str) -> str:
    """The same characters in the same styles, without the end of a style that begins again right there."""
    styled = text.split(RESET)
    for at in range(len(styled) - 1, 0, -1):
        style = STYLE.match(styled[at])
        if style is not None and styled[at - 1].startswith(style[0]):
            styled[at - 1 : at + 1] = [styled[at - 1] + styled[at][style.end() :]]
    return RESET.join(styled)


def _key(row: Row) -> str:
    return "".join(part.text for part in row.values())


def _uncovered(x: int, part: Part, new: Row) -> Iterator[Piece]:
    """The pieces of a part that new ones, in ascending order, leave uncovered."""
    begin = x
    for start, above in new.items():
        if above.end > begin and start < part.end:
            if start > begin:
                yield begin, part.strip.crop(begin - x, start - x)
            begin = above.end
    if begin < part.end:
        yield begin, part.strip if begin == x else part.strip.crop(begin - x, part.end - x)


class LeanUpdate(CompositorUpdate):
    """An update whose text is created when it's sent."""

    def __init__(self, shown: ShownRows, update: LayoutUpdate | ChopsUpdate) -> None:
        self.update = update
        self._shown = shown

    def __rich__(self) -> RenderableType:
        """The original update, for consoles other than the terminal."""
        return self.update

    def render_segments(self, console: Console) -> str:
        """The characters to write to the terminal."""
        return self._shown.written(self.update, console)


def _pieces_of(update: LayoutUpdate | ChopsUpdate) -> Iterator[tuple[int, Iterable[Piece]]]:
    """The pieces to write in each row, as in Textual's `render_segments` (8.2.8)."""
    if isinstance(update, LayoutUpdate):
        for y, line in enumerate(update.strips, update.region.y):
            yield y, _side_by_side(update.region.x, line)
        return
    pieces: dict[int, list[Piece]] = {}
    for y, x1, x2 in update.spans:
        row = pieces.setdefault(y, [])
        for end, (x, strip) in zip(update.chop_ends[y], update.chops[y].items(), strict=False):
            if strip is not None and x < x2 and end > x1:
                row.append((x, strip if x >= x1 and end <= x2 else strip.crop(0, min(end, x2) - x)))
    yield from pieces.items()


def _side_by_side(x: int, strips: Iterable[Strip]) -> Iterator[Piece]:
    for strip in strips:
        yield x, strip
        x += strip.cell_length


ESCAPE: Final = "\x1b"
PASTE_BEGINS: Final = "\x1b[200~"
PASTE_ENDS: Final = "\x1b[201~"
STAND_IN: Final = "␛"
_MODIFIED_KEY: Final = re.compile(r"\x1b\[27;(\d+);(\d+)~")
"""xterm's form (modifyOtherKeys)."""
_ALT: Final = {f"\x1b{key}": f"\x1b[{ord(key)};3u" for key in "\r\x7f123456789"}
_ALT_KEY: Final = re.compile(r"(?<!\x1b)\x1b[\r\x7f1-9]")


class Mended:
    """Repairs input for Textual, however it's split into pieces."""

    def __init__(self) -> None:
        self._is_paste = False
        self._held = ""
        """The beginning of a possible marker."""
        self._has_escaped = False
        """Whether the escape character at its beginning was already passed to Textual."""

    def feed(self, data: str) -> str:
        """Return what to pass to Textual; "" at the end of the input."""
        data, self._held = self._held + data, ""
        pieces: list[str] = []
        while data:
            piece, data = self._paste(data) if self._is_paste else self._keys(data)
            pieces.append(piece)
        return "".join(pieces)

    def _keys(self, data: str) -> tuple[str, str]:
        """Split into text outside of a paste, and the rest."""
        keys, marker, rest = data.partition(PASTE_BEGINS)
        self._is_paste = bool(marker)
        if not marker:
            keys, self._held = _without_half(keys, PASTE_BEGINS)
        begun, self._has_escaped = self._has_escaped, False
        if self._held == ESCAPE:  # it may be the Esc key, which must not wait
            keys, self._has_escaped = keys + ESCAPE, True
        elif begun and not keys + marker:
            self._has_escaped = True
        sent = (keys + marker)[begun:].replace(PASTE_ENDS, "")
        return _MODIFIED_KEY.sub("\x1b[\\2;\\1u", _ALT_KEY.sub(lambda found: _ALT[found[0]], sent)), rest

    def _paste(self, data: str) -> tuple[str, str]:
        """Split into pasted text, without escape characters, and the rest."""
        pasted, marker, rest = data.partition(PASTE_ENDS)
        # An end marker followed by another one is part of the paste.
        while marker and PASTE_ENDS in rest.partition(PASTE_BEGINS)[0]:
            more, _, rest = rest.partition(PASTE_ENDS)
            pasted += PASTE_ENDS + more
        self._is_paste = not marker
        if not marker:
            pasted, self._held = _without_half(pasted, PASTE_ENDS)
        return pasted.replace(ESCAPE, STAND_IN) + marker, rest


def _without_half(data: str, marker: str) -> tuple[str, str]:
    """Split off the beginning of a marker at the end of the data."""
    for length in range(len(marker) - 1, 0, -1):
        if data.endswith(marker[:length]):
            return data[:-length], data[-length:]
    return data, ""


class InputParser(XTermParser):
    """Textual's parser, fed with repaired input."""

    def __init__(self, debug: bool = False) -> None:
        super().__init__(debug)
        self._mended = Mended()

    def feed(self, data: str) -> Iterable[Message]:
        """The events for input from the terminal; "" ends the input."""
        mended = self._mended.feed(data)
        return super().feed(mended) if mended or not data else ()


def mend_terminal_input() -> None:
    """Make Textual's driver use our parser from its next start on."""
    linux_driver.XTermParser = InputParser  # type: ignore[attr-defined]  # imported there, but not exported


CHUNK_BYTES: Final = 1_024
BLOCKED_S: Final = 0.01
"""If a chunk takes longer, it waited for the terminal."""
FULL_S: Final = 0.05
"""A wait this long means a full buffer, not a busy machine."""
SLOW_WRITES: Final = 3
"""This many, less than `FASTER_S` apart, mean that the terminal is slow; a single one may be a hiccup."""
BUFFER_BYTES: Final = 20_000
"""What the system buffers for a terminal before a writer has to wait (Linux: 20 KB)."""
AHEAD_S: Final = 0.1
"""A slow terminal gets at most what it can show in this time. A key waits at most this long for its echo."""
FASTER_S: Final = 20.0
FASTER: Final = 1.5
"""After this long without falling behind, the terminal gets more. If that is too much, the next try comes later."""
MIN_BYTES_A_SECOND: Final = 2_000
GONE: Final = select.POLLHUP | select.POLLERR | select.POLLNVAL
RETRY_S: Final = 0.01
SMALL_ROWS: Final = 4
"""An update this small, such as a key's echo, is sent at once."""
ROW_BYTES: Final = 300.0
"""The assumed size of a row, until some were sent."""
ROW_BYTES_WEIGHT: Final = 0.1
"""The weight of each frame in the average size of a row."""


class Pace:
    """Estimates how much output is pending. The writer thread updates it, and the event loop queries it."""

    def __init__(self) -> None:
        self._sent = 0
        self._taken = 0
        self._bytes_a_second: float | None = None
        """None while the terminal keeps up."""
        self._buffered = 0.0
        self._at = 0.0
        self._slow_writes = 0
        self._first_full_at = 0.0
        self._full_at = 0.0
        """When the buffer was last full, and the first of the times counted."""
        self._since_first = 0
        self._since_full = 0
        """Bytes written since the buffer was full."""
        self._faster_s = FASTER_S

    def note_sent(self, characters: int) -> None:
        """Record text passed to the writer thread."""
        self._sent += characters

    def note_taken(self, characters: int, size: int, blocked: int, blocked_s: float, now_s: float) -> None:
        """Record a write of `size` bytes. Its last `blocked` bytes had to wait for `blocked_s`."""
        self._taken += characters
        self._buffered = min(self._left(now_s) + size, BUFFER_BYTES)
        self._at = now_s
        self._since_full += size
        if blocked and blocked_s >= FULL_S:
            self._note_full(blocked / blocked_s, now_s)
        elif now_s - self._full_at > self._faster_s and self._since_full > BUFFER_BYTES:
            self._slow_writes, self._full_at, self._since_full = 0, now_s, 0
            self._bytes_a_second = self._bytes_a_second and self._bytes_a_second * FASTER

    def _note_full(self, speed: float, now_s: float) -> None:
        """Record that the system's buffer was full, and the speed of the write that had to wait."""
        if self._bytes_a_second is not None:
            # By our estimate, the buffer was empty.
            self._bytes_a_second = max(self._bytes_a_second / FASTER, MIN_BYTES_A_SECOND)
            self._faster_s *= 2
            self._slow_writes = 0
        if self._slow_writes == 0 or now_s - self._full_at > FASTER_S:
            self._slow_writes, self._first_full_at, self._since_first = 0, now_s, 0
        else:
            self._since_first += self._since_full
        self._slow_writes += 1
        if self._slow_writes >= SLOW_WRITES:
            # The system makes room in steps of up to 12 KB, so a single write says little.
            seconds = now_s - self._first_full_at
            speed = self._since_first / seconds if seconds else speed
            self._bytes_a_second = max(speed, MIN_BYTES_A_SECOND)
        self._buffered, self._full_at, self._since_full = BUFFER_BYTES, now_s, 0

    def has_room(self, now_s: float, *, is_small: bool) -> bool:
        """Whether a frame, or a part of it, may be sent now."""
        if self._sent > self._taken:
            return False
        return is_small or (room := self.room_bytes(now_s)) is None or room > 0

    def room_bytes(self, now_s: float) -> float | None:
        """How many bytes a slow terminal may get now; None if it keeps up, so that a whole frame may be sent."""
        if self._bytes_a_second is None:
            return None
        return AHEAD_S * self._bytes_a_second - self._left(now_s)

    @property
    def sent(self) -> int:
        """The total number of characters passed to the writer thread."""
        return self._sent

    def _left(self, now_s: float) -> float:
        """The estimated number of bytes in the system's buffer."""
        if self._bytes_a_second is None:
            return 0.0
        return max(0.0, self._buffered - (now_s - self._at) * self._bytes_a_second)


class PacedFile:
    """The file for the writer thread: a terminal, with its waits measured."""

    def __init__(self, file: TextIO, pace: Pace) -> None:
        self._file = file
        self._pace = pace

    def fileno(self) -> int:
        """The terminal's file descriptor."""
        return self._file.fileno()

    def write(self, text: str) -> None:
        """Write to the terminal, however long that takes. Does nothing if its window was closed."""
        with suppress(OSError):  # an error would end the writer thread, and whoever writes to it would block forever
            self._write(text)

    def _write(self, text: str) -> None:
        data = memoryview(text.encode(self._file.encoding, self._file.errors or "strict"))
        written, blocked_from, begin = 0, None, time.monotonic()
        while written < len(data):
            chunk_begin = time.monotonic()
            size = os.write(self.fileno(), data[written : written + CHUNK_BYTES])
            if blocked_from is None and time.monotonic() - chunk_begin > BLOCKED_S:
                blocked_from, begin = written, chunk_begin
            written += size
        now = time.monotonic()
        blocked = 0 if blocked_from is None else len(data) - blocked_from
        self._pace.note_taken(len(text), len(data), blocked, now - begin, now)

    def flush(self) -> None:
        """Do nothing: no output is held back."""


class EndOfInput(threading.Event):
    """Set when the driver should stop reading keys, or when the terminal is gone, which also ends the app.

    Without a controlling terminal, there is no SIGHUP. Textual (8.2.8) would then read the end of input forever, at
    full CPU load.
    """

    def __init__(self, terminal: int, end_app: Callable[[], object]) -> None:
        super().__init__()
        self._terminal = terminal
        self._end_app = end_app

    def is_set(self) -> bool:
        """Called by the thread that reads keys, at least ten times a second."""
        if super().is_set():
            return True
        poll = select.poll()  # a new one for each call: after a stop, two threads may ask at the same time
        poll.register(self._terminal, 0)
        if not any(event & GONE for _, event in poll.poll(0)):
            return False
        self._end_app()
        return True


class PacedDriver(LinuxDriver):
    """Textual's driver (8.2.8), extended to know how far behind the terminal is, and when it's gone."""

    def __init__(self, app: App[Any], **options: Any) -> None:
        super().__init__(app, **options)
        self.pace = Pace()
        # It's only written to, flushed, and asked for its descriptor.
        self._file: Any = PacedFile(cast(TextIO, self._file), self.pace)
        self._loop = loop = asyncio.get_running_loop()
        self.exit_event = EndOfInput(self.fileno, lambda: loop.call_soon_threadsafe(app.exit))
        self._is_continued = False
        """Whether we were stopped and are continuing, so that pending input is for us."""

    def end_threads(self) -> None:
        """Stop the driver's threads, whatever ended the app, so that they don't keep the process alive."""
        self.exit_event.set()
        if self._key_thread is not None and self._key_thread.is_alive():
            self._key_thread.join()
        if self._writer_thread is not None and self._writer_thread.is_alive():
            self._writer_thread.stop()

    def write(self, data: str) -> None:
        """Put data into the writer thread's queue."""
        self.pace.note_sent(len(data))
        super().write(data)

    def start_application_mode(self) -> None:
        """Take over the terminal, for the first time or again. Its content isn't ours."""
        if isinstance(pacing := getattr(self._app, "pacing", None), Pacing):
            pacing.shown.forget()
        super().start_application_mode()  # type: ignore[no-untyped-call]  # Textual's has no annotations

    def _sigcont_application(self, *_: object) -> None:
        # Later: the signal may come while the writer's queue is locked, and nobody can lock it twice.
        with suppress(RuntimeError):  # the loop has ended
            self._loop.call_soon_threadsafe(self._continue)

    def _continue(self) -> None:
        # We were stopped by SIGSTOP, or not at all: SIGCONT also comes with SIGHUP. Suspend first; otherwise two
        # threads would read the keys.
        if self._auto_restart and not self._must_signal_resume:
            self._is_continued = True
            try:
                self.suspend_application_mode()
            finally:
                self._is_continued = False
            self._must_signal_resume = True
        super()._sigcont_application()  # Textual's, in the event loop

    def disable_input(self) -> None:
        """Stop reading keys. Unlike Textual's method, this keeps pending input after a stop."""
        if not self._is_continued:
            super().disable_input()
            return
        self._disable_mouse_support()
        self.exit_event.set()
        if self._key_thread is not None:
            self._key_thread.join()
        self.exit_event.clear()


class Pacing:
    """Sends frames to an app's terminal only when it has room."""

    def __init__(self, app: App[Any]) -> None:
        self._app = app
        self._retry: asyncio.TimerHandle | None = None
        self._missed: set[int] = set()
        """The rows of frames that were not sent."""
        self._row_bytes = ROW_BYTES
        self.shown = ShownRows()

    def driver_class(self, textuals: type[Driver]) -> type[Driver]:
        """Return the paced driver instead of the class it extends."""
        if textuals is not LinuxDriver:
            return textuals
        mend_terminal_input()
        return PacedDriver

    def let_go_of_terminal(self) -> None:
        """Stop the driver's threads. Call it when the app has ended, for whatever reason."""
        if isinstance(self._app._driver, PacedDriver):
            self._app._driver.end_threads()

    def has_room(self, *, is_small: bool) -> bool:
        """Whether the terminal can take a frame now. Until the last frame is complete, only a small one."""
        if self._missed and not is_small:
            return False
        pace = self.pace
        return pace is None or pace.has_room(time.monotonic(), is_small=is_small)

    @property
    def pace(self) -> Pace | None:
        """The terminal's pending output; None without our driver."""
        driver = self._app._driver
        return driver.pace if isinstance(driver, PacedDriver) else None

    def display(self, renderable: RenderableType | None, send: Callable[[RenderableType | None], None]) -> None:
        """Send this frame, or as much of it as fits, and the rest later."""
        rows, pace = rows_of(renderable), self.pace
        is_dropped = self._app._batch_count > 0  # by Textual (8.2.8), which wouldn't draw these rows again
        if rows and (is_dropped or (pace is not None and len(rows) > self._rows_to_send(pace))):
            self._missed.update(rows)
            self._send_missed_later()
            return
        sent = pace.sent if pace is not None else 0
        send(renderable and self.shown.lean(renderable, self._app.screen._compositor.size))
        if rows and pace is not None:
            self._row_bytes += ((pace.sent - sent) / len(rows) - self._row_bytes) * ROW_BYTES_WEIGHT

    def _rows_to_send(self, pace: Pace) -> int:
        """How many rows to send now: all, or as many as won't delay an echo too much."""
        now_s = time.monotonic()
        if not pace.has_room(now_s, is_small=True):
            return 0
        room = pace.room_bytes(now_s)
        return self._app.size.height if room is None else max(int(room / self._row_bytes), SMALL_ROWS)

    def note_batch_end(self) -> None:
        """Draw what wasn't drawn during a batch. Textual would wait for the screen's next message."""
        if self._app._batch_count:  # it was inside another one
            return
        if self._missed:
            self._send_missed_later()
        if self._app.screen_stack:
            self._app.screen.check_idle()

    def _send_missed_later(self) -> None:
        if self._retry is None:
            self._retry = asyncio.get_running_loop().call_later(RETRY_S, self._send_missed)

    def _send_missed(self) -> None:
        self._retry = None
        if not self._missed or not self._app.is_running or not self._app.screen_stack or self._app._batch_count:
            return
        pace = self.pace
        is_small = len(self._missed) <= SMALL_ROWS
        if pace is not None and not pace.has_room(time.monotonic(), is_small=is_small):
            self._send_missed_later()
            return
        # From the bottom up: the prompt and new text are there.
        count = len(self._missed) if pace is None else self._rows_to_send(pace)
        rows = sorted(self._missed, reverse=True)[:count]
        self._missed.difference_update(rows)
        draw_rows_again(self._app.screen, rows)  # intermediate states were never sent, and aren't missed
        if self._missed:
            self._send_missed_later()


def has_room(app: App[Any], *, is_small: bool) -> bool:
    """Whether an app's terminal can take a frame now. Always True for an app without pacing."""
    pacing = getattr(app, "pacing", None)
    return not isinstance(pacing, Pacing) or pacing.has_room(is_small=is_small)


def rows_of(renderable: RenderableType | None) -> set[int]:
    """The rows that a frame draws."""
    match renderable:
        case ChopsUpdate():
            return {y for y, _, _ in renderable.spans}
        case LayoutUpdate():
            return {*renderable.region.line_range}
        case LeanUpdate():
            return rows_of(renderable.update)
        case _:
            return set()
