"""The terminal of the line mode: prints whole lines, and reads them with the terminal's line editing.

It belongs to the main thread, where `input` and Ctrl+C work. What to print and ask comes from the event loop in
another thread. Output doesn't break up a line being typed: it waits for the line's end or a pause. Only a question
interrupts. This module doesn't interpret the lines.
"""

from __future__ import annotations

import asyncio
import fcntl
import os
import select
import signal
import sys
import termios
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any, Final, Protocol, TypeAlias

import anyio
from anyio import to_thread

from acp_tui.cli import discard_output
from acp_tui.cli.plain.tool_call_text import wrapped
from acp_tui.cli.prerequisites import DUMB_TERMINALS
from acp_tui.cli.terminal import LOOK_S, LineFence, has_typed
from acp_tui.conversation import GUARD_S
from acp_tui.conversation.visible import make_visible

try:
    import readline
except ImportError:  # a Python without readline only has the terminal's own editing
    readline = None  # type: ignore[assignment]

Lines: TypeAlias = str | Callable[[], str]
"""Text, or a function that returns it. The function runs in a thread and must not use data that may change."""

PAUSE_S: Final = 1.0
"""If nothing is typed for this long, pending lines are printed, and the typed text appears again below them."""
NUDGE_AGAIN_S: Final = 0.1
"""A signal between two system calls wakes nothing, so it's repeated until it's handled."""


UNREAD_S: Final = 1.0
"""At the end, a terminal that takes nothing for so long doesn't read."""
STUCK_INTERRUPTS: Final = 3
"""If as many Ctrl+C wait, printing hangs, and the user wants to end it."""


class ReadInterrupted(Exception):
    """Reading was interrupted because there's something else to do."""


class ConsoleListener(Protocol):
    """Gets what the user does. Called in the event loop, while the main thread waits."""

    def take_line(self, line: str) -> None: ...

    def interrupt(self, had_draft: bool) -> None:
        """Handle Ctrl+C. The text being typed is gone."""

    def end(self) -> None:
        """Handle Ctrl+D on an empty line, or the loss of the terminal."""

    def completions(self, word: str) -> Sequence[str]:
        """Return what a word of a prompt may become. Called in the main thread."""


EDIT_KEYS: Final = (r"\C-g", r"\C-x\C-e")
EDIT: Final = r"\C-a/acp:edit \C-m"
"""What they type: the line becomes what is edited."""

# Readline doesn't count cells between \x01 and \x02.
PROMPT_BEGINS: Final = "\x01\x1b]133;A\x07\x02"
PROMPT_ENDS: Final = "\x01\x1b]133;B\x07\x02"


class _TerminalRequest:
    """Something the event loop wants from the terminal and waits for."""

    def __init__(self, do: Callable[[], Any], *, can_be_left: bool = False) -> None:
        self.can_be_left = can_be_left
        """Whether Ctrl+C ends it, without a result."""
        self.do = do
        """Runs in the main thread. Raises ReadInterrupted if it's unwanted by now, or something else comes first."""
        self.done = anyio.Event()
        self.result: Any = None


class Console:
    """Prints lines, and reads lines with a prompt."""

    def __init__(self) -> None:
        self._is_dumb = os.environ.get("TERM", "") in DUMB_TERMINALS
        """Whether the terminal shows what isn't text: marks that let it jump between prompts (OSC 133), and copies."""
        self.prompt: str | None = None
        """The prompt of the next line; "" while the agent works; None to read nothing."""
        self._said: deque[str] = deque()
        self._errand: _TerminalRequest | None = None
        self._asking = asyncio.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._is_nudging = False
        self._is_reading = False
        self._has_begun = False
        """Whether readline has started the current line; before that, it still holds the last one."""
        self._read_for: _TerminalRequest | None = None
        self._read_under: str | None = None
        self._is_dirty = False
        """Whether the main thread has something to look at."""
        self._interrupts: deque[bool] = deque()
        """For each Ctrl+C, whether something was being typed."""
        self._is_over = False
        self._draft = ""
        """The text being typed when a question came; it's restored after the answer."""
        self._typed, self._typed_at = "", 0.0
        """The text being typed at the last check, and since when it's unchanged."""
        self._is_at_line_start = True
        self._wake_fd, self._waking_fd = _open_pipe()
        self._signal_fd, self._signalling_fd = _open_pipe()

    # Called in the event loop

    def attach(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(self._signal_fd, self._hear_signals)

    def _hear_signals(self) -> None:
        """Wake the main thread after a signal: between two system calls, it wouldn't notice until the next key."""
        with suppress(BlockingIOError):
            if set(os.read(self._signal_fd, 4096)) != {signal.SIGUSR1}:
                self._wake()

    def say(self, text: str) -> None:
        self._said.append(text)
        self._wake()

    def show_prompt(self, prompt: str | None) -> None:
        if prompt != self.prompt:
            self.prompt = prompt
            self._wake()

    async def ask(self, prompt: str, *, is_guarded: bool = True, can_be_left: bool = False) -> str | None:
        """Return the line the user types after `prompt`, stripped; None at the end of input.

        With `is_guarded`, ignores what was typed before the question could be read. With `can_be_left`, None after
        Ctrl+C, too. Nothing else is printed while it waits. The wait can be canceled.
        """
        read = partial(self._read_answer, prompt, is_guarded=is_guarded)
        line: str | None = await self._run(_TerminalRequest(read, can_be_left=can_be_left))
        return line

    def leave_question(self) -> bool:
        """Whether a question was asked that Ctrl+C leaves. It has no answer now."""
        errand = self._errand
        if errand is None or not errand.can_be_left:
            return False
        self._errand = None
        errand.done.set()
        return True

    async def lend(self, run: Callable[[], int]) -> int:
        """Let this use the terminal, and return its exit status."""
        status: int = await self._run(_TerminalRequest(run))
        return status

    async def _run(self, errand: _TerminalRequest) -> Any:
        async with self._asking:
            self._errand = errand
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
        """Interrupt the main thread until it has looked."""
        self._is_nudging = self._is_dirty
        if not self._is_dirty or self._loop is None:
            return
        with suppress(BlockingIOError):
            os.write(self._waking_fd, b"\0")
        if self._is_reading:
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGUSR1)
        self._loop.call_later(NUDGE_AGAIN_S, self._nudge)

    # Called in the main thread

    def serve(self, host: ConsoleListener, call: Callable[..., object]) -> None:
        """Print and read until `end` is called. `call` runs a function in the event loop and waits for it."""
        if readline is not None:
            readline.set_auto_history(False)  # answers aren't prompts
            readline.set_completer_delims(" ")
            readline.set_completer(self._completer(host))
            readline.parse_and_bind("tab: complete")
        with _handled_signals(self._on_wake, self._on_interrupt, self._on_hangup, self._signalling_fd):
            while True:
                self._is_dirty = False
                while self._interrupts:
                    call(host.interrupt, self._interrupts.popleft())
                self._print()
                if self._is_over:
                    if not self._is_at_line_start:
                        print()
                    break
                with suppress(ReadInterrupted):
                    self._serve_once(host, call)

    def _completer(self, host: ConsoleListener) -> Callable[[str, int], str | None]:
        found: list[str] = []

        def complete(word: str, number: int) -> str | None:
            if number == 0:
                found[:] = host.completions(word) if self._read_for is None else ()
            return found[number] if number < len(found) else None

        return complete

    def _serve_once(self, host: ConsoleListener, call: Callable[..., object]) -> None:
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
                call(host.end)
            else:
                call(host.take_line, line)

    def _finish(self, errand: _TerminalRequest, result: Any) -> None:
        def finish() -> None:
            errand.result = result
            errand.done.set()

        assert self._loop is not None
        self._loop.call_soon_threadsafe(finish)

    def _read_answer(self, prompt: str, *, is_guarded: bool) -> str | None:
        while True:
            if is_guarded:
                self._forget_typing()
            line = self._read(prompt)
            if not (is_guarded and line and self._is_followed()):
                return None if line is None else line.strip()
            print("Ignored: more was typed after it.")

    def _forget_typing(self) -> None:
        with LineFence(sys.stdin.fileno()) as fence:
            while not self._interrupts and self._errand is self._read_for and not fence.is_shown(LOOK_S):
                pass
        is_typing = True
        while is_typing and not self._interrupts:
            with suppress(termios.error):
                termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)
            time.sleep(GUARD_S)  # the main thread waits for the user anyway; Ctrl+C wakes it
            is_typing = has_typed(sys.stdin.fileno())

    def _is_followed(self) -> bool:
        """Whether more comes right after a line, as part of a paste or text. Raises ReadInterrupted after Ctrl+C."""
        time.sleep(GUARD_S)
        if self._interrupts:
            raise ReadInterrupted
        return has_typed(sys.stdin.fileno())

    def _read(self, prompt: str) -> str | None:
        """Read a line; None at the end of input. Raises ReadInterrupted."""
        prompt = make_visible(prompt)  # readline bypasses our stdout
        if not self._is_dumb and prompt and self._read_for is None and readline is not None:
            prompt = f"{PROMPT_BEGINS}{prompt}{PROMPT_ENDS}"
        self._has_begun = False
        if readline is not None:
            readline.set_startup_hook(self._begin_line)
            for key in EDIT_KEYS:  # an answer isn't edited
                readline.parse_and_bind(f'"{key}": "{EDIT}"' if self._read_for is None else f'"{key}": abort')
        if not self._is_at_line_start:
            print()
        try:
            self._is_reading = True
            if self._is_dirty:
                raise ReadInterrupted
            if readline is not None and _takes_end():
                return None
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
        """Read without readline.

        The terminal keeps the line until it's complete, so waiting for it can be interrupted.
        """
        print(prompt, end="", flush=True)
        if not self._wait([sys.stdin.fileno()]):
            raise ReadInterrupted
        return input()

    def _wait(self, files: list[int]) -> bool:
        """Wait until the event loop wakes us. Returns whether one of the files can be read instead."""
        ready, _, _ = select.select([self._wake_fd, *files], [], [])
        with suppress(BlockingIOError):
            os.read(self._wake_fd, 4096)
        return any(file in ready for file in files)

    def _begin_line(self) -> None:
        """Restore the draft. Readline calls this when its buffer starts to hold the new line."""
        self._has_begun = True
        if self._read_for is None and self._draft:
            readline.insert_text(self._draft)
            self._draft = ""

    @property
    def _line(self) -> str:
        """The text being typed, as far as it's known."""
        if readline is None:
            return ""
        return readline.get_line_buffer() if self._has_begun else self._draft

    def _on_wake(self, *_: object) -> None:
        """Stop reading between two keys, unless that would break up the line."""
        if not self._can_leave:
            return  # we'll be woken again
        typed = self._line
        if self._interrupts:
            typed = ""
        elif self._errand is self._read_for and not self._is_over:
            if not self._has_news:
                self._is_dirty = False  # whatever it is, it can wait until after this line
                return
            if typed and not self._is_pause(typed):
                return  # we'll be woken again
        if self._read_for is None:
            self._draft = typed
        self._is_at_line_start = self._is_at_line_start and not typed
        raise ReadInterrupted

    @property
    def _can_leave(self) -> bool:
        """Whether reading can stop without losing a complete line.

        A signal is handled only after the keys that came before it. Readline keeps the terminal raw while it reads a
        line.
        """
        return self._is_reading and not (self._has_begun and _is_canonical())

    @property
    def _has_news(self) -> bool:
        """Whether there's something to do before this line. The answer to a question comes before anything else."""
        return self._read_for is None and (bool(self._said) or self.prompt != self._read_under)

    def _is_pause(self, typed: str) -> bool:
        if typed != self._typed:
            self._typed, self._typed_at = typed, time.monotonic()
        return time.monotonic() - self._typed_at >= PAUSE_S

    def _on_interrupt(self, *_: object) -> None:
        """Handle Ctrl+C at any time. Drops the text being typed."""
        self._interrupts.append(self._is_reading and bool(self._line))
        if len(self._interrupts) == STUCK_INTERRUPTS:
            self._on_hangup()
        self._draft = ""
        self._stop_reading()

    def _on_hangup(self, *_: object) -> None:
        """Handle the closing of the terminal or a request to end."""
        self._is_over = True
        end_without_terminal()
        self._stop_reading()

    def _stop_reading(self) -> None:
        self._is_dirty = True
        with suppress(BlockingIOError):
            os.write(self._waking_fd, b"\0")
        if self._can_leave:
            self._is_at_line_start = False  # the terminal shows ^C
            raise ReadInterrupted

    def _print(self) -> None:
        if not self._said:
            return
        text = "" if self._is_at_line_start else "\n"
        while self._said:
            text += f"{self._said.popleft()}\n"
        sys.stdout.write(text)
        sys.stdout.flush()
        self._is_at_line_start = True

    def copy(self, sequence: str) -> bool:
        """Whether the terminal was told to copy something. Blocks if it takes nothing."""
        if is_told := bool(sequence) and not self._is_dumb and sys.stdout.isatty():
            send(sequence)
        return is_told

    def remember(self, line: str) -> None:
        """Make the line available with the arrow keys. Not used for answers to questions."""
        if readline is not None and line.strip():
            readline.add_history(line)


# Only in the main thread


def _is_canonical() -> bool:
    """Whether the terminal keeps a line until it's complete."""
    try:
        return bool(termios.tcgetattr(sys.stdin.fileno())[3] & termios.ICANON)
    except termios.error:
        return True


def _takes_end() -> bool:
    """Whether the next key is a Ctrl+D that came before readline made the terminal raw, which would make it a NUL."""
    fd = sys.stdin.fileno()
    with suppress(OSError):
        if has_typed(fd) and not int.from_bytes(fcntl.ioctl(fd, termios.FIONREAD, bytes(4)), sys.byteorder):
            return not os.read(fd, 1)
    return False


@contextmanager
def _handled_signals(
    on_wake: Callable[..., None], on_interrupt: Callable[..., None], on_hangup: Callable[..., None], told_fd: int
) -> Iterator[None]:
    """Handle signals within the block, and write their numbers to `told_fd`."""
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
    """Return both ends of a non-blocking pipe."""
    ends = os.pipe()
    for end in ends:
        os.set_blocking(end, False)
    return ends


def send(sequence: str) -> None:
    """Send the terminal a bell, or what else changes no line, at once. Blocks if it takes nothing."""
    if sys.stdout.isatty():
        with suppress(OSError):
            os.write(sys.stdout.fileno(), sequence.encode())


def end_without_terminal() -> None:
    """From now on, don't wait for a terminal that doesn't read: what it doesn't take is dropped.

    A signal does that, because nothing else gets us out of a write. Call `end_with_terminal` when all is written.
    """
    signal.signal(signal.SIGALRM, _drop_unread)
    signal.setitimer(signal.ITIMER_REAL, UNREAD_S, UNREAD_S)


def _drop_unread(*_: object) -> None:
    if not select.select([], [sys.stdout], [], 0)[1]:
        discard_output(sys.stdout, sys.stderr)


def end_with_terminal() -> None:
    """Write what is left. Then nothing waits for the terminal any more."""
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    signal.setitimer(signal.ITIMER_REAL, 0)


class Outbox:
    """Prints lines in the order they're added, even if some take a while to produce."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._waiting: deque[Lines | anyio.Event] = deque()
        self._has_some = anyio.Event()
        self._speaker = ""
        self.count = 0
        """How much was ever added."""

    async def flush(self) -> None:
        """Wait until everything added so far is printed. Whoever speaks then is named: a question may come between."""
        reached = anyio.Event()
        self.put(reached)
        await reached.wait()

    def put(self, lines: Lines | anyio.Event, speaker: str = "") -> None:
        """Add lines to print after earlier ones, or an event to set then. "" prints nothing.

        The speaker of a text is named before it, unless the text before was theirs, and it's wrapped. "": it needs
        neither.
        """
        if speaker and speaker != self._speaker:
            assert isinstance(lines, str)
            text = lines.lstrip("\n")
            lines = f"{lines[: -len(text)]}{speaker}:{' ' if text[0] not in '`~' else chr(10)}{text}" if text else ""
        self._speaker = speaker
        if speaker and isinstance(lines, str):
            lines = wrapped(lines)
        self.count += 1
        self._waiting.append(lines)
        self._has_some.set()

    async def run(self) -> None:
        """Run until canceled."""
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
