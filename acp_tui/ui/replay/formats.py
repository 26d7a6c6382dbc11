"""Converts a painted screen to SVG or text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from textual.strip import Strip

from acp_tui.client.errors import ClientError


class CannotRender(ClientError):
    """Rendering failed."""


FONTS: Final = "Fira Code, Menlo, Consolas, DejaVu Sans Mono, monospace"
_FONT_FACE: Final = re.compile(r"@font-face\s*\{[^}]*\}\s*")
_UNIQUE: Final = re.compile(r"\bterminal-\d+-")
_FRAME: Final = '<rect fill="#292929" stroke="rgba(255,255,255,0.35)"'
_TITLE: Final = '<text class="terminal-title" fill="#c5c8c6"'


class WindowColors(NamedTuple):
    """The colors of the window around the screen."""

    fill: str
    line: str
    title: str


def tidy_svg(svg: str, frame: WindowColors | None = None) -> str:
    """Textual's picture with stable ids, the viewer's own fonts, and the theme's frame.

    Textual's ids contain a checksum of the contents. Its font comes from the network, which most places that show
    pictures forbid. Each run of text has a fixed width, so another monospaced font moves no column. Textual's frame is
    nearly black, even around a light theme.
    """
    svg = _UNIQUE.sub("terminal-", _FONT_FACE.sub("", svg))
    if frame is not None:
        svg = svg.replace(_FRAME, f'<rect fill="{frame.fill}" stroke="{frame.line}"', 1)
        svg = svg.replace(_TITLE, f'<text class="terminal-title" fill="{frame.title}"', 1)
    return svg.replace("font-family: Fira Code, monospace", f"font-family: {FONTS}")


def text_of(strips: Sequence[Strip]) -> str:
    return "".join(f"{strip.text.rstrip()}\n" for strip in strips)
