"""What a terminal printed, as plain text: line by line, without a screen."""

from __future__ import annotations

import codecs
import re
import unicodedata
from collections.abc import Sequence
from typing import Final

# Linear on any input: no body can extend past the next ESC. Every part except the first two characters is optional, so
# a sequence that is cut off at either end of the output is removed, too.
_ESCAPE_SEQUENCE: Final = re.compile(
    r"\x1b(?:"
    r"\[[0-?]*[ -/]*[@-~]?"  # CSI: colors, cursor, modes
    r"|\][^\x07\x1b\n]*(?:\x07|\x1b\\)?"  # OSC: titles, links; ends with the line at the latest
    r"|[PX^_][^\x1b\n]*(?:\x1b\\)?"  # DCS, SOS, PM, APC
    r"|[ -/]*[0-~]"  # character sets, keypad modes, resets
    r")"
)
_CONTROL: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_NO_CONTROL: Final = dict.fromkeys([*range(0x09), *range(0x0B, 0x20), 0x7F])


def plain_text(data: bytes, *, is_complete: bool) -> str:
    """`data` without escape sequences and control characters, with LF line endings and bad UTF-8 as U+FFFD.

    For a line that was overwritten (a progress bar), this is what a terminal would finally show. Unless the output
    `is_complete`, an incomplete character at the end is left out.
    """
    text = codecs.getincrementaldecoder("utf-8")("replace").decode(data, is_complete)
    text = text.replace("\r\n", "\n")
    if _goes_back(text):
        lines = text.split("\n")
        text = "\n".join(_as_shown(line) if _goes_back(line) else line for line in lines)
    if "\x1b" in text:
        text = _ESCAPE_SEQUENCE.sub("", text)
    # This runs on the event loop. Translating ASCII is five times faster than searching it.
    return text.translate(_NO_CONTROL) if text.isascii() else _CONTROL.sub("", text)


def _goes_back(text: str) -> bool:
    return any(map(text.__contains__, _SIGNS))


# A line in which the cursor moved back: what a terminal would show

_MAX_COLUMN: Final = 1_000
"""The cursor moves no further, because no terminal is wider."""
_TAB_CELLS: Final = 8
_MAX_JOINED: Final = 64
"""Characters in one cell."""

_SIGNS: Final = ("\r", "\x08", "\x1b[1K", "\x1b[2K", "\x1b[G", "\x1b[1G")
"""A line with none of these is shown as printed. Erasing after its end changes nothing."""
_CLEARINGS: Final = (*("\r\x1b[K", "\r\x1b[0K", "\r\x1b[2K"), *("\x1b[2K\r", "\x1b[2K\x1b[G", "\x1b[2K\x1b[1G"))
"""After one of these, the line is as if nothing had been printed."""
_ERASES: Final = re.compile(r"\x1b\[\d*[KG]")
# Characters that take one cell each and don't combine, as far as progress bars use them.
_NARROW: Final = re.compile(
    "[\r -~\u00a0-\u00ac\u00ae-\u02ff\u0370-\u0482\u2010-\u2027\u2030-\u205e\u2190-\u2319\u2500-\u25fc\u2800-\u28ff]*"
)


def _as_shown(line: str) -> str:
    """The final state of a line, without trailing blanks, escape sequences, and control characters."""
    line = line[max(line.rfind(sign) + len(sign) if sign in line else 0 for sign in _CLEARINGS) :]
    if not _ERASES.search(line):
        line = _ESCAPE_SEQUENCE.sub("", line)
    return _last_of_each(line) if _NARROW.fullmatch(line) else _replayed(line)


def _last_of_each(line: str) -> str:
    """For narrow texts that overwrote each other, the last character at each position."""
    shown = ""
    for text in reversed(line.split("\r")):
        shown += text[len(shown) :]
    return shown.rstrip(" ")


def _replayed(line: str) -> str:
    piece = re.compile(
        rf"(?P<text>[^\x00-\x08\x0b-\x1f\x7f-\x9f]+)|(?P<move>[\r\x08])"
        rf"|\x1b\[(?P<number>\d{{0,9}})(?P<action>[KG])|{_ESCAPE_SEQUENCE.pattern}|."
    )
    cells = _Cells()
    for found in piece.finditer(line):
        match found.lastgroup:
            case "text":
                cells.write(found["text"])
            case "move":
                cells.go_to(0 if found["move"] == "\r" else cells.at - 1)
            case "action" if found["action"] == "G":
                cells.go_to(int(found["number"] or 1) - 1)
            case "action":
                cells.erase(int(found["number"] or 0))
    return cells.text


class _Cells:
    """A row of cells. The first cell of a wide character contains it; its other cells are empty."""

    def __init__(self) -> None:
        self._cells: list[str] = []
        self._blank = 0
        """The number of leading cells known to be blank, so that they aren't erased repeatedly."""
        self.at = 0
        """The position of the next character."""

    @property
    def text(self) -> str:
        return "".join(self._cells).rstrip(" ")

    def go_to(self, column: int) -> None:
        """Move the cursor, at most to the beginning or as far ahead as a terminal is wide."""
        self.at = max(min(column, max(_MAX_COLUMN, self.at)), 0)

    def write(self, text: str) -> None:
        """Overwrite as many cells as the text takes."""
        if _NARROW.fullmatch(text):
            self._put(text)
            return
        for char in text:
            if char == "\t":
                self._tab()
            elif cells := cells_of(char):
                self._put((char,) if cells == 1 else (char, ""))
            elif 0 < self.at <= len(self._cells):
                self._join(char)

    def _tab(self) -> None:
        """Move to the next tab stop. Erases nothing; past the end of the row, the tab itself is kept."""
        width = _TAB_CELLS - self.at % _TAB_CELLS
        if self.at < len(self._cells):
            self.at += width
        else:
            self._put(("\t", *[""] * (width - 1)))

    def _join(self, char: str) -> None:
        """Add to the character before the cursor, up to a limit: each one copies those before it."""
        before = self.at - 1
        while before and not self._cells[before]:
            before -= 1
        if len(self._cells[before]) < _MAX_JOINED:
            self._cells[before] += char

    def _put(self, cells: Sequence[str]) -> None:
        self._cells.extend(" " * (self.at - len(self._cells)))
        stop = self.at + len(cells)
        self._split(self.at)
        self._split(stop)
        self._cells[self.at : stop] = cells
        self._blank = min(self._blank, self.at)
        self.at = stop

    def _split(self, at: int) -> None:
        """Replace a character that extends across this position with blanks."""
        if at >= len(self._cells) or self._cells[at]:
            return
        while at and not self._cells[at]:
            at -= 1
        self._cells[at] = " "
        while at + 1 < len(self._cells) and not self._cells[at + 1]:
            at += 1
            self._cells[at] = " "

    def erase(self, what: int) -> None:
        """0: erase from the cursor to the end; 1: from the beginning to the cursor; 2: all. The cursor stays."""
        if what in (0, 2):
            self._split(self.at)
            del self._cells[self.at :]
        if what in (1, 2):
            stop = min(self.at + 1, len(self._cells))
            self._split(stop)
            self._cells[self._blank : stop] = " " * (stop - self._blank)
            self._blank = max(self._blank, stop)


def cells_of(char: str) -> int:
    """The number of cells a character takes; 0 if it combines with the one before it."""
    if unicodedata.category(char) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in ("W", "F") else 1
