"""Draws the text of a tool call: output line by line as it was printed, Markdown as in messages."""

from __future__ import annotations

from collections.abc import Sequence

from textual.strip import Strip

from acp_tui.conversation.tool_text import Markdown, parts_of
from acp_tui.ui.drawings.drawing import Joined
from acp_tui.ui.rendering.markdown import MarkdownRenderer
from acp_tui.ui.rendering.palette import Palette
from acp_tui.ui.rendering.plain import plain_lines


class ToolText:
    """One text, whole; its lines are kept for the width and the colours that they were drawn in last."""

    def __init__(self, text: str) -> None:
        self._parts = [
            _finished(part.text) if isinstance(part, Markdown) else part.text for part in parts_of(text)
        ]
        self._drawn: tuple[int, Palette, Sequence[Strip]] | None = None

    def lines(self, width: int, palette: Palette) -> Sequence[Strip]:
        """Its lines, of at most `width` cells."""
        if self._drawn is None or self._drawn[:2] != (width, palette):
            runs = [
                plain_lines(part, width, palette.text)
                if isinstance(part, str)
                else part.lines(width, palette)
                for part in self._parts
            ]
            self._drawn = (width, palette, Joined(*runs))
        return self._drawn[2]


def _finished(markdown: str) -> MarkdownRenderer:
    renderer = MarkdownRenderer(markdown)
    renderer.finish()
    return renderer
