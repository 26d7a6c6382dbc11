"""Notifies the user about the tabs while the terminal is unfocused, and keeps the window's title.

A terminal that doesn't report its focus counts as focused.
"""

from __future__ import annotations

import os
import time
from base64 import b64encode
from collections.abc import Callable, Coroutine, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol, TypeAlias

from acp_tui.conversation.conversation import Conversation
from acp_tui.conversation.wording import duration
from acp_tui.ui.kit.programs import run_program
from acp_tui.ui.rendering.ascii import TABLE
from acp_tui.ui.rendering.kitty import through_tmux
from acp_tui.ui.session.status import doing
from acp_tui.ui.session.status_line import MARKS, TabState
from acp_tui.ui.tab.tabs import Tab, Tabs
from acp_tui.values import dataclass

if TYPE_CHECKING:
    from acp_tui.client.settings.tree import Notifications, Settings

LIMIT_S: Final = 10.0


BELL: Final = "\a"
MAX_TEXT: Final = 200
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
            # A digit at the start would be another command, such as a progress bar.
            sequences = [f"\x1b]9;acp-tui: {title}: {text}\x1b\\"]
        case "osc99":
            parts = (("d=0:p=title", title), ("d=1:p=body", text))
            sequences = [f"\x1b]99;i=acp-tui:e=1:{keys};{_encoded(part)}\x1b\\" for keys, part in parts]
        case "osc777":
            sequences = [f"\x1b]777;notify;{title.replace(';', ',')};{text}\x1b\\"]
        case _:
            return ""
    return "".join(_through(sequence, environ) for sequence in sequences)


def _through(sequence: str, environ: Mapping[str, str]) -> str:
    """The sequence, wrapped for the terminal outside of tmux if necessary."""
    if not environ.get("TMUX"):
        return sequence

    return through_tmux(sequence)


def window_title(text: str) -> str:
    """The sequence to set the window's title. tmux uses it for its own pane."""
    return f"\x1b]2;{plain(text)}\x1b\\"


_PROGRESS_PROGRAMS: Final = frozenset({"ghostty", "WezTerm"})
_PROGRESS_VARIABLES: Final = ("WT_SESSION", "ConEmuPID", "GHOSTTY_RESOURCES_DIR", "WEZTERM_PANE")
_PROGRESS: Final = {
    TabState.WORKING: "3;0",  # the percentage is unknown
    TabState.NEEDS_YOU: "4;100",
    TabState.FAILED: "2;100",
}
NO_PROGRESS: Final = "0;0"


def knows_progress(environ: Mapping[str, str]) -> bool:
    """Whether the terminal is known to support OSC 9;4. Others may show it as a notification."""
    return environ.get("TERM_PROGRAM") in _PROGRESS_PROGRAMS or any(name in environ for name in _PROGRESS_VARIABLES)


def progress(state: str, environ: Mapping[str, str]) -> str:
    """The sequence that shows a state of `_PROGRESS` in the taskbar."""
    return _through(f"\x1b]9;4;{state}\x1b\\", environ)


def plain(text: str) -> str:
    """The text as one line without control and invisible characters, shortened if necessary."""
    kept = "".join(char if char.isprintable() else " " for char in text[: 4 * MAX_TEXT])
    line = " ".join(kept.split())
    return line if len(line) <= MAX_TEXT else line[: MAX_TEXT - 1] + "…"


def _encoded(text: str) -> str:
    return b64encode(text.encode("utf-8", "replace")).decode("ascii")


Kind: TypeAlias = Literal["needs_you", "done", "failed"]
"""Also the names of the settings for where to report each kind."""


@dataclass(frozen=True, slots=True)
class TabEvent:
    """An event in a tab."""

    kind: Kind
    text: str
    seconds: float = 0.0
    """How long the turn took, if it has ended."""


class Watch:
    """Tracks the state of one tab."""

    def __init__(self) -> None:
        self._state = TabState.STARTING
        self._begin_s = 0.0

    def look(self, state: TabState, conversation: Conversation | None, now_s: float) -> TabEvent | None:
        """What is new since the last call; None if nothing is, or the user did it."""
        before, self._state = self._state, state
        if state is TabState.WORKING and before is not TabState.NEEDS_YOU and before is not state:
            self._begin_s = now_s
        if conversation is None or state is before:
            return None
        if not conversation.is_connected:
            return TabEvent("failed", "the agent is gone")
        if state is TabState.NEEDS_YOU:
            return TabEvent("needs_you", doing(conversation) if conversation.permissions else "asks you something")
        if state is TabState.WORKING or before not in (TabState.WORKING, TabState.NEEDS_YOU):
            return None
        return _of_end(conversation.last_stop_reason, now_s - self._begin_s)


def _of_end(stop_reason: str | None, seconds: float) -> TabEvent | None:
    match stop_reason:
        case None:
            return TabEvent("failed", "the turn failed", seconds)
        case "cancelled":
            return None  # the user knows
        case "end_turn":
            return TabEvent("done", f"done after {duration(seconds)}", seconds)
        case other:
            return TabEvent("done", f"the turn ended: {other}", seconds)


TOLD: Final = (TabState.WORKING, TabState.NEEDS_YOU, TabState.FAILED, TabState.DONE)
"""The states that the window's title shows."""
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
    ) -> None:
        """`write` sends a sequence to the terminal, between two frames."""
        self._app = app
        self._write = write
        self._environ = environ
        self._watches: dict[Tab, Watch] = {}
        self._title = ""
        self._progress = NO_PROGRESS
        self._has_failed = False
        """Whether the user's command has failed and the user was told."""

    def look(self) -> None:
        """Check the tabs, and report what is new."""
        tabs = tuple(self._app.tabs)
        self._watches = {tab: self._watches.get(tab) or Watch() for tab in tabs}
        for tab, watch in self._watches.items():
            news = watch.look(tab.state, tab.conversation, time.monotonic())
            if news is not None and not self._app.app_focus:
                self._tell(tab, news)
        self._show_title()
        self._show_progress()

    def close(self) -> None:
        """Restore the window's title, and clear the progress in the taskbar."""
        if self._progress != NO_PROGRESS:
            self._write(progress(NO_PROGRESS, self._environ))
            self._progress = NO_PROGRESS
        if self._title:
            self._write(PUT_TITLE_BACK)
            self._title = ""

    @property
    def _settings(self) -> Notifications:
        return self._app.settings.notifications

    # Notifications

    def _tell(self, tab: Tab, news: TabEvent) -> None:
        if news.kind == "done" and news.seconds < self._settings.minimum_turn_s:
            return
        channels = self._channels(news)
        sequence = notice(channels, tab.tab_title, news.text, self._environ)
        if sequence:
            self._write(sequence)
        if "command" in channels and self._settings.command:
            self._app.run_worker(self._run_command(tab, news), group="notifications")

    def _channels(self, news: TabEvent) -> tuple[str, ...]:
        match news.kind:
            case "needs_you":
                return self._settings.needs_you
            case "done":
                return self._settings.done
            case "failed":
                return self._settings.failed

    async def _run_command(self, tab: Tab, news: TabEvent) -> None:
        env = {
            "ACP_TUI_EVENT": news.kind,
            "ACP_TUI_TITLE": plain(tab.tab_title),
            "ACP_TUI_TEXT": plain(news.text),
            "ACP_TUI_SECONDS": f"{news.seconds:.0f}",
            "ACP_TUI_CWD": str(tab.session.cwd) if tab.session is not None else "",
        }
        command = self._settings.command
        problem, _ = await run_program(command, env, LIMIT_S)
        if problem and not self._has_failed:
            self._has_failed = True
            self._app.notify(f"notifications.command: {command[0]} {problem}", severity="warning", markup=False)

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
        urgent = self._most_urgent
        if urgent not in TOLD:
            return front.tab_title
        mark, _ = MARKS[urgent]
        return f"{mark.translate(TABLE) if self._app.settings.appearance.ascii else mark} {front.tab_title}"

    @property
    def _most_urgent(self) -> TabState:
        return max((tab.state for tab in self._app.tabs), key=URGENCY.index, default=TabState.IDLE)

    def _show_progress(self) -> None:
        wanted = self._settings.progress
        is_shown = wanted == "on" or (wanted == "auto" and knows_progress(self._environ))
        state = _PROGRESS.get(self._most_urgent, NO_PROGRESS) if is_shown else NO_PROGRESS
        if state != self._progress:
            self._progress = state
            self._write(progress(state, self._environ))
