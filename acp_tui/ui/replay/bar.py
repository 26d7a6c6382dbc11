"""One line with the state of a replay: the time, the progress, the speed, and the current prompt."""

from __future__ import annotations

from typing import Final, NamedTuple

from textual import events, on
from textual.content import Content
from textual.widgets import Static

from acp_tui.conversation.wording import clock

MIN_TRACK: Final = 8
"""A shorter track would be useless."""
REDRAW_S: Final = 0.1
"""The bar redraws at most this often, even in a flood of events."""


class Position(NamedTuple):
    """The content of the bar."""

    at_s: float = 0.0
    length_s: float = 0.0
    share: float = 0.0
    """The fraction of events played, 0 to 1."""
    is_playing: bool = False
    speed: float = 1.0
    prompts: tuple[int, int] = (0, 0)
    """The current prompt, and how many there are."""
    note: str = ""
    """A note in plain text."""


class ReplayBar(Static):
    """Draws a Position, at most a few times a second."""

    DEFAULT_CSS = "ReplayBar { height: 1; }"

    def __init__(self) -> None:
        super().__init__(markup=False)
        self.position = Position()
        self._is_due = False

    def show(self, position: Position) -> None:
        if position == self.position:
            return
        self.position = position
        if not self._is_due:
            self._is_due = True
            self.set_timer(REDRAW_S, self._draw)

    @on(events.Resize)
    def _draw(self) -> None:
        self._is_due = False
        self.update(bar_of(self.position, self.content_size.width))


def bar_of(position: Position, width: int) -> Content:
    mark = "▶" if position.is_playing else "‖"
    left = Content.assemble((f"{mark} ", "$text-accent"), f"{clock(position.at_s)} / {clock(position.length_s)}  ")
    number, count = position.prompts
    prompts, speed = f"prompt {number} of {count}" if count else "", _speed(position.speed)
    for facts in ((position.note, prompts, speed), (position.note, speed)):
        right = Content.styled("  " + " · ".join(filter(None, facts)), "$foreground-muted")
        room = width - left.cell_length - right.cell_length
        if room >= MIN_TRACK:
            done = min(round(room * position.share), room)
            track = (("━" * done, "$text-accent"), ("─" * (room - done), "$foreground-muted"))
            return Content.assemble(left, *track, right)
    return Content.assemble(left, right).truncate(width, ellipsis=True)


def _speed(speed: float) -> str:
    return f"×{speed:g}" if speed else "no waiting"
