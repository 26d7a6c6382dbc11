"""Text back out of drawn lines: without the gutters that were drawn beside it, and without the breaks of wrapping."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from textual.strip import Strip

from acp_tui.ui.rendering.marks import Cut, Gutter, Joint
from acp_tui.ui.rendering.wrapping import width_cells


class Piece(NamedTuple):
    """A line and which of its cells are wanted."""

    line: Strip
    cells: range


def text_of(pieces: Iterable[Piece]) -> str:
    """The text of these lines, which stand one below the other; spaces at the ends of lines are dropped."""
    lines: list[str] = []
    for line, cells in pieces:
        joint, text = _read(line, cells)
        if joint is None or not lines:
            lines.append(text)
        elif isinstance(joint, Cut):
            lines[-1] += text
        else:
            lines[-1] = f"{lines[-1].rstrip()} {text}"
    return "\n".join(line.rstrip() for line in lines)


def _read(line: Strip, cells: range) -> tuple[Joint | None, str]:
    """How the line follows the one above, and its text in these cells."""
    joint: Joint | None = None
    parts: list[str] = []
    at = 0
    for segment in line:
        width = width_cells(segment.text)
        if isinstance(segment, Joint):
            joint = segment
        elif not isinstance(segment, Gutter):
            parts.append(_cut(segment.text, at, width, cells))
        at += width
    return joint, "".join(parts)


def _cut(text: str, at: int, width: int, cells: range) -> str:
    """The part of `text`, which begins at cell `at`, that lies in `cells`."""
    if cells.start <= at and at + width <= cells.stop:
        return text
    if at >= cells.stop or at + width <= cells.start:
        return ""
    kept: list[str] = []
    for character in text:
        size = width_cells(character)
        if at >= cells.stop:
            break
        # A wide character is copied where its first cell is; what joins the one before has no cells of its own.
        if at >= cells.start if size else kept:
            kept.append(character)
        at += size
    return "".join(kept)
