"""Creates Textual's strips without their seven caches. Each cache is created on first use.

Most strips are drawn only once, so most caches stay empty. They took 0.9 KB per strip and half of its creation time;
after a long answer, 10 MB.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from rich.segment import Segment
from textual.cache import FIFOCache
from textual.strip import Strip

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


def make_strips_lean() -> None:
    """Patch Strip for the whole process. Does nothing if its slots aren't the ones we know."""
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
