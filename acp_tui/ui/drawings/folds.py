"""Folds long runs of lines: the first or last ones, and a line on what is hidden."""

from __future__ import annotations

from collections.abc import Sequence

from rich.segment import Segment
from textual.strip import Strip

from acp_tui.ui.rendering.palette import Palette


def folded(
    lines: Sequence[Strip], limit: int, palette: Palette, *, keep_end: bool = False
) -> list[Sequence[Strip]]:
    """The first (or last) `limit` lines and a line on what is hidden; all of them where that would hide just one."""
    hidden = len(lines) - limit
    if hidden <= 1:
        return [lines]
    unit = "lines" if limit == 0 else "more lines"
    note = [Strip([Segment(f"… {hidden} {unit} ", palette.muted)])]
    return [note, lines[hidden:]] if keep_end else [lines[:limit], note]
