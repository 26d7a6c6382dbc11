"""Draws content blocks other than text: a picture if the terminal can show one, otherwise a label in a box."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from acp_tui.conversation import content
from acp_tui.conversation.tool_text import shown_path
from acp_tui.conversation.visible import make_visible_line
from acp_tui.ui.conversation.drawing import DrawContext, Drawing, Joined
from acp_tui.ui.conversation.images import Found
from acp_tui.ui.rendering.links import to_file, to_page
from acp_tui.ui.rendering.pictures import MAX_ROWS, Picture
from acp_tui.ui.rendering.wrapping import wrap

MIN_BOX_CELLS: Final = 12
"""If there is less room, a box has no frame."""


def block_label(block: content.ContentBlock, cwd: str = "") -> str:
    """What a block is, in one line. Paths in `cwd` are relative to it."""
    return make_visible_line(content.block_words(block, lambda uri: shown_path(content.shown_uri(uri), cwd)))


class BlockLines:
    """One block of a message or a tool call. Returns the same lines object until something about it changes."""

    def __init__(self, block: content.ContentBlock, drawing: Drawing) -> None:
        self._block = block
        self._drawing = drawing
        self._drawn: tuple[DrawContext, int, Found, Sequence[Strip]] | None = None

    def lines(self, context: DrawContext, width: int, style: Style, rows: int = MAX_ROWS) -> Sequence[Strip]:
        """The block in at most `width` cells, with text in `style`; a picture of half blocks has at most `rows`."""
        found = self._find(context)
        if self._drawn is None or self._drawn[:3] != (context, width, found):
            self._drawn = (context, width, found, _draw(self._block, found, width, style, context, rows))
        return self._drawn[3]

    def _find(self, context: DrawContext) -> Found:
        if context.pictures is None or not isinstance(self._block, content.Image):
            return None
        return context.pictures.find(self._block.data, self._drawing)


def _draw(
    block: content.ContentBlock, found: Found, width: int, style: Style, context: DrawContext, rows: int
) -> Sequence[Strip]:
    label = block_label(block, context.cwd)
    if isinstance(block, content.ResourceLink):
        is_file = block.uri.startswith(f"{content.FILE_SCHEME}/")
        style += to_file(context.palette.folder, content.shown_uri(block.uri)) if is_file else to_page(block.uri)
    if isinstance(found, Picture):
        caption = f"{_unbracketed(label)}, {found.size[0]} × {found.size[1]}"
        return Joined(found.lines(width, rows), wrap([(caption, style)], width))
    if not isinstance(block, content.Image | content.Audio | content.BlobResource):
        return wrap([(label, style)], width)
    words = [_unbracketed(label)] + ([] if found is None else [f"not shown: {found}"])
    return _boxed(words, width, style)


def _unbracketed(label: str) -> str:
    return label.removeprefix("[").removesuffix("]")


def _boxed(words: Sequence[str], width: int, style: Style) -> list[Strip]:
    """Puts each of `words` on its own lines, in a frame that fits them."""
    if width < MIN_BOX_CELLS:
        return [line for each in words for line in wrap([(each, style)], width)]
    lines = [line for each in words for line in wrap([(each, style)], width - 4)]
    inner = max(line.cell_length for line in lines)
    sides = Segment("│ ", style), Segment(" │", style)
    rows = [Strip([sides[0], *line.adjust_cell_length(inner, style), sides[1]], inner + 4) for line in lines]
    edge = "─" * (inner + 2)
    return [Strip([Segment(f"╭{edge}╮", style)]), *rows, Strip([Segment(f"╰{edge}╯", style)])]
