"""Our terminal driver: repairs input before Textual parses it, merges frames for a slow terminal, and sends little.

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

from acp_tui.ui.textual_gaps.flow_control import ANSWER, QUESTION, FlowControl
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
ENDS_ESCAPE: Final = "\x1b[?0;0$y"
"""Textual ignores this, also if it has already taken its escape character for the beginning of a key."""
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
        self.answers = 0
        """How many answers of the terminal there were."""

    def feed(self, data: str) -> str:
        """Return what to pass to Textual; "" at the end of the input."""
        data, self._held = self._held + data, ""
        data = self._without_answers(data)
        pieces: list[str] = []
        while data:
            piece, data = self._paste(data) if self._is_paste else self._keys(data)
            pieces.append(piece)
        return "".join(pieces)

    def _without_answers(self, data: str) -> str:
        """Take out the terminal's answers to us, and count them. They also come in the middle of a paste."""
        self.answers += data.count(ANSWER)
        if self._has_escaped and data.startswith(ANSWER):
            data = ENDS_ESCAPE + data.removeprefix(ANSWER)
        return data.replace(ANSWER, "")

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
    """Split off the beginning of a marker, or of an answer, at the end of the data."""
    for length in range(len(marker) - 1, 0, -1):
        if any(text.startswith(data[-length:]) for text in (marker, ANSWER)):
            return data[:-length], data[-length:]
    return data, ""


class TerminalAnswered(Message):
    """The terminal has answered our question."""


class InputParser(XTermParser):
    """Textual's parser, fed with repaired input."""

    def __init__(self, debug: bool = False) -> None:
        super().__init__(debug)
        self._mended = Mended()

    def feed(self, data: str) -> Iterable[Message]:
        """The events for input from the terminal; "" ends the input."""
        mended = self._mended.feed(data)
        answers, self._mended.answers = self._mended.answers, 0
        yield from (TerminalAnswered() for _ in range(answers))
        if mended or not data:
            yield from super().feed(mended)


def mend_terminal_input() -> None:
    """Make Textual's driver use our parser from its next start on."""
    linux_driver.XTermParser = InputParser  # type: ignore[attr-defined]  # imported there, but not exported


GONE: Final = select.POLLHUP | select.POLLERR | select.POLLNVAL
RETRY_S: Final = 0.01
SMALL_ROWS: Final = 4
"""An update this small, such as a key's echo, is sent at once."""
ROW_LENGTH: Final = 300.0
"""The assumed characters of a row, until some were sent."""
ROW_LENGTH_WEIGHT: Final = 0.1
"""The weight of each frame in the average length of a row."""
LAST_ANSWER_S: Final = 0.5
"""How long the end waits for an answer, which the shell would take for input."""


class WatchedFile:
    """The file for the writer thread: a terminal."""

    def __init__(self, file: TextIO, flow: FlowControl) -> None:
        self._file = file
        self._flow = flow

    def fileno(self) -> int:
        """The terminal's file descriptor."""
        return self._file.fileno()

    def write(self, text: str) -> None:
        """Write to the terminal, however long that takes. Does nothing if its window was closed."""
        with suppress(OSError):  # an error would end the writer thread, and whoever writes to it would block forever
            data = memoryview(text.encode(self._file.encoding, self._file.errors or "strict"))
            while data:
                data = data[os.write(self.fileno(), data) :]
            self._flow.note_written(len(text))

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
        self.flow = FlowControl()
        self._questions = 0
        self._answers = 0
        """Counted by the thread that reads, whose event it is."""
        self._has_answered = threading.Event()
        # It's only written to, flushed, and asked for its descriptor.
        self._file: Any = WatchedFile(cast(TextIO, self._file), self.flow)
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
        self.flow.note_sent(len(data))
        super().write(data)

    def ask(self) -> None:
        """Ask the terminal for an answer to everything that was written."""
        self._questions += 1
        self.write(QUESTION)
        self.flow.note_asked(time.monotonic())

    def process_message(self, message: Message) -> None:
        """Pass what the user did to the app, but not the terminal's answers. Called by the thread that reads."""
        if not isinstance(message, TerminalAnswered):
            super().process_message(message)
            return
        self._answers += 1
        self._has_answered.set()
        with suppress(RuntimeError):  # the loop has ended
            self._loop.call_soon_threadsafe(self.flow.note_answered, time.monotonic())

    def _await_answers(self) -> None:
        """Wait a moment for the answers that are still to come: a shell would take them for input."""
        limit_s = time.monotonic() + LAST_ANSWER_S
        while self.flow.answers and self._answers < self._questions and (left_s := limit_s - time.monotonic()) > 0:
            self._has_answered.wait(left_s)
            self._has_answered.clear()

    def start_application_mode(self) -> None:
        """Take over the terminal, for the first time or again. Its content isn't ours."""
        if isinstance(pacing := getattr(self._app, "pacing", None), Pacing):
            pacing.shown.forget()
        self.flow.restart()
        self._answers = self._questions
        super().start_application_mode()  # type: ignore[no-untyped-call]  # Textual's has no annotations
        if self.input_tty and self._writer_thread is not None:  # it isn't there if we were put to sleep again
            self.ask()

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
        """Stop reading keys, after the terminal's last answer. Unlike Textual's method, keep input after a stop."""
        if not self._is_continued:
            self._await_answers()
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
        self._row_length = ROW_LENGTH
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
        terminal = self.terminal
        return terminal is None or terminal.flow.has_room(time.monotonic(), is_small=is_small)

    @property
    def terminal(self) -> PacedDriver | None:
        """The app's driver, if it's ours."""
        driver = self._app._driver
        return driver if isinstance(driver, PacedDriver) else None

    def display(self, renderable: RenderableType | None, send: Callable[[RenderableType | None], None]) -> None:
        """Send this frame, or as much of it as fits, and the rest later."""
        rows, terminal = rows_of(renderable), self.terminal
        is_dropped = self._app._batch_count > 0  # by Textual (8.2.8), which wouldn't draw these rows again
        if rows and (is_dropped or (terminal is not None and len(rows) > self._rows_to_send(terminal.flow))):
            self._missed.update(rows)
            self._send_missed_later()
            return
        sent = 0 if terminal is None else terminal.flow.sent
        send(renderable and self.shown.lean(renderable, self._app.screen._compositor.size))
        if terminal is None or (length := terminal.flow.sent - sent) == 0:
            return
        if rows:
            self._row_length += (length / len(rows) - self._row_length) * ROW_LENGTH_WEIGHT
        if terminal.flow.answers:
            terminal.ask()

    def _rows_to_send(self, flow: FlowControl) -> int:
        """How many rows to send now: all, or as many as won't delay an echo too much."""
        now_s = time.monotonic()
        if not flow.has_room(now_s, is_small=True):
            return 0
        fits = min(flow.room(now_s) / self._row_length, self._app.size.height)
        return max(int(fits), SMALL_ROWS)

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
        terminal = self.terminal
        is_small = len(self._missed) <= SMALL_ROWS
        if terminal is not None and not terminal.flow.has_room(time.monotonic(), is_small=is_small):
            self._send_missed_later()
            return
        # From the bottom up: the prompt and new text are there.
        count = len(self._missed) if terminal is None else self._rows_to_send(terminal.flow)
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
