"""What is made of a painted screen: SVG, PNG, text, and the escape sequences that paint it again."""

from __future__ import annotations

import re
from collections.abc import Sequence
from importlib import import_module
from typing import Any, Final

from rich.console import Console
from textual.strip import Strip

from acp_tui.ui.picturing.errors import CannotRender

FONTS: Final = "Fira Code, Menlo, Consolas, DejaVu Sans Mono, monospace"
PNG_FONT: Final = "DejaVu Sans Mono"
PNG_WIDTH_FOR_CELL: Final = 11
_FONT_FACE: Final = re.compile(r"@font-face\s*\{[^}]*\}\s*")
_UNIQUE: Final = re.compile(r"\bterminal-\d+-")


def tidy_svg(svg: str) -> str:
    """Textual's picture with ids that stay the same, and fonts of the viewer's own machine.

    Its ids hold a checksum of the contents. Its font is loaded from the network, which most places that show pictures
    forbid; each run of text has its width in it, so that another monospaced font changes no column.
    """
    svg = _UNIQUE.sub("terminal-", _FONT_FACE.sub("", svg))
    return svg.replace("font-family: Fira Code, monospace", f"font-family: {FONTS}")


def text_of(strips: Sequence[Strip]) -> str:
    """The screen as plain lines."""
    return "".join(f"{strip.text.rstrip()}\n" for strip in strips)


def png_of(svg: str, columns: int) -> bytes:
    """The picture as pixels. Raises CannotRender where nothing is there to draw it with."""
    try:
        cairosvg: Any = import_module("cairosvg")  # an extra, of which only this has need
    except ImportError as error:
        raise CannotRender(
            "a PNG needs cairosvg, which is not installed",
            hint="pip install 'acp-tui[png]', or write an .svg",
        ) from error
    except OSError as error:  # the library that it is made of
        raise CannotRender("a PNG needs the library cairo", hint=f"{error}") from error
    with_font = svg.replace(FONTS, PNG_FONT)
    return bytes(cairosvg.svg2png(bytestring=with_font.encode(), output_width=columns * PNG_WIDTH_FOR_CELL))


def rows_of(strips: Sequence[Strip], console: Console) -> list[str]:
    """Each line of the screen with the escape sequences of its colours."""
    return [strip.render(console) for strip in strips]
