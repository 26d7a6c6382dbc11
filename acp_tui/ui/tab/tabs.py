"""The tabs of the app: their order, which one is in front, and the line that shows them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from itertools import count, product
from typing import TYPE_CHECKING, Any, Final

from textual import events
from textual.app import App, UnknownModeError
from textual.content import Content

from acp_tui.ui.session.status_line import FORKED, EdgeLine, TabState, label_cells, tab_label
from acp_tui.ui.textual_gaps.internals import forget_closed_watchers

if TYPE_CHECKING:
    from acp_tui.ui.tab.tab import Tab

MAX_COMPARED: Final = 200
"""Characters of a title that are compared with those of the others."""
LEAST_CELLS: Final = 16
"""So much of its label that in front keeps even if not all fit."""
MIN_NAME: Final = 6
"""A name that would be cut to fewer cells is left out."""
MORE: Final = " …"
"""Stands where there are more tabs than fit."""
FIRST_MODE = "tab-1"
"""Textual keeps a stack of screens for each mode, so a tab's dialogs are above that tab only."""


class Tabs:
    """The tabs of one app, from left to right."""

    def __init__(self, app: App[Any]) -> None:
        self._app = app
        self._tabs: list[Tab] = []
        self._numbers = count(2)
        self._has_modes = False
        self.listeners: list[Callable[[], None]] = []
        """Called when something about the tabs changes."""

    def __len__(self) -> int:
        return len(self._tabs)

    def __iter__(self) -> Iterator[Tab]:
        return iter(tuple(self._tabs))

    @property
    def front(self) -> Tab | None:
        return next((tab for tab in self._tabs if tab.mode == self._app.current_mode), None)

    def add(self, tab: Tab) -> None:
        """Add the first tab. Each tab calls this itself when it is mounted, which may be after it was closed."""
        if not self._tabs:
            self._tabs.append(tab)
        self.tell()

    async def open(self, tab: Tab, instead_of: Tab | None = None) -> None:
        """Open this new tab, in front: as the last one, or in the place of another, which nobody can go to anymore."""
        if not self._has_modes:
            # Not earlier: Textual parses the stylesheets twice if the first screen belongs to a mode.
            first, self._has_modes = self._app.screen_stack[0], True
            self._app.add_mode(FIRST_MODE, lambda: first)
        tab.mode = f"tab-{next(self._numbers)}"
        at = self._tabs.index(instead_of) if instead_of in self._tabs else len(self)
        self._tabs[at : at + 1] = [tab]
        self._app.add_mode(tab.mode, lambda: tab.screen)
        await self._app.switch_mode(tab.mode)
        self.tell()

    async def go_to(self, tab: Tab) -> None:
        """Bring this tab to the front."""
        await self._app.switch_mode(tab.mode)
        tab.refresh_held_back()  # if a dialog covers it, Textual notifies only the dialog

    async def step(self, direction: int) -> None:
        """Go to the next tab to the right (1) or to the left (-1), wrapping around at the ends."""
        if self.front is not None and len(self) > 1:
            await self.go_to(self._tabs[(self._tabs.index(self.front) + direction) % len(self)])

    async def go_to_number(self, number: int) -> None:
        """Go to a tab by its number, from 1."""
        if number <= len(self):
            await self.go_to(self._tabs[number - 1])

    async def go_to_next_needing(self) -> bool:
        """Go to the next tab that waits for the user, or else to one that failed or is done.

        Returns False if there is none.
        """
        front = self.front
        at = self._tabs.index(front) + 1 if front is not None else 0
        others = [tab for tab in (*self._tabs[at:], *self._tabs[:at]) if tab is not front]
        for wanted in (TabState.NEEDS_YOU, TabState.FAILED, TabState.DONE):
            for tab in others:
                if tab.state is wanted:
                    await self.go_to(tab)
                    tab.screen.focus_card()
                    return True
        return False

    def move(self, tab: Tab, direction: int) -> None:
        """Move a tab by one place."""
        at = self._tabs.index(tab)
        self._tabs.insert(min(max(at + direction, 0), len(self) - 1), self._tabs.pop(at))
        self.tell()

    def beside(self, tab: Tab) -> Tab | None:
        """The tab that comes to the front when this one is closed; None if it's the last one, or closed already."""
        if tab not in self._tabs or len(self) < 2:
            return None
        return self._tabs[self._tabs.index(tab) + (1 if tab is not self._tabs[-1] else -1)]

    async def close(self, tab: Tab) -> None:
        """Close a tab, or one that was replaced. The tab next to it comes to the front. The last can't be closed."""
        beside, is_front = self.beside(tab), self.front is tab
        if beside is not None:
            self._tabs.remove(tab)  # at once: nobody may go to it anymore
            if is_front:
                await self.go_to(beside)
        elif tab in self._tabs:
            return
        with suppress(UnknownModeError):  # it was closed already
            await self._app.remove_mode(tab.mode)
        forget_closed_watchers(self._app)
        self.tell()

    def tell(self) -> None:
        """Tell the tab in front, and the listeners, that something about the tabs has changed."""
        if self.front is not None:
            self.front.screen.show_tabs()
        for listener in tuple(self.listeners):
            listener()


def fitted(tabs: Sequence[Tab], front: int, width: int) -> tuple[int, list[Content]]:
    """The labels that fit into `width` with that in front among them, and the index of the first tab that has one."""
    leads = [(bool(tab.worktree), tab.lead) for tab in tabs]  # a worktree may be called as an agent is
    are_alone = [leads.count(lead) == 1 for lead in leads]
    tellers = zip(tabs, are_alone, strict=True)
    shared = _shared([tab.lead.replace("-", " ") if is_alone else tab.session_title for tab, is_alone in tellers])
    rooms = _rooms(tabs, front, are_alone, width)
    first, end, spare = 0, len(tabs), width - sum(rooms)
    while spare < 0 and end - first > 1:
        first, end = (first + 1, end) if front - first > end - 1 - front else (first, end - 1)
        spare = width - sum(rooms[first:end]) - len(MORE) * ((first > 0) + (end < len(tabs)))
    rooms[front] += spare
    return first, [
        tab_label(
            at + 1,
            tabs[at].state,
            partial(tabs[at].name, is_alone=are_alone[at], shared=shared[at]),
            rooms[at],
            is_front=at == front,
        )
        for at in range(first, end)
    ]


def _rooms(tabs: Sequence[Tab], front: int, are_alone: Sequence[bool], width: int) -> list[int]:
    """The cells of each tab's label.

    If not all fit, that in front is whole first, then those that need the user; of several of one agent, their titles,
    if that leaves names for the others. These tell only what differs, or have no name.
    """
    full = [label_cells(number, tab.name()) for number, tab in enumerate(tabs, 1)]
    if sum(full) <= width:
        return full
    names = [tab.brief(is_alone=is_alone) for tab, is_alone in zip(tabs, are_alone, strict=True)]
    brief = [min(label_cells(at + 1, name), full[at]) for at, name in enumerate(names)]
    least = [min(cells, label_cells(at + 1) + MIN_NAME) for at, cells in enumerate(brief)]
    rooms = [label_cells(at + 1) + (1 if name.startswith(FORKED) else -1) for at, name in enumerate(names)]
    titles = [full[at] if is_alone else brief[at] for at, is_alone in enumerate(are_alone)]
    needing = [at for at, tab in enumerate(tabs) if at != front and tab.state is TabState.NEEDS_YOU]
    others = [at for at in range(len(tabs)) if at != front and at not in needing]
    for other, told in product((brief, least, rooms), (full, titles)):
        if sum(other[at] if at in others else cells for at, cells in enumerate(told)) <= width:
            break
    else:  # whatever the others leave, that in front is cut
        other = least if sum(least[at] for at in others) < width // 2 else rooms
    rooms = [other[at] if at in others else cells for at, cells in enumerate(rooms)]
    for group, wanted in (([front], told), (needing, told), (others, brief)):
        left = width - sum(cells for at, cells in enumerate(rooms) if at not in group)
        for at, cells in zip(group, _cut_alike([wanted[at] for at in group], left), strict=True):
            if cells >= least[at]:
                rooms[at] = cells
    rooms[front] = max(rooms[front], min(full[front], LEAST_CELLS))
    return rooms


def _cut_alike(wanted: Sequence[int], width: int) -> list[int]:
    """As many cells as wanted, the largest cut to the same number so that all fit."""
    rest = width
    for left, cells in zip(range(len(wanted), 0, -1), sorted(wanted), strict=True):
        if cells * left > rest:
            return [min(each, rest // left) for each in wanted]
        rest -= cells
    return list(wanted)


def _shared(titles: Sequence[str]) -> list[int]:
    """How many characters of each title are words with which a different one begins, too, but for the last word."""
    words = [title[:MAX_COMPARED].split(" ") for title in titles]
    shared = []
    for own in words:
        others = (other for other in words if other != own)  # nothing tells a fork apart that is called the same
        most = max((len(os.path.commonprefix([own, other])) for other in others), default=0)  # noqa: RUF071 - no paths
        shared.append(sum(len(word) + 1 for word in own[: min(most, len(own) - 1)]))
    return shared


class TabLine(EdgeLine):
    """Draws the tabs. A click goes to one."""

    DEFAULT_CSS = "TabLine { display: none; }"

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's own name for it
        super().__init__(id=id)
        self._tabs: Tabs | None = None
        self._spans: list[tuple[int, int, Tab]] = []
        """The cells of each visible tab."""

    def show(self, tabs: Tabs) -> None:
        self._tabs = tabs
        self.display = len(tabs) > 1
        self._draw()

    def on_resize(self) -> None:
        """Draw again: a different number of tabs may fit."""
        self._draw()

    def _draw(self) -> None:
        width = self.content_size.width
        if self._tabs is None or not self.display or not width:
            return
        tabs = list(self._tabs)
        front = tabs.index(self._tabs.front) if self._tabs.front in tabs else 0
        first, labels = fitted(tabs, front, width)
        self._spans = []
        parts = [Content(MORE)] if first else []
        for tab, label in zip(tabs[first:], labels, strict=False):
            at = sum(part.cell_length for part in parts)
            self._spans.append((at, at + label.cell_length, tab))
            parts.append(label)
        if first + len(labels) < len(tabs):
            parts.append(Content(MORE))
        self.show_line(Content.assemble(*parts))

    async def on_click(self, event: events.Click) -> None:
        for begin, end, tab in self._spans:
            if begin <= event.x < end and self._tabs is not None:
                await self._tabs.go_to(tab)
