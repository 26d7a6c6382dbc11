"""Moves a replay: plays it by its own clock, or goes to another moment. What is seen of that is the screen's matter."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final

from acp_tui.client.transcript.replay import Step
from acp_tui.ui.recorded.pace import Pace
from acp_tui.ui.recorded.player import Player

SLICE_S: Final = 0.01
"""How long events are applied before keys and frames get their turn."""
MAX_LATE_S: Final = 0.5
"""What cannot be played as fast as it happened is played as fast as it can be."""


class Projector:
    """What a player is to do. Only one `move` may run at a time; it can be cancelled at any point."""

    def __init__(self, player: Player, pace: Pace, on_step: Callable[[Step], None]) -> None:
        """`on_step` is called for each event, but for those that are applied again to go back."""
        self.player = player
        self.pace = pace
        self.plays = True
        """Whether it is to play, as soon as it is where it is to go."""
        self.stop_at: int | None = None
        """The moment at which it pauses."""
        self.goal: int | None = None
        """Where a move that is under way leads."""
        self._on_step = on_step

    @property
    def moment(self) -> int:
        """Where it is, or is about to be."""
        return self.player.moment if self.goal is None else self.goal

    async def go_to_goal(self) -> None:
        """Be there; what lies before the place where it is, is played anew from the beginning."""
        if self.goal is None:
            return
        player, turn = self.player, _Turn()
        is_back = self.goal < player.moment
        if is_back:
            player.restart()
        while player.moment < min(self.goal, player.film.length):
            step = player.step()
            if not is_back:
                self._on_step(step)
            await turn.give()
        self.goal = None

    async def play(self) -> None:
        """Each event in its time, until the end or where it is to pause."""
        loop, turn = asyncio.get_running_loop(), _Turn()
        due = loop.time()
        while not self.player.is_at_end and self.player.moment != self.stop_at:
            due = max(due + self.pace.wait_s(self.player.gap_s), loop.time() - MAX_LATE_S)
            if due > loop.time():
                await asyncio.sleep(due - loop.time())
            else:
                await turn.give()
            self._on_step(self.player.step())
        self.stop_at = None
        self.plays = False


class _Turn:
    """Lets others have the event loop now and then."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._since = self._loop.time()

    async def give(self) -> None:
        """Where it is time to."""
        if self._loop.time() - self._since > SLICE_S:
            await asyncio.sleep(0)
            self._since = self._loop.time()
