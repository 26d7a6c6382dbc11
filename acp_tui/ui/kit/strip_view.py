"""A scrollable run of ready lines."""

from __future__ import annotations

from collections.abc import Sequence

from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip


class StripView(ScrollView, can_focus=False):
    """Shows lines that somebody else has drawn for its width."""

    DEFAULT_CSS = """
    StripView {
        height: auto;
        overflow-y: auto;
        overflow-x: hidden;
        scrollbar-size-vertical: 1;
    }
    """

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's own name for it
        super().__init__(id=id)
        self._strips: Sequence[Strip] = ()

    def show(self, strips: Sequence[Strip], height: int) -> None:
        """Show these lines in `height` rows."""
        self._strips = strips
        self.styles.height = height
        self.virtual_size = Size(self.scrollable_content_region.width, len(strips))
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """A line of them."""
        width = self.scrollable_content_region.width
        background = self.visual_style.rich_style
        row = self.scroll_offset.y + y
        if row >= len(self._strips):
            return Strip.blank(width, background)
        return self._strips[row].adjust_cell_length(width).apply_style(background)

    def page(self, direction: int) -> None:
        """Scroll by a page, up for -1 and down for 1."""
        height = self.scrollable_content_region.height
        self.scroll_to(y=self.scroll_offset.y + direction * max(height - 1, 1), animate=False, force=True)
