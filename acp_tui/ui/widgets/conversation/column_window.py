"""A window on a column of lines: which of them it shows, and how it scrolls; when it draws is not decided here.

It scrolls by itself, because every change of a Textual scroll view's length lays out the whole screen.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import ClassVar, Final

from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.color import Color
from textual.filter import LineFilter
from textual.geometry import Region
from textual.layout import Layout
from textual.strip import Strip
from textual.widget import Widget

from acp_tui.conversation.entries import Entry
from acp_tui.ui.drawings.drawing import Scene
from acp_tui.ui.widgets.conversation.baking import Bakery
from acp_tui.ui.widgets.conversation.column import Column
from acp_tui.ui.widgets.conversation.entry_views import EntryView
from acp_tui.ui.widgets.conversation.looks import Looks
from acp_tui.ui.widgets.conversation.pool import Pool, Slot
from acp_tui.ui.widgets.conversation.scroll_bar import handle_rows, line_at

WHEEL_LINES: Final = 3
PREPARING_S: Final = 0.03
"""After a frame for which widgets were lacking, until a few more are made."""


class ColumnWindow(Widget, can_focus=True):
    """As many lines of a column as there are rows; follows its end until the user scrolls up."""

    ALLOW_SELECT = False

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("pageup", "page(-1)", "Page up", show=False),
        Binding("pagedown", "page(1)", "Page down", show=False),
        Binding("end", "follow", "Go to the end", show=False),
        Binding("home", "top", "Go to the beginning", show=False),
    ]

    def __init__(self, id: str | None = None) -> None:  # noqa: A002 - Textual's own name
        super().__init__(id=id)
        self.top_line = 0
        """The line of the column on the first row."""
        self._looks = Looks(self)
        self._column = Column(self._current_scene, self._note_measured, self._look)
        self._bakery = Bakery()
        self._background: tuple[Style, Color] | None = None
        """As the stylesheet has it: it takes longer to find out than a line to draw."""
        self._pool = Pool(self)
        self._painted: list[Strip | None] = []
        """The rows as they are on the screen; None for one that is not known."""
        self._is_following = True
        self._seen_entries = 0

    def _current_scene(self) -> Scene:
        """What to draw with now."""
        raise NotImplementedError

    def _look(self, index: int, scene: Scene) -> Scene:
        """What to draw an entry with."""
        raise NotImplementedError

    def _slots(self) -> list[Slot]:
        """What is in view."""
        raise NotImplementedError

    def _note_measured(self, entry: int) -> None:
        """It was drawn anew; for whoever keeps something on its lines."""

    def _tell_following(self) -> None:
        """The window follows the end, or does so no longer, or there is more below it."""

    @property
    def layout(self) -> Layout:
        """Entries stand where the window has placed them."""
        return self._pool.layout

    def place_entries(self) -> None:
        """Put the widgets of entries where they belong: another one is ready."""
        self._pool.place()

    def _get_virtual_dom(self) -> Iterable[Widget]:
        # Those that wait end with the window.
        yield from super()._get_virtual_dom()
        yield from self._pool.idle

    @contextmanager
    def _standing_still(self) -> Iterator[None]:
        """Have what is on the first row there afterwards too, although something above may have grown.

        So what is read does not move; and until the next frame, the mouse finds what is still to be seen.
        """
        heights = self._column.heights
        place = heights.at(self.top_line)
        yield
        if place is not None:
            index, row = place
            self.top_line = heights.top(index) + min(row, heights.height(index))

    def _measure_near(self) -> None:
        """Let nothing be a guess in view, nor a window above and below it, where the next key may lead."""
        while True:
            self.top_line = self.max_top_line if self._is_following else min(self.top_line, self.max_top_line)
            with self._standing_still():
                has_grown = self._measure_around(self.top_line)
            if not has_grown:
                return

    def _measure_around(self, line: int) -> bool:
        """Lay out what is in a window at this line, and in one above and one below; False where all of it was."""
        height = self.outer_size.height
        return self._column.measure_guesses(range(line - height, line + 2 * height))

    # Drawing the window

    def render_entry(self, view: EntryView[Entry], crop: Region) -> list[Strip]:
        """The rows of `crop` of an entry's widget."""
        region = self._pool.layout.regions.get(view)
        if region is None:
            return [Strip.blank(crop.width)] * crop.height
        return self.render_lines(crop.translate((0, region.y)))

    def render_lines(self, crop: Region) -> list[Strip]:
        """The rows of `crop`; lines that were shown before are given again as the same objects."""
        strips = self._rows(range(crop.y, crop.bottom))
        for y, strip in enumerate(strips[: len(self._painted) - crop.y], crop.y):
            if self._painted[y] is not strip:
                self._painted[y] = None
        if crop.x == 0 and crop.width == self.outer_size.width:
            return strips
        return [strip.crop(crop.x, crop.right) for strip in strips]

    def render_line(self, y: int) -> Strip:
        """One row: Textual asks for it to find out what is under the mouse."""
        return self._rows(range(y, y + 1))[0]

    def _paint(self) -> None:
        """Draw the rows that have changed; each that is not drawn is not sent to the terminal either."""
        if self._pool.show(self._slots()) and self._pool.is_lacking:
            self.set_timer(PREPARING_S, self._pool.prepare)
        strips = self._rows(range(self.outer_size.height))
        before = self._painted if len(self._painted) == len(strips) else [None] * len(strips)
        self._painted = [*strips]
        changed = [y for y, strip in enumerate(strips) if strip is not before[y]]
        if changed:
            self.refresh(*(Region(0, y, self.outer_size.width, 1) for y in changed))

    def _rows(self, rows: range) -> list[Strip]:
        self._bakery.use(*self._surface())
        if self._column.mark_scene():  # Textual draws before it tells of another size
            self._measure_near()
        scene, heights, thumb_rows = self._current_scene(), self._column.heights, self._thumb
        strips: list[Strip] = []
        y = rows.start
        while y < rows.stop:
            index, row = heights.at(self.top_line + y) or (-1, 0)
            lines = self._column.lines(index) if index >= 0 else ()
            shown = lines[row : row + rows.stop - y]
            if not shown:
                strips.append(
                    self._bakery.blank(scene.width, scene.palette.rule if y in thumb_rows else None)
                )
                y += 1
                continue
            marker, ground = self._marker(index, scene), self._ground(index)
            for at, line in enumerate(shown):
                thumb = scene.palette.rule if y + at in thumb_rows else None
                strip = self._bakery.bake(line, scene.width, thumb, marker, ground)
                strips.append(self._marked(strip, index, row + at, line.cell_length, scene))
            y += len(shown)
        return strips

    def _surface(self) -> tuple[Style, Sequence[LineFilter], Color]:
        """What the lines lie on, the filters that they go through, and the color that those need."""
        filters = self.get_line_filters()
        if self._background is None:
            self._background = (self.visual_style.rich_style, self.background_colors[1])
        return self._background[0], filters, self._background[1]

    def notify_style_update(self) -> None:
        """Draw on another background, and entries in other colors."""
        super().notify_style_update()
        self._background = None
        if self.is_mounted:
            self._pool.note_styles()
            self._looks.forget()
            self._column.forget_looks()

    def _marker(self, index: int, scene: Scene) -> Style | None:
        """What is drawn on the left edge of an entry."""
        return None

    def _ground(self, index: int) -> Style | None:
        """What an entry lies on, where that is something else than the window."""
        view = self._pool.views.get(index)
        return view.ground if isinstance(view, EntryView) else None

    def _marked(self, strip: Strip, index: int, row: int, length: int, scene: Scene) -> Strip:
        """The row of an entry, of which `length` cells are drawn, with what is laid over it."""
        return strip

    @property
    def _thumb(self) -> range:
        return handle_rows(self._column.heights.total, self.outer_size.height, self.top_line)

    # Scrolling

    @property
    def max_top_line(self) -> int:
        """The first line in view when the end is."""
        return max(0, self._column.heights.total - self.outer_size.height)

    def scroll_to_line(self, line: int) -> None:
        """Put this line on the first row, as far as there is enough below it. At the end, follow; above it, do not."""
        self._is_following, was_following = False, self._is_following
        self.top_line = max(0, line)
        self._measure_near()
        self._is_following = was_following
        self._set_following(self.top_line >= self.max_top_line)
        self._paint()

    def scroll_to_row(self, index: int, row: int, above: int = 0) -> None:
        """Put this row of an entry on the one with so many `above` it, as far as there is enough around it."""
        while True:
            line = self._column.heights.top(index) + row - above
            if not self._measure_around(line):
                break
        self.scroll_to_line(line)

    def _set_following(self, is_following: bool) -> None:
        if self._is_following != is_following:
            self._is_following = is_following
            self._seen_entries = len(self._column.drawings)
            self._tell_following()

    def action_follow(self) -> None:
        """Go to the end and stay there."""
        self._set_following(True)
        self._measure_near()
        self._paint()

    def action_top(self) -> None:
        """Go to the beginning."""
        self.scroll_to_line(0)

    def action_page(self, direction: int) -> None:
        """Scroll by a page, up for -1 and down for 1."""
        self.scroll_to_line(self.top_line + direction * max(self.outer_size.height - 2, 1))

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """The wheel."""
        event.stop()
        self.scroll_to_line(self.top_line - WHEEL_LINES)

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """The wheel."""
        event.stop()
        self.scroll_to_line(self.top_line + WHEEL_LINES)

    def _drag_to(self, y: int) -> None:
        self.scroll_to_line(line_at(y, self._column.heights.total, self.outer_size.height))
