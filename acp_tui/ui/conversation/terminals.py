"""Draws terminals, and keeps the screens of a conversation's terminals. The emulator is elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, Final

from rich.color import Color
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from acp_tui.client.terminals.emulator import load_emulator, make_emulator
from acp_tui.client.terminals.feeder import Feeder
from acp_tui.client.terminals.screen import TerminalScreen
from acp_tui.conversation.entries import TerminalState
from acp_tui.conversation.tool_calls import TerminalId
from acp_tui.conversation.visible import make_visible_line
from acp_tui.conversation.wording import command_end
from acp_tui.ui.rendering.palette import Palette
from acp_tui.ui.rendering.wrapping import Lines

if TYPE_CHECKING:
    from acp_tui.client.terminals.emulator import CellStyle, Emulator, Line
    from acp_tui.client.terminals.emulator import Color as CellColor
    from acp_tui.client.terminals.screen import MakeEmulator

FLOOD_S: Final = 0.1
"""Output counts as a flood for this long after a piece that was too large for the event loop."""
MAX_AWAKE: Final = 8
"""Emulators kept for commands that have ended. An emulator takes 0.5 to 5 MB."""


def strip_of(line: Line) -> Strip:
    # The emulator handles control characters, but keeps characters that can mislead a reader.
    return Strip([Segment(make_visible_line(text), _rich_style(style)) for text, style in line])


@lru_cache(maxsize=4096)
def _rich_style(style: CellStyle | None) -> Style | None:
    if style is None:
        return None
    named = {"double_underline": "underline2"}
    attributes: dict[str, Any] = {named.get(name, name): True for name in style.attributes}
    return Style(color=_rich_color(style.foreground), bgcolor=_rich_color(style.background), **attributes)


def _rich_color(color: CellColor | None) -> Color | None:
    if color is None:
        return None
    return Color.from_ansi(color) if isinstance(color, int) else Color.from_rgb(*color)


class TerminalLines(Lines):
    """All lines of a terminal as it is now, each made when it is needed. Their number is fixed."""

    def __init__(self, screen: TerminalScreen, width: int) -> None:
        self._screen = screen
        self._width = width
        self._count = screen.line_count

    def __len__(self) -> int:
        return self._count

    def _some(self, indexes: range) -> list[Strip]:
        strips = [strip_of(line) for line in self._screen.lines(indexes.start, indexes.stop)[:: indexes.step]]
        return [strip if strip.cell_length <= self._width else strip.crop(0, self._width) for strip in strips]


def state_of_command(state: TerminalState, palette: Palette, take_over_key: str) -> list[tuple[str, Style]]:
    """How the command ended and how long it took, if that is known, or what it waits for; empty while it runs."""
    if not state.has_exited:
        how = f" · {take_over_key}: type there" if take_over_key else ""
        return [(f"waiting for input{how}", palette.warning)] if state.is_waiting else []
    if (state.exit_code, state.signal, state.seconds) == (None, None, None):
        return []
    return [(make_visible_line(command_end(state)), palette.error if state.has_failed else palette.muted)]


class TerminalScreens:
    """The screens of a conversation's terminals. The emulator is loaded when the first one is needed."""

    def __init__(self, on_loaded: Callable[[], None], on_change: Callable[[TerminalId], None]) -> None:
        self._on_loaded = on_loaded
        self._on_change = on_change
        self._feeder = Feeder()
        self._make: MakeEmulator | None = None
        self._is_loading = False
        self._screens: dict[TerminalId, TerminalScreen] = {}
        """In order of use, the most recent last."""

    def screen(self, state: TerminalState) -> TerminalScreen | None:
        """The screen of a terminal; None while the emulator is loading. `on_loaded` is called when it is loaded."""
        if self._make is None:
            if not self._is_loading:
                self._is_loading = True
                self._feeder.run(load_emulator, self._on_emulator_loaded)  # up to half a second
            return None
        screen = self._screens.pop(state.terminal_id, None)
        if screen is None or screen.state is not state:  # another conversation may be shown now
            on_change = partial(self._on_change, state.terminal_id)
            screen = TerminalScreen(state, self._make_emulator, self._feeder, on_change)
        self._screens[state.terminal_id] = screen
        return screen

    def keep_up(self, terminal_id: TerminalId) -> None:
        """Feed a terminal's new output to its emulator if the next frame would be too late."""
        if screen := self._screens.get(terminal_id):
            screen.keep_up()

    def has_flood(self, now: float) -> bool:
        """Whether output comes faster than anyone can read. `now` is the event loop's time."""
        return now - self._feeder.last_run < FLOOD_S

    @property
    def is_feeding(self) -> bool:
        """Whether output is still on its way to an emulator."""
        return any(screen.is_feeding for screen in self._screens.values())

    def close(self) -> None:
        """End the thread that feeds the emulators; nothing shows the terminals anymore."""
        self._feeder.close()

    def _make_emulator(self, columns: int, rows: int, scrollback: int) -> Emulator:
        """Create an emulator, and put the least recently used ones to rest to make room."""
        assert self._make is not None
        restable = [screen for screen in self._screens.values() if screen.can_rest]
        for screen in restable[: max(0, len(restable) + 1 - MAX_AWAKE)]:
            screen.rest()
        return self._make(columns, rows, scrollback)

    def _on_emulator_loaded(self) -> None:
        self._make = make_emulator
        self._on_loaded()
