"""Our terminal driver: sends frames as the terminal can take them, and knows when it's gone.

Textual 8.2.8 queues thirty frames, and the system buffers more, so over a slow connection an echo came seconds late.
"""

from __future__ import annotations

import asyncio
import math
import os
import select
import termios
import threading
import time
import tty
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any, Final, TextIO, cast

from rich.console import RenderableType
from textual.app import App
from textual.driver import Driver
from textual.drivers.linux_driver import LinuxDriver
from textual.events import Key, MouseDown, Paste, Resize
from textual.geometry import Region
from textual.message import Message
from textual.messages import InBandWindowResize
from textual.screen import Screen

from acp_tui.client.desktop import ANSWER, QUESTION, SURE_QUESTION, cell_size, draws_sixel, lag_s
from acp_tui.ui.textual_gaps.fence import Fence
from acp_tui.ui.textual_gaps.flow_control import LOST_S, FlowControl
from acp_tui.ui.textual_gaps.shown_rows import ShownRows, rows_of
from acp_tui.ui.textual_gaps.terminal_input import TerminalAnswered, repair_terminal_input

GONE: Final = select.POLLHUP | select.POLLERR | select.POLLNVAL
RETRY_S: Final = 0.01
SMALL_ROWS: Final = 4
"""The size of a small update, such as a key's echo."""
ECHO_S: Final = 0.1
"""For so long after a key, a small update may be its echo, which is sent at once. Others wait for room."""
ROW_LENGTH: Final = 300.0
"""The assumed characters of a row, until some were sent."""
ROW_LENGTH_WEIGHT: Final = 0.1
"""The weight of each frame in the average length of a row."""
PIECE: Final = 1024
"""So many characters are written at a time."""
END_S: Final = 1.0
"""At the end, a terminal that takes no more of them for so long doesn't read."""
UNREAD_END_S: Final = 0.1
"""Then, it gets this long to take what still has to be written."""


class WatchedFile:
    """The file for the writer thread: a terminal, which may not read."""

    def __init__(self, file: TextIO, flow: FlowControl) -> None:
        self._file = file
        self._flow = flow
        self.is_read = True
        """Whether the terminal still takes what is written."""
        self._is_dropping = False

    def fileno(self) -> int:
        """The terminal's file descriptor."""
        return self._file.fileno()

    def write(self, text: str) -> None:
        """Write to the terminal, however long that takes. Does nothing if its window was closed."""
        for at in range(0, len(text), PIECE):
            piece = text[at : at + PIECE]
            with suppress(OSError):  # an error would end the writer thread
                data = memoryview(piece.encode(self._file.encoding, self._file.errors or "strict"))
                while data and not self._is_dropping:
                    data = data[os.write(self.fileno(), data) :]
            self._flow.note_written(len(piece))

    def await_written(self) -> bool:
        """Wait while the terminal takes what waits to be written; return whether that was all."""
        left, since_s = self._flow.unwritten, time.monotonic()
        while left and time.monotonic() - since_s < (END_S if self.is_read else UNREAD_END_S):
            time.sleep(RETRY_S)
            if (now_left := self._flow.unwritten) != left:
                left, since_s = now_left, time.monotonic()
        return not left

    def drop_unread(self) -> None:
        """Drop what the terminal doesn't read, so that there may be room for what it should read later."""
        self.is_read, self._is_dropping = False, True
        with suppress(termios.error):
            termios.tcflush(self.fileno(), termios.TCOFLUSH)
            for wake in (termios.TCOOFF, termios.TCOON):  # the writer thread: Linux doesn't do it when it flushes
                termios.tcflow(self.fileno(), wake)
        self._is_dropping = not self.await_written()

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
        self.questions = 0
        """How many the terminal was asked."""
        self._asked_s = 0.0
        """When that was, in monotonic seconds."""
        self._asked_at = -1
        """How much had been sent when it was asked last."""
        self._answers = 0
        """Counted by the thread that reads, whose event it is."""
        self._sure: deque[int] = deque()
        """The numbers of the questions whose answers can be told from the others."""
        self.draws_sixel = False
        """Whether it says that it draws pictures as sixel graphics."""
        self.lag_s = lag_s("")
        """How long what was answered may still be on its way to the user."""
        self._has_to_report = False
        """Whether the terminal was just told to report the size of its window: now, and whenever that changes."""
        self._read_s = 0.0
        """When that thread last read something the user did, in monotonic seconds."""
        self._file: Any = WatchedFile(cast(TextIO, self._file), self.flow)
        self._loop = loop = asyncio.get_running_loop()
        self.exit_event = EndOfInput(self.fileno, lambda: loop.call_soon_threadsafe(getattr(app, "hang_up", app.exit)))
        repair_terminal_input(lambda: self._answers < self.questions and time.monotonic() < self._asked_s + LOST_S)
        self._is_continued = False
        """Whether we were stopped and are continuing, so that pending input is for us."""

    def end_threads(self) -> None:
        """Stop the driver's threads, whatever ended the app, so that they don't keep the process alive."""
        self.exit_event.set()
        if self._key_thread is not None and self._key_thread.is_alive():
            self._key_thread.join()
        if self._writer_thread is not None and self._writer_thread.is_alive():
            self.close()
            if self._writer_thread.is_alive():  # whoever else writes to the terminal would wait with it
                nowhere = os.open(os.devnull, os.O_WRONLY)
                for stream in filter(os.isatty, (1, 2)):
                    os.dup2(nowhere, stream)

    def write(self, data: str) -> None:
        """Put data into the writer thread's queue, which is full only if the terminal doesn't read: then drop it."""
        if self._writer_thread is None or not self._writer_thread._queue.full():
            self.flow.note_sent(len(data))
            super().write(data)

    def close(self) -> None:
        """Stop the writer thread when all is written. If the terminal takes no more, leave it behind."""
        if self._file.await_written():
            super().close()

    def ask(self, *, surely: bool = False) -> None:
        """Ask the terminal for an answer to everything that was written; `surely`: one that says that it is this."""
        self.questions += 1
        if surely:
            self._sure.append(self.questions)
        self.write(SURE_QUESTION if surely else QUESTION)
        self._asked_at, self._asked_s = self.flow.sent, time.monotonic()
        self.flow.note_asked(self._asked_s)

    def question_behind_all(self) -> int:
        """The number of a question behind everything that was sent, counted from 1."""
        if self.flow.sent != self._asked_at:
            self.ask()
        return self.questions

    def process_message(self, message: Message) -> None:
        """Pass what the user did to the app, but not the terminal's answers. Called by the thread that reads."""
        if not isinstance(message, TerminalAnswered):
            if isinstance(message, Key | Paste | MouseDown):
                self._read_s = message.time
            elif isinstance(message, InBandWindowResize):
                self._has_to_report = message.supported and not message.enabled  # Textual enables it, and it reports
            elif isinstance(message, Resize) and self._has_to_report:
                self._has_to_report, message.is_first_report = False, True  # type: ignore[attr-defined]
            super().process_message(message)
            return
        number = None
        if message.answer != ANSWER:
            self.lag_s, self.draws_sixel = lag_s(message.answer), draws_sixel(message.answer)
            if not self._sure:
                return  # not to us
            number = self._sure.popleft()
        self._answers += 1
        with suppress(RuntimeError):  # the loop has ended
            self._loop.call_soon_threadsafe(self._note_answered, self._answers, time.monotonic(), number)

    def _note_answered(self, count: int, at_s: float, number: int | None) -> None:
        self.flow.note_answered(at_s)
        if isinstance(pacer := getattr(self._app, "pacer", None), FramePacer):
            pacer.fence.note_answered(count, at_s, number)

    def has_input_since(self, at_s: float) -> bool:
        """Whether the user has done something since then that the app may not have handled yet."""
        return self._read_s > at_s or bool(select.select([self.fileno], [], [], 0)[0])

    def _finish_output(self) -> None:
        """Wait until the terminal has taken everything, and answered: a shell would take an answer for input."""
        if not self._file.await_written():
            self._file.drop_unread()
            return
        limit_s = time.monotonic() + self.flow.last_answer_s
        while self.flow.answers and self._answers < self.questions and time.monotonic() < limit_s:
            time.sleep(RETRY_S)

    def start_application_mode(self) -> None:
        """Take over the terminal, for the first time or again. Its content isn't ours."""
        if isinstance(pacer := getattr(self._app, "pacer", None), FramePacer):
            pacer.shown.forget()
            pacer.fence.restart()
        self.flow.restart()
        self._answers = self.questions
        self._sure.clear()
        self._file.is_read = True
        super().start_application_mode()  # type: ignore[no-untyped-call]  # Textual's has no annotations
        if self.attrs_before is not None:  # what runs in between has an echo, also where we began without
            self.attrs_before[tty.LFLAG] |= termios.ECHO | termios.ICANON
            self.attrs_before[tty.IFLAG] |= termios.ICRNL
        if self.input_tty and self._writer_thread is not None:  # it isn't there if we were put to sleep again
            self.ask(surely=True)

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
        """Stop reading keys. Unlike Textual's method, keep input after a stop."""
        if self._key_thread is None:  # Textual does this twice
            return
        if not self._is_continued:
            super().disable_input()
            # Half a frame may have been dropped. GNU screen has no other screen to go back to, unless set to.
            self.write("\x1b[?2026l\x1b[H\x1b[J")
        else:
            self._disable_mouse_support()
            self.exit_event.set()
            self._key_thread.join()
            self.exit_event.clear()
        self._key_thread = None

    def _disable_mouse_support(self) -> None:
        super()._disable_mouse_support()
        if self._mouse_pixels:
            self.write("\x1b[?1016l")
            self._mouse_pixels = False

    def stop_application_mode(self) -> None:
        """Give the terminal back, with what the app leaves there at its end."""
        if not self._is_continued:
            self._finish_output()
        super().stop_application_mode()
        if self._file.is_read:
            self.write(getattr(self._app, "last_turn", ""))


class FramePacer:
    """Sends frames to an app's terminal only when it has room."""

    def __init__(self, app: App[Any]) -> None:
        self._app = app
        self._retry: asyncio.TimerHandle | None = None
        self._missed: set[int] = set()
        """The rows of frames that were not sent."""
        self._row_length = ROW_LENGTH
        self.shown = ShownRows()
        self.fence = Fence(app, lambda: self.terminal, self._missed)

    def driver_class(self, textuals: type[Driver]) -> type[Driver]:
        """Return the paced driver instead of the class it extends."""
        if textuals is not LinuxDriver:
            return textuals
        return PacedDriver

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

    def cell_size(self) -> tuple[int, int] | None:
        """How many pixels a cell of the terminal has; None if it draws no graphics."""
        return cell_size(self.terminal.fileno) if self.terminal is not None else None

    def display(self, renderable: RenderableType | None, send: Callable[[RenderableType | None], None]) -> None:
        """Send this frame, or as much of it as fits, and the rest later."""
        rows, terminal = rows_of(renderable), self.terminal
        is_dropped = self._app._batch_count > 0  # by Textual (8.2.8), which wouldn't draw these rows again
        if rows and (is_dropped or (terminal is not None and len(rows) > self._rows_to_send(terminal))):
            self._missed.update(rows)
            self.send_missed_later()
            return
        sent = 0 if terminal is None else terminal.flow.sent
        self.shown.room = math.inf if terminal is None else terminal.flow.room(time.monotonic())
        send(renderable and self.shown.lean(renderable, self._app.screen._compositor.size))
        if terminal is not None and (length := terminal.flow.sent - sent):
            if rows:
                text_length = max(length - self.shown.graphics_sent, 0)
                self._row_length += (text_length / len(rows) - self._row_length) * ROW_LENGTH_WEIGHT
            if terminal.flow.answers:
                terminal.ask()
        if self.shown.lacks_room:
            self.send_missed_later()
        self.fence.note_sent()

    def _rows_to_send(self, terminal: PacedDriver) -> int:
        """How many rows to send now: all, or as many as won't delay an echo too much; a question's, whole."""
        now_s, flow, asking = time.monotonic(), terminal.flow, len(self.fence.unsent_rows)
        if not flow.has_room(now_s, is_small=True):
            return 0
        room = flow.room(now_s)
        if room <= 0 and not asking and not terminal.has_input_since(now_s - ECHO_S):  # a small frame may be the echo
            return 0
        return max(int(min(room / self._row_length, self._app.size.height)), SMALL_ROWS + asking)

    def note_batch_end(self) -> None:
        """Draw what wasn't drawn during a batch. Textual would wait for the screen's next message."""
        if self._app._batch_count:  # it was inside another one
            return
        if self._missed or self.shown.blurred:
            self.send_missed_later()
        if self._app.screen_stack:
            self._app.screen.check_idle()

    def send_missed_later(self) -> None:
        """Send what there was no room for, and graphics that are ready now, as soon as there is room."""
        if self._retry is None:
            self._retry = asyncio.get_running_loop().call_later(RETRY_S, self._send_missed)

    def _send_missed(self) -> None:
        self._retry = None
        are_missed, blurred = bool(self._missed), self.shown.blurred
        if (
            not (are_missed or blurred)
            or not self._app.is_running
            or not self._app.screen_stack
            or self._app._batch_count
        ):
            return
        terminal = self.terminal
        asking = self.fence.unsent_rows
        is_small = are_missed and (bool(asking) or len(self._missed) <= SMALL_ROWS)
        if terminal is not None and not terminal.flow.has_room(time.monotonic(), is_small=is_small):
            self.send_missed_later()
            return
        # From the bottom up: the prompt and new text are there. What asks comes first: nobody can answer a half.
        count = len(self._missed) if terminal is None else len(asking) or self._rows_to_send(terminal)
        rows = sorted(self._missed, key=lambda y: (y in asking, y), reverse=True)[:count] or blurred
        self._missed.difference_update(rows)  # the same set always: the fence looks at it
        draw_rows_again(self._app.screen, rows)  # intermediate states were never sent, and aren't missed
        if self._missed or (are_missed and blurred):
            self.send_missed_later()


def has_room(app: App[Any], *, is_small: bool) -> bool:
    """Whether an app's terminal can take a frame now. Always True for an app without pacing."""
    return not isinstance(pacer := getattr(app, "pacer", None), FramePacer) or pacer.has_room(is_small=is_small)


def draw_rows_again(screen: Screen[Any], rows: Iterable[int]) -> None:
    """Send the current state of these rows to the terminal."""
    # Not the app's size: the window may have grown since the last layout.
    width, height = screen._compositor.size
    screen._compositor._dirty_regions.update(Region(0, y, width, 1) for y in rows if y < height)
    screen._compositor.update_widgets(screen._dirty_widgets)  # the next line considers them drawn
    screen._compositor_refresh()
