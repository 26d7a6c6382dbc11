"""What an empty tab says while its agent starts: which one, how far it has come, and how long it takes by now.

It starts nothing, and is taken away as soon as there is a session or a reason why there is none.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from textual.content import Content
from textual.widgets import Static

PATIENCE_S: Final = 3
"""Until then nobody asks how long it takes."""
FIRST_PHASE: Final = "starting"


class StartingLine(Static):
    """One line, and above it the name that the welcome will begin with too."""

    DEFAULT_CSS = "StartingLine { height: 2; }"

    def __init__(self, agent: str, clock: Callable[[], float]) -> None:
        """`agent` is a line that can be shown; `clock` gives seconds."""
        super().__init__(markup=False)
        self._agent = agent
        self._clock = clock
        self._since = clock()
        self._phase = FIRST_PHASE

    def on_mount(self) -> None:
        """Count the seconds, for as long as it is there."""
        self.set_interval(1, self.tell)
        self.tell()

    def show_phase(self, phase: str) -> None:
        """The agent has come so far."""
        self._phase = phase
        self.tell()

    def tell(self) -> None:
        """Say how it stands."""
        seconds = int(self._clock() - self._since)
        phase = "" if self._phase == FIRST_PHASE else self._phase
        took = f"{seconds} s" if seconds >= PATIENCE_S else ""
        told = " · ".join(filter(None, (f"Starting {self._agent}", phase, took)))
        self.update(Content.assemble(("acp-tui\n", "bold $text-accent"), told))
