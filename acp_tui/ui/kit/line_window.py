"""Widgets that show lines and scroll them: `LineView` for all that rest, `LineWindow` for lines that come in floods.

Both draw only the lines in view; subclasses provide them and the cursor. `LineWindow` has its own scroll bar, as the
conversation has, because Textual's repaints all rows whenever the number of lines changes.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import ClassVar, Final

from rich.segment import Segment
from textual import events
from textual.geometry import Region, Size
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widget import Widget

from acp_tui.ui.kit.themes import palette_for
from acp_tui.ui.rendering.palette import PLAIN, Palette
from acp_tui.ui.rendering.wrapping import cut, width_cells


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


class LineWindow(Widget, can_focus=True):
    """Lines, one of them under the cursor."""

    ALLOW_SELECT = False
    COMPONENT_CLASSES: ClassVar[set[str]] = {"line--cursor"}

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's own name for it
        super().__init__(id=id)
        self.top = 0
        """The first line in the window."""
        self._is_dragging = False

    # What to draw

    @property
    def total(self) -> int:
        """The number of lines."""
        raise NotImplementedError

    @property
    def empty_text(self) -> str:
        """Shown if there are no lines."""
        return ""

    def _draw(self, line: int, width: int, palette: Palette) -> Strip:
        """Draw a line at most `width` cells wide."""
        raise NotImplementedError

    def _has_cursor(self, line: int) -> bool:
        raise NotImplementedError

    def _click(self, line: int) -> None:
        """Handle a click on a line."""

    def on_mount(self) -> None:
        """Redraw when the theme changes."""
        self.watch(self.app, "theme", self._redraw, init=False)

    def _redraw(self) -> None:
        self.refresh()

    @property
    def thumb(self) -> range:
        """The rows of the scroll bar's handle."""
        return handle_rows(self.total, self.size.height, self.top)

    @property
    def line_width(self) -> int:
        """The width of a line, without the margin and the scroll bar."""
        return max(self.size.width - 2, 0)

    def render_line(self, y: int) -> Strip:
        """A row: the margin, a line, and a part of the scroll bar."""
        palette, ground, line = (palette_for(self.app.current_theme), self.visual_style.rich_style, self.top + y)
        bar = Segment("▐" if y in self.thumb else " ", ground + palette.rule)
        if not 0 <= line < self.total:
            said = cut(self.empty_text if y == 1 and not self.total else "", self.line_width)
            rest = " " * (self.line_width - width_cells(said))
            return Strip([Segment(f" {said}{rest}", ground + palette.muted), bar])
        is_at_cursor = self._has_cursor(line)
        margin = Segment("▎" if is_at_cursor else " ", ground + palette.accent)
        if is_at_cursor and self.has_focus:
            ground += self.get_component_rich_style("line--cursor")
            # What is readable in the terminal's own colors isn't known.
            palette = PLAIN if self.app.current_theme.ansi else palette
        strip = self._draw(line, self.line_width, palette).adjust_cell_length(self.line_width)
        return Strip([margin, *strip.apply_style(ground), bar])

    def refresh_rows(self, rows: Collection[int]) -> None:
        """Redraw these rows. Nothing else is sent to the terminal."""
        if rows:
            self.refresh(*(Region(0, y, self.size.width, 1) for y in rows))

    # Scrolling

    @property
    def max_top(self) -> int:
        """The value of `top` when the last line is in view."""
        return max(0, self.total - self.size.height)

    def scroll_to_line(self, line: int) -> None:
        """Scroll so that this line is the first, as far as there are enough lines below."""
        self.top = max(0, min(line, self.max_top))
        self.refresh()

    def _reveal(self, line: int) -> None:
        """Scroll a line into view."""
        if line < self.top:
            self.scroll_to_line(line)
        elif line >= self.top + self.size.height:
            self.scroll_to_line(line - self.size.height + 1)

    def on_focus(self) -> None:
        """Redraw the cursor."""
        self.refresh()

    def on_blur(self) -> None:
        """Redraw the cursor."""
        self.refresh()

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """Scroll up with the wheel."""
        event.stop()
        self.scroll_to_line(self.top - WHEEL_LINES)

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """Scroll down with the wheel."""
        event.stop()
        self.scroll_to_line(self.top + WHEEL_LINES)

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Start dragging the scroll bar's handle, or click on a line."""
        if event.x >= self.size.width - 1:
            self._is_dragging = True
            self.capture_mouse()
            self._drag_to(event.y)
        elif self.top + event.y < self.total:
            self._click(self.top + event.y)

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """Drag the handle."""
        if self._is_dragging:
            self._drag_to(event.y)

    def on_mouse_up(self) -> None:
        """Stop dragging."""
        self._is_dragging = False
        self.release_mouse()

    def _drag_to(self, y: int) -> None:
        self.scroll_to_line(line_at(y, self.total, self.size.height))


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
        """Whether to highlight the line."""
        return False

    def redraw(self) -> None:
        """Draw for another theme."""
        self.refresh()

    def on_mount(self) -> None:
        """Redraw when the theme changes."""
        self.watch(self.app, "theme", self.redraw, init=False)

    def count_lines(self, count: int) -> None:
        """Set the number of lines, and draw them."""
        self.virtual_size = Size(self.scrollable_content_region.width, count)
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """One of the lines in view."""
        width = self.scrollable_content_region.width
        ground = self.visual_style.rich_style
        line = self.scroll_offset.y + y
        if line >= self.virtual_size.height:
            return Strip.blank(width, ground)
        if self.is_at_cursor(line):
            ground = self.get_component_rich_style("line--cursor")
        return self.draw_line(line, width).adjust_cell_length(width).apply_style(ground)

    # Scrolling

    @property
    def page_lines(self) -> int:
        """How many lines a page key moves by."""
        return max(self.scrollable_content_region.height - 1, 1)

    def go_to_line(self, line: int) -> None:
        """Scroll so that this line is first, as far as there are enough lines below."""
        self.scroll_to(y=line, animate=False, force=True)

    def reveal(self, lines: range) -> None:
        """Scroll as little as needed to show these lines; if they don't fit, the first ones."""
        least = lines.stop - self.scrollable_content_region.height
        self.go_to_line(min(max(self.scroll_offset.y, least), lines.start))

    def page(self, direction: int) -> None:
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
        """Show these lines in `height` rows."""
        self._strips = strips
        self.styles.height = height
        self.count_lines(len(strips))

    def draw_line(self, line: int, width: int) -> Strip:
        """One of the lines."""
        return self._strips[line]
