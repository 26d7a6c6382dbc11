"""A column beside the conversation: plans, changed files and facts of the session, in sections that fold.

It draws what it is given and tells which file the user wants to see; when it is shown, `sidebar_desk` decides.
"""

from __future__ import annotations

from typing import ClassVar, Final

from rich.segment import Segment
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from acp_tui.client.changes import FileChange
from acp_tui.ui.commands.keys import keys_in_force
from acp_tui.ui.drawings.sidebar import Line, Section, SidebarState, section_lines
from acp_tui.ui.kit.themes import palette_for
from acp_tui.ui.rendering.wrapping import wrap

KEYS: Final = "Enter opens or folds; {sidebar} hides; Esc back to the prompt"
GAP: Final = Line(Strip([]))

SIDEBAR_FROM_COLUMNS: Final = 150
"""On so wide a screen there is room for it without being asked for."""


class Sidebar(ScrollView, can_focus=True):
    """With the focus, a cursor stands on a heading or a file."""

    FOCUS_ON_CLICK = False
    COMPONENT_CLASSES: ClassVar[set[str]] = {"sidebar--cursor"}
    DEFAULT_CSS = """
    Sidebar { dock: right; height: 100%; overflow-y: auto; overflow-x: hidden; scrollbar-size-vertical: 1; }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "go(-1)", "Row above", show=False),
        Binding("down", "go(1)", "Row below", show=False),
        Binding("home", "go(-1000000)", "First row", show=False),
        Binding("end", "go(1000000)", "Last row", show=False),
        Binding("pageup", "page(-1)", "Page up", show=False),
        Binding("pagedown", "page(1)", "Page down", show=False),
        Binding("enter,space", "choose", "Fold or unfold a section, review a file", show=False),
    ]

    class FileChosen(Message):
        """The user wants to see what became of this file."""

        def __init__(self, path: str) -> None:
            super().__init__()
            self.path = path

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's own name for it
        super().__init__(id=id)
        self._state = SidebarState()
        self._folded: set[Section] = set()
        self.cursor: Section | FileChange = Section.PLAN
        self._drawn: dict[Section, list[Line]] = {}
        """Drawn for the present width and theme; what is missing is drawn when the lines are put together."""
        self._lines: list[Line] = []

    # What it shows

    def show(self, state: SidebarState) -> None:
        """Show this from now on; sections that stay as they were are not drawn again."""
        before, self._state = self._state, state
        changed = [section for section in Section if state.part(section) != before.part(section)]
        if changed:
            self._draw(*changed)

    def toggle(self, section: Section) -> None:
        """Fold or unfold a section."""
        self._folded ^= {section}
        self._draw(section)

    def on_mount(self) -> None:
        """Draw again in other colours, and name other keys."""
        self.watch(self.app, "theme", self._draw_all, init=False)

    def on_resize(self) -> None:
        """Draw for the new width."""
        self._draw_all()

    def watch_has_focus(self, has_focus: bool) -> None:
        """Show the cursor and the keys, or no longer."""
        super().watch_has_focus(has_focus)
        self._draw()

    def _draw_all(self) -> None:
        self._draw(*Section)

    def _draw(self, *sections: Section) -> None:
        """Draw these sections anew, and put all lines together."""
        for section in sections:
            self._drawn.pop(section, None)
        width = self.scrollable_content_region.width
        if width < 4:
            return  # the first layout is still to come
        lines: list[Line] = []
        for section in self._state.sections:
            if section not in self._drawn:
                self._drawn[section] = self._section(section, width)
            lines += [*self._drawn[section], GAP]
        self._lines = [*lines, *self._key_lines(width)]
        self.virtual_size = Size(width, len(self._lines))
        self._keep_cursor()
        self.refresh()

    def _section(self, section: Section, width: int) -> list[Line]:
        palette = palette_for(self.app.current_theme)
        return section_lines(section, self._state, width, palette, is_folded=section in self._folded)

    def _key_lines(self, width: int) -> list[Line]:
        if not self.has_focus:
            return []
        text = keys_in_force(self).hint(KEYS).replace("; ", " · ")
        return [Line(strip) for strip in wrap([(text, palette_for(self.app.current_theme).muted)], width)]

    def render_line(self, y: int) -> Strip:
        """One of the lines."""
        width = self.scrollable_content_region.width
        ground = self.visual_style.rich_style
        row = self.scroll_offset.y + y
        if row >= len(self._lines):
            return Strip.blank(width, ground)
        line = self._lines[row]
        if self.has_focus and line.target == self.cursor:
            ground = self.get_component_rich_style("sidebar--cursor")
        return Strip([*line.strip, Segment("")]).adjust_cell_length(width).apply_style(ground)

    # What the user does

    @property
    def _targets(self) -> list[Section | FileChange]:
        return [line.target for line in self._lines if line.target is not None]

    def _keep_cursor(self) -> None:
        """A file that changes again stays under the cursor; one that is gone leaves it on the heading."""
        if isinstance(self.cursor, Section):
            return
        path = self.cursor.path
        again = (change for change in self._targets if isinstance(change, FileChange) and change.path == path)
        self.cursor = next(again, Section.CHANGES)

    def action_go(self, step: int) -> None:
        """Move the cursor by so many rows that can be chosen."""
        targets = self._targets
        at = targets.index(self.cursor) + step
        self.cursor = targets[max(0, min(at, len(targets) - 1))]
        row = next(row for row, line in enumerate(self._lines) if line.target == self.cursor)
        height = self.scrollable_content_region.height
        # What stands below the last one can be read, too.
        last = len(self._lines) - 1 if self.cursor == targets[-1] else row
        top = min(max(self.scroll_offset.y, last - height + 1), row)
        self.scroll_to(y=top, animate=False, force=True)
        self.refresh()

    def action_page(self, direction: int) -> None:
        """Scroll by a page, up for -1 and down for 1."""
        height = self.scrollable_content_region.height
        self.scroll_to(y=self.scroll_offset.y + direction * max(height - 1, 1), animate=False, force=True)

    def action_choose(self) -> None:
        """Fold or unfold the section, or open the file's review."""
        if isinstance(self.cursor, Section):
            self.toggle(self.cursor)
        else:
            self.post_message(self.FileChosen(self.cursor.path))

    def on_click(self, event: events.Click) -> None:
        """As the keys do, with what was clicked on; the focus stays where it is."""
        row = self.scroll_offset.y + event.y
        target = self._lines[row].target if row < len(self._lines) else None
        if target is not None:
            self.cursor = target
            self.action_choose()
