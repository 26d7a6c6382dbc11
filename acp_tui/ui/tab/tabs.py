"""The tabs of the app: which, in what order, and which is in front; and the line that shows them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from rich.cells import cell_len
from textual import events
from textual.app import App
from textual.content import Content
from textual.dom import DOMNode
from textual.screen import Screen
from textual.widgets import Static

from acp_tui.ui.session.status_line import LEAST_CELLS, MARKS, MOST_CELLS, TabState

if TYPE_CHECKING:
    from acp_tui.client.agents.command import AgentCommand
    from acp_tui.client.errors import ClientError
    from acp_tui.client.sessions.session import Session
    from acp_tui.client.settings.tree import Settings
    from acp_tui.conversation.conversation import Conversation
    from acp_tui.ui.changes.follower import ChangesDesk
    from acp_tui.ui.tab.agent_link import AgentLink

FIRST_MODE = "tab-1"
"""Textual keeps a stack of screens for each mode: a tab's dialogs stand over that tab alone."""


class Tab(Protocol):
    """What the app and the other tabs know of a tab."""

    mode: str
    """The tab, as Textual knows it."""

    @property
    def screen(self) -> Screen[Any]:
        """Where it is shown."""

    @property
    def state(self) -> TabState:
        """How it stands."""

    @property
    def tab_title(self) -> str:
        """What to call it."""

    def tab_name(self, cells: int = 200) -> str:
        """Its agent and its title, in so many cells."""

    @property
    def doing(self) -> str:
        """Which agent works where in it, and at what."""

    @property
    def cwd(self) -> Path:
        """Where its sessions work."""

    @property
    def link(self) -> AgentLink:
        """The way to its agent."""

    @property
    def session(self) -> Session | None:
        """The session that it shows."""

    @property
    def conversation(self) -> Conversation | None:
        """What it shows of that, or of the failure to have one."""

    @property
    def changes(self) -> ChangesDesk | None:
        """What has changed in its folder; None where nobody looks."""

    @property
    def failure(self) -> ClientError | None:
        """Why there is no session; None where there is one, or may be."""

    async def detach(self) -> None:
        """Leave the session as it is, and the agent where no other tab uses it."""

    def show_tabs(self) -> None:
        """Show which tabs there are, and how they stand."""

    def look_again(self) -> None:
        """It is in front: show what was held back."""

    def use_settings(self, settings: Settings) -> None:
        """These hold from now on."""

    async def may_close(self) -> bool:
        """Whether the user is sure, where the agent is at work."""

    async def leave(self) -> None:
        """Close the session, and the agent where no other tab uses it."""

    async def begin_in_worktree(self, command: AgentCommand) -> None:
        """Start this agent in a new git worktree of its folder, in a new tab."""

    async def begin_anew(self) -> None:
        """Begin a session in place of the one that is shown."""


class Tabs:
    """The tabs of one app, from left to right."""

    def __init__(self, app: App[Any]) -> None:
        self._app = app
        self._tabs: list[Tab] = []
        self._numbers = count(2)
        self._has_modes = False
        self.listeners: list[Callable[[], None]] = []
        """Called when there is something else to be said of the tabs."""

    def __len__(self) -> int:
        return len(self._tabs)

    def __iter__(self) -> Iterator[Tab]:
        return iter(tuple(self._tabs))

    @property
    def front(self) -> Tab | None:
        """The tab that the user looks at."""
        return next((tab for tab in self._tabs if tab.mode == self._app.current_mode), None)

    def add(self, tab: Tab) -> None:
        """A tab has come to be; it says so itself when it is mounted."""
        if tab not in self._tabs:
            self._tabs.append(tab)
        self.tell()

    async def open(self, make: Callable[[], Tab]) -> Tab:
        """A new tab, in front."""
        if not self._has_modes:
            # Not before: Textual parses the style sheets twice for a first screen that is of a mode.
            first, self._has_modes = self._app.screen_stack[0], True
            self._app.add_mode(FIRST_MODE, lambda: first)
        mode = f"tab-{next(self._numbers)}"
        tab = make()
        tab.mode = mode
        self._tabs.append(tab)
        self._app.add_mode(mode, lambda: tab.screen)
        await self._app.switch_mode(mode)
        self.tell()
        return tab

    async def go_to(self, tab: Tab) -> None:
        """Bring this tab to the front."""
        await self._app.switch_mode(tab.mode)
        tab.look_again()  # where a dialog lies above it, Textual tells only that

    async def step(self, direction: int) -> None:
        """The next tab to the right (1) or to the left (-1), round the end."""
        if self.front is not None and len(self) > 1:
            at = self._tabs.index(self.front) + direction
            await self.go_to(self._tabs[at % len(self)])

    async def go_to_next_needing(self) -> bool:
        """The next tab in which something waits for the user, else one that is done; False where there is none."""
        front = self.front
        at = self._tabs.index(front) + 1 if front is not None else 0
        others = [tab for tab in (*self._tabs[at:], *self._tabs[:at]) if tab is not front]
        for wanted in (TabState.NEEDS_YOU, TabState.FAILED, TabState.DONE):
            for tab in others:
                if tab.state is wanted:
                    await self.go_to(tab)
                    return True
        return False

    def move(self, tab: Tab, direction: int) -> None:
        """Change its place by one."""
        at = self._tabs.index(tab)
        to = min(max(at + direction, 0), len(self) - 1)
        self._tabs.insert(to, self._tabs.pop(at))
        self.tell()

    async def close(self, tab: Tab) -> None:
        """Take a tab away; the one beside it comes to the front. The last one cannot be taken away."""
        if tab not in self._tabs or len(self) < 2:
            return
        if self.front is tab:
            await self.step(-1 if tab is self._tabs[-1] else 1)
        self._tabs.remove(tab)
        await self._app.remove_mode(tab.mode)
        _forget_closed_watchers(self._app)
        self.tell()

    def tell(self) -> None:
        """What is to be said of a tab may be another: the one in front shows it."""
        if self.front is not None:
            self.front.show_tabs()
        for listener in tuple(self.listeners):
            listener()


def _forget_closed_watchers(app: App[Any]) -> None:
    """Textual does so only when what is watched changes: till then a closed tab would stay, all of it."""
    watchers: dict[str, list[tuple[DOMNode, object]]] = getattr(app, "__watchers", {})
    for of_attribute in watchers.values():
        of_attribute[:] = [(node, callback) for node, callback in of_attribute if not node._closing]


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
