"""What a terminal shows: bytes in; styled lines, cursor, modes, and replies out. Draws nothing and runs nothing.

libghostty does the work, through pyghostty: 300 MB/s with the GIL released, and correct in all of 24 trials with vim,
less, top, progress bars, and CJK. We tried two others. pyavt (asciinema's avt) draws the same pictures at half the
speed and loads in 2 ms instead of 200 to 500. But it gives no replies, so a program that asks for the cursor's position
waits forever, and it knows few modes, without which typing doesn't work. pyte is 40 to 80 times slower and crashes on
vim. pyghostty has wheels for glibc 2.27+ and macOS 13+, so it comes with the extra `terminal`. Without it, text is
shown without colors and cursor addressing, which is enough to read a build's log and to answer a question.

libghostty's formatter loses the background of a row without text. We use that of its first cell.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from functools import lru_cache
from importlib.util import find_spec
from threading import Lock
from typing import Any, Final, NamedTuple, TypeAlias

from acp_tui.conversation.buffers import ByteRing
from acp_tui.conversation.plain_text import cells_of, plain_text
from acp_tui.values import dataclass

Color: TypeAlias = int | tuple[int, int, int]
"""An index in the palette of 256 colors, or red, green, and blue."""


class CellStyle(NamedTuple):
    """How cells look. Unset values are the terminal's defaults."""

    foreground: Color | None = None
    background: Color | None = None
    attributes: frozenset[str] = frozenset()
    """Any of `bold dim italic underline double_underline blink reverse conceal strike overline`."""


class StyledCells(NamedTuple):
    """Neighboring cells with the same style."""

    text: str
    style: CellStyle | None = None


Line: TypeAlias = list[StyledCells]
"""One row, without trailing blanks that have no style."""

MAX_REPLY_BYTES: Final = 64 * 1024
"""No program legitimately needs more. The rest of the replies is dropped."""
PLAIN_KEPT_BYTES: Final = 256 * 1024
PLAIN_TEXT_HINT: Final = "commands show as plain text; for colors and full-screen programs, install acp-tui[terminal]"
LOADING_SWITCH_INTERVAL_S: Final = 0.0001
SCROLLBACK_BYTES_PER_CELL: Final = 10
"""What libghostty counts for a cell, and for its part of a page's tables."""


@dataclass(frozen=True, slots=True)
class TerminalModes:
    """How to report keys and pastes to the program, and how it uses the screen."""

    application_cursor_keys: bool = False
    bracketed_paste: bool = False
    focus_reports: bool = False
    alternate_screen: bool = False
    cursor_visible: bool = True


BARE_LINE_FEEDS: Final = b"\x1b[20h"
"""For output of an agent's own command, possibly read from a pipe, so no terminal has added carriage returns."""


def is_installed() -> bool:
    return find_spec("pyghostty") is not None


def make_emulator(columns: int, rows: int, max_scrollback: int) -> Emulator:
    """The best emulator on this machine. `max_scrollback` is an approximate limit in lines."""
    try:
        return GhosttyEmulator(columns, rows, max_scrollback)
    except (ImportError, OSError, MemoryError):
        # No wheel, a library that can't be loaded, or a system that allows no memory for callbacks.
        return PlainEmulator(columns, rows, max_scrollback)


_loading: Final = Lock()


def load_emulator() -> None:
    """Import what an emulator needs and prepare every call. Takes up to half a second, so use a thread."""
    with _loading:
        interval = sys.getswitchinterval()
        # Loading is pure Python, and after each read the event loop waits for the GIL: 5 ms each by default.
        sys.setswitchinterval(LOADING_SWITCH_INTERVAL_S)
        try:
            # The binding parses each C type on first use.
            emulator = make_emulator(2, 2, 0)
            emulator.feed(b"x\x1b[6n\r\n\x1b[41m\x1b[K\x1b[48;2;1;2;3m\r\n\x1b[K")
            emulator.resize(3, 3)
            _ = emulator.lines(), emulator.cursor, emulator.modes, emulator.take_replies()
            emulator.close()
        finally:
            sys.setswitchinterval(interval)


class GhosttyEmulator:
    """libghostty's terminal. After `close`, every call except `close` raises ValueError, as in `PlainEmulator`."""

    def __init__(self, columns: int, rows: int, max_scrollback: int) -> None:
        # Imported with the first terminal, because it takes 0.2 to 0.5 s, which would delay the first frame.
        from pyghostty import core

        columns, rows = max(1, columns), max(1, rows)
        self._core: Any = core
        # The limit in bytes comes first: a page beyond it is used again, but one beyond a limit in lines is given back
        # to the system, and its successor taken from there, which cost as much as all of the rest.
        self._terminal: Any = core.Terminal(columns, rows, scrollback=2 * max_scrollback)
        self._max_scrollback = max_scrollback
        self._replies = bytearray()
        self._line_count: int | None = None
        self._limit_scrollback(columns)
        self._set("KITTY_IMAGE_STORAGE_LIMIT", "uint64_t*", 0)  # don't store images, because we don't draw them
        self._terminal.on_reply(self._take_reply)

    def feed(self, data: bytes) -> None:
        """Process output of the program, split at any byte."""
        self._line_count = None
        self._open.feed(data)

    def resize(self, columns: int, rows: int) -> None:
        """Change the size and rewrap what has been shown."""
        size = max(1, columns), max(1, rows)
        if size != self._open.size:
            self._line_count = None
            self._open.resize(*size)
            self._limit_scrollback(size[0])

    @property
    def line_count(self) -> int:
        """The number of lines in the scrollback and on the screen, without blank ones at the end."""
        if self._line_count is None:
            total, rows = self._row_count(), self._open.get("rows")
            screen = self._rows(total - rows, total)
            while screen and not screen[-1]:
                screen.pop()
            self._line_count = total - rows + len(screen)
        return self._line_count

    def lines(self, start: int = 0, stop: int | None = None) -> list[Line]:
        """The lines from `start` to `stop` or to the last one. The cost depends only on how many."""
        last = self.line_count if stop is None else min(stop, self.line_count)
        return self._rows(max(0, start), last)

    @property
    def screen_top(self) -> int:
        """The line at the top of the screen: the number of lines that have scrolled away."""
        return self._row_count() - int(self._open.get("rows"))

    @property
    def cursor(self) -> tuple[int, int]:
        """Column and line, in cells and counted like `lines`. The cursor may be below the last line."""
        column, row = self._open.cursor
        return column, self.screen_top + row

    @property
    def modes(self) -> TerminalModes:
        is_set = self._open.mode
        return TerminalModes(
            application_cursor_keys=is_set(1),
            bracketed_paste=is_set(2004),
            focus_reports=is_set(1004),
            alternate_screen=self._open.get("active_screen", "GhosttyTerminalScreen") != 0,
            cursor_visible=is_set(25),
        )

    def take_replies(self) -> bytes:
        """The replies to the program's queries, to type into it. Each is returned once."""
        replies = bytes(self._replies)
        self._replies.clear()
        return replies

    def close(self) -> None:
        """Free it now. May be called twice."""
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
        return int(self._open.get("total_rows", "size_t"))

    def _rows(self, start: int, stop: int) -> list[Line]:
        if start >= stop:
            return []
        rows = list(_parse_rows(self._format(start, stop)))
        rows += [[] for _ in range(stop - start - len(rows))]  # the formatter omits blank rows at the end
        return [row or self._painted_blank(start + index) for index, row in enumerate(rows)]

    def _format(self, start: int, stop: int) -> str:
        """The rows as text with SGR sequences for their styles, in one call instead of several per cell."""
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
        """A row without text: empty, or the background of its first cell across the whole width."""
        core, lib = self._core, self._core.lib
        cell = core.ffi.new("GhosttyCell*")
        core.check(lib.ghostty_grid_ref_cell(self._open.ref(0, row, "screen"), cell), "cell")
        if cell[0] == 0:
            return []
        tag = core.ffi.new("GhosttyCellContentTag*")
        core.check(lib.ghostty_cell_get(cell[0], lib.GHOSTTY_CELL_DATA_CONTENT_TAG, tag), "content of a cell")
        if tag[0] == lib.GHOSTTY_CELL_CONTENT_BG_COLOR_PALETTE:
            index = core.ffi.new("GhosttyColorPaletteIndex*")
            core.check(lib.ghostty_cell_get(cell[0], lib.GHOSTTY_CELL_DATA_COLOR_PALETTE, index), "color")
            color: Color = int(index[0])
        elif tag[0] == lib.GHOSTTY_CELL_CONTENT_BG_COLOR_RGB:
            rgb = core.ffi.new("GhosttyColorRgb*")
            core.check(lib.ghostty_cell_get(cell[0], lib.GHOSTTY_CELL_DATA_COLOR_RGB, rgb), "color")
            color = (int(rgb.r), int(rgb.g), int(rgb.b))
        else:
            return []
        return [StyledCells(" " * self._open.get("cols"), CellStyle(background=color))]

    @property
    def _native(self) -> Any:
        return self._open._t[0]

    def _limit_scrollback(self, columns: int) -> None:
        self._set("SCROLLBACK_MAX_BYTES", "size_t*", self._max_scrollback * columns * SCROLLBACK_BYTES_PER_CELL)

    def _set(self, option: str, pointer: str, value: int) -> None:
        core = self._core
        number = getattr(core.lib, f"GHOSTTY_TERMINAL_OPT_{option}")
        core.check(core.lib.ghostty_terminal_set(self._native, number, core.ffi.new(pointer, value)), option)


class PlainEmulator:
    """Only the text, for machines without libghostty: no colors, no cursor addressing, no replies."""

    def __init__(self, columns: int, rows: int, max_scrollback: int) -> None:
        self._ring: ByteRing | None = ByteRing(PLAIN_KEPT_BYTES)
        self._max_lines = max_scrollback + rows
        self._columns, self._rows = max(1, columns), max(1, rows)
        self._wrapped: list[str] | None = None

    def feed(self, data: bytes) -> None:
        self._open.append(data)
        self._wrapped = None

    def resize(self, columns: int, rows: int) -> None:
        self._columns, self._rows = max(1, columns), max(1, rows)
        self._wrapped = None
        self._lines()

    @property
    def line_count(self) -> int:
        wrapped = self._lines()
        return next((count for count in range(len(wrapped), 0, -1) if wrapped[count - 1].strip()), 0)

    def lines(self, start: int = 0, stop: int | None = None) -> list[Line]:
        last = self.line_count if stop is None else min(stop, self.line_count)
        return [[StyledCells(line)] if line else [] for line in self._lines()[max(0, start) : last]]

    @property
    def screen_top(self) -> int:
        return max(0, len(self._lines()) - self._rows)

    @property
    def cursor(self) -> tuple[int, int]:
        wrapped = self._lines()
        return min(sum(map(cells_of, wrapped[-1])), self._columns - 1), len(wrapped) - 1

    @property
    def modes(self) -> TerminalModes:
        return TerminalModes()

    def take_replies(self) -> bytes:
        return b""

    def close(self) -> None:
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
            wrapped = [part for line in lines for part in _wrap(line, self._columns)]
            self._wrapped = wrapped[-self._max_lines :]
        return self._wrapped


def _wrap(line: str, columns: int) -> Iterator[str]:
    """The line in parts of at most `columns` cells; at least one part."""
    start, room = 0, columns
    for at, char in enumerate(line):
        cells = cells_of(char)
        if cells > room and at > start:
            yield line[start:at]
            start, room = at, columns
        room -= cells
    yield line[start:]


Emulator: TypeAlias = GhosttyEmulator | PlainEmulator

_SGR_RUN: Final = re.compile(r"((?:\x1b\[[\d;:]*m)+)")
_RESET: Final = "\x1b[0m"
_ATTRIBUTES: Final = {
    "1": "bold",
    "2": "dim",
    "3": "italic",
    "4": "underline",
    "4:2": "double_underline",
    "4:3": "underline",
    "4:4": "underline",
    "4:5": "underline",
    "5": "blink",
    "7": "reverse",
    "8": "conceal",
    "9": "strike",
    "21": "double_underline",
    "53": "overline",
}


def _parse_rows(formatted: str) -> Iterator[Line]:
    """The rows of libghostty's formatted output, which consists of text and SGR sequences only."""
    state = ""  # the sequences since the last reset, which identify a style
    for row in formatted.split("\r\n"):
        line: Line = []
        for index, part in enumerate(_SGR_RUN.split(row)):
            if index % 2:
                state = (state + part).rpartition(_RESET)[2]
            elif part:
                line.append(StyledCells(part, _style(state)))
        yield _without_trailing_blanks(line)


def _without_trailing_blanks(line: Line) -> Line:
    while line and line[-1].style is None:
        text = line[-1].text.rstrip(" ")
        if text:
            line[-1] = StyledCells(text)
            break
        line.pop()
    return line


@lru_cache(maxsize=4096)
def _style(sequences: str) -> CellStyle | None:
    """The style that these SGR sequences set, one attribute each, starting from the default."""
    colors: dict[str, Color] = {}
    attributes = set()
    for sequence in sequences.split("m")[:-1]:
        parameters = sequence.removeprefix("\x1b[")
        match parameters.split(";"):
            case [("38" | "48") as ground, "5", index]:
                colors[ground] = int(index)
            case [("38" | "48") as ground, "2", red, green, blue]:
                colors[ground] = (int(red), int(green), int(blue))
            case _ if parameters in _ATTRIBUTES:
                attributes.add(_ATTRIBUTES[parameters])
            case _:  # for example, the color of an underline, which can't be drawn
                pass
    style = CellStyle(colors.get("38"), colors.get("48"), frozenset(attributes))
    return None if style == CellStyle() else style
