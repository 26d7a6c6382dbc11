"""Draws what a command has printed in a terminal, and how it ended: in a tool call, and for the user's own commands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rich.segment import Segment
from textual.strip import Strip

from acp_tui.conversation.entries import OwnCommand, TerminalState
from acp_tui.conversation.visible import make_visible_command
from acp_tui.ui.drawings.drawing import Indented, Joined, KeptDrawing, Scene
from acp_tui.ui.drawings.folds import folded
from acp_tui.ui.drawings.terminals import TerminalLines, state_of_command
from acp_tui.ui.rendering.marks import Gutter
from acp_tui.ui.rendering.plain import plain_lines
from acp_tui.ui.rendering.wrapping import wrap

RAIL: Final = "  │ "
SIGN: Final = "$ "


def terminal_runs(
    state: TerminalState | None, scene: Scene, width: int, limit: int | None
) -> list[Sequence[Strip]]:
    """The last `limit` lines of the terminal, None being all, and the state of its command."""
    palette = scene.palette
    if state is None:
        return [wrap([("a terminal that acp-tui does not know", palette.muted)], width)]
    screen = scene.screens.screen(state)
    if screen is None:
        return [wrap([("…", palette.muted)], width)]
    screen.update()
    lines = TerminalLines(screen, width)
    runs = [lines] if limit is None else folded(lines, limit, palette, keep_end=True)
    return [*runs, *(wrap([span], width) for span in state_of_command(state, palette))]


class OwnCommandDrawing(KeptDrawing):
    """A command of the user's, on the ground that prompts have, and its output below."""

    def __init__(self, entry: OwnCommand) -> None:
        super().__init__()
        self._entry = entry

    def _draw(self, scene: Scene) -> Sequence[Strip]:
        style = scene.palette.user
        sign = Segment(SIGN, scene.palette.accent + style.background_style)
        line = make_visible_command(self._entry.line)
        heads = [
            Strip([sign, *strip], strip.cell_length + len(SIGN)).adjust_cell_length(scene.width, style)
            for strip in plain_lines(line, scene.width - len(SIGN) - 2, style)
        ]
        state = scene.terminals.get(self._entry.terminal_id)
        width = scene.width - len(RAIL) - 2
        runs = terminal_runs(state, scene, width, None if self._is_open else scene.folds.terminal_lines)
        rail = Gutter(RAIL, scene.palette.quote_bar)
        return Joined(heads, *(Indented(run, rail) for run in runs))
