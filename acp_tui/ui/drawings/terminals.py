"""Draws what a terminal shows, through an emulator that is fed only what is new."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from threading import Thread
from typing import TYPE_CHECKING

from rich.segment import Segment
from textual.strip import Strip

from acp_tui.conversation.entries import TerminalState
from acp_tui.conversation.tool_calls import TerminalId
from acp_tui.conversation.visible import make_visible_line

if TYPE_CHECKING:
    from acp_tui.ui.terminal.emulator import Emulator

SCROLLBACK_LINES = 10_000


class TerminalScreen:
    """One terminal's emulator and how much of the output it has seen."""

    def __init__(self, state: TerminalState, emulator: Emulator) -> None:
        self._state = state
        self._emulator = emulator
        self._fed = 0

    def update(self) -> None:
        """Feed what is new; where the buffer dropped bytes that were never fed, they are missing."""
        start, data = self._state.output.read_from(self._fed)
        if data:
            self._emulator.feed(data)
            self._fed = start + len(data)

    @property
    def line_count(self) -> int:
        """Lines of scrollback and screen."""
        return self._emulator.line_count

    def lines(self, start: int, stop: int, width: int) -> list[Strip]:
        """Some of its lines, cut at `width` cells."""
        # The emulator obeys control characters, and keeps those that only mislead a reader.
        strips = [
            Strip([Segment(make_visible_line(text), style) for text, style, _ in line])
            for line in self._emulator.lines(start, stop)
        ]
        return [strip if strip.cell_length <= width else strip.crop(0, width) for strip in strips]


class TerminalLines(Sequence[Strip]):
    """All lines of a terminal, each made when it is looked at."""

    def __init__(self, screen: TerminalScreen, width: int) -> None:
        self._screen = screen
        self._width = width

    def __len__(self) -> int:
        return self._screen.line_count

    def __getitem__(self, index):  # type: ignore[no-untyped-def]  # the two overloads of Sequence
        if isinstance(index, slice):
            start, stop, step = index.indices(len(self))
            return self._screen.lines(start, stop, self._width)[::step]
        at = range(len(self))[index]
        return self._screen.lines(at, at + 1, self._width)[0]


class TerminalScreens:
    """The screens of a conversation's terminals; the emulator is loaded when the first one is looked at."""

    def __init__(self, on_loaded: Callable[[], None]) -> None:
        self._screens: dict[TerminalId, TerminalScreen] = {}
        self._on_loaded = on_loaded
        self._make: Callable[[int, int, int], Emulator] | None = None
        self._loading: Thread | None = None

    def screen(self, state: TerminalState) -> TerminalScreen | None:
        """The screen of a terminal; None while the emulator is being loaded, which `on_loaded` ends."""
        screen = self._screens.get(state.terminal_id)
        if screen is None and self._is_loaded():
            assert self._make is not None
            screen = TerminalScreen(state, self._make(state.columns, state.rows, SCROLLBACK_LINES))
            self._screens[state.terminal_id] = screen
        return screen

    def _is_loaded(self) -> bool:
        if self._make is None and self._loading is None:
            # Its library takes up to half a second to load: too long for the event loop.
            self._loading = Thread(target=self._load, daemon=True)
            self._loading.start()
        return self._make is not None

    def _load(self) -> None:
        from acp_tui.ui.terminal.emulator import make_emulator

        make_emulator(1, 1, 0).close()
        self._make = make_emulator
        self._on_loaded()
