"""What is made of a painted screen: SVG, PNG, text, and the escape sequences that paint it again."""

from __future__ import annotations

import re
from collections.abc import Sequence
from importlib import import_module
from typing import Any, Final, NamedTuple

from rich.console import Console
from textual.strip import Strip

from acp_tui.client.errors import ClientError


class CannotRender(ClientError):
    """There will be no file."""


FONTS: Final = "Fira Code, Menlo, Consolas, DejaVu Sans Mono, monospace"
PNG_FONT: Final = "DejaVu Sans Mono"
PNG_FONT_SIZE: Final = "font-size: 20.264px"
"""In which its characters are as wide as the picture's cells: cairo stretches runs of text less exactly."""
PNG_CELL: Final = 11
"""Pixels; a whole number of them, since cairo rounds the widths of characters."""
SVG_CELL: Final = 12.2
_FONT_SIZE: Final = "font-size: 20px"
_TEXT_LENGTH: Final = re.compile(r' textLength="[^"]*"')
_FONT_FACE: Final = re.compile(r"@font-face\s*\{[^}]*\}\s*")
_UNIQUE: Final = re.compile(r"\bterminal-\d+-")
_FRAME: Final = '<rect fill="#292929" stroke="rgba(255,255,255,0.35)"'
_TITLE: Final = '<text class="terminal-title" fill="#c5c8c6"'


class Frame(NamedTuple):
    """The colours of the window around the screen."""

    fill: str
    line: str
    title: str


def tidy_svg(svg: str, frame: Frame | None = None) -> str:
    """Textual's picture with ids that stay the same, fonts of the viewer's own machine, and the theme's own frame.

    Its ids hold a checksum of the contents. Its font is loaded from the network, which most places that show pictures
    forbid; each run of text has its width in it, so that another monospaced font changes no column. Its frame is
    nearly black, around a light theme too.
    """
    svg = _UNIQUE.sub("terminal-", _FONT_FACE.sub("", svg))
    if frame is not None:
        svg = svg.replace(_FRAME, f'<rect fill="{frame.fill}" stroke="{frame.line}"', 1)
        svg = svg.replace(_TITLE, f'<text class="terminal-title" fill="{frame.title}"', 1)
    return svg.replace("font-family: Fira Code, monospace", f"font-family: {FONTS}")


def text_of(strips: Sequence[Strip]) -> str:
    """The screen as plain lines."""
    return "".join(f"{strip.text.rstrip()}\n" for strip in strips)


def png_of(svg: str) -> bytes:
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
    with_font = _TEXT_LENGTH.sub("", svg.replace(FONTS, PNG_FONT).replace(_FONT_SIZE, PNG_FONT_SIZE))
    return bytes(cairosvg.svg2png(bytestring=with_font.encode(), scale=PNG_CELL / SVG_CELL))


def rows_of(strips: Sequence[Strip], console: Console) -> list[str]:
    """Each line of the screen with the escape sequences of its colours."""
    return [strip.render(console) for strip in strips]
