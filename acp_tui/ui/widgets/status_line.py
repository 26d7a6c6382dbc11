"""One line at the bottom: who the agent is and what it is doing, and what there is to know beside it."""

from __future__ import annotations

from typing import Final, NamedTuple

from textual.content import Content
from textual.widgets import Static

from acp_tui.ui.keyed_app import follow_keys, keys_in_force
from acp_tui.ui.keymap import AS_BUILT, Keymap

# Glyph, style and words for each state that a session can be in.
STATES: Final = {
    "ready": ("●", "$text-success", ""),
    "working": ("◐", "$text-accent", "working; {cancel} cancels"),
    "waiting": ("●", "$text-warning", "waits for your decision; {leave_prompt}"),
    "cancelling": ("◐", "$text-warning", "cancelling"),
    "lost": ("✗", "$text-error", "gone; {restart} starts it again"),
}
GAPS: Final = 4
"""Cells around the agent's name."""
LEAST_NAME: Final = 4
"""So many cells of it stay in any case."""


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

    def on_mount(self) -> None:
        """Name the keys in force."""
        follow_keys(self, self._draw)

    def on_resize(self) -> None:
        """Set the right part right."""
        self._draw()

    def _draw(self) -> None:
        width = self.content_size.width
        keymap = keys_in_force(self)
        left = left_of(self._status, width, keymap)
        facts = list(filter(None, (*self._status.facts, keymap.hint("{help} help"))))
        # What does not fit is left out from the left: the least important stands there.
        while facts:
            right = Content.styled(" · ".join(facts), "$foreground-muted")
            room = width - left.cell_length - right.cell_length
            if room > 1:
                self.update(Content.assemble(left, " " * room, right))
                return
            facts.pop(0)
        self.update(left)


def left_of(status: Status, width: int, keymap: Keymap = AS_BUILT) -> Content:
    """Who and what, in at most so many cells: of what does not fit, the key goes first, then the agent's name."""
    if not status.agent:
        return Content.styled(f"○ {status.phase}", "$foreground-muted").truncate(width, ellipsis=True)
    glyph, style, words = STATES[status.state]
    words = keymap.hint(words)
    whole = _who_and_what(glyph, style, status.agent, words)
    if whole.cell_length <= width:
        return whole
    words = words.partition(";")[0]
    name = Content(status.agent).truncate(max(width - len(words) - GAPS, LEAST_NAME), ellipsis=True)
    return _who_and_what(glyph, style, name.plain, words).truncate(width, ellipsis=True)


def _who_and_what(glyph: str, style: str, agent: str, words: str) -> Content:
    return Content.assemble((f"{glyph} ", style), (agent, "bold"), (f"  {words}" if words else "", style))
