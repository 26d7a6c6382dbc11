"""Where the handle of a scroll bar stands, and where dragging it leads; draws nothing."""

from __future__ import annotations


def handle_rows(total: int, height: int, top_line: int) -> range:
    """The rows of the handle for `total` lines in a window of `height` rows; none where everything is in view."""
    if total <= height:
        return range(0)
    size = max(1, height * height // total)
    start = round((height - size) * top_line / (total - height))
    return range(start, start + size)


def line_at(row: int, total: int, height: int) -> int:
    """The line on the first row of the window when the handle is dragged to `row`."""
    return round(max(0, total - height) * row / max(height - 1, 1))
