"""Draws in ASCII only, for terminals and fonts that have no more: a last look over each line, which changes no text."""

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
    "▸❯›→↪↳⟩": ">",
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
"""What stands in for each character of a key, in as many cells."""
BOX_DRAWING: Final = range(0x2500, 0x2580)
"""Where nothing else stands in for one of these, lines meet in it."""


def _table() -> Iterator[tuple[int, str]]:
    yield from ((code, "+") for code in BOX_DRAWING)
    yield from ((ord(character), stand_in) for key, stand_in in STAND_INS.items() for character in key)


TABLE: Final = dict(_table())


class Ascii(LineFilter):
    """Lines, icons and punctuation by their stand-ins. Letters stay: nothing could stand in for them."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """The segments, as wide as they were."""
        return [
            segment
            if segment.text.isascii()
            else Segment(segment.text.translate(TABLE), segment.style, segment.control)
            for segment in segments
        ]
