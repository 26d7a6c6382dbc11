"""`LineView` shows lines and scrolls them. It draws only those in view; subclasses provide them and the cursor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Final

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip


def handle_rows(total: int, height: int, top_line: int) -> range:
    """The rows of the handle for `total` lines in a window of `height` rows; empty if everything is in view."""
    if total <= height:
        return range(0)
    size = max(1, height * height // total)
    start = round((height - size) * top_line / (total - height))
    return range(start, start + size)


def line_at(row: int, total: int, height: int) -> int:
    """The first line in the window when the handle is dragged to `row`."""
    return round(max(0, total - height) * row / max(height - 1, 1))


WHEEL_LINES: Final = 3
UNDIMMED: Final = Style(dim=False)


class LineView(ScrollView, can_focus=False):
    """Lines that are drawn when they come into view, and Textual's scroll bar beside them."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"line--cursor"}
    DEFAULT_CSS = """
    LineView { height: auto; overflow-y: auto; overflow-x: hidden; scrollbar-size-vertical: 1; }
    """

    def draw_line(self, line: int, width: int) -> Strip:
        """Draw a line, `width` cells wide if possible."""
        raise NotImplementedError

    def is_at_cursor(self, line: int) -> bool:
        return False

    def redraw(self) -> None:
        self.refresh()

    def on_mount(self) -> None:
        self.watch(self.app, "theme", self.redraw, init=False)

    def count_lines(self, count: int) -> None:
        self.virtual_size = Size(self.scrollable_content_region.width, count)
        self.refresh()

    def render_line(self, y: int) -> Strip:
        width = self.scrollable_content_region.width
        ground = self.visual_style.rich_style
        line = self.scroll_offset.y + y
        if line >= self.virtual_size.height:
            return Strip.blank(width, ground)
        strip = self.draw_line(line, width).adjust_cell_length(width)
        if self.is_at_cursor(line):
            # Of all colors, only that of text is legible on the cursor's background.
            strip = Strip([Segment(text, style and style.without_color + UNDIMMED) for text, style, _ in strip], width)
            ground = self.get_component_rich_style("line--cursor")
        return strip.apply_style(ground)

    # Scrolling

    @property
    def page_lines(self) -> int:
        return max(self.scrollable_content_region.height - 1, 1)

    def go_to_line(self, line: int) -> None:
        """Scroll so that this line is first, as far as there are enough lines below."""
        self.scroll_to(y=line, animate=False, force=True)

    def reveal(self, lines: range) -> None:
        """Scroll as little as needed to show these lines; if they don't fit, the first ones."""
        least = lines.stop - self.scrollable_content_region.height
        self.go_to_line(min(max(self.scroll_offset.y, least), lines.start))

    def action_page(self, direction: int) -> None:
        """Scroll by a page: up for -1, down for 1."""
        self.go_to_line(self.scroll_offset.y + direction * self.page_lines)

    def clicked_line(self, event: events.Click) -> int | None:
        """The line that was clicked; None outside of the lines."""
        place = event.get_content_offset(self)
        line = -1 if place is None else self.scroll_offset.y + place.y
        return line if 0 <= line < self.virtual_size.height else None


class StripView(LineView):
    """Shows lines drawn by others for its width."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's own name for it
        super().__init__(id=id)
        self._strips: Sequence[Strip] = ()

    def show(self, strips: Sequence[Strip], height: int) -> None:
        self._strips = strips
        self.styles.height = height
        self.count_lines(len(strips))

    def draw_line(self, line: int, width: int) -> Strip:
        return self._strips[line]
