"""One line at the bottom: who the agent is and what it is doing, and what there is to know beside it."""

from __future__ import annotations

from typing import Final, NamedTuple

from textual.content import Content
from textual.widgets import Static

# Glyph, style and words for each state that a session can be in.
STATES: Final = {
    "ready": ("●", "$text-success", ""),
    "working": ("◐", "$text-accent", "working; Esc cancels"),
    "waiting": ("●", "$text-warning", "waits for your decision; Tab"),
    "cancelling": ("◐", "$text-warning", "cancelling"),
    "lost": ("✗", "$text-error", "gone; Ctrl+Q quits"),
}


class Status(NamedTuple):
    """What the line says. Plain text: whoever makes it has made it visible."""

    phase: str = ""
    """How far the agent has come; shown as long as there is no agent."""
    agent: str = ""
    """The agent's title, once a prompt can be typed."""
    state: str = "ready"
    """A key of STATES."""
    facts: tuple[str, ...] = ()
    """What stands on the right."""


class StatusLine(Static):
    """Draws a Status."""

    DEFAULT_CSS = "StatusLine { height: 1; }"

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's own name for it
        super().__init__(id=id, markup=False)
        self._status = Status()

    def show(self, status: Status) -> None:
        """Show this from now on."""
        if status != self._status:
            self._status = status
            self._draw()

    def on_resize(self) -> None:
        """Set the right part right."""
        self._draw()

    def _draw(self) -> None:
        left = _left(self._status)
        facts = [*self._status.facts, "F1 help"]
        # What does not fit is left out from the left: the least important stands there.
        while facts:
            right = Content.styled(" · ".join(facts), "$foreground-muted")
            room = self.content_size.width - left.cell_length - right.cell_length
            if room > 1:
                self.update(Content.assemble(left, " " * room, right))
                return
            facts.pop(0)
        self.update(left)


def _left(status: Status) -> Content:
    if not status.agent:
        return Content.assemble(("○ ", "$foreground-muted"), (status.phase, "$foreground-muted"))
    glyph, style, doing = STATES[status.state]
    return Content.assemble(
        (f"{glyph} ", style), (status.agent, "bold"), (f"  {doing}" if doing else "", style)
    )
