"""Draws text that has no markup, as it is."""

from __future__ import annotations

from rich.style import Style
from textual.strip import Strip

from acp_tui.conversation.visible import make_visible
from acp_tui.ui.rendering.wrapping import wrap

TAB_CELLS = 4


def plain_lines(text: str, width: int, style: Style) -> list[Strip]:
    """`text` wrapped to `width` cells; a final newline adds no empty line, and no text gives no lines."""
    if not text:
        return []
    strips: list[Strip] = []
    for line in make_visible(text).removesuffix("\n").split("\n"):
        strips.extend(wrap([(line.expandtabs(TAB_CELLS), style)], width))
    return strips
