"""Notifies the user about the tabs while the terminal is unfocused, and keeps the window's title.

A terminal that doesn't report its focus counts as focused.
"""

from __future__ import annotations

import os
import time
from base64 import b64encode
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Final

from acp_tui.client.notices import BELL, About, News, NewsWatch, NoticeCommand, channels_of, plain
from acp_tui.ui.rendering.ascii import TABLE
from acp_tui.ui.rendering.kitty import through_tmux
from acp_tui.ui.session.status_line import MARKS, TabState

if TYPE_CHECKING:
    from acp_tui.client.settings.settings import Notifications
    from acp_tui.ui.app.app import AcpTuiApp
    from acp_tui.ui.tab.tab import Tab

KEEP_TITLE: Final = "\x1b[22;2t"
"""Makes the terminal save the title of its window, ..."""
PUT_TITLE_BACK: Final = "\x1b[23;2t"
"""... and restore it."""
_OSC_9: Final = frozenset({"iTerm.app", "WezTerm", "ghostty", "WarpTerminal"})
"""Values of TERM_PROGRAM."""
_MARKS_OF_OSC_9: Final = ("ITERM_SESSION_ID", "WEZTERM_PANE", "GHOSTTY_RESOURCES_DIR")
"""Variables that are also set in tmux."""


def notice(channels: Iterable[str], title: str, text: str, environ: Mapping[str, str]) -> str:
    """The sequences for the channels of the settings, without duplicates. `command` has none."""
    wanted = dict.fromkeys(best_channel(environ) if each == "desktop" else each for each in channels)
    return "".join(_sequence(channel, plain(title), plain(text), environ) for channel in wanted)


def best_channel(environ: Mapping[str, str]) -> str:
    """The best channel that this terminal is known to support; the bell if it isn't known."""
    term, program = environ.get("TERM", ""), environ.get("TERM_PROGRAM", "")
    if term == "xterm-kitty" or (environ.get("KITTY_WINDOW_ID") and program in ("", "tmux")):
        return "osc99"
    if program in _OSC_9 or any(name in environ for name in _MARKS_OF_OSC_9):
        return "osc9"
    if term.startswith(("rxvt", "foot")) or environ.get("VTE_VERSION"):
        return "osc777"
    return "bell"


def _sequence(channel: str, title: str, text: str, environ: Mapping[str, str]) -> str:
    match channel:
        case "bell":
            return BELL  # tmux handles the bell itself
        case "osc9":
            # A digit at the start would be another command.
            sequences = [f"\x1b]9;acp-tui: {title}: {text}\x1b\\"]
        case "osc99":
            parts = (("d=0:p=title", title), ("d=1:p=body", text))
            sequences = [f"\x1b]99;i=acp-tui:e=1:{keys};{_encoded(part)}\x1b\\" for keys, part in parts]
        case "osc777":
            sequences = [f"\x1b]777;notify;{title.replace(';', ',')};{text}\x1b\\"]
        case _:
            return ""
    return "".join(map(through_tmux, sequences) if environ.get("TMUX") else sequences)


def window_title(text: str) -> str:
    """The sequence to set the window's title. tmux uses it for its own pane."""
    return f"\x1b]2;{plain(text)}\x1b\\"


def _encoded(text: str) -> str:
    return b64encode(text.encode("utf-8", "replace")).decode("ascii")


TOLD: Final = (TabState.WORKING, TabState.NEEDS_YOU, TabState.FAILED, TabState.DONE)
"""The states that the window's title shows."""
URGENCY: Final = tuple(TabState)
"""The most urgent last."""


class Notifier:
    """Watches the tabs of one app."""

    def __init__(self, app: AcpTuiApp, write: Callable[[str], None], environ: Mapping[str, str] = os.environ) -> None:
        """`write` sends a sequence to the terminal, between two frames."""
        self._app = app
        self._write = write
        self._environ = environ
        self._watches: dict[Tab, NewsWatch] = {}
        self._title = ""
        self._command = NoticeCommand(lambda problem: app.notify(problem, severity="warning", markup=False))

    def check_tabs(self) -> None:
        self._watches = {tab: self._watches.get(tab) or NewsWatch() for tab in tuple(self._app.tabs)}
        for tab, watch in self._watches.items():
            news = watch.news_in(tab.conversation, time.monotonic()) if tab.conversation is not None else None
            if news is not None and not self._app.app_focus:
                self._tell(tab, news)
        self._show_title()

    def close(self) -> None:
        """Restore the window's title."""
        if self._title:
            self._write(PUT_TITLE_BACK)
            self._title = ""

    @property
    def _settings(self) -> Notifications:
        return self._app.settings.notifications

    # Notifications

    def _tell(self, tab: Tab, news: News) -> None:
        channels = channels_of(news, self._settings)
        sequence = notice(channels, tab.title, news.text, self._environ)
        if sequence:
            self._write(sequence)
        if "command" in channels and self._settings.command:
            running = self._command.run(self._settings.command, news, self._about(tab))
            self._app.run_worker(running, group="notifications")

    def _about(self, tab: Tab) -> About:
        session, agent = tab.session, tab.link.agent
        return About(
            agent.title if agent is not None else tab.link.name,
            session.session_id if session is not None else "",
            tab.title,
            str(session.cwd) if session is not None else "",
        )

    # Title

    def _show_title(self) -> None:
        title = self._title_now() if self._settings.title else ""
        if title == self._title:
            return
        if not title:
            self._write(PUT_TITLE_BACK)
            self._title = ""
            return
        self._write(("" if self._title else KEEP_TITLE) + window_title(title))
        self._title = title

    def _title_now(self) -> str:
        """The mark of the most urgent tab's state, and the title of the tab in front."""
        front = self._app.tabs.front
        if front is None:
            return ""
        urgent = max((tab.state for tab in self._app.tabs), key=URGENCY.index, default=TabState.IDLE)
        if urgent not in TOLD:
            return front.title
        mark, _ = MARKS[urgent]
        return f"{mark.translate(TABLE) if self._app.settings.appearance.ascii else mark} {front.title}"
