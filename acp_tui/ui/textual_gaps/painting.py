"""The compositor of our screens, and the strips it paints. Doesn't decide when a frame is drawn: see `driver`.

Checked with Textual 8.2.8.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

from rich.cells import cell_len
from rich.segment import Segment
from textual._compositor import Compositor, ReflowResult
from textual.cache import FIFOCache
from textual.geometry import Region, Size
from textual.strip import Strip
from textual.widget import Widget

CONTROL_CHARACTERS: Final = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
"""Characters that control a terminal or reorder the text around them."""


class SafeCompositor(Compositor):
    """A compositor that sends every new widget its first Resize, paints no removed one, and sends the terminal no
    control characters.

    A layout compares with the map of widgets, but Textual also rebuilds that map whenever a widget's region is
    requested. A rebuild between a widget's mount and its layout adds the widget silently: no Show, no Resize, and
    widgets that draw on their first Resize stay blank. So compare with the last layout instead.
    """

    def __init__(self) -> None:
        super().__init__()
        self._laid_out = self._full_map

    def reflow(self, parent: Widget, size: Size) -> ReflowResult:
        """Lay out everything at the app's size; return what changed since the last call.

        Not at the size of an event: a screen that is laid out sends itself a Resize, too. If the window was resized in
        the meantime, that one would come after the app's and bring the old size back.
        """
        self._full_map = self._laid_out
        result = super().reflow(parent, parent.app.size)
        self._laid_out = self._full_map
        return result

    @property
    def visible_widgets(self) -> dict[Widget, tuple[Region, Region]]:
        """The region and clip of all widgets to be painted.

        A removed widget stays in the map until the next layout. But its component styles are gone: painting a text
        area because something beside it changed would end the app with a KeyError.
        """
        return {widget: place for widget, place in super().visible_widgets.items() if widget.parent is not None}

    def _render_chops(self, crop: Region, is_rendered_line: Callable[[int], bool]) -> Sequence[Mapping[int, Strip]]:
        """Replace control characters that a widget forgot to make visible. All painting passes through here.

        Styles aren't text: colors and links become escape sequences only later.
        """
        chops = super()._render_chops(crop, is_rendered_line)
        return [
            {cut: _obeyed_by_none(strip) for cut, strip in line.items()} if _has_obeyed(line) else line
            for line in chops
        ]

    def clear(self) -> None:
        """Forget all widgets."""
        super().clear()
        self._laid_out.clear()


def _has_obeyed(line: Mapping[int, Strip | None]) -> bool:
    for strip in line.values():
        for part in strip or ():
            text = part.text
            if not text.isprintable() and CONTROL_CHARACTERS.search(
                text
            ):  # isprintable() is fast, and nearly always enough
                return True
    return False


def _obeyed_by_none(strip: Strip) -> Strip:
    """Replace control characters without changing the width. Most of them take no cell."""
    if strip is None:  # nothing is painted there
        return strip
    parts = [Segment(CONTROL_CHARACTERS.sub(_stand_in, part.text), part.style) for part in strip]
    return Strip(parts, strip.cell_length)


def _stand_in(found: re.Match[str]) -> str:
    return "\N{REPLACEMENT CHARACTER}" * cell_len(found[0])


SIZES: Final = {
    "_divide_cache": 4,
    "_crop_cache": 16,
    "_style_cache": 16,
    "_filter_cache": 4,
    "_line_length_cache": 4,
    "_crop_extend_cache": 4,
    "_offsets_cache": 4,
}
"""As in Textual 8.2.8."""
OTHERS: Final = {"_segments", "_cell_length", "_render_cache", "_link_ids", "_cell_count"}


def create_strip_caches_on_use() -> None:
    """Make Textual create the seven caches of a strip on first use, in the whole process.

    Most strips are drawn only once, so most caches stay empty. They take 0.9 KB per strip and five sixths of the time
    to create one; after a long answer, 10 MB. Does nothing if Strip's slots aren't the ones we know.
    """
    if {*Strip.__slots__} == SIZES.keys() | OTHERS:
        Strip.__init__ = _init  # type: ignore[method-assign]
        Strip.__getattr__ = _made_cache  # type: ignore[attr-defined]


def _init(self: Any, segments: Iterable[Segment], cell_length: int | None = None) -> None:
    self._segments = list(segments)
    self._cell_length = cell_length
    self._render_cache = self._link_ids = self._cell_count = None


def _made_cache(self: Any, name: str) -> FIFOCache[Any, Any]:
    """Create the cache for an empty slot."""
    if name not in SIZES:
        raise AttributeError(name)
    cache: FIFOCache[Any, Any] = FIFOCache(SIZES[name])
    setattr(self, name, cache)
    return cache
