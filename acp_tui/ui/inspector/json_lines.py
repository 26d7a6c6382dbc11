"""Draws the lines of an outline, folded to a width; what is folded away is the outline's matter."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from acp_tui.conversation.visible import make_visible_line
from acp_tui.ui.rendering.palette import Palette
from acp_tui.ui.rendering.wrapping import Span, cut_spans, fold
from acp_tui.workbench.inspect.outline import OutlineLine, Role

INDENT: Final = 2
MARK_CELLS: Final = 2
MAX_INDENT_SHARE: Final = 3
"""Of the width, so that something fits beside it however deep it is."""


def drawn(line: OutlineLine, width: int, palette: Palette) -> list[Strip]:
    """The rows of a line; those after the first stand a little further in."""
    indent = min(line.depth * INDENT, width // MAX_INDENT_SHARE)
    spans = [(make_visible_line(text), _style(role, palette)) for text, role in line.pieces]
    mark = Segment(_mark(line), palette.muted)
    return [
        Strip([Segment(" " * indent), mark if first else Segment(" " * MARK_CELLS), *segments])
        for first, segments in _folded(spans, max(width - indent - MARK_CELLS, 2))
    ]


def folded(text: str, style: Style, width: int) -> list[Strip]:
    """A line of text over as many rows as it needs."""
    return [Strip(segments) for _, segments in _folded([(text, style)], width)]


def _folded(spans: list[Span], width: int) -> Iterator[tuple[bool, list[Segment]]]:
    ranges = fold("".join(text for text, _ in spans), width)
    for at, segments in enumerate(cut_spans(spans, ranges)):
        yield at == 0, segments


def _mark(line: OutlineLine) -> str:
    if line.is_end or not line.node.is_foldable:
        return " " * MARK_CELLS
    return "▾ " if line.node.is_open else "▸ "


def _style(role: Role, palette: Palette) -> Style:
    match role:
        case Role.KEY:
            return palette.syntax_tag
        case Role.TEXT:
            return palette.syntax_string
        case Role.NUMBER:
            return palette.syntax_number
        case Role.WORD:
            return palette.syntax_keyword
        case Role.SIGN:
            return palette.syntax_operator
        case Role.ASIDE:
            return palette.muted
