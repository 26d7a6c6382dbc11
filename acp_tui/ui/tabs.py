"""The tabs of the app: which there are, in which order, and which one is in front. Each is a session's screen.

What stands in a tab is its screen's business; how the tabs are shown is `widgets.tab_line`'s and `screens.board`'s.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import Enum
from itertools import count
from typing import TYPE_CHECKING, Any

from textual.app import App
from textual.dom import DOMNode
from textual.screen import Screen

if TYPE_CHECKING:
    from acp_tui.ui.screens.session import SessionScreen

FIRST_MODE = "tab-1"
"""Textual keeps a stack of screens for each mode: a tab's dialogs stand over that tab alone."""


class TabState(Enum):
    """What a user wants to know of a tab that is not looked at, the most urgent last."""

    STARTING = "starting"
    IDLE = "idle"
    DONE = "done"
    """A turn has ended, and the user has not seen it."""
    WORKING = "working"
    FAILED = "failed"
    NEEDS_YOU = "needs you"


class Tabs:
    """The tabs of one app, from left to right."""

    def __init__(self, app: App[Any]) -> None:
        self._app = app
        self._screens: list[SessionScreen] = []
        self._numbers = count(2)
        self._has_modes = False
        self.listeners: list[Callable[[], None]] = []
        """Called when there is something else to be said of the tabs."""

    def __len__(self) -> int:
        return len(self._screens)

    def __iter__(self) -> Iterator[SessionScreen]:
        return iter(tuple(self._screens))

    @property
    def front(self) -> SessionScreen | None:
        """The tab that the user looks at."""
        return next((tab for tab in self._screens if tab.mode == self._app.current_mode), None)

    def add(self, screen: SessionScreen) -> None:
        """A tab has come to be; it says so itself when it is mounted."""
        if screen not in self._screens:
            self._screens.append(screen)
        self.tell()

    async def open(self, make: Callable[[], SessionScreen]) -> SessionScreen:
        """A new tab, in front."""
        if not self._has_modes:
            # Not before: Textual parses the style sheets twice for a first screen that is of a mode.
            first, self._has_modes = self._app.screen_stack[0], True
            self._app.add_mode(FIRST_MODE, lambda: first)
        mode = f"tab-{next(self._numbers)}"
        screen = make()
        screen.mode = mode
        self._screens.append(screen)
        self._app.add_mode(mode, lambda: screen)
        await self._app.switch_mode(mode)
        self.tell()
        return screen

    async def go_to(self, screen: SessionScreen) -> None:
        """Bring this tab to the front."""
        await self._app.switch_mode(screen.mode)
        screen.look_again()  # where a dialog lies above it, Textual tells only that

    async def step(self, direction: int) -> None:
        """The next tab to the right (1) or to the left (-1), round the end."""
        if self.front is not None and len(self) > 1:
            at = self._screens.index(self.front) + direction
            await self.go_to(self._screens[at % len(self)])

    async def go_to_next_needing(self) -> bool:
        """The next tab in which something waits for the user, else one that is done; False where there is none."""
        front = self.front
        at = self._screens.index(front) + 1 if front is not None else 0
        others = [tab for tab in (*self._screens[at:], *self._screens[:at]) if tab is not front]
        for wanted in (TabState.NEEDS_YOU, TabState.FAILED, TabState.DONE):
            for tab in others:
                if tab.state is wanted:
                    await self.go_to(tab)
                    return True
        return False

    def move(self, screen: SessionScreen, direction: int) -> None:
        """Change its place by one."""
        at = self._screens.index(screen)
        to = min(max(at + direction, 0), len(self) - 1)
        self._screens.insert(to, self._screens.pop(at))
        self.tell()

    async def close(self, screen: Screen[None]) -> None:
        """Take a tab away; the one beside it comes to the front. The last one cannot be taken away."""
        tab = next((tab for tab in self._screens if tab is screen), None)
        if tab is None or len(self) < 2:
            return
        if self.front is tab:
            await self.step(-1 if tab is self._screens[-1] else 1)
        self._screens.remove(tab)
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
