"""Draws in ASCII only, for terminals and fonts without other characters. Runs over each drawn line; no text changes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter

STAND_INS: Final = {
    "─━┄┅┈┉╌╍╴╶╸╺╼╾═▀▔−–—‑·": "-",
    "│┃┆┇┊┋╎╏╵╷╹╻╽╿║▌▐▎▍▏▕▊▋▉": "|",
    "▁▂▃▄▅▆": "_",
    "█▇": "#",
    "╱": "/",
    "╲": "\\",
    "╳×✗": "x",
    "✓☑": "+",
    "•◦▪●◉■★": "*",
    "○□☐◇": "o",
    "◐◓◑◒…": "~",
    "⊘": "%",
    "◌⌕": "?",
    "▸❯›→↪↱↳⟩": ">",
    "←‹⟨": "<",
    "▾↓": "v",
    "↑⇅": "^",
    "⇄≈": "=",
    "↻": "@",
    "✎": "&",
    "∴": ":",
    "⚠▲": "!",
    "“”„": '"',
    "‘’": "'",
    "🔎": "? ",
    "\u00a0": " ",
}
"""The replacement for each character of a key, with the same number of cells."""
BOX_DRAWING: Final = range(0x2500, 0x2580)
"""Box-drawing characters without another replacement become "+"."""


def _table() -> Iterator[tuple[int, str]]:
    yield from ((code, "+") for code in BOX_DRAWING)
    yield from ((ord(character), stand_in) for key, stand_in in STAND_INS.items() for character in key)


TABLE: Final = dict(_table())


class Ascii(LineFilter):
    """Replaces lines, icons, and punctuation. Letters stay, because nothing could replace them."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        return [
            segment
            if segment.text.isascii()
            else Segment(segment.text.translate(TABLE), segment.style, segment.control)
            for segment in segments
        ]
