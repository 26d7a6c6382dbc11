"""What one terminal of a conversation shows, and how keys are encoded.

Feeds its emulator off the event loop, draws nothing.

The conversation's byte ring is the buffer. The emulator reads it piece by piece at its own pace. It gets all bytes,
even though only the end of a flood stays in the scrollback. Skipping some would require finding the modes, regions, and
screen switches among them, which costs more than libghostty's 3 ns per byte, and in Python, under the GIL. Bytes are
missing only if the ring drops them before the emulator has read them. It then continues with the next complete line.

The size is the one in the conversation's state; the code that changes it has told the program. The code that runs the
program also answers its queries. Keys and pastes are encoded like xterm does, without libghostty's encoder,
because Textual says what a key means, not which key it was, and because this has to work with any emulator.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from threading import Lock
from typing import Final, TypeAlias

from acp_tui.client.terminals.emulator import BARE_LINE_FEEDS, Emulator, Line, TerminalModes
from acp_tui.client.terminals.feeder import Feeder
from acp_tui.conversation.buffers import from_character_boundary
from acp_tui.conversation.entries import TerminalState
from acp_tui.values import dataclass

SCROLLBACK_LINES: Final = 5_000
"""About 6 MB for a full terminal of 120 columns."""
AT_ONCE_BYTES: Final = 16 * 1024
"""What the event loop feeds itself, in 0.2 ms. A thread would show the echo of a key one frame later."""
PIECE_BYTES: Final = 128 * 1024
"""What the thread feeds at a time, in 2 ms. The event loop may have to wait that long to read lines."""
AFTER_A_GAP: Final = b"\x18\x1b[m\x1b(B\x0f\r\x1b[K"
"""Ends a sequence that the gap may have cut off, resets style and character set, and drops the incomplete line."""
RESET: Final = b"\x18\x1bc\x1b[3J"
"""Ends any sequence and clears the screen and the scrollback, so that what follows replaces what was shown."""

MakeEmulator: TypeAlias = Callable[[int, int, int], Emulator]
"""Takes columns, rows, and lines of scrollback."""


@dataclass(frozen=True, slots=True)
class Window:
    """As many rows of a terminal as its screen has: the screen itself, or part of the scrollback."""

    lines: list[Line]
    """May be fewer than the rows, because blank ones at the end don't count."""
    top: int
    """The line in the first row, counted like `TerminalScreen.lines`."""
    lines_below: int
    """How many lines it's scrolled up."""
    cursor: tuple[int, int]
    """Column and row; may be outside the window."""
    modes: TerminalModes


class TerminalScreen:
    """One terminal's emulator, and how much output it has read.

    Call everything on the event loop. `on_change` is called there, too, when the feeder's thread has fed a piece. The
    number and content of the lines are as recent as the last piece, so two calls may not match. Lines that have gone in
    between are returned as blank ones.
    """

    def __init__(self, state: TerminalState, make: MakeEmulator, feeder: Feeder, on_change: Callable[[], None]) -> None:
        self.state = state
        self._ring = state.output
        self._make = make
        self._feeder = feeder
        self._on_change = on_change
        self._size = state.columns, state.rows
        self._lock = Lock()
        self._emulator: Emulator | None = None
        self._fed = 0
        self.is_feeding = False
        """Whether the feeder's thread has a piece."""
        self._count_at_rest: int | None = None

    def update(self) -> None:
        """Read new output: immediately if it's little, otherwise a piece in the feeder's thread."""
        self._fit()
        if self.is_feeding:
            return
        emulator, data = self.awake, self._next_piece()
        if len(data) <= AT_ONCE_BYTES:
            self._feed(emulator, data)
        else:
            self.is_feeding = True
            self._feeder.run(partial(self._feed, emulator, data), self._on_fed)

    def keep_up(self) -> None:
        """Read new output if there is too much to wait for the next frame."""
        if self.state.output.end - self._fed > AT_ONCE_BYTES:
            self.update()

    @property
    def can_rest(self) -> bool:
        """Whether it has an emulator and no more output will come."""
        return self._emulator is not None and self.state.has_exited and not self.is_feeding

    def rest(self) -> None:
        """Free the emulator if possible. The next use of the terminal creates another one from the ring."""
        if self.can_rest:
            self._count_at_rest = self.line_count
            self.awake.close()
            self._emulator, self._fed = None, 0

    @property
    def line_count(self) -> int:
        """Lines of scrollback and screen. While a freed emulator is recreated, the number from before."""
        if self._count_at_rest is not None:
            if self._is_behind:
                return self._count_at_rest
            self._count_at_rest = None
        with self._lock:
            return self.awake.line_count

    def lines(self, start: int, stop: int) -> list[Line]:
        if self._emulator is None:
            self.update()
        with self._lock:
            lines = self.awake.lines(start, stop)
        return lines + [[] for _ in range(stop - start - len(lines))]

    def window(self, top: int | None = None) -> Window:
        """The screen, or as many rows starting at line `top`. All parts are from the same moment."""
        with self._lock:
            emulator = self.awake
            live_top = emulator.screen_top
            top = live_top if top is None else max(0, min(top, live_top))
            column, line = emulator.cursor
            lines = emulator.lines(top, top + self._size[1])
            return Window(lines, top, live_top - top, (column, line - top), emulator.modes)

    @property
    def modes(self) -> TerminalModes:
        """The program's modes: how to type, paste, and click, and whether to show the cursor."""
        with self._lock:
            return self.awake.modes

    @property
    def _is_behind(self) -> bool:
        return self.state.output is not self._ring or self._fed < self.state.output.end or self.is_feeding

    @property
    def awake(self) -> Emulator:
        if self._emulator is None:
            self._emulator = self._make(*self._size, SCROLLBACK_LINES)
            if self._preparation:
                self._emulator.feed(self._preparation)
        return self._emulator

    @property
    def _preparation(self) -> bytes:
        return b"" if self.state.is_ours else BARE_LINE_FEEDS

    def _fit(self) -> None:
        """Change to the terminal's current size and rewrap what has been shown."""
        size = self.state.columns, self.state.rows
        if size != self._size:
            self._size = size
            if self._emulator is not None:
                with self._lock:
                    self._emulator.resize(*size)

    def _next_piece(self) -> bytes:
        if self.state.output is not self._ring:  # the whole output was replaced
            self._ring, self._fed = self.state.output, 0
            start, data = self._ring.read_from(0, PIECE_BYTES)
            self._fed = start + len(data)
            return RESET + self._preparation + data
        at = max(self._fed, self.state.output.dropped)
        start, data = self.state.output.read_from(at, PIECE_BYTES)
        has_gap = start > self._fed
        self._fed = start + len(data)
        return _after_a_gap(data) if has_gap else data

    def _feed(self, emulator: Emulator, data: bytes) -> None:
        if data:
            with self._lock:
                emulator.feed(data)

    def _on_fed(self) -> None:
        self.is_feeding = False
        self.update()
        self._on_change()


def _after_a_gap(data: bytes) -> bytes:
    _, line_feed, rest = data.partition(b"\n")
    return AFTER_A_GAP + (rest if line_feed else from_character_boundary(data))


_PLAIN: Final = {
    "enter": b"\r",
    "tab": b"\t",
    "shift+tab": b"\x1b[Z",
    "escape": b"\x1b",
    "backspace": b"\x7f",
    "ctrl+backspace": b"\x08",
    "ctrl+@": b"\0",
    "ctrl+space": b"\0",
    "ctrl+left_square_bracket": b"\x1b",
    "ctrl+backslash": b"\x1c",
    "ctrl+right_square_bracket": b"\x1d",
    "ctrl+circumflex_accent": b"\x1e",
    "ctrl+underscore": b"\x1f",
}
_LETTERED: Final = {"up": "A", "down": "B", "right": "C", "left": "D", "end": "F", "home": "H"}
"""The cursor keys: CSI and the letter, or SS3 if the program has requested that."""
_NUMBERED: Final = {"insert": 2, "delete": 3, "pageup": 5, "pagedown": 6} | dict(
    zip((f"f{number}" for number in range(5, 13)), (15, 17, 18, 19, 20, 21, 23, 24), strict=True)
)
_FIRST_FUNCTION_KEYS: Final = {"f1": "P", "f2": "Q", "f3": "R", "f4": "S"}
_MODIFIERS: Final = {"shift": 1, "alt": 2, "meta": 2, "ctrl": 4}


def encode_key(key: str, character: str | None, modes: TerminalModes) -> bytes:
    """What to type for a key that Textual calls `key`, such as `ctrl+left`; empty if it has no meaning here."""
    if key in _PLAIN:
        return _PLAIN[key]
    *named, base = key.split("+")
    modifiers = sum(_MODIFIERS.get(name, 0) for name in {*named})
    if base in _LETTERED or base in _NUMBERED or base in _FIRST_FUNCTION_KEYS:
        return _encode_named(base, modifiers, modes)
    if modifiers & 4 and len(base) == 1 and base.isascii() and base.isalpha():
        typed = bytes([ord(base.lower()) & 0x1F])
    elif base in _PLAIN:
        typed = _PLAIN[base]
    else:
        shown = character or (base if len(base) == 1 else "")
        typed = shown.encode() if shown.isprintable() else b""
    return b"\x1b" + typed if typed and modifiers & 2 else typed


def _encode_named(base: str, modifiers: int, modes: TerminalModes) -> bytes:
    suffix = f";{modifiers + 1}" if modifiers else ""
    if base in _NUMBERED:
        return f"\x1b[{_NUMBERED[base]}{suffix}~".encode()
    letter = _LETTERED.get(base) or _FIRST_FUNCTION_KEYS[base]
    if suffix:
        return f"\x1b[1{suffix}{letter}".encode()
    is_ss3 = base in _FIRST_FUNCTION_KEYS or modes.application_cursor_keys
    return f"\x1b{'O' if is_ss3 else '['}{letter}".encode()


def encode_paste(text: str, modes: TerminalModes) -> bytes:
    """What to type for pasted text.

    The text can't end a bracketed paste, or press keys other than Enter in a plain one.
    """
    lines = text.replace("\r\n", "\r").replace("\n", "\r")
    harmless = "".join(char for char in lines if char in "\t\r" or char.isprintable() or char > "\x9f")
    typed = harmless.encode("utf-8", "replace")
    return b"\x1b[200~" + typed + b"\x1b[201~" if modes.bracketed_paste else typed


def encode_focus(has_focus: bool, modes: TerminalModes) -> bytes:
    return (b"\x1b[I" if has_focus else b"\x1b[O") if modes.focus_reports else b""
