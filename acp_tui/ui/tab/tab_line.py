"""The tabs on one line, each with a mark that says how it stands, and its agent; hidden where there is only one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.cells import cell_len
from textual import events
from textual.content import Content
from textual.widgets import Static

from acp_tui.ui.session.tab_state import LEAST_CELLS, MARKS, MOST_CELLS

if TYPE_CHECKING:
    from acp_tui.ui.tab.tabs import Tab, Tabs


class TabLine(Static):
    """Draws the tabs; a click goes to one."""

    DEFAULT_CSS = "TabLine { height: 1; display: none; }"

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's own name for it
        super().__init__(id=id, markup=False)
        self._tabs: Tabs | None = None
        self._spans: list[tuple[int, int, Tab]] = []
        """The cells of each tab that is shown."""

    def show(self, tabs: Tabs) -> None:
        """Show how they stand now."""
        self._tabs = tabs
        self.display = len(tabs) > 1
        self._draw()

    def on_resize(self) -> None:
        """Other tabs may fit."""
        self._draw()

    def _draw(self) -> None:
        width = self.content_size.width
        if self._tabs is None or not self.display or not width:
            return
        tabs = list(self._tabs)
        room = min(MOST_CELLS, max(LEAST_CELLS, width // len(tabs) - 1))
        front = tabs.index(self._tabs.front) if self._tabs.front in tabs else 0
        fitting = max(1, width // (room + 1))
        first = max(0, min(front - fitting // 2, len(tabs) - fitting))
        self._spans = []
        parts: list[Content] = []
        at = 0
        for number, tab in enumerate(tabs[first : first + fitting], first + 1):
            label = _label(number, tab, room, is_front=number - 1 == front)
            self._spans.append((at, at + label.cell_length, tab))
            parts.append(label)
            at += label.cell_length
        self.update(Content.assemble(*parts))

    async def on_click(self, event: events.Click) -> None:
        """Go to the tab that stands there."""
        for begin, end, tab in self._spans:
            if begin <= event.x < end and self._tabs is not None:
                await self._tabs.go_to(tab)


def _label(number: int, tab: Tab, cells: int, *, is_front: bool) -> Content:
    mark, style = MARKS[tab.state]
    look = "bold $text on $surface" if is_front else "$foreground-muted"
    before = f" {number} "
    name = tab.tab_name(cells - cell_len(before) - 3)
    return Content.assemble(
        (before, look), (mark, style if not is_front else f"{style} on $surface"), (f" {name} ", look)
    )
