"""Tells what is new in the tabs while the terminal has not the focus, and shows in the window's title how they stand.

A terminal that does not report its focus counts as looked at. Nothing runs here until a tab's state changes.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Coroutine, Mapping
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol

from acp_tui.ui.rendering.ascii import TABLE
from acp_tui.ui.session.tab_state import MARKS, TabState
from acp_tui.ui.shell.notifying import sequences
from acp_tui.ui.shell.notifying.news import News, Watch
from acp_tui.ui.shell.notifying.user_command import run_command
from acp_tui.ui.tab.tabs import Tab, Tabs

if TYPE_CHECKING:
    from acp_tui.client.settings.tree import Notifications, Settings

TOLD: Final = (TabState.WORKING, TabState.NEEDS_YOU, TabState.FAILED, TabState.DONE)
"""What the window's title says of the tabs."""
URGENCY: Final = tuple(TabState)
"""The most urgent last."""


class _App(Protocol):
    tabs: Tabs
    settings: Settings
    app_focus: bool

    def run_worker(self, work: Coroutine[Any, Any, None], *, group: str) -> object: ...

    def notify(self, message: str, *, severity: Literal["warning"], markup: bool) -> None: ...


class Notifier:
    """Watches the tabs of one app."""

    def __init__(
        self,
        app: _App,
        write: Callable[[str], None],
        environ: Mapping[str, str] = os.environ,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`write` gives a sequence to the terminal, between two frames."""
        self._app = app
        self._write = write
        self._environ = environ
        self._clock = clock
        self._watches: dict[Tab, Watch] = {}
        self._title = ""
        self._has_failed = False
        """The user's command has, and that was said."""

    def look(self) -> None:
        """The state of a tab may be another: tell what is new."""
        tabs = tuple(self._app.tabs)
        self._watches = {tab: self._watches.get(tab) or Watch() for tab in tabs}
        for tab, watch in self._watches.items():
            news = watch.look(tab.state, tab.conversation, self._clock())
            if news is not None and not self._app.app_focus:
                self._tell(tab, news)
        self._show_title()

    def close(self) -> None:
        """Put the window's title back."""
        if self._title:
            self._write(sequences.PUT_TITLE_BACK)
            self._title = ""

    @property
    def _settings(self) -> Notifications:
        return self._app.settings.notifications

    # A notice

    def _tell(self, tab: Tab, news: News) -> None:
        if news.kind == "done" and news.seconds < self._settings.minimum_turn_s:
            return
        channels = self._channels(news)
        notice = sequences.notice(channels, tab.tab_title, news.text, self._environ)
        if notice:
            self._write(notice)
        if "command" in channels and self._settings.command:
            self._app.run_worker(self._run_command(tab, news), group="notifications")

    def _channels(self, news: News) -> tuple[str, ...]:
        match news.kind:
            case "needs_you":
                return self._settings.needs_you
            case "done":
                return self._settings.done
            case "failed":
                return self._settings.failed

    async def _run_command(self, tab: Tab, news: News) -> None:
        env = {
            "ACP_TUI_EVENT": news.kind,
            "ACP_TUI_TITLE": sequences.plain(tab.tab_title),
            "ACP_TUI_TEXT": sequences.plain(news.text),
            "ACP_TUI_SECONDS": f"{news.seconds:.0f}",
            "ACP_TUI_CWD": str(tab.session.cwd) if tab.session is not None else "",
        }
        command = self._settings.command
        problem = await run_command(command, env)
        if problem and not self._has_failed:
            self._has_failed = True
            self._app.notify(
                f"notifications.command: {command[0]} {problem}", severity="warning", markup=False
            )

    # The title

    def _show_title(self) -> None:
        title = self._title_now() if self._settings.title else ""
        if title == self._title:
            return
        if not title:
            self.close()
            return
        self._write(("" if self._title else sequences.KEEP_TITLE) + sequences.window_title(title))
        self._title = title

    def _title_now(self) -> str:
        """The most urgent tab's state, and what the one in front is called."""
        front = self._app.tabs.front
        if front is None:
            return ""
        urgent = max((tab.state for tab in self._app.tabs), key=URGENCY.index)
        if urgent not in TOLD:
            return front.tab_title
        mark, _ = MARKS[urgent]
        return f"{mark.translate(TABLE) if self._app.settings.appearance.ascii else mark} {front.tab_title}"
