"""Turns drawn lines into the strips on the screen, and keeps the last ones.

A strip that is reused has its escape sequences ready; making them is most of a frame's cost.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypeAlias

from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.filter import LineFilter
from textual.strip import Strip

MAX_KEPT: Final = 2_000
"""A baked strip takes about 2 KB."""

_Key: TypeAlias = tuple[int, int, Style | None, Style | None, Style | None]


class Bakery:
    """Pads lines, lays them over the background, filters their colours and adds the scroll bar's cell."""

    def __init__(self) -> None:
        self._background = Style.null()
        self._filters: Sequence[LineFilter] = ()
        self._color = Color(0, 0, 0)
        # The source is kept beside its strip: as long as it lives, no other line can have its id.
        self._baked: dict[_Key, tuple[Strip | None, Strip]] = {}

    def use(self, background: Style, filters: Sequence[LineFilter], color: Color) -> None:
        """Bake with these from now on; `color` is the background's, which some filters need."""
        if (background, filters, color) != (self._background, self._filters, self._color):
            self._background, self._filters, self._color = background, filters, color
            self._baked.clear()

    def bake(
        self, line: Strip, width: int, thumb: Style | None, marker: Style | None, ground: Style | None = None
    ) -> Strip:
        """`line` over `width` cells and one for the scroll bar; a `marker` is drawn over its first cell.

        It lies on `ground`, where it has one of its own.
        """
        key = (id(line), width, thumb, marker, ground)
        found = self._baked.get(key)
        if found is None:
            content = line.adjust_cell_length(width)
            if marker is not None:
                content = Strip([Segment("▎", marker), *content.crop(1, width)], width)
            found = self._keep(key, line, self._finish(content, width, thumb, ground))
        return found[1]

    def blank(self, width: int, thumb: Style | None) -> Strip:
        """An empty line."""
        key = (0, width, thumb, None, None)
        found = self._baked.get(key)
        if found is None:
            found = self._keep(key, None, self._finish(Strip([Segment(" " * width)], width), width, thumb))
        return found[1]

    def _finish(self, content: Strip, width: int, thumb: Style | None, ground: Style | None = None) -> Strip:
        if ground is not None:
            content = content.apply_style(ground)
        bar = Segment(" ") if thumb is None else Segment("▐", thumb)
        strip = Strip([*content, bar], width + 1).apply_style(self._background)
        for line_filter in self._filters:
            strip = strip.apply_filter(line_filter, self._color)
        return strip

    def _keep(self, key: _Key, line: Strip | None, strip: Strip) -> tuple[Strip | None, Strip]:
        if len(self._baked) >= MAX_KEPT:
            # The oldest half goes: what is in view is baked again within a frame.
            for old in list(self._baked)[: MAX_KEPT // 2]:
                del self._baked[old]
        kept = self._baked[key] = (line, strip)
        return kept
