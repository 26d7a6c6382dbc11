"""What a terminal shows: bytes in, styled lines, cursor, modes and replies out; draws nothing and runs nothing.

The work is libghostty's, through pyghostty: 70 MB/s with the GIL released, and right in each of 24 trials, in vim,
less, top, progress bars and CJK. Of the others, pyavt (asciinema's avt) draws the same pictures at half the speed and
loads in 2 ms instead of 200 to 500, but gives no replies, without which a program that asks for the cursor's position
waits for ever, and few modes, without which nobody can type into one; pyte is 40 to 80 times slower and crashes on vim.
pyghostty has wheels for Linux with glibc and for macOS. Elsewhere (musl, rarer machines) the text is shown without its
colours and without cursor addressing, which is enough to read a build's log and to answer a question.

Of a row without any text, libghostty's formatter forgets the background; we give it that of its first cell.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from typing import Any, Final, Protocol, TypeAlias

from rich.cells import cell_len, chop_cells
from rich.color import Color
from rich.segment import Segment
from rich.style import Style

from acp_tui.client.terminals.plain_text import plain_text
from acp_tui.conversation.buffers import ByteRing

Line: TypeAlias = list[Segment]
"""One row, without trailing blanks that have no style."""

MAX_REPLY_BYTES: Final = 64 * 1024
"""More than that nobody has asked for in earnest: the rest of the replies is dropped."""
PLAIN_KEPT_BYTES: Final = 256 * 1024
SCROLLBACK_BYTES_PER_CELL: Final = 128
"""What libghostty reckons for a cell, generously: the limit that counts is that in lines."""


class MouseReports(Enum):
    """What a program wants to hear of the mouse."""

    NONE = 0
    CLICKS = 1000
    DRAGS = 1002
    EVERY_MOVE = 1003


@dataclass(frozen=True, slots=True)
class TerminalModes:
    """How keys, pastes and the mouse are to be told to the program, and what it does with the screen."""

    application_cursor_keys: bool = False
    application_keypad: bool = False
    bracketed_paste: bool = False
    focus_reports: bool = False
    mouse: MouseReports = MouseReports.NONE
    sgr_mouse: bool = False
    """Mouse reports as `CSI < ... M`, without which columns beyond 223 cannot be told."""
    alternate_screen: bool = False
    cursor_visible: bool = True


class Emulator(Protocol):
    """A terminal without a window. After `close` every call but another `close` raises ValueError."""

    def feed(self, data: bytes) -> None:
        """Take output of the program, cut anywhere."""

    def resize(self, columns: int, rows: int) -> None:
        """Change its size; what has been shown flows anew."""

    @property
    def line_count(self) -> int:
        """How many lines there are, scrolled away or on the screen; the blank ones at the end do not count."""

    def lines(self, start: int = 0, stop: int | None = None) -> list[Line]:
        """The lines from `start` up to `stop` or to the last; costs only what it gives."""

    @property
    def screen_top(self) -> int:
        """The line that the screen begins with: what is counted before it has scrolled away."""

    @property
    def cursor(self) -> tuple[int, int]:
        """Column and line, in cells and counted as `lines` does; it may stand below the last of them."""

    @property
    def modes(self) -> TerminalModes:
        """What the program has set."""

    def take_replies(self) -> bytes:
        """What has to be typed into the program as answers to its questions, once."""

    def close(self) -> None:
        """Free it now. May be called twice."""


def make_emulator(columns: int, rows: int, max_scrollback: int) -> Emulator:
    """The best emulator that there is on this machine; `max_scrollback` is in lines, and roughly kept."""
    try:
        return GhosttyEmulator(columns, rows, max_scrollback)
    except (ImportError, OSError, MemoryError):
        # No wheel, a library that cannot be loaded, or a system that allows no memory for callbacks.
        return PlainEmulator(columns, rows, max_scrollback)


def warm_up() -> None:
    """Load the emulator and make each of its calls once: the binding parses every C type when it first meets it."""
    emulator = make_emulator(2, 2, 0)
    emulator.feed(b"x\x1b[6n\r\n\x1b[41m\x1b[K\x1b[48;2;1;2;3m\r\n\x1b[K")
    emulator.resize(3, 3)
    _ = emulator.lines(), emulator.cursor, emulator.modes, emulator.take_replies()
    emulator.close()


class GhosttyEmulator:
    """libghostty's terminal. The native one behind it is never reached after `close`."""

    def __init__(self, columns: int, rows: int, max_scrollback: int) -> None:
        # Imported with the first terminal: it takes 0.2 to 0.5 s, which the first frame must not pay.
        from pyghostty import core

        columns, rows = max(1, columns), max(1, rows)
        self._core: Any = core
        self._terminal: Any = core.Terminal(columns, rows, scrollback=max_scrollback)
        self._replies = bytearray()
        self._line_count: int | None = None
        self._set("SCROLLBACK_MAX_BYTES", "size_t*", max_scrollback * columns * SCROLLBACK_BYTES_PER_CELL)
        self._set("KITTY_IMAGE_STORAGE_LIMIT", "uint64_t*", 0)  # images that nobody would draw
        self._terminal.on_reply(self._take_reply)

    def feed(self, data: bytes) -> None:
        """See Emulator."""
        self._line_count = None
        self._open.feed(data)

    def resize(self, columns: int, rows: int) -> None:
        """See Emulator."""
        size = max(1, columns), max(1, rows)
        if size != self._open.size:
            self._line_count = None
            self._open.resize(*size)

    @property
    def line_count(self) -> int:
        """See Emulator."""
        if self._line_count is None:
            total, rows = self._row_count(), self._open.get("rows")
            screen = self._rows(total - rows, total)
            while screen and not screen[-1]:
                screen.pop()
            self._line_count = total - rows + len(screen)
        return self._line_count

    def lines(self, start: int = 0, stop: int | None = None) -> list[Line]:
        """See Emulator."""
        last = self.line_count if stop is None else min(stop, self.line_count)
        return self._rows(max(0, start), last)

    @property
    def screen_top(self) -> int:
        """See Emulator."""
        return self._row_count() - int(self._open.get("rows"))

    @property
    def cursor(self) -> tuple[int, int]:
        """See Emulator."""
        column, row = self._open.cursor
        return column, self.screen_top + row

    @property
    def modes(self) -> TerminalModes:
        """See Emulator."""
        is_set = self._open.mode
        wanted = (mouse for mouse in reversed(MouseReports) if mouse.value and is_set(mouse.value))
        return TerminalModes(
            application_cursor_keys=is_set(1),
            application_keypad=is_set(66),
            bracketed_paste=is_set(2004),
            focus_reports=is_set(1004),
            mouse=next(wanted, MouseReports.NONE),
            sgr_mouse=is_set(1006),
            alternate_screen=self._open.get("active_screen", "GhosttyTerminalScreen") != 0,
            cursor_visible=is_set(25),
        )

    def take_replies(self) -> bytes:
        """See Emulator."""
        replies = bytes(self._replies)
        self._replies.clear()
        return replies

    def close(self) -> None:
        """See Emulator."""
        if self._terminal is not None:
            self._terminal.close()
            self._terminal = None

    @property
    def _open(self) -> Any:
        if self._terminal is None:
            raise ValueError("the emulator is closed")
        return self._terminal

    def _take_reply(self, reply: bytes) -> None:
        if len(self._replies) + len(reply) <= MAX_REPLY_BYTES:
            self._replies += reply

    def _row_count(self) -> int:
        """Rows scrolled away and on the screen."""
        return int(self._open.get("total_rows", "size_t"))

    def _rows(self, start: int, stop: int) -> list[Line]:
        if start >= stop:
            return []
        rows = list(_parse_rows(self._format(start, stop)))
        rows += [[] for _ in range(stop - start - len(rows))]  # blank ones at the end are not formatted
        return [row or self._painted_blank(start + index) for index, row in enumerate(rows)]

    def _format(self, start: int, stop: int) -> str:
        """The rows as text with SGR sequences for their styles: one call for all, instead of several a cell."""
        core, lib = self._core, self._core.lib
        options = core.init_sized("GhosttyFormatterTerminalOptions")
        options.emit, options.trim = lib.GHOSTTY_FORMATTER_FORMAT_VT, True
        selection = core.init_sized("GhosttySelection")
        selection.start = self._open.ref(0, start, "screen")[0]
        selection.end = self._open.ref(self._open.get("cols") - 1, stop - 1, "screen")[0]
        options.selection = selection
        formatter = core.ffi.new("GhosttyFormatter*")
        new = lib.ghostty_formatter_terminal_new(core.ffi.NULL, formatter, self._native, options[0])
        core.check(new, "formatter")
        try:
            return str(core.read_buf(lambda *buffer: lib.ghostty_formatter_format_buf(formatter[0], *buffer)))
        finally:
            lib.ghostty_formatter_free(formatter[0])

    def _painted_blank(self, row: int) -> Line:
        """A row without text: nothing, or the background of its first cell from edge to edge."""
        core, lib = self._core, self._core.lib
        cell = core.ffi.new("GhosttyCell*")
        core.check(lib.ghostty_grid_ref_cell(self._open.ref(0, row, "screen"), cell), "cell")
        if cell[0] == 0:
            return []
        tag = core.ffi.new("GhosttyCellContentTag*")
        core.check(lib.ghostty_cell_get(cell[0], lib.GHOSTTY_CELL_DATA_CONTENT_TAG, tag), "content of a cell")
        if tag[0] == lib.GHOSTTY_CELL_CONTENT_BG_COLOR_PALETTE:
            index = core.ffi.new("GhosttyColorPaletteIndex*")
            core.check(lib.ghostty_cell_get(cell[0], lib.GHOSTTY_CELL_DATA_COLOR_PALETTE, index), "colour")
            color = Color.from_ansi(index[0])
        elif tag[0] == lib.GHOSTTY_CELL_CONTENT_BG_COLOR_RGB:
            rgb = core.ffi.new("GhosttyColorRgb*")
            core.check(lib.ghostty_cell_get(cell[0], lib.GHOSTTY_CELL_DATA_COLOR_RGB, rgb), "colour")
            color = Color.from_rgb(rgb.r, rgb.g, rgb.b)
        else:
            return []
        return [Segment(" " * self._open.get("cols"), Style(bgcolor=color))]

    @property
    def _native(self) -> Any:
        return self._open._t[0]

    def _set(self, option: str, pointer: str, value: int) -> None:
        core = self._core
        number = getattr(core.lib, f"GHOSTTY_TERMINAL_OPT_{option}")
        core.check(core.lib.ghostty_terminal_set(self._native, number, core.ffi.new(pointer, value)), option)


class PlainEmulator:
    """The text alone, for machines without libghostty: no colours, no cursor addressing, no replies."""

    def __init__(self, columns: int, rows: int, max_scrollback: int) -> None:
        self._ring: ByteRing | None = ByteRing(PLAIN_KEPT_BYTES)
        self._max_lines = max_scrollback + rows
        self._columns, self._rows = max(1, columns), max(1, rows)
        self._wrapped: list[str] | None = None

    def feed(self, data: bytes) -> None:
        """See Emulator."""
        self._open.append(data)
        self._wrapped = None

    def resize(self, columns: int, rows: int) -> None:
        """See Emulator."""
        self._columns, self._rows = max(1, columns), max(1, rows)
        self._wrapped = None
        self._lines()

    @property
    def line_count(self) -> int:
        """See Emulator."""
        wrapped = self._lines()
        return next((count for count in range(len(wrapped), 0, -1) if wrapped[count - 1].strip()), 0)

    def lines(self, start: int = 0, stop: int | None = None) -> list[Line]:
        """See Emulator."""
        last = self.line_count if stop is None else min(stop, self.line_count)
        return [[Segment(line)] if line else [] for line in self._lines()[max(0, start) : last]]

    @property
    def screen_top(self) -> int:
        """See Emulator."""
        return max(0, len(self._lines()) - self._rows)

    @property
    def cursor(self) -> tuple[int, int]:
        """See Emulator."""
        wrapped = self._lines()
        return min(cell_len(wrapped[-1]), self._columns - 1), len(wrapped) - 1

    @property
    def modes(self) -> TerminalModes:
        """See Emulator: it understands none."""
        return TerminalModes()

    def take_replies(self) -> bytes:
        """See Emulator: it knows no answers."""
        return b""

    def close(self) -> None:
        """See Emulator."""
        self._ring = self._wrapped = None

    @property
    def _open(self) -> ByteRing:
        if self._ring is None:
            raise ValueError("the emulator is closed")
        return self._ring

    def _lines(self) -> list[str]:
        """All lines, wrapped to the width; at least one."""
        ring = self._open
        if self._wrapped is None:
            text = plain_text(ring.read(), is_complete=False)
            lines = (line.expandtabs(8) for line in text.split("\n")[-self._max_lines :])
            wrapped = [part for line in lines for part in chop_cells(line, self._columns) or [""]]
            self._wrapped = wrapped[-self._max_lines :]
        return self._wrapped


_SGR_RUN: Final = re.compile(r"((?:\x1b\[[\d;:]*m)+)")
_RESET: Final = "\x1b[0m"
_ATTRIBUTES: dict[str, dict[str, Any]] = {
    "1": {"bold": True},
    "2": {"dim": True},
    "3": {"italic": True},
    "4": {"underline": True},
    "4:2": {"underline2": True},
    "4:3": {"underline": True},
    "4:4": {"underline": True},
    "4:5": {"underline": True},
    "5": {"blink": True},
    "7": {"reverse": True},
    "8": {"conceal": True},
    "9": {"strike": True},
    "21": {"underline2": True},
    "53": {"overline": True},
}


def _parse_rows(formatted: str) -> Iterator[Line]:
    """The rows of what libghostty's formatter wrote: text and SGR sequences, nothing else."""
    state = ""  # the sequences since the last reset, which is what a style is known by
    for row in formatted.split("\r\n"):
        line: Line = []
        for index, part in enumerate(_SGR_RUN.split(row)):
            if index % 2:
                state = (state + part).rpartition(_RESET)[2]
            elif part:
                line.append(Segment(part, _style(state)))
        yield _without_trailing_blanks(line)


def _without_trailing_blanks(line: Line) -> Line:
    while line and line[-1].style is None:
        text = line[-1].text.rstrip(" ")
        if text:
            line[-1] = Segment(text)
            break
        line.pop()
    return line


@lru_cache(maxsize=4096)
def _style(sequences: str) -> Style | None:
    """The style that these SGR sequences set, one attribute each, on top of the default."""
    attributes: dict[str, Any] = {}
    for sequence in sequences.split("m")[:-1]:
        parameters = sequence.removeprefix("\x1b[")
        match parameters.split(";"):
            case [("38" | "48") as ground, "5", index]:
                attributes[_GROUNDS[ground]] = Color.from_ansi(int(index))
            case [("38" | "48") as ground, "2", red, green, blue]:
                attributes[_GROUNDS[ground]] = Color.from_rgb(int(red), int(green), int(blue))
            case _:  # what is left out, such as the colour of an underline, cannot be drawn
                attributes |= _ATTRIBUTES.get(parameters, {})
    return Style(**attributes) if attributes else None


_GROUNDS: Final = {"38": "color", "48": "bgcolor"}
