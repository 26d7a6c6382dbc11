"""The terminal of the line mode: prints whole lines and reads them, with the line editing that the terminal has.

It belongs to the main thread, where `input` and Ctrl+C work; what is to be said and asked comes from the event loop in
another. A line that is being typed is not torn: what is to be said waits for its end or a pause, and only a question
does not.
What lines mean is not its matter.
"""

from __future__ import annotations

import asyncio
import os
import select
import signal
import subprocess
import sys
import termios
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any, Final, Protocol, TypeAlias

import anyio
from anyio import to_thread

from acp_tui.conversation.visible import make_visible

try:
    import readline
except ImportError:  # a Python without it: the terminal's own editing is all there is
    readline = None  # type: ignore[assignment]

Lines: TypeAlias = str | Callable[[], str]
"""Text, or what gives it: that runs in a thread, and must not look at what changes meanwhile."""

GUARD_S: Final = 0.4
"""Nobody reads a question and answers it in less."""
PAUSE_S: Final = 1.0
"""Whoever types nothing for so long may hear what there is to say; the line comes back below it."""
NUDGE_AGAIN_S: Final = 0.1
"""A signal between two system calls wakes nobody, so it is sent until it is heeded."""


class Woken(Exception):
    """Reading was interrupted: there is something else to do."""


class Host(Protocol):
    """Who is told what the user does; called in the main thread."""

    def take_line(self, line: str) -> None:
        """A line was typed."""

    def interrupt(self, *, had_draft: bool) -> None:
        """Ctrl+C; what was being typed is gone."""

    def end(self) -> None:
        """Ctrl+D on an empty line, or the terminal is gone."""


# Readline counts no cells for what stands between \x01 and \x02.
PROMPT_BEGINS: Final = "\x01\x1b]133;A\x07\x02"
PROMPT_ENDS: Final = "\x01\x1b]133;B\x07\x02"


class _Errand:
    """Something that the loop wants of the terminal, and waits for."""

    def __init__(self, do: Callable[[], Any]) -> None:
        self.do = do
        """In the main thread. Raises Woken where it is not wanted any more, or something else comes first."""
        self.done = anyio.Event()
        self.result: Any = None


class Console:
    """Prints what it is told to, and reads lines under the prompt that it is told."""

    def __init__(self, sleep: Callable[[float], None] = time.sleep, *, marks_prompts: bool = False) -> None:
        """`marks_prompts`: prompts carry the marks that let a terminal jump from one to the next (OSC 133)."""
        self._marks_prompts = marks_prompts
        self.prompt: str | None = None
        """What stands before the next line; "" while the agent works, None: nothing is read."""
        self._sleep = sleep
        self._said: deque[str] = deque()
        self._errand: _Errand | None = None
        self._asking = asyncio.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._is_nudging = False
        self._is_reading = False
        self._has_begun = False
        """Readline has taken up the line that is read; before, it still holds the last one."""
        self._read_for: _Errand | None = None
        self._read_under: str | None = None
        self._is_dirty = False
        """There is something that the main thread has not looked at."""
        self._interrupts: deque[bool] = deque()
        """For each Ctrl+C whether something was being typed."""
        self._is_over = False
        self._draft = ""
        """What was being typed when a question came; it is put back."""
        self._typed, self._typed_at = "", 0.0
        """What was being typed when it was looked at last, and since when it is that."""
        self._is_at_line_start = True
        self._wake_fd, self._waking_fd = _open_pipe()
        self._signal_fd, self._signalling_fd = _open_pipe()

    # For the event loop

    def attach(self) -> None:
        """From now on this loop tells what to say."""
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(self._signal_fd, self._hear_signals)

    def _hear_signals(self) -> None:
        """The main thread got a signal; between two system calls it would not notice before the next key."""
        with suppress(BlockingIOError):
            if set(os.read(self._signal_fd, 4096)) != {signal.SIGUSR1}:
                self._wake()

    def say(self, text: str) -> None:
        """Print these lines."""
        self._said.append(text)
        self._wake()

    def show_prompt(self, prompt: str | None) -> None:
        """Read under this prompt from now on."""
        if prompt != self.prompt:
            self.prompt = prompt
            self._wake()

    async def ask(self, prompt: str, *, is_guarded: bool = True) -> str | None:
        """The line that the user types behind `prompt`, without blanks around; None at the end of input.

        Guarded, what was typed before the question can have been read does not count. Nothing else is printed
        meanwhile. The wait can be cancelled.
        """
        line: str | None = await self._run(lambda: self._read_answer(prompt, is_guarded=is_guarded))
        return line

    async def lend(self, argv: Sequence[str], env: Mapping[str, str]) -> int:
        """Give the terminal to a program; gives its exit status."""
        status: int = await self._run(lambda: _run_program(argv, env))
        return status

    async def _run(self, do: Callable[[], Any]) -> Any:
        async with self._asking:
            errand = self._errand = _Errand(do)
            self._wake()
            try:
                await errand.done.wait()
            finally:
                if self._errand is errand:
                    self._errand = None
                    self._wake()
            return errand.result

    def end(self) -> None:
        """Print what is left, then leave `serve`."""
        self._is_over = True
        self._wake()

    def _wake(self) -> None:
        self._is_dirty = True
        if self._loop is not None and not self._is_nudging:
            self._is_nudging = True
            self._loop.call_soon_threadsafe(self._nudge)

    def _nudge(self) -> None:
        """Until the main thread has looked."""
        self._is_nudging = self._is_dirty
        if not self._is_dirty or self._loop is None:
            return
        with suppress(BlockingIOError):
            os.write(self._waking_fd, b"\0")
        if self._is_reading:
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGUSR1)
        self._loop.call_later(NUDGE_AGAIN_S, self._nudge)

    # For the main thread

    def serve(self, host: Host) -> None:
        """Print and read until `end` is called."""
        if readline is not None:
            readline.set_auto_history(False)  # answers are no prompts
        with _handled_signals(self._on_wake, self._on_interrupt, self._on_hangup, self._signalling_fd):
            while True:
                self._is_dirty = False
                while self._interrupts:
                    host.interrupt(had_draft=self._interrupts.popleft())
                self._print()
                if self._is_over:
                    if not self._is_at_line_start:
                        print()
                    break
                with suppress(Woken):
                    self._serve_once(host)

    def _serve_once(self, host: Host) -> None:
        errand = self._errand
        if errand is not None:
            self._read_for = errand
            result = errand.do()
            if self._errand is errand:
                self._errand = None
            self._finish(errand, result)
        elif self.prompt is None:
            self._wait([])
        else:
            self._read_for, self._read_under = None, self.prompt
            line = self._read(self.prompt)
            if line is None:
                host.end()
            else:
                host.take_line(line)

    def _finish(self, errand: _Errand, result: Any) -> None:
        def finish() -> None:
            errand.result = result
            errand.done.set()

        assert self._loop is not None
        self._loop.call_soon_threadsafe(finish)

    def _read_answer(self, prompt: str, *, is_guarded: bool) -> str | None:
        if is_guarded:
            self._sleep(GUARD_S)
            _forget_typed()
        line = self._read(prompt)
        return None if line is None else line.strip()

    def _read(self, prompt: str) -> str | None:
        """A line; None at the end of input. Raises Woken."""
        prompt = make_visible(prompt)  # readline writes it past our stdout
        if self._marks_prompts and prompt and self._read_for is None and readline is not None:
            prompt = f"{PROMPT_BEGINS}{prompt}{PROMPT_ENDS}"
        self._has_begun = False
        if readline is not None:
            readline.set_startup_hook(self._begin_line)
        if not self._is_at_line_start:
            print()
        try:
            self._is_reading = True
            if self._is_dirty:
                raise Woken
            self._is_at_line_start = not prompt
            line = input(prompt) if readline is not None else self._read_cooked(prompt)
        except EOFError:
            self._is_at_line_start = not prompt
            return None
        except UnicodeDecodeError:
            return ""
        finally:
            self._is_reading = False
        self._is_at_line_start = True
        return line

    def _read_cooked(self, prompt: str) -> str:
        """Without readline the line stays with the terminal until it is complete, and can be left there."""
        print(prompt, end="", flush=True)
        if not self._wait([sys.stdin.fileno()]):
            raise Woken
        return input()

    def _wait(self, files: list[int]) -> bool:
        """Until the loop wakes us; True where one of these can be read instead."""
        ready, _, _ = select.select([self._wake_fd, *files], [], [])
        with suppress(BlockingIOError):
            os.read(self._wake_fd, 4096)
        return any(file in ready for file in files)

    def _begin_line(self) -> None:
        """Called by readline: from now on its line is that which is typed. The draft is put back."""
        self._has_begun = True
        if self._read_for is None and self._draft:
            readline.insert_text(self._draft)
            self._draft = ""

    @property
    def _line(self) -> str:
        """What stands in the line that is being typed, as far as that is known."""
        if readline is None:
            return ""
        return readline.get_line_buffer() if self._has_begun else self._draft

    def _on_wake(self, *_: object) -> None:
        """Between two keys: leave what is read now, unless it is not to be torn."""
        if not self._can_leave:
            return  # we are woken again
        typed = self._line
        if self._errand is self._read_for and not self._is_over:
            if not self._has_news:
                self._is_dirty = False  # whatever it is, it is looked at behind this line
                return
            if typed and not self._is_pause(typed):
                return  # we are woken again
        if self._read_for is None:
            self._draft = typed
        self._is_at_line_start = self._is_at_line_start and not typed
        raise Woken

    @property
    def _can_leave(self) -> bool:
        """Whether a line is read and not complete: one that is would be lost.

        A signal is heard only after the keys that came before it. Readline holds the terminal raw, line by line.
        """
        return self._is_reading and not (self._has_begun and _is_canonical())

    @property
    def _has_news(self) -> bool:
        """Whether there is something to do before this line; an answer to a question goes before all else."""
        return self._read_for is None and (bool(self._said) or self.prompt != self._read_under)

    def _is_pause(self, typed: str) -> bool:
        """Whether nothing was typed for a while."""
        if typed != self._typed:
            self._typed, self._typed_at = typed, time.monotonic()
        return time.monotonic() - self._typed_at >= PAUSE_S

    def _on_interrupt(self, *_: object) -> None:
        """Ctrl+C, at any moment; what is being typed is dropped."""
        self._interrupts.append(self._is_reading and bool(self._line))
        self._draft = ""
        self._stop_reading()

    def _on_hangup(self, *_: object) -> None:
        """The terminal is closed, or we are to end."""
        self._is_over = True
        self._stop_reading()

    def _stop_reading(self) -> None:
        self._is_dirty = True
        with suppress(BlockingIOError):
            os.write(self._waking_fd, b"\0")
        if self._can_leave:
            self._is_at_line_start = False  # the terminal shows ^C
            raise Woken

    def _print(self) -> None:
        if not self._said:
            return
        text = "" if self._is_at_line_start else "\n"
        while self._said:
            text += f"{self._said.popleft()}\n"
        sys.stdout.write(text)
        sys.stdout.flush()
        self._is_at_line_start = True

    def remember(self, line: str) -> None:
        """Let the user have this line again by the arrow keys; answers to questions are none of these."""
        if readline is not None and line.strip():
            readline.add_history(line)


# What only the main thread can do


def _is_canonical() -> bool:
    """Whether the terminal keeps a line until it is complete."""
    try:
        return bool(termios.tcgetattr(sys.stdin.fileno())[3] & termios.ICANON)
    except termios.error:
        return True


def _forget_typed() -> None:
    """Drop what was typed and has not been read."""
    with suppress(termios.error):
        termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)


def _run_program(argv: Sequence[str], env: Mapping[str, str]) -> int:
    """Give it the terminal; gives its exit status."""
    # Ctrl+C belongs to the program; it would inherit SIG_IGN, but not a handler.
    before = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        return subprocess.call(argv, env={**os.environ, **env})
    except OSError as error:
        return error.errno or 1
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def _handled_signals(
    on_wake: Callable[..., None],
    on_interrupt: Callable[..., None],
    on_hangup: Callable[..., None],
    told_fd: int,
) -> Iterator[None]:
    """Handled like this within, and told to `told_fd`."""
    handlers = {
        signal.SIGUSR1: on_wake,
        signal.SIGINT: on_interrupt,
        signal.SIGTERM: on_hangup,
        signal.SIGHUP: on_hangup,
    }
    before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    told_before = signal.set_wakeup_fd(told_fd, warn_on_full_buffer=False)
    try:
        yield
    finally:
        signal.set_wakeup_fd(told_before)
        for number, handler in before.items():
            signal.signal(number, handler)


def _open_pipe() -> tuple[int, int]:
    """Both ends of one that never blocks."""
    ends = os.pipe()
    for end in ends:
        os.set_blocking(end, False)
    return ends


class Outbox:
    """Brings lines to the console in the order in which they are put in, though some take a while to be worked out."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._waiting: deque[Lines | anyio.Event] = deque()
        self._has_some = anyio.Event()

    def put(self, lines: Lines) -> None:
        """To be said behind what was put in before; "" is not."""
        self._add(lines)

    async def flush(self) -> None:
        """Return when all that was put in is said."""
        reached = anyio.Event()
        self._add(reached)
        await reached.wait()

    def _add(self, item: Lines | anyio.Event) -> None:
        self._waiting.append(item)
        self._has_some.set()

    async def run(self) -> None:
        """Until cancelled."""
        while True:
            await self._has_some.wait()
            self._has_some = anyio.Event()
            while self._waiting:
                item = self._waiting.popleft()
                if isinstance(item, anyio.Event):
                    item.set()
                    continue
                text = item if isinstance(item, str) else await to_thread.run_sync(item)
                if text:
                    self._say(text)
